"""Recall: how well questions find the turns that answer them, in conversations and sessions with known answers."""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from cm_tui.engine.search.ranking import tokens, wording
from cm_tui.errors import UsageError
from cm_tui.model import RECALL, Mode, Profile
from tests.bench.conversations import Asked, Conversation, read
from tests.bench.remembering import remembering

_DEPTH = 10
_ALL = 200
"""Hits that are looked at for sessions."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+)*")
_LONG = 4
"""Letters from which on a word of an answer counts; numbers and names with an underscore always do."""

Figures = dict[str, float]


def main(argv: Sequence[str]) -> int:
    """Print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="just bench memory", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="JSON: conversations of sessions of turns, and questions.")
    parser.add_argument("--cases", action="store_true", help="The 150 cases over a month of made-up coding sessions.")
    parser.add_argument(
        "--sessions", type=int, metavar="TIMES", help="Made-up coding sessions as an agent writes them, so many times."
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    if options.cases:
        from tests.bench.memory_cases import measure_cases

        found = measure_cases()
    elif options.sessions:
        from tests.bench.coding_sessions import measure_sessions

        found = measure_sessions(options.sessions)
    elif options.file is None:
        raise UsageError("No file is named.", hint="Give a file of conversations and questions, --cases or --sessions.")
    else:
        found = measure(read(options.file))
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        _print(found)
    return 0


def measure(conversations: Sequence[Conversation]) -> dict[str, Any]:
    """Ask every question in every way, and return the mean figures of all, and by kind of question."""
    rows: dict[str, list[tuple[str, Figures]]] = defaultdict(list)
    for conversation in conversations:
        for way, kind, figures in _of(conversation):
            rows[way].append((kind, figures))
    result: dict[str, Any] = {
        "conversations": len(conversations),
        "turns": sum(len(one.turns) for one in conversations),
        "questions": sum(len(one.questions) for one in conversations),
    }
    result["ways"] = {way: _means(figures for _, figures in found) for way, found in rows.items()}
    kinds = dict.fromkeys(kind for kind, _ in rows[RECALL])
    result["kinds"] = {kind: _means(figures for one, figures in rows[RECALL] if one == kind) for kind in kinds}
    return result


def ways(profile: Profile) -> dict[str, tuple[Profile, Mode]]:
    """Return the ways in which a question is asked: as `cm recall` does, and without each of its steps."""
    return {
        RECALL: (profile, "hybrid"),
        "without neighbours": (replace(profile, neighbours=0.0), "hybrid"),
        "without sessions": (replace(profile, thread=0.0), "hybrid"),
        "without both": (replace(profile, neighbours=0.0, thread=0.0), "hybrid"),
        "without replies": (replace(profile, reply=0.0), "hybrid"),
        **{f"without {name}s": (_without(profile, name), "hybrid") for name in ("date", "speaker")},
        "without vectors": (profile, "keyword"),
        "without words": (profile, "vector"),
        "words alone": (replace(profile, neighbours=0.0, thread=0.0), "keyword"),
    }


def _without(profile: Profile, name: str) -> Profile:
    return replace(profile, adjustments={**profile.adjustments, name: 0.0})


def _of(conversation: Conversation) -> Iterable[tuple[str, str, Figures]]:
    with remembering(conversation) as (engine, turn_of):
        for way, (profile, mode) in ways(engine.profiles()[RECALL]).items():
            for asked in conversation.questions:
                if way == RECALL:
                    hits = engine.recall(asked.question, limit=_ALL).hits
                else:
                    hits = engine.search(asked.question, profile=profile, mode=mode, limit=_ALL).hits
                found = list(dict.fromkeys(turn_of[hit.path] for hit in hits))
                yield way, asked.kind, figures_of(asked, found, conversation)


def figures_of(asked: Asked, found: Sequence[str], conversation: Conversation) -> Figures:
    """Return what a ranked list of turns is worth for a question."""
    if asked.answer:
        wanted = words_of(asked.answer) - words_of(asked.question)
        if not wanted:
            return {}
        text = {turn.id: words_of(turn.text) for turn in conversation.turns}
        covered = {f"answer words@{k}": _share(wanted, (text[turn] for turn in found[:k])) for k in (1, 3, 5, 10)}
        return {**covered, "answer words in all turns": _share(wanted, text.values())}
    evidence = [turn for turn in asked.evidence if turn in conversation.session_of]
    if not evidence:
        return {}
    sessions = {conversation.session_of[turn] for turn in evidence}
    named = list(dict.fromkeys(conversation.session_of[turn] for turn in found))
    return {
        "turns@5": len(set(found[:5]) & set(evidence)) / len(set(evidence)),
        "turns@10": len(set(found[:_DEPTH]) & set(evidence)) / len(set(evidence)),
        "NDCG@10": _ndcg(found[:_DEPTH], set(evidence)),
        "sessions@5": len(sessions & set(named[:5])) / len(sessions),
    }


def words_of(text: str) -> frozenset[str]:
    """Return stems of the words of a text that say something: numbers, names, and words of four letters and more."""
    stop = wording.PROSE_WORDING.stop_words
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(
        wording.stem(word)
        for word in words
        if (word[0].isdigit() or "_" in word or len(word) >= _LONG)
        and word not in stop
        and word not in tokens.STOP_WORDS
    )


def _share(wanted: frozenset[str], texts: Iterable[frozenset[str]]) -> float:
    return len(wanted & frozenset().union(*texts)) / len(wanted)


def _ndcg(found: Sequence[str], evidence: set[str]) -> float:
    gain = sum(1 / math.log2(rank + 2) for rank, turn in enumerate(found) if turn in evidence)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(_DEPTH, len(evidence))))


def _means(figures: Iterable[Figures]) -> Figures:
    columns: dict[str, list[float]] = defaultdict(list)
    for row in figures:
        for name, value in row.items():
            columns[name].append(value)
    return {name: round(mean(values), 4) for name, values in columns.items()}


def _print(found: Mapping[str, Any]) -> None:
    counts = ", ".join(f"{value:,} {name}" for name, value in found.items() if isinstance(value, int))
    print(f"{counts}\n")
    names = list(dict.fromkeys(name for row in found["ways"].values() for name in row))
    for title in (title for title in ("ways", "kinds") if found[title]):
        print(f"| | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
        for label, row in found[title].items():
            print(f"| {label} | {' | '.join(f'{row[name]:.3f}' if name in row else '' for name in names)} |")
        print()
