"""Answers about the past, held against an index of the checkout of that moment."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from cm_tui.config import load_config
from cm_tui.engine.api.engine import Engine
from cm_tui.model.history import SHORT_SHA
from tests.bench.releases import git


def differs(engine: Engine, root: Path, scratch: Path, ref: str) -> bool:
    """Return whether a revision's answers are not those of an index of its checkout; say what differs.

    Args:
        engine: of the repository.
        root: of the repository.
        scratch: where the checkout is made.
        ref: names the revision.
    """
    commit = engine.resolve(ref)
    checkout, store = scratch / f"checkout-{commit.sha}", scratch / f"store-{commit.sha}"
    git(scratch, "clone", "-q", "--shared", "--no-checkout", str(root), str(checkout))
    git(checkout, "checkout", "-q", "-f", "--detach", commit.sha)
    with closing(Engine(checkout, store, load_config(checkout))) as fresh:
        list(fresh.index())
        differing = list(_differences(engine, fresh, ref))
    shutil.rmtree(checkout)
    shutil.rmtree(store)
    for what in differing:
        sys.stderr.write(f"{ref} {commit.sha[:SHORT_SHA]}: {what}\n")
    return bool(differing)


def _differences(engine: Engine, fresh: Engine, ref: str) -> Iterator[str]:
    """Yield what two engines do not agree on: files, symbols, and the callers of every twentieth symbol."""
    mine = [(f.path, f.language, f.lines, f.bytes, f.symbols) for f in engine.files_at(ref).rows]
    theirs = [(f.path, f.language, f.lines, f.bytes, f.symbols) for f in fresh.files().rows]
    if mine != theirs:
        yield f"files {set(mine) ^ set(theirs)}"
    symbols = fresh.symbols(limit=10_000_000).rows
    if engine.symbols_at(ref, limit=10_000_000).rows != symbols:
        yield "symbols"
    for symbol in [one for one in symbols if one.kind in ("function", "method", "class")][::20]:
        if _sites(engine.callers(symbol.key, at=ref).rows) != _sites(fresh.callers(symbol.key).rows):
            yield f"callers of {symbol.path} {symbol.qualname}"


def _sites(edges: Sequence[Any]) -> list[tuple[Any, ...]]:
    return sorted((e.site, e.line, e.qualname, e.resolution, e.target, e.text) for e in edges)
