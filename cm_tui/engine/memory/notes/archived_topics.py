"""Retired topics: outside the folders of notes, so never recalled, but readable by the user."""

from __future__ import annotations

from pathlib import Path

from cm_tui import paths
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.places import NOTES_FOLDER, USER, Folder, Found, Places
from cm_tui.engine.memory.notes.scan import scan_folders
from cm_tui.files import Stamp

PROJECT_ARCHIVE = f"{paths.PROJECT_FOLDER}/archive"
USER_ARCHIVE = "user-archive:"
TOPICS = "topics/"


class ArchivedTopics(Places):
    """The folders of retired topics of a project and of its user."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.folders = (
            Folder(root, PROJECT_ARCHIVE, "", "project", "project"),
            Folder(paths.data_dir() / "notes-archive", "", USER_ARCHIVE, "user", "user"),
        )

    def all(self) -> list[tuple[Found, Stamp]]:
        """Return the existing topics, each with its change stamp."""
        return [one for one in scan_folders(self).found.values() if one[0].kind == "topic"]


def is_archived(id_: str) -> bool:
    """Return whether an id is that of a retired topic."""
    return id_.startswith((f"{PROJECT_ARCHIVE}/", USER_ARCHIVE))


def place_of(notes: Notes, id_: str) -> Found:
    """Return the place of a note or retired topic, existing or not.

    Raises NotFoundError if the name is impossible; RefusedError if it is outside the folders of notes.
    """
    return ArchivedTopics(notes.root).place(id_) if is_archived(id_) else notes.places.place(id_)


def archived(notes: Notes, place: Found) -> Found:
    """Return where a topic lies once it is retired."""
    inside = place.path[place.path.index(TOPICS) :]
    return place_of(notes, f"{USER_ARCHIVE}{inside}" if place.scope == "user" else f"{PROJECT_ARCHIVE}/{inside}")


def restored(notes: Notes, place: Found) -> Found:
    """Return where a retired topic lies once it is back."""
    inside = place.path[place.path.index(TOPICS) :]
    return place_of(notes, f"{USER}{inside}" if place.scope == "user" else f"{NOTES_FOLDER}/{inside}")
