"""Notes: sections of real documentation found by their headings, beside words and meaning alone; and notes by the ten thousand."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from cm_tui.bench.measure import percentiles
from cm_tui.bench.rankings import ndcg
from cm_tui.engine.api.engine import Engine

_SHORTEST_SECTION = 3
"""Lines that say something: a section with less answers no question."""
_HEADING = "Section"
"""What stands in the place of a heading that is asked for."""
_DEPTH = 10
_MODES = ("hybrid", "keyword", "vector")


@dataclass(frozen=True, slots=True)
class Question:
    """A heading, and the lines that stood below it."""

    text: str
    path: str
    start_line: int
    end_line: int


def main(argv: Sequence[str]) -> int:
    """Measure and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    parser = argparse.ArgumentParser(prog="cm bench notes", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="Folders of Markdown, each read as notes by itself.")
    parser.add_argument(
        "--questions", type=Path, help="JSON with questions by hand: projects, each with `ask`, `file` and `heading`."
    )
    parser.add_argument("--most", type=int, default=100, help="Headings of a folder that are asked for.")
    parser.add_argument("--notes", type=int, default=0, help="Measure so many made-up notes instead.")
    parser.add_argument("--entries", type=int, default=0, help="And so many entries beside them.")
    parser.add_argument("--rounds", type=int, default=50, help="How often each kind of question is asked of those.")
    parser.add_argument("--seed", type=int, default=1, help="Of all that is chosen or made up.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        os.environ.update(CM_HOME=str(Path(scratch) / "home"), CM_DAEMON__USE="never")
        try:
            rows = [_asked(folder.resolve(), Path(scratch), options) for folder in options.folders]
            if options.notes:
                rows += _many(Path(scratch), options)
        finally:
            os.environ.clear()
            os.environ.update(before)
    if options.json:
        print(json.dumps(rows, indent=1))
    for row in () if options.json else rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")
    return 0


# --- questions ---


def _asked(folder: Path, scratch: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Ask for the sections of one folder: by their headings, which its notes have no more, or by questions of people."""
    copy = scratch / f"{folder.name}-{len([*scratch.iterdir()])}"
    root = copy / "project"
    root.mkdir(parents=True)
    if options.questions is None:
        questions = _take_headings(folder, copy / "docs", options.most, random.Random(options.seed))
    else:
        questions = _by_hand(folder, copy / "docs", json.loads(options.questions.read_text("utf-8")))
    os.environ["CM_MEMORY__NOTE_FOLDERS"] = json.dumps([str(copy / "docs")])
    row: dict[str, Any] = {"folder": folder.name, "questions": len(questions)}
    with _open(root) as engine:
        for _ in engine.index():
            pass
        profile = replace(engine.profiles()["notes"], min_score=0.0)
        for mode in _MODES:
            found = [_judged(engine, one, profile, mode) for one in questions]
            row[mode] = round(sum(found) / max(len(found), 1), 3)
        row["first"] = round(
            sum(_judged(engine, one, profile, "hybrid", 1) for one in questions) / max(len(questions), 1), 3
        )
    print(f"{folder.name}: {len(questions)} questions", file=sys.stderr)
    return row


def _take_headings(folder: Path, copy: Path, most: int, chance: random.Random) -> list[Question]:
    """Copy a folder's Markdown without some headings; return those with the lines below them."""
    from cm_tui.engine.notes.headings import headings

    texts, found = _texts(folder), []
    for path, lines in texts.items():
        here = [*headings(lines)]
        for number, heading in enumerate(here):
            stop = here[number + 1].row if number + 1 < len(here) else len(lines)
            says = sum(bool(line.strip()) for line in lines[heading.row + 1 : stop])
            if lines[heading.row].startswith("#") and says >= _SHORTEST_SECTION and len(heading.name.split()) > 1:
                found.append(Question(heading.name, path, heading.row + 1, stop))
    chosen = chance.sample(found, min(most, len(found)))
    for one in chosen:
        level = texts[one.path][one.start_line - 1].partition(" ")[0]
        texts[one.path][one.start_line - 1] = f"{level} {_HEADING}"
    _write(copy, texts)
    return chosen


def _by_hand(folder: Path, copy: Path, projects: Sequence[dict[str, Any]]) -> list[Question]:
    """Copy a folder's Markdown as it is; return the questions of the project that has these files."""
    from cm_tui.engine.notes.headings import headings

    texts, found = _texts(folder), []
    _write(copy, texts)
    asked = (one["questions"] for one in projects if all(ask["file"] in texts for ask in one["questions"]))
    for ask in next(asked, ()):
        lines = texts[ask["file"]]
        rows = [one.row for one in headings(lines)]
        row = next(row for row in rows if lines[row].lstrip("# ").split(" {#")[0].strip() == ask["heading"])
        # A section of its own ends it, unless nothing else stands in it.
        stop = next((one for one in rows if one > row + _SHORTEST_SECTION), len(lines))
        found.append(Question(ask["ask"], ask["file"], row + 1, stop))
    return found


def _texts(folder: Path) -> dict[str, list[str]]:
    return {
        file.relative_to(folder).as_posix(): file.read_text("utf-8", "replace").split("\n")
        for file in sorted(folder.rglob("*.md"))
        if file.is_file() and not file.is_symlink()
    }


def _write(copy: Path, texts: dict[str, list[str]]) -> None:
    for path, lines in texts.items():
        target = copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines), "utf-8")


