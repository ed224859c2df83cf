"""The `cm` command."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line; the application itself when no command is given."""
    from cm_tui.files import private_umask

    with private_umask():
        sys.exit(_run())


def _run() -> int:
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv[2:3]):
        # An agent or git waits for a hook: the command line itself would take longer to import than all of its work.
        from cm_tui.agent_hooks.command import main as hook

        return hook(sys.argv[2:])
    # Every command would look through all installed packages for plugins of the library that checks options and settings.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from cm_tui.cli.app import run

    # Rows come by the hundred thousand, and hardly ever in cycles: looking for those took a tenth of an index run.
    gc.set_threshold(100_000, 50, 100)
    return run(sys.argv[1:])


if __name__ == "__main__":
    main()
