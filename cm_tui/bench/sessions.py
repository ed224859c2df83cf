"""Importing sessions: episodes and bytes a second, from transcripts that are made for it; memory, and what a second import costs."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_WORDS = [
    "parser",
    "cart",
    "tax",
    "round",
    "total",
    "index",
    "query",
    "cache",
    "token",
    "lock",
    "file",
    "path",
    "test",
    "fix",
    "why",
    "how",
    "run",
    "build",
    "release",
    "branch",
    "merge",
    "commit",
    "error",
    "trace",
    "stack",
    "value",
    "field",
    "record",
    "column",
    "schema",
    "migrate",
    "daemon",
    "socket",
    "retry",
    "limit",
    "queue",
    "worker",
    "thread",
    "render",
    "screen",
    "key",
    "mode",
    "help",
]
_TURNS = 20


def main(argv: Sequence[str]) -> int:
    """Run the measurement and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="cm bench sessions", description=__doc__)
    parser.add_argument("--episodes", type=int, default=2_000, help="How many turns are made; default: 2,000.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    with tempfile.TemporaryDirectory(prefix="cmb-") as scratch:
        os.environ["CM_HOME"] = str(Path(scratch) / "home")
        found = _measure(Path(scratch), options.episodes)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print("| what | value |\n|---|---|")
        for name, value in found.items():
            print(f"| {name} | {value:,} |")
    return 0


def _measure(scratch: Path, episodes: int) -> dict[str, float]:
    from cm_tui.engine.importers.project import ProjectTranscripts, plan
    from cm_tui.engine.journal import Journal

    root = scratch / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    environment = {name: str(scratch / name) for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME")}
    size = _write(Path(environment["CLAUDE_CONFIG_DIR"]) / "projects" / "p", root, episodes)
    began = time.perf_counter()
    plan(ProjectTranscripts(root, environment=environment))
    planned = time.perf_counter() - began
    first, again = _import(root, environment), _import(root, environment)
    journal = Journal.of(root)
    return {
        "episodes": episodes,
        "transcripts, MB": round(size / 1e6, 1),
        "journal, bytes an episode": round(
            sum(journal.file(one).stat().st_size for one in journal.segments()) / episodes
        ),
        "looking what there is, s": round(planned, 2),
        "import, s": round(first, 2),
        "episodes a second": round(episodes / first),
        "transcripts, MB a second": round(size / 1e6 / first, 2),
        "import once more, s": round(again, 2),
        "memory at most, MB": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        ),
    }


def _import(root: Path, environment: Mapping[str, str]) -> float:
    from cm_tui.engine.importers.project import ProjectTranscripts
    from cm_tui.engine.importers.run import Import
    from cm_tui.model import Cancel

    began = time.perf_counter()
    for _ in Import(ProjectTranscripts(root, environment=environment)).run(Cancel()):
        pass
    return time.perf_counter() - began


def _write(folder: Path, root: Path, episodes: int) -> int:
    """Write sessions of so many turns, each with what a turn of a coding agent usually has; returns their size."""
    folder.mkdir(parents=True)
    chance = random.Random(11)
    size = 0
    for session in range(-(-episodes // _TURNS)):
        file = folder / f"session-{session}.jsonl"
        turns = min(_TURNS, episodes - session * _TURNS)
        file.write_text(
            "".join(json.dumps(record) + "\n" for record in _records(root, session, turns, chance)), encoding="utf-8"
        )
        os.utime(file, (1_700_000_000, 1_700_000_000))
        size += file.stat().st_size
    return size


def _records(root: Path, session: int, turns: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    def text(words: int) -> str:
        return " ".join(chance.choices(_WORDS, k=words))

    def record(kind: str, content: Any, number: int, **more: Any) -> dict[str, Any]:
        seconds = 1_690_000_000 + session * 40_000 + number
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + "Z"
        message = {"role": kind, "content": content, "id": f"m{session}-{number}", **more}
        return {
            "type": kind,
            "cwd": str(root),
            "sessionId": f"s{session}",
            "uuid": f"u{session}-{number}",
            "timestamp": stamp,
            "message": message,
        }

    for turn in range(turns):
        at = turn * 100
        yield record("user", text(40), at)
        for step in range(6):
            call = f"t{turn}-{step}"
            name, given = (
                ("Bash", {"command": f"grep -rn {text(2)} ."})
                if step % 2
                else ("Read", {"file_path": f"{root}/{text(1)}.py"})
            )
            used = {"type": "tool_use", "id": call, "name": name, "input": given}
            yield record(
                "assistant", [{"type": "text", "text": text(25)}, used], at + 2 * step + 1, stop_reason="tool_use"
            )
            lines = "\n".join(f"    {number}  {text(8)}" for number in range(30))
            yield record("user", [{"type": "tool_result", "tool_use_id": call, "content": lines}], at + 2 * step + 2)
        yield record("assistant", [{"type": "text", "text": text(120)}], at + 50, stop_reason="end_turn")