def _judged(engine: Engine, question: Question, profile: Any, mode: Any, depth: int = _DEPTH) -> float:
    hits = engine.search(question.text, profile=profile, mode=mode, limit=depth).hits
    ends = f"/{question.path}"
    rank = next(
        (
            hit.rank
            for hit in hits
            if hit.path.endswith(ends) and hit.start_line <= question.end_line and hit.end_line >= question.start_line
        ),
        0,
    )
    return ndcg([rank] if rank else [], 1)


# --- size ---


def _many(scratch: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure many notes: read for the first time, asked, one of them saved."""
    root = scratch / "many"
    chance = random.Random(options.seed)
    for number in range(options.notes):
        note = root / ".cm/notes/topics" / f"{number % 40:02}" / f"topic-{number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("\n".join(_note_text(number, chance)))
    _write_entries(root, options.entries, chance)
    rows = []
    with _open(root) as engine:
        begun = time.perf_counter()
        while engine.notes(limit=1).total < options.notes or engine.notes(limit=1).note:
            pass
        rows.append(_row("notes read for the first time", f"{time.perf_counter() - begun:.1f} s for {options.notes:,}"))
        # A process that stays is told of changes: so it is after a second.
        time.sleep(1.1)
        engine.notes(limit=1)
        words = [_words(chance) for _ in range(options.rounds)]
        kinds: dict[str, Callable[[str], object]] = {
            "search of notes": lambda said: engine.search_notes(said, min_score=0.0),
            "recall": engine.recall,
            "list of notes by words": lambda said: engine.notes(match=said.split()[0]),
            "list of entries by words": lambda said: engine.entries(match=said.split()[0]),
        }
        rows += [_timed(name, [partial(ask, said) for said in words]) for name, ask in kinds.items()]
        rows.append(_timed("a note saved, until it is found", [*_saved(engine, root, options.rounds // 5)]))
    return rows


def _saved(engine: Engine, root: Path, rounds: int) -> Iterator[Callable[[], None]]:
    note = root / ".cm/notes/topics/00/topic-0.md"

    def save(number: int) -> None:
        note.write_text(f"# Saved\n\nThe quokka{number} sleeps.\n")
        while not any(
            f"quokka{number}" in hit.snippet for hit in engine.search_notes(f"quokka{number}", min_score=0.0).hits
        ):
            time.sleep(0.005)

    for number in range(rounds):
        yield partial(save, number)


_STEMS = (
    "gateway", "router", "cache", "token", "invoice", "refund", "ledger", "deploy", "rollback", "schema", "migration", "worker",
    "queue", "retry", "timeout", "session", "cookie", "webhook", "tenant", "quota", "index", "shard", "replica", "backup",
    "restore", "alert", "metric", "trace", "span", "budget", "license",
)  # fmt: skip
_ENDINGS = [f"{first}{second}" for first in "bdfgklmnprst" for second in "aeiou"]
_WORDS = [*_STEMS, *(f"{stem}{ending}" for ending in _ENDINGS for stem in _STEMS)]
_OFTEN = [*accumulate(1 / rank for rank in range(1, len(_WORDS) + 1))]
"""As in any language, a word is half as frequent as one of half its rank (Zipf)."""


def _words(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, cum_weights=_OFTEN, k=3))


def _note_text(number: int, chance: random.Random) -> Iterator[str]:
    yield f"# Topic {number}: {_words(chance)}"
    for part in range(3):
        yield f"\n## {_words(chance)}\n"
        for _ in range(4):
            yield f"The {_words(chance)} of part {part} goes with the {_words(chance)} since {_words(chance)}."


def _write_entries(root: Path, count: int, chance: random.Random) -> None:
    from cm_tui.engine.entries.entries import Entries
    from cm_tui.engine.entries.entry_record import digest, entry_data, new_id
    from cm_tui.engine.entries.entry_text import new_entry
    from cm_tui.model.author import Author

    entries = Entries(root)
    taken: set[str] = set()
    items = []
    ledger = entries.ledger.read()
    for number in range(count):
        text = f"Number {number}: the {_words(chance)} needs the {_words(chance)}."
        made = replace(
            new_entry(text, Author(), category="Knowledge", title="", keywords=(), scope="project", head=""),
            id=new_id(taken),
        )
        taken.add(made.id)
        items.append(entry_data(made))
        ledger.written.append(digest(made))
    if items:
        content = entries.files["project"].read()
        content.items[:] = items
        entries.files["project"].write(content, lambda _: None)
        entries.ledger.write(ledger)


def _timed(name: str, asks: Sequence[Callable[[], object]]) -> dict[str, Any]:
    times = []
    for ask in asks:
        begun = time.perf_counter()
        ask()
        times.append((time.perf_counter() - begun) * 1000)
    half, nearly_all = percentiles(times)
    return _row(name, f"p50 {half:.1f} ms, p95 {nearly_all:.1f} ms")


def _row(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


def _open(root: Path) -> Any:
    from contextlib import closing

    from cm_tui.engine.local.engine import LocalEngine

    root.mkdir(parents=True, exist_ok=True)
    return closing(LocalEngine.open(root))
