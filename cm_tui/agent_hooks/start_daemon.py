"""Start the owner, then tell it of a project's journal: what a hook leaves behind when a session begins without one."""

from __future__ import annotations

import sys
from pathlib import Path

from cm_tui.daemon.bootstrap import nudge, start_owner
from cm_tui.daemon.open_engine import uses_owner
from cm_tui.errors import CmError


def main() -> int:
    """Wait for the owner and nudge it; nobody reads what this would print."""
    if not uses_owner():
        return 0
    try:
        start_owner()
    except CmError:
        return 1
    return 0 if nudge(Path(sys.argv[1])) else 1


if __name__ == "__main__":
    sys.exit(main())
