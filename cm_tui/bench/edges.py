"""`cm bench edges`: what the graph claims about call sites, and claims drawn at random for a person to judge."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.bench.callers import load_files
from cm_tui.engine.graph.graph import Graph
from cm_tui.engine.scan.languages import HEAD_BYTES, LANGUAGES, language_of
from cm_tui.engine.store.database import Database
from cm_tui.model.text import one_line

_LARGEST = 1 << 20
"""Bytes of a file that is still read; an index run leaves larger ones out too."""


class Claim(NamedTuple):
    """Call site with what it was resolved to; fields as in `Resolver.everything`."""

    path: str
    line: int
    caller: str
    name: str
    receiver: str | None
    kind: str
    tier: str | None
    choices: int | None
    to_path: str | None
    to_name: str | None
    to_line: int | None
    caller_line: int | None

    @property
    def verdict(self) -> str:
        """What is said of the site: the tier that resolved it, `ambiguous`, `external` or `unresolved`."""
        return "ambiguous" if (self.choices or 0) > 1 else self.tier or "unresolved"

    @property
    def is_resolved(self) -> bool:
        """Whether one definition of the project is claimed."""
        return self.choices == 1 and self.to_path is not None


def files_of(root: Path, languages: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Paths and contents of all files below a folder that are in one of these languages (none given: any)."""
    for path in sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink()):
        data = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
        language = language_of(path.name, data[:HEAD_BYTES])
        if data and (language in languages if languages else LANGUAGES[language].parsed or language == "toml"):
            yield path.relative_to(root).as_posix(), data


def claims_of(root: Path, languages: Collection[str]) -> tuple[list[Claim], float]:
    """Resolve all call sites of a folder.

    Returns:
        One claim a site (several for an ambiguous one), and the seconds that resolving took.
    """
    with tempfile.TemporaryDirectory() as store:
        db = Database(Path(store))
        load_files(db, files_of(root, languages))
        graph = Graph(db, lambda path, _: (root / path).read_text(encoding="utf-8", errors="replace"))
        start = time.perf_counter()
        rows = graph.resolve_all()
        seconds = time.perf_counter() - start
        db.close()
    return [Claim(*row) for row in rows], seconds


def summary(claims: Sequence[Claim], languages: Collection[str]) -> dict[str, Any]:
    """Count sites by verdict; those of these languages only, if any are given."""
    sites: dict[tuple[Any, ...], str] = {}
    for number, claim in enumerate(claims):
        several = claim.verdict == "ambiguous"
        sites[claim[:5] if several else (*claim[:5], number)] = claim.verdict
    counts = Counter(sites.values())
    resolved = sum(n for verdict, n in counts.items() if verdict not in {"ambiguous", "external", "unresolved"})
    return {"languages": sorted(languages), "sites": len(sites), "resolved": resolved, **dict(sorted(counts.items()))}


def draw(claims: Sequence[Claim], count: int, seed: int, tiers: Collection[str]) -> list[Claim]:
    """Draw resolved claims at random, each with the same chance; in order of place."""
    pool = [claim for claim in claims if claim.is_resolved and (not tiers or claim.verdict in tiers)]
    return sorted(random.Random(seed).sample(pool, min(count, len(pool))))


def _source(root: Path, path: str | None, line: int | None) -> str:
    lines = (root / path).read_text(encoding="utf-8", errors="replace").split("\n") if path else []
    return one_line(lines[line - 1].strip()) if line and line <= len(lines) else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Print counts as JSON, then the sample: site, verdict, line of the call, line of the definition."""
    parser = argparse.ArgumentParser(prog="cm bench edges", description=__doc__)
    parser.add_argument("folder", nargs="+", type=Path, help="sources of a project")
    parser.add_argument("--language", action="append", default=[], help="read files of this language alone")
    parser.add_argument("--sample", type=int, default=0, help="how many resolved sites to print")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--tier", action="append", default=[], help="sample of this tier alone")
    options = parser.parse_args(argv)
    for folder in options.folder:
        claims, seconds = claims_of(folder, options.language)
        counts = summary(claims, options.language)
        print(json.dumps({"folder": folder.name, **counts, "seconds": round(seconds, 2)}))
        for number, claim in enumerate(draw(claims, options.sample, options.seed, options.tier), 1):
            called = f"{claim.receiver}.{claim.name}" if claim.receiver else claim.name
            print(f"{number}. {claim.path}:{claim.line} [{claim.verdict}] {called}")
            print(f"    {_source(folder, claim.path, claim.line)}")
            print(f"    -> {claim.to_path}:{claim.to_line} {claim.to_name}")
            print(f"    {_source(folder, claim.to_path, claim.to_line)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
