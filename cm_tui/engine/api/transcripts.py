"""Where agents keep their transcripts, as their own variables say it: what a front end passes on to the daemon."""

from __future__ import annotations

from collections.abc import Mapping

from cm_tui.engine.transcripts.variables import VARIABLES


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return of a process's variables those that say where agents keep their transcripts."""
    return {name: variables[name] for name in VARIABLES if variables.get(name)}
