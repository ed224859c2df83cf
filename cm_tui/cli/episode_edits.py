"""`cm episodes tag`, `pin`, `rate`, `forget`: what people say of episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, Project, open_engine
from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from cm_tui.model import EpisodeEdit

Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, beginnings of ids, or `last`.")]


def tag(
    ids: Ids,
    add: Annotated[list[str] | None, typer.Option("--add", "-t", help="A tag that they get.")] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", "-r", help="A tag that they lose.")] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Tag episodes, or take tags from them."""
    from cm_tui.model import EpisodeEdit

    if not add and not remove:
        raise UsageError("No tag is given.", hint="cm episodes tag ID --add bug --remove draft")
    _edit(ids, EpisodeEdit(add_tags=tuple(add or ()), remove_tags=tuple(remove or ())), project, as_json=as_json)


def pin(
    ids: Ids,
    undo: Annotated[bool, typer.Option("--undo", help="Pin them no longer.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Pin episodes: they are kept longest, and no agent changes them."""
    from cm_tui.model import EpisodeEdit

    _edit(ids, EpisodeEdit(pinned=not undo), project, as_json=as_json)


def rate(
    ids: Ids,
    useful: Annotated[bool, typer.Option("--useful", help="They were useful.")] = False,
    misleading: Annotated[bool, typer.Option("--misleading", help="They misled.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the rating.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Say whether episodes were useful."""
    from cm_tui.model import EpisodeEdit

    if useful + misleading + clear != 1:
        raise UsageError("Choose one of --useful, --misleading and --clear.")
    _edit(ids, EpisodeEdit(rating=useful - misleading), project, as_json=as_json)


def forget(
    ids: Ids,
    undo: Annotated[bool, typer.Option("--undo", help="Bring them back.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Forget episodes, as `cm forget` does: lists, search and agents have them no more; --undo brings them back."""
    from cm_tui.model import EpisodeEdit

    _edit(ids, EpisodeEdit(forgotten=not undo), project, as_json=as_json)


def _edit(ids: list[str], edit: EpisodeEdit, project: Project, *, as_json: bool) -> None:
    from cm_tui.cli.output import narrate, print_json

    with open_engine(project) as engine:
        edited = engine.edit_episodes(ids, edit)
    print_json(edited) if as_json else narrate(f"{edited.words}; `cm undo` undoes it")
