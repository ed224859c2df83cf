"""Start the daemon, or replace an older one, and notify it of a project's journal; hooks do not wait for it."""

from __future__ import annotations

import sys
from pathlib import Path

from cm_tui.agent_hooks.session_state import drop_starter
from cm_tui.daemon.bootstrap import notify
from cm_tui.daemon.daemon_use import ready, uses_daemon
from cm_tui.errors import CmError
from cm_tui.files import private_umask


def main() -> int:
    """Wait for the daemon and nudge it, without output."""
    try:
        if not uses_daemon():
            return 0
        with private_umask():
            ready(lambda _: None)
    except CmError:
        return 1
    finally:
        drop_starter()
    return 0 if notify(Path(sys.argv[1])) else 1


if __name__ == "__main__":
    sys.exit(main())
