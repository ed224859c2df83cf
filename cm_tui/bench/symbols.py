"""Symbols beside those of Universal Ctags on the same files: which definitions are found, and which only by us.

Definitions are functions and methods with a body, classes, structs, unions, enums, interfaces and traits that have a
name. Left out: macros, members, enumerators and variables (each tool has its own idea of which of them are worth a
row), type definitions and prototypes (they define nothing; those that we list still have to exist).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.parse.parse_blob import parse_blob
from cm_tui.engine.scan.languages import HEAD_BYTES, LANGUAGES, language_of
from cm_tui.errors import CmError

_FUNCTION = frozenset({"function", "method", "constructor", "property"})
_TYPE = frozenset({"class", "struct", "enum", "interface", "trait"})
_THEIRS = {
    **dict.fromkeys(("function", "method", "func", "singletonMethod", "getter", "setter", "generator"), "function"),
    **dict.fromkeys(("class", "struct", "union", "enum", "interface", "trait", "object", "protocol"), "type"),
}
"""Group of a kind of ctags that is counted."""
_ALSO = {
    "prototype": "function", "methodSpec": "function", "member": "function", "typedef": "type", "type": "type",
}  # fmt: skip
"""Group of a kind that is not counted, and of which ours need not be wrong."""
_ANONYMOUS = "__anon"
_LARGEST = 1_000_000


class Definition(NamedTuple):
    """Definition in a file: group (`function`, `type`), name without white space, and 1-based lines."""

    group: str
    name: str
    first: int
    last: int


class Comparison(NamedTuple):
    """One file's definitions, in four lists."""

    found: list[Definition]
    missing: list[Definition]
    confirmed: list[Definition]
    extra: list[Definition]


def compare(ours: Sequence[Definition], theirs: Sequence[Definition], also: Sequence[Definition]) -> Comparison:
    """Set the definitions of one file side by side.

    One of theirs is found when one of ours of the same group and name covers its line; each of ours counts once.

    Args:
        ours: definitions with the lines that they cover.
        theirs: definitions of ctags, at one line each.
        also: declarations of ctags that are not counted, and that one of ours may be.
    """
    free: dict[tuple[str, str], list[Definition]] = defaultdict(list)
    for one in sorted(ours, key=lambda one: one.first):
        free[one.group, one.name].append(one)
    found: list[Definition] = []
    missing: list[Definition] = []
    for one in sorted(theirs, key=lambda one: one.first):
        fitting = [mine for mine in free[one.group, one.name] if mine.first <= one.first <= mine.last]
        if fitting:
            free[one.group, one.name].remove(fitting[-1])
        (found if fitting else missing).append(one)
    lines: dict[tuple[str, str], set[int]] = defaultdict(set)
    for one in (*theirs, *also):
        lines[one.group, one.name].add(one.first)
    confirmed: list[Definition] = []
    extra: list[Definition] = []
    for one in ours:
        known = any(one.first <= line <= one.last for line in lines[one.group, one.name])
        (confirmed if known else extra).append(one)
    return Comparison(found, missing, confirmed, extra)


def main(argv: Sequence[str]) -> int:
    """Run the comparison and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.

    Raises:
        CmError: no Universal Ctags is installed.
    """
    parser = argparse.ArgumentParser(prog="cm bench symbols", description=__doc__)
    parser.add_argument("--path", type=Path, nargs="+", required=True, help="Folders of source code.")
    parser.add_argument("--languages", default="", help="Only these, by name: `c,cpp`.")
    parser.add_argument("--list", choices=("missing", "extra"), help="List each definition that only one side has.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    chosen = frozenset(filter(None, options.languages.split(",")))
    program = _ctags()
    rows: list[dict[str, Any]] = []
    for folder in options.path:
        rows += _measure(program, folder, chosen)
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    head = ("folder", "language", "files", "theirs", "found", "recall", "ours", "confirmed", "precision")
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(row[name]) for name in head) + " |")
    if options.list:
        for row in rows:
            print(*(f"{row['folder']}/{place}" for place in row[options.list]), sep="\n")
    return 0


