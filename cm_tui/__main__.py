"""The `cm` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the application itself when no command is given."""
    from cm_tui.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
