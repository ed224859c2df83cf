"""`cm bench`: the measurements behind the figures, for anyone to run."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

BENCHES = {
    "quality": "NDCG@10 on a set of queries, by category and corpus, with ablations.",
    "lines": "Whether the right lines are first: questions from repositories' histories, comments, tests and names.",
    "packs": "Whether the lines that answer such questions are inside a pack, beside a plain list; --corpora: of quality.",
    "model": "The bundled model of code made anew: pairs, training, and how good it is; the guide on models says how.",
    "weights": "Weights of the profile code learned from such questions, and what they do on languages left out.",
    "relevance": "How likely a hit of some score is in the right place, and how well that holds on repositories left out.",
    "memory": "Recall of turns and sessions on conversations with questions, without each step, by kind; --cases.",
    "notes": "Sections of documentation found by their headings; notes and entries by the ten thousand.",
    "speed": "Index, query and start-up times, as ratios against peers where they are installed.",
    "callers": "Precision and recall of the call graph against Python's own syntax trees.",
    "edges": "What the call graph claims in any language, and claims drawn at random to be judged by hand.",
    "hooks": "What agents and git wait for when a hook runs, and how much of it is ours.",
    "mcp_tools": "What each set of MCP tools costs an agent, in characters and estimated tokens.",
    "freshness": "What the check before a question costs, and how soon an edit is found by each layer.",
    "vectors": "Embedding throughput, exact search against the graph.",
    "history": "Reading the past beside git's own log, latency, branch switches, checks against fresh indexes.",
    "stale": "Names written down at old commits of real projects, checked at HEAD against what git says; every miss.",
    "secrets": "What redaction takes for a secret in folders or commits, by kind and per 1,000; never the secret.",
    "load": "Many clients at once, with and without writes: latency as ratios, wrong answers.",
    "sessions": "Importing agents' sessions: episodes and bytes a second, memory.",
    "symbols": "Definitions found beside those of Universal Ctags on the same files, where it is installed.",
    "episodes": "A hundred thousand episodes: lists, filters, words, totals; store and memory; appends beside kills.",
    "narrator": "A pass of the narrator over many episodes, one more session, memory; a reader beside it.",
    "inject": "Choosing what an agent is given of thousands of entries: milliseconds, with and without a prompt.",
    "assembly": "What is handed over for a prompt: milliseconds with 1 to 100 definitions, new prompts and the same again.",
    "rules": "A thousand rules over a thousand memory references, and how that grows, beside a plain interpreter.",
    "daemon": "The daemon: latency of both engines, many clients, kill -9, memory.",
}

RENAMED = {"owner": "daemon"}
"""Measurements by their old name."""


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    listing = "\n\n".join(f"{name}: {text}" for name, text in BENCHES.items())
    app.command(
        "bench",
        help=f"Measure retrieval quality and speed.\n\n{listing}\n\nAdd -h after the name for its options.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["--help"]},
    )(bench)


def bench(
    context: typer.Context, name: Annotated[str, typer.Argument(help=", ".join(BENCHES), show_default=False)]
) -> None:
    """Run one of the measurements with the words that follow it."""
    from cm_tui.cli.output import narrate
    from cm_tui.errors import UsageError

    if name in RENAMED:
        narrate(f"`cm bench {name}` is called `cm bench {RENAMED[name]}` now.")
        name = RENAMED[name]
    if name not in BENCHES:
        raise UsageError(f"There is no measurement {name!r}.", hint=f"Use one of {', '.join(BENCHES)}.")
    module = importlib.import_module(f"cm_tui.bench.{name}")
    raise typer.Exit(module.main(list(context.args)) or 0)