def _measure(program: str, folder: Path, chosen: frozenset[str]) -> Iterator[dict[str, Any]]:
    files = {path: language for path, language in _files(folder) if not chosen or language in chosen}
    theirs = _read_theirs(program, folder, files)
    sums: dict[str, dict[str, Any]] = {}
    for path, language in files.items():
        if path not in theirs:
            continue
        row = sums.setdefault(
            language, {"files": 0, "theirs": 0, "found": 0, "ours": 0, "confirmed": 0, "missing": [], "extra": []}
        )
        ours = list(_read_ours(language, (folder / path).read_bytes()))
        counted, also = theirs[path]
        result = compare(ours, counted, also)
        row["files"] += 1
        row["theirs"] += len(counted)
        row["found"] += len(result.found)
        row["ours"] += len(ours)
        row["confirmed"] += len(result.confirmed)
        row["missing"] += [f"{path}:{one.first}: {one.group} {one.name}" for one in result.missing]
        row["extra"] += [f"{path}:{one.first}: {one.group} {one.name}" for one in result.extra]
    for language, row in sorted(sums.items()):
        yield {
            "folder": folder.resolve().name, "language": language, **row,
            "recall": round(row["found"] / max(1, row["theirs"]), 4),
            "precision": round(row["confirmed"] / max(1, row["ours"]), 4),
        }  # fmt: skip


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield path and language of the files that a grammar reads."""
    for file in sorted(folder.rglob("*")):
        if ".git" in file.parts or file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
            continue
        with file.open("rb") as opened:
            language = language_of(file.name, opened.read(HEAD_BYTES))
        if LANGUAGES[language].parsed and language != "markdown":
            yield file.relative_to(folder).as_posix(), language


def _read_ours(language: str, data: bytes) -> Iterator[Definition]:
    for symbol in parse_blob("", language, data).symbols:
        group = "function" if symbol.kind in _FUNCTION else "type" if symbol.kind in _TYPE else ""
        if group:
            yield Definition(group, _plain(symbol.name), symbol.start_line, symbol.end_line)


def _read_theirs(
    program: str, folder: Path, files: Iterable[str]
) -> dict[str, tuple[list[Definition], list[Definition]]]:
    """Return what ctags lists of each file that it knows the language of: definitions, and what else it has names for."""
    command = (
        program, "--options=NONE", "--quiet", "--output-format=json", "--fields=+nK-P", "--sort=no", "--links=no",
        "--kinds-C=+p", "--kinds-C++=+p", "--kinds-CUDA=+p", "-f", "-", "-L", "-",
    )  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, input="\n".join(files).encode(), capture_output=True, check=False
    ).stdout.decode("utf-8", "replace")
    listed: dict[str, tuple[list[Definition], list[Definition]]] = defaultdict(lambda: ([], []))
    for line in done.splitlines():
        tag = json.loads(line)
        if tag["_type"] != "tag":
            continue  # what ctags says about itself
        name, kind = tag["name"], tag.get("kind", "")
        is_method = kind == "member" and language_of(tag["path"]) == "python"
        group = "function" if is_method else _THEIRS.get(kind, "")
        place = listed[tag["path"]]
        if not name.startswith(_ANONYMOUS) and (group or kind in _ALSO):
            at = tag["line"]
            place[0 if group else 1].append(Definition(group or _ALSO[kind], _plain(name), at, at))
    return dict(listed)


def _plain(name: str) -> str:
    return "".join(name.split()).partition("<")[0] if not name.startswith("operator") else "".join(name.split())


def _ctags() -> str:
    """Return the program.

    Raises:
        CmError: there is none, or another of that name.
    """
    program = shutil.which("ctags")
    said = subprocess.run([program, "--version"], capture_output=True, check=False).stdout if program else b""
    if program is None or b"Universal Ctags" not in said:
        raise CmError(
            "Universal Ctags is not installed here; there is nothing to compare with.",
            hint="Install it, e.g. `apt install universal-ctags`.",
        )
    return program


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
