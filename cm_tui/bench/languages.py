"""What the extractor makes of a folder of real code, by language: `python -m cm_tui.bench.languages FOLDER`."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from cm_tui.engine.parse.parse_blob import parse_blob
from cm_tui.engine.scan.languages import LANGUAGES, language_of

MOST_FILES = 300
"""Of each language, spread evenly over the sorted paths."""


def survey(root: Path, most: int = MOST_FILES) -> dict[str, Counter[str]]:
    """Parse the files of every language that has a grammar.

    Args:
        root: folder to look through.
        most: files of each language that are read.

    Returns:
        By language: `files`, `lines`, `symbols`, `documented`, `calls`, `imports`, `without` (files that gave no
        symbol), `errors` and `milliseconds`.
    """
    files: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink()):
        language = language_of(path.name)
        if LANGUAGES[language].parsed:
            files[language].append(path)
    counts: dict[str, Counter[str]] = {}
    for language, paths in files.items():
        counts[language] = Counter()
        for path in paths[:: max(1, len(paths) // most)]:
            counts[language].update(_read(language, path))
    return counts


def _read(language: str, path: Path) -> Counter[str]:
    data = path.read_bytes()
    began = time.perf_counter()
    blob = parse_blob("", language, data)
    return Counter(
        files=1,
        lines=blob.lines,
        symbols=len(blob.symbols),
        documented=sum(bool(symbol.doc) for symbol in blob.symbols),
        calls=sum(reference.kind == "call" for reference in blob.references),
        imports=len(blob.imports),
        without=not blob.symbols,
        errors=blob.error is not None,
        milliseconds=round((time.perf_counter() - began) * 1000),
    )


def main() -> None:
    """Print the survey of the folder that the command line names."""
    columns = ("files", "lines", "symbols", "documented", "calls", "imports", "without", "errors")
    print(f"{'language':12}" + "".join(f"{column:>12}" for column in columns) + f"{'lines/s':>12}")
    for language, count in sorted(survey(Path(sys.argv[1])).items()):
        speed = round(count["lines"] * 1000 / max(1, count["milliseconds"]))
        print(f"{language:12}" + "".join(f"{count[column]:>12,}" for column in columns) + f"{speed:>12,}")


if __name__ == "__main__":
    main()
