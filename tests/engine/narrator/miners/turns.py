"""Turns of the shapes that agents' transcripts give, for tests of miners."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from cm_tui.engine.memory.narrator.turn import Miner, Observation, Turn
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import Step

ROOT = "/home/ann/shop"


def bash(line: str, result: str = "", *, failed: bool = False) -> Step:
    """Return a line that Claude Code gave its shell."""
    return Step("tool", line, "Bash", result, failed=failed)


def codex(line: str, result: str = "", *, failed: bool = False) -> Step:
    """Return a line that Codex gave its shell, by a login shell."""
    return Step("tool", f'bash -lc "{line}"', "shell", result, failed=failed)


def edit(path: str, tool: str = "Edit") -> Step:
    """Return a change of a file."""
    return Step("tool", path, tool, "ok", path)


def turn(*steps: Step, before: Turn | None = None, **fields: Any) -> Turn:
    """Return a turn that did these steps."""
    record = EpisodeRecord(
        **{"agent": "claude-code", "session": "s1", "root": ROOT, "steps": steps, "actor": "import"} | fields
    )
    return Turn("e1", 1_780_000_000.0, record, before)


def new_file(path: str, *lines: str) -> str:
    """Return a section of a patch that makes a file."""
    added = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{added}"


def changed(path: str, line: str = "x") -> str:
    """Return a section of a patch that changes a line of a file."""
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-y\n+{line}\n"


def claims(miner: Miner, one: Turn) -> dict[str, Observation]:
    """Return what a miner sees in a turn, by claim; what only counts is left out."""
    return {seen.claim: seen for seen in miner(one) if seen.claim}


def texts(found: Iterable[Observation]) -> list[str]:
    """Return what observations say, as it would be written."""
    return [seen.text for seen in found if seen.claim]


_ANY = st.text(max_size=200)
_LINES = st.one_of(
    _ANY,
    st.text(alphabet="ab /|&;<>()$`'\"\\\n{}=-.:#*~\0é", max_size=120),
    st.lists(st.sampled_from(["cd", "/home/ann/shop", "&&", "pytest", "-q", "|", "tail", "'", "$(", ")", "<<EOF", "git", "commit", "-m", "make", "uv",
                              "run", "python", "-c", "-", "timeout", "5", "env", "A=b", "--", "./x", "[redacted: token]", "sudo", "npx"]),
             max_size=14).map(" ".join),
)  # fmt: skip
_STEPS = st.builds(
    Step,
    st.sampled_from(["tool", "said"]),
    _LINES,
    st.sampled_from(["Bash", "shell", "Edit", "apply_patch", ""]),
    _ANY,
    _ANY,
    st.booleans(),
)
_PATCHES = st.one_of(
    _ANY,
    st.lists(
        st.sampled_from([new_file("a/b.py", "# SPDX", "x"), changed("c.py"), "diff --git a/", "@@", "+++ b/x\n"])
    ).map("".join),
)
any_turns = st.builds(
    lambda steps, files, patch, prompts, root, outcome, before: turn(
        *steps, files=tuple(files), patch=patch, prompts=tuple(prompts), root=root, outcome=outcome, before=turn(files=tuple(files), patch=patch) if before else None
    ),
    st.lists(_STEPS, max_size=8), st.lists(st.one_of(_ANY, st.sampled_from(["a/b.py", "c.py", "x"])), max_size=5), _PATCHES, st.lists(_LINES, max_size=2),
    st.sampled_from([ROOT, "", "/", "a", "(["]), st.sampled_from(["", "ok", "failed", "interrupted"]), st.booleans(),
)  # fmt: skip
"""Turns that hold anything at all."""
