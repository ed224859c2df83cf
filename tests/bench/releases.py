"""A history made of a project's releases, where the real one cannot be had."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

from cm_tui.errors import CmError


def make_history(root: Path, wheels: Path) -> None:
    """A repository from the releases of a project: each file that a release changes is a commit of its own.

    Args:
        root: where to make it.
        wheels: the releases; their files' times say in which order they came.
    """
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    process = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE)
    assert process.stdin is not None
    before: dict[str, bytes] = {}
    when = 1_500_000_000
    for wheel in sorted(wheels.glob("*.whl"), key=_release):
        with zipfile.ZipFile(wheel) as archive:
            files = {
                name: archive.read(name)
                for name in archive.namelist()
                if not name.endswith("/") and ".dist-info/" not in name and len(name) < 200
            }
        for path in sorted(before.keys() | files.keys()):
            if before.get(path) != files.get(path):
                when += 600
                process.stdin.write(_commit(path, files.get(path), when, f"{wheel.name.split('-')[1]}: {path}"))
        before = files
    process.stdin.close()
    if process.wait():
        raise CmError("git fast-import failed.")
    git(root, "reset", "-q", "--hard", "main")


def _release(wheel: Path) -> tuple[int, ...]:
    """A release's number, to sort by."""
    version = wheel.name.split("-")[1]
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _commit(path: str, data: bytes | None, when: int, subject: str) -> bytes:
    text = subject.encode()
    head = b"commit refs/heads/main\ncommitter Bench <bench@example.org> %d +0000\ndata %d\n%s\n" % (
        when,
        len(text),
        text,
    )
    name = json.dumps(path, ensure_ascii=False).encode()
    if data is None:
        return head + b"D %s\n\n" % name
    return head + b"M 100644 inline %s\ndata %d\n%s\n\n" % (name, len(data), data)


def git(folder: Path, *words: str) -> str:
    """Return what git prints, asked as nobody in particular."""
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "core.autocrlf=false")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")
