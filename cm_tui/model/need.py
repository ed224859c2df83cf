"""What an answer must reflect."""

from __future__ import annotations

from typing import Literal

Need = Literal["files", "head", "checkout", "nothing"]
"""What the index must reflect before a method is answered.

`files`: HEAD and the files on disk; a question about an earlier revision needs `head` alone. `head`: the commit that is
checked out, while files that differ from it are left alone, since somebody looks at the difference. `checkout`: whatever
it reflects, it must be the checkout that asks and no other clone or worktree of the project. `nothing`: answered as it is.
"""
