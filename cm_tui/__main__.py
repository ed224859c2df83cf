"""The `cm` command."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line; the application itself when no command is given."""
    from cm_tui.cli.app import run

    # Rows come by the hundred thousand, and hardly ever in cycles: looking for those took a tenth of an index run.
    gc.set_threshold(100_000, 50, 100)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
