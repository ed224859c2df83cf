"""Records of what agents were asked and did."""

from __future__ import annotations

from dataclasses import dataclass

from cm_tui.model.history import CommitPoint


@dataclass(frozen=True, slots=True)
class Episode:
    """One turn of an agent's session: what it was asked, at which commit, and what came of it.

    Texts are those of people and agents: they may hold control characters. What looked like a secret was taken out before
    they were stored.
    """

    id: str
    time: float
    """When it was recorded: seconds since the epoch."""
    agent: str
    session: str
    prompts: tuple[str, ...]
    answer: str
    files: tuple[str, ...]
    """Paths that it touched, and what differed from the commit when it stopped."""
    root: str
    """Folder of the checkout that it worked in."""
    sha: str
    """The commit that it saw, HEAD at its first prompt, which the patch starts from; empty: none was recorded."""
    head: str
    """HEAD when it stopped: another one when it committed."""
    moment: CommitPoint | None
    """Where that commit lies on the line, or its nearest ancestor there (told by `Engine.episode` alone)."""
    why: str
    """Why there is no commit point, or why it is not exactly that commit, or not known; empty: it can be replayed."""
    patch_lines: int
    patch: str = ""
    """How the working tree differed from the commit when it stopped; empty in lists."""
    patch_cut: bool = False
    """The patch was longer than what is kept."""
    redacted: int = 0
    """Secrets that were taken out of the patch."""
    note: str = ""
    """What was said when it was recorded, such as why there is no patch."""
