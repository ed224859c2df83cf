"""Prompts for a language model, one file per task."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def prompt(task: str) -> str:
    """Return the prompt for a task: `phrase`, `merge` or `contradict`."""
    return (resources.files(__name__) / f"{task}.md").read_text(encoding="utf-8")
