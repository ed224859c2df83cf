"""Source trees to measure on."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from cm_tui.paths import private_dir, state_dir

DJANGO = "django==5.2.1"


def cache_dir() -> Path:
    """Folder in which downloaded trees are kept."""
    return private_dir(state_dir() / "bench")


def django_tree() -> Path:
    """Django's source distribution, about 2,800 Python files, from the package registry; downloaded once.

    Raises:
        subprocess.CalledProcessError: pip cannot get it.
    """
    target = cache_dir() / "django"
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", DJANGO]
        subprocess.run([*command, "--dest", scratch], check=True)
        archive = next(Path(scratch).glob("*.tar.gz"))
        with tarfile.open(archive) as packed:
            packed.extractall(scratch, filter="data")
        unpacked = next(path for path in Path(scratch).iterdir() if path.is_dir())
        shutil.move(str(unpacked), target)
    return target


def multiplied(tree: Path, target: Path, copies: int) -> Path:
    """A tree of several copies; every identifier of five letters or more gets the number of its copy."""
    word = re.compile(rb"\b([A-Za-z_][a-z_]{5,})\b")
    for number in range(copies):
        for file in sorted(tree.rglob("*.py")):
            copy = target / f"part{number}" / file.relative_to(tree)
            copy.parent.mkdir(parents=True, exist_ok=True)
            suffix = b"\\1_%d" % number if number else b"\\1"
            copy.write_bytes(word.sub(suffix, file.read_bytes()))
    return target
