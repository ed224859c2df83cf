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

_SOURCES = (
    "argparse.py",
    "ssl.py",
    "subprocess.py",
    "getpass.py",
    "http/client.py",
    "urllib/request.py",
    "asyncio/base_events.py",
)
"""Files of Python's own library: what agents read and write is code, and speaks of passwords and tokens."""
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
    from cm_tui.engine.journal.journal import Journal

    root = scratch / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    environment = {name: str(scratch / name) for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME")}
    size = _write(Path(environment["CLAUDE_CONFIG_DIR"]) / "projects" / "p", root, episodes)
    began = time.perf_counter()
    plan(ProjectTranscripts(root, environment=environment))
    planned = time.perf_counter() - began
    used = time.process_time()
    first = _import(root, environment)
    used = time.process_time() - used
    again = _import(root, environment)
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
        "episodes a second of processor time": round(episodes / used),
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


def _code() -> list[str]:
    library = Path(os.__file__).parent
    return [line for name in _SOURCES for line in (library / name).read_text(encoding="utf-8").split("\n")]


def _records(root: Path, session: int, turns: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    code = _code()
    prose = [line.strip(" #") for line in code if line.count(" ") > 10 and "#" in line]

    def text(lines: int) -> str:
        return " ".join(chance.choices(prose, k=lines))

    def piece(lines: int) -> list[str]:
        at = chance.randrange(len(code) - lines)
        return code[at : at + lines]

    def record(kind: str, content: Any, number: int, result: Any = None, **more: Any) -> dict[str, Any]:
        seconds = 1_690_000_000 + session * 40_000 + number
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + "Z"
        message = {"role": kind, "content": content, "id": f"m{session}-{number}", **more}
        return {
            "type": kind, "cwd": str(root), "sessionId": f"s{session}", "uuid": f"u{session}-{number}", "timestamp": stamp,
            "message": message, "toolUseResult": result,
        }  # fmt: skip

    for turn in range(turns):
        at = turn * 100
        yield record("user", text(3), at)
        for step in range(6):
            call, file = f"t{turn}-{step}", f"{root}/part{chance.randrange(9)}.py"
            name, given, result = _use(step, file, piece(20))
            used = {"type": "tool_use", "id": call, "name": name, "input": given}
            said = [{"type": "text", "text": text(2)}, used]
            yield record("assistant", said, at + 2 * step + 1, stop_reason="tool_use")
            lines = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(piece(30)))
            part = {"type": "tool_result", "tool_use_id": call, "content": lines}
            yield record("user", [part], at + 2 * step + 2, result)
        yield record("assistant", [{"type": "text", "text": text(8)}], at + 50, stop_reason="end_turn")


def _use(step: int, file: str, lines: list[str]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the name of a tool, what it is given, and what the program itself says of what it did."""
    if step == 4:
        marked = [sign + line for sign, line in zip("   -----+++++++++   ", lines, strict=True)]
        hunk = {"oldStart": 7, "oldLines": 11, "newStart": 7, "newLines": 15, "lines": marked}
        return "Edit", {"file_path": file, "old_string": "a", "new_string": "b"}, {"structuredPatch": [hunk]}
    return (
        ("Bash", {"command": f"grep -n import {file} && pytest -q"}, {})
        if step % 2
        else ("Read", {"file_path": file}, {})
    )
