"""Hooks: what an agent or git waits for, and how much of it is ours beside Python's own start."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

SESSION = {"session_id": "bench", "hook_event_name": "UserPromptSubmit"}
_CM = [sys.executable, "-c", "from cm_tui.__main__ import main; main()"]
"""What the `cm` on the PATH does."""
ASKED = "How are requests routed to views, case {number}?"

_RETRIEVAL = """name: bench
steps:
  - {type: derive_query, method: keyword_extract}
  - {type: vector_search, index: code, topK: 4}
  - {type: format, template: "{{path}}: {{text}}", maxTokens: 300}
"""
_RULES = """rules:
  - name: bench
    condition: {field: task.text, op: contains, value: routed}
    action: {include: "log://hook.prompt?limit=5"}
"""


def main(argv: Sequence[str]) -> int:
    """Run the measurements and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="cm bench hooks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=25, help="How often each hook is run; default: 25.")
    parser.add_argument("--tree", type=Path, help="A repository; with it, prompts are also answered by a daemon.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    with tempfile.TemporaryDirectory(prefix="cmb-") as scratch:
        rows = _measure(Path(scratch), options.rounds, options.tree)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        print("| hook | best | median | p95 | ours |\n|---|---|---|---|---|")
        for row in rows:
            print(
                f"| {row['name']} | {row['best_ms']} ms | {row['median_ms']} ms | {row['p95_ms']} ms | {row['ours_ms']} ms |"
            )
    return 0


def _measure(scratch: Path, rounds: int, tree: Path | None) -> list[dict[str, Any]]:
    root = scratch / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    environment = {**os.environ, "CM_HOME": str(scratch / "home"), "CM_DAEMON__USE": "never"}
    cm = [*_CM, "hook"]
    said = {**SESSION, "cwd": str(root)}
    runs: dict[str, tuple[list[str], dict[str, Any]]] = {
        "Python alone (`python -c pass`)": ([sys.executable, "-c", "pass"], {}),
        "git": ([*cm, "git", "post-commit"], {}),
        "edit": ([*cm, "edit"], {**said, "tool_input": {"file_path": "a.py"}}),
        "stop": ([*cm, "stop"], said),
        "prompt, skipped": ([*cm, "prompt"], {**said, "prompt": "yes, continue"}),
        "prompt, no daemon": ([*cm, "prompt"], {**said, "prompt": ASKED}),
    }
    # Interleaved: a machine that is busy for a moment is so for all of them.
    times = _times(rounds, runs, root, environment)
    if tree is not None:
        times |= _with_daemon(rounds, tree.resolve(), scratch / "o")
    base = min(next(iter(times.values())))
    return [_row(name, taken, base) for name, taken in times.items()]


def _times(
    rounds: int, runs: dict[str, tuple[list[str], dict[str, Any]]], folder: Path, environment: dict[str, str]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, (words, said) in runs.items():
            # Another session each time: the same question of one is answered once in a minute. And another question, as
            # answers to what was asked a moment ago are known.
            prompt = {"prompt": said["prompt"].format(number=number)} if "prompt" in said else {}
            data = json.dumps({**said, **prompt, "session_id": f"bench {number}"}).encode()
            begun = time.perf_counter()
            subprocess.run(words, cwd=folder, env=environment, input=data, capture_output=True, check=True)
            # The first round finds out who the project is, and fills the disk's cache.
            if number:
                times[name].append((time.perf_counter() - begun) * 1000)
    return times


def _with_daemon(rounds: int, tree: Path, home: Path) -> dict[str, list[float]]:
    """Hooks that reach a daemon with an index of a tree."""
    # The tree may be a checkout of cm: its code must not be what runs.
    environment = {**os.environ, "CM_HOME": str(home), "CM_DAEMON__USE": "auto", "PYTHONSAFEPATH": "1"}
    cm = _CM
    code = (
        "import pathlib, sys; from cm_tui.daemon.open_engine import open_engine\n"
        "engine = open_engine(pathlib.Path(sys.argv[1])); list(engine.index()); engine.search('warm'); engine.close()"
    )
    said = {"cwd": str(tree)}
    defined = _with_definitions(tree, home.parent / "defined")
    try:
        for folder in (tree, defined):
            words = [sys.executable, "-c", code, str(folder)]
            subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
        return _times(
            rounds,
            {
                "edit, a daemon told": ([*cm, "hook", "edit"], {**said, "tool_input": {"file_path": "nothing.py"}}),
                "prompt, answered by a daemon": ([*cm, "hook", "prompt"], {**said, "prompt": ASKED}),
                "prompt, definitions of the project": (
                    [*cm, "hook", "prompt"],
                    {"cwd": str(defined), "prompt": ASKED},
                ),
            },
            tree,
            environment,
        )
    finally:
        subprocess.run([*cm, "serve", "--stop"], env=environment, check=False, capture_output=True)


def _with_definitions(tree: Path, folder: Path) -> Path:
    """Return a clone of a tree that says by files of its own what is handed over."""
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(tree), str(folder)], check=True)
    for place, text in (("retrieval", _RETRIEVAL), ("rules", _RULES)):
        below = folder / ".cm" / place
        below.mkdir(parents=True, exist_ok=True)
        (below / "bench.yaml").write_text(text)
    return folder


def _row(name: str, taken: list[float], base: float) -> dict[str, Any]:
    return {
        "name": name,
        "best_ms": round(min(taken), 1),
        "median_ms": round(median(taken), 1),
        "p95_ms": round(sorted(taken)[int(len(taken) * 0.95)], 1),
        "ours_ms": round(min(taken) - base, 1),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
