"""Secrets: how many hits redaction has in a folder or in a repository's commits, by kind; a secret itself is never shown."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.redaction.find import find

_LARGEST = 1_000_000
"""Bytes from which a file is data, or made by a program."""
_TURN = 64_000
"""Bytes of a commit that are read: as much as an episode keeps of a patch."""


class Hit(NamedTuple):
    """Where a hit is, and of which kind."""

    where: str
    line: int
    kind: str


def main(argv: Sequence[str]) -> int:
    """Run the measurement and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="cm bench secrets", description=__doc__)
    parser.add_argument("--path", type=Path, nargs="+", required=True, help="Folders, or git repositories.")
    parser.add_argument(
        "--commits", type=int, metavar="N", help="Read the last N commits, message and diff, not the files."
    )
    parser.add_argument("--places", action="store_true", help="List file, line and kind of each hit, to be looked at.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    rows = [_measure(folder, options.commits) for folder in options.path]
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    unit = "commits" if options.commits else "files"
    print(f"| folder | {unit} | MB | hits | per 1,000 {unit} | MB/s | kinds |\n|---|---|---|---|---|---|---|")
    for row in rows:
        kinds = ", ".join(f"{kind} {count}" for kind, count in row["kinds"].items())
        numbers = f"{row['texts']:,} | {row['mb']} | {row['hits']:,} | {row['per_1000']} | {row['mb_per_second']}"
        print(f"| {row['folder']} | {numbers} | {kinds} |")
    if options.places:
        for row in rows:
            print(*(f"{row['folder']}/{where}:{line}: {kind}" for where, line, kind in row["places"]), sep="\n")
    return 0


def _measure(folder: Path, commits: int | None) -> dict[str, Any]:
    hits: list[Hit] = []
    texts = size = 0
    seconds = 0.0
    for where, text in _commits(folder, commits) if commits else _files(folder):
        texts += 1
        size += len(text)
        begun = time.perf_counter()
        found = list(find(text))
        seconds += time.perf_counter() - begun
        hits += [Hit(where, text.count("\n", 0, one.start) + 1, one.kind) for one in found]
    return {
        "folder": folder.resolve().name,
        "texts": texts,
        "mb": round(size / 1e6, 1),
        "hits": len(hits),
        "per_1000": round(1000 * len(hits) / max(texts, 1), 2),
        "mb_per_second": round(size / 1e6 / max(seconds, 1e-9), 2),
        "kinds": dict(Counter(hit.kind for hit in hits).most_common()),
        "places": [list(hit) for hit in hits],
    }


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of a folder that hold text."""
    for file in sorted(folder.rglob("*")):
        if ".git" in file.parts or file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
            continue
        data = file.read_bytes()
        if b"\0" not in data[:8192]:
            yield file.relative_to(folder).as_posix(), data.decode("utf-8", "replace")


def _commits(folder: Path, count: int) -> Iterator[tuple[str, str]]:
    """Yield the last commits of a repository, message and diff."""
    words = ("log", f"--max-count={count}", "--no-merges", "--format=%H")
    for sha in _git(folder, *words).decode("ascii").split():
        said = _git(folder, "show", "--no-color", "--no-ext-diff", "--no-textconv", sha)
        yield sha, said[:_TURN].decode("utf-8", "replace")


def _git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=folder, check=False, capture_output=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
