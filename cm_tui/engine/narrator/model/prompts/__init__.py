"""What a language model is told, one file a task."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def prompt(task: str) -> str:
    """Return what a model is told for a task: `phrase`, `merge` or `contradict`."""
    return (resources.files(__name__) / f"{task}.md").read_text(encoding="utf-8")
