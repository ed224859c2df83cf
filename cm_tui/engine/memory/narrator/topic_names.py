"""Names of topics: resolving the user's names, and naming new ones, always inside the folders of topics."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from cm_tui.engine.memory.notes.notes import Notes, named_in
from cm_tui.engine.memory.notes.places import USER, Found
from cm_tui.engine.memory.notes.topic_files import ArchivedTopics
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.model.ids import quoted

_TOPICS = "topics/"
_BETWEEN = re.compile(r"[\W_]+")
_SLUG_CHARACTERS, MOST_TITLE = 60, 200


def topic_named(notes: Notes, name: str) -> Found:
    """Return the place of an existing topic by its id or name.

    Raises NotFoundError if no topic has that name; UsageError if the name is ambiguous, or it is another note;
    RefusedError if it lies outside the folders of notes, or is a link.
    """
    for places in notes.scans():
        if (found := _fitting(places, name)) is not None:
            return found
    hint = "`cm topics list` lists them."
    try:
        # Reports a place elsewhere.
        place = notes.named(name)
    except NotFoundError as error:
        raise NotFoundError(f"Topic not found: {quoted(name, 80)}.", hint=hint) from error
    raise UsageError(f"{place.id} is a note, not a topic.", hint=hint)


def retired_named(notes: Notes, name: str) -> Found:
    """Return the place of a retired topic by its id, its name, or its former id.

    Raises NotFoundError if no retired topic has that name; UsageError if the name is ambiguous.
    """
    places, inside = [one for one, _ in ArchivedTopics(notes.root).all()], name.strip().partition(_TOPICS)[2]
    found = _fitting(places, name) or (named_in(places, f"{_TOPICS}{inside}", "topic") if inside else None)
    if found is None:
        raise NotFoundError(
            f"Retired topic not found: {quoted(name, 80)}.", hint="`cm topics list --retired` lists retired ones."
        )
    return found


def new_topic(notes: Notes, name: str, title: str = "", *, for_user: bool = False) -> Found:
    """Return the place of a new topic.

    `name`: its name or id; empty: derived from the title. `for_user`: it is the user's, whatever the name. Raises
    UsageError if the name is invalid, or taken; RefusedError if it is outside the folders of topics.
    """
    is_users = for_user or name.startswith(USER)
    bare = name.strip().removeprefix(USER).removeprefix(f"{notes.places.folders[0].path}/").removeprefix(_TOPICS)
    bare = bare or slug(title)
    if len(title) > MOST_TITLE:
        raise UsageError("The title is too long.", hint=f"Use at most {MOST_TITLE} characters.")
    if not bare:
        raise UsageError("The topic has no name.", hint="Give it a title with letters or digits.")
    place = notes.places.new(f"{USER if is_users else ''}{_TOPICS}{bare}")
    if place.kind != "topic":
        raise RefusedError(f"{place.id} is outside the folders of topics.", hint="Use a name without folders.")
    if os.path.lexists(place.file):
        raise UsageError(f"{place.id} already exists.", hint="Use another name.")
    return place


def slug(title: str) -> str:
    """Return the file name of a topic, without its ending."""
    return _BETWEEN.sub("-", title.casefold()).strip("-")[:_SLUG_CHARACTERS].strip("-")


def name_of(place: Found) -> str:
    """Return the name of a topic from its file."""
    return place.path.rpartition("/")[2].rpartition(".")[0]


def _fitting(places: Sequence[Found], name: str) -> Found | None:
    """Return the topic with a name, such as `user:style` for one of the user's; None: no such topic.

    Raises UsageError if the name is ambiguous.
    """
    topics, bare = [one for one in places if one.kind == "topic"], name.strip().removeprefix(USER)
    of_user = f"{USER}{_TOPICS}{bare}" if name.strip() != bare else ""
    return named_in(topics, name, "topic") or (named_in(topics, of_user, "topic") if of_user else None)
