"""What an answer must reflect."""

from __future__ import annotations

from typing import Literal

Need = Literal["files", "head", "checkout", "nothing"]
"""What the index must reflect before a method is called.

`files`: HEAD and the files on disk; a query about an earlier revision needs only `head`. `head`: the checked-out commit,
without uncommitted changes, because the caller compares with them. `checkout`: any state of the requesting checkout, but
not of another clone or worktree of the project. `nothing`: no requirement.
"""
