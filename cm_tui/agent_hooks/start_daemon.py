"""Start the daemon, then tell it of a project's journal: what a hook leaves behind when a session begins without one."""

from __future__ import annotations

import sys
from pathlib import Path

from cm_tui.daemon.bootstrap import notify, start_daemon
from cm_tui.daemon.daemon_use import uses_daemon
from cm_tui.errors import CmError
from cm_tui.files import private_umask


def main() -> int:
    """Wait for the daemon and nudge it, without output."""
    if not uses_daemon():
        return 0
    try:
        with private_umask():
            start_daemon()
    except CmError:
        return 1
    return 0 if notify(Path(sys.argv[1])) else 1


if __name__ == "__main__":
    sys.exit(main())
