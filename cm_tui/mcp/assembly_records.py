"""What `context_assemble`, `working_memory` and values of the memory return beside their text."""

from __future__ import annotations

from pydantic import BaseModel

from cm_tui.mcp.records import Packed


class AssembledSource(BaseModel):
    """One source of an assembly, and what became of it; `cut` is empty where it is whole."""

    id: str
    kind: str
    title: str
    section: str
    tokens: int
    found_tokens: int
    cut: str
    why_cut: str
    rules: list[str]
    file: str
    ms: float


class RuleApplied(BaseModel):
    """What a rule said to one memory reference."""

    rule: str
    file: str
    reference: str
    action: str
    counted: bool


class Assembled(Packed):
    """What is handed over for a prompt, and how it came to be; `about` says how the text is to be taken.

    `items` are the places of code and memory in it, `sources` where all of it comes from.
    """

    about: str
    sources: list[AssembledSource]
    rules: list[RuleApplied]
    warnings: list[str]
    snapshot: str
    ms: float


class Working(BaseModel):
    """What a session keeps for its turn, after what was asked."""

    session: str
    text: str
    about: str
    notes: list[str] = []
