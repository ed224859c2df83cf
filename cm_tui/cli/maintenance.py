"""`cm doctor`, `cm reset`."""

from __future__ import annotations

from collections.abc import Mapping

import typer

from cm_tui.cli.options import Yes, chosen_project
from cm_tui.cli.output import as_json, narrate, write
from cm_tui.counts import count
from cm_tui.errors import StoreError


def doctor(*, full: bool = False) -> None:
    """Check what cm stands on, read the whole store, and say how to fix each.

    Args:
        full: Compare every vector, keyword and file of HEAD too; it takes longer.
    """
    from cm_tui.daemon.checkup import examine

    checks = examine(chosen_project(), full=full)
    if not as_json({"checks": checks}):
        signs = {"ok": "✓", "warning": "!", "failed": "✗"}
        for check in checks:
            named = f"[{check.finding}] " if check.finding else ""
            write(f"{signs[check.state]} {check.name:<18} {named}{check.message}")
            if check.mend:
                write(f"  {'':<18} → {check.mend}")
    if any(check.state == "failed" for check in checks):
        raise typer.Exit(1)


def reset(*, everywhere: bool = False, drop: bool | None = None, yes: Yes = False) -> None:
    """Remove the index of this project, or of all, with or without its episodes; asks first.

    The code itself is never touched, and an index can be made again.

    Args:
        everywhere (--everywhere, --all): All projects.
        drop (--drop-episodes/--keep-episodes): What agents' sessions recorded: drop it too, for good, or keep it
            (unless told otherwise).
    """
    from cm_tui.daemon.open_engine import remove
    from cm_tui.engine.api import projects

    names = projects.all_names() if everywhere else [projects.name_of(chosen_project(), force=True)]
    recorded = {name: _episodes_of(name, sure=bool(drop)) for name in names if projects.has_journal(name)}
    if any(recorded.values()) and drop is None and not yes:
        drop = not typer.confirm(f"Keep what agents' sessions recorded ({_counted(recorded)})?", default=True, err=True)
    stores = {name: store for name in names if (store := projects.store_folder(name)).exists()}
    chosen = [name for name in names if name in stores or (drop and name in recorded)]
    if chosen and not yes:
        for name in chosen:
            narrate(f"  {projects.store_folder(name)}" + _description(name, recorded, drop=bool(drop)))
        typer.confirm(_question(len(stores), recorded if drop else {}), abort=True, err=True)
    for name in chosen:
        remove(projects.store_folder(name), drop_episodes=bool(drop))
    dropped = sum(recorded.values()) if drop else 0
    if as_json({"removed": [str(store) for store in stores.values()], "dropped_episodes": dropped}):
        return
    narrate(f"Removed {count(len(stores), 'index folder')}" + (f" and {_counted(recorded)}." if dropped else "."))
    if any(recorded.values()) and not drop:
        narrate(f"{_counted(recorded)} kept for the next index; `cm reset --drop-episodes` deletes them.")


def _episodes_of(name: str, *, sure: bool) -> int:
    """How many episodes a project has; 0 for a journal that cannot be read, unless they are to go."""
    from cm_tui.engine.api import projects

    try:
        return projects.episodes_of(name)
    except StoreError:
        if sure:
            raise
        return 0


def _counted(recorded: Mapping[str, int]) -> str:
    return count(sum(recorded.values()), "episode")


def _description(name: str, recorded: Mapping[str, int], *, drop: bool) -> str:
    episodes = _counted({name: recorded.get(name, 0)})
    return f"  ({episodes} {'go too' if drop else 'stay'})" if recorded.get(name) else ""


def _question(stores: int, recorded: Mapping[str, int]) -> str:
    what = [count(stores, "index folder")] if stores else []
    if not recorded:
        return f"Remove {what[0]}?"
    what.append(f"all that agents' sessions recorded ({_counted(recorded)})")
    return f"Remove {' and '.join(what)}? Recorded episodes cannot be recreated."
