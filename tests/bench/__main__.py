"""Runs one of the measurements: `python -m tests.bench NAME [OPTIONS]`, or `just bench NAME [OPTIONS]`."""

from __future__ import annotations

import importlib
import sys

from cm_tui.errors import CmError

BENCHES = {
    "quality": "NDCG@10 on questions about nine published packages, by category and corpus, with ablations.",
    "lines": "Whether the right lines are first: questions from repositories' histories, comments, tests and names.",
    "packs": "Whether the lines that answer such questions are inside a pack, beside a plain list; --corpora: of quality.",
    "memory": "Recall of turns and sessions on conversations with questions, without each step, by kind; --cases.",
    "callers": "Precision and recall of the call graph against Python's own syntax trees.",
    "speed": "Index, query and start-up times, as ratios against peers where they are installed.",
    "history": "Reading the past beside git's own log, latency, branch switches, checks against fresh indexes.",
    "load": "Many clients at once, with and without writes: latency as ratios, wrong answers.",
    "narrator": "A pass of the narrator over many episodes, one more session, memory; a reader beside it.",
}
LEARNERS = {
    "model": "The bundled model of code: pairs, training, quality; see tests/bench/static_model/README.md.",
    "weights": "Weights of the profile code, learned from questions of lines, and what they do on languages left out.",
    "relevance": "How likely a hit of some score is in the right place, and how well that holds on repositories left out.",
}
"""What makes numbers that the product comes with."""


def main(arguments: list[str]) -> int:
    """Run a measurement with the words that follow its name; without one, list them.

    Returns:
        The exit code: 2 where there is no such measurement.
    """
    name, *rest = arguments or ["--help"]
    if name not in BENCHES | LEARNERS:
        print(*(f"{one:<10} {text}" for one, text in (BENCHES | LEARNERS).items()), sep="\n")
        return 0 if name in {"-h", "--help"} else 2
    try:
        return importlib.import_module(f"tests.bench.{name}").main(rest) or 0
    except CmError as error:
        print(error, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
