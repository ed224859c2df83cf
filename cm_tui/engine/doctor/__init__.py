"""`cm doctor`: does everything that cm stands on work here, is what it keeps whole, and how is it mended if not."""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.doctor.installation import examine_installation, examine_project, failed
from cm_tui.engine.doctor.project_store import StoreParts, examine_store
from cm_tui.model import Check

__all__ = ["StoreParts", "examine", "examine_installation", "examine_store", "failed"]


def examine(root: Path) -> tuple[Check, ...]:
    """Check the installation, a project's settings, and the embedding model that they ask for."""
    return (*examine_installation(), *examine_project(root))
