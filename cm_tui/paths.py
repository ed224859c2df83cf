"""Folders and files in which things are kept. `CM_HOME` moves all of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

APP = "cm-tui"
STORE_MANIFEST = "project.json"
"""File in a store's folder that says whose it is; written once the project is indexed."""
PROJECT_FOLDER = ".cm"
"""Folder in a project with its configuration; where there is no git, it makes its parent a root."""


def _base(part: Literal["data", "config", "state"]) -> Path:
    home = os.environ.get("CM_HOME")
    if home:
        # Made absolute: a relative one would be another place in each folder.
        return Path(home).expanduser().absolute() / part
    import platformdirs

    places = {
        "data": platformdirs.user_data_dir,
        "config": platformdirs.user_config_dir,
        "state": platformdirs.user_state_dir,
    }
    return Path(places[part](APP))


def data_dir() -> Path:
    """Return the folder of stores, one below it for each project."""
    return _base("data")


def store_dir(identity: str, name: str) -> Path:
    """Return the folder of a project's store, below the data folder; not made here.

    Args:
        identity: the project's name for itself, such as `path:FOLDER`.
        name: for people.
    """
    import hashlib
    import re

    # Clones without a remote lie in folders of any name, and must still meet in one store.
    name = "commit" if identity.startswith("root-commit:") else name
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "project"
    digest = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return data_dir() / "projects" / f"{slug}-{digest}"


def config_file() -> Path:
    """Return the user's configuration file."""
    return _base("config") / "config.toml"


def trust_file() -> Path:
    """Return the file that says which checkouts the user trusts with which settings."""
    return _base("data") / "trust.json"


def links_file() -> Path:
    """Return the file that says which checkouts share which project's memory."""
    return _base("data") / "links.json"


def state_dir() -> Path:
    """Return the folder for what the application remembers between runs, and its log."""
    return _base("state")


def choices_file(root: Path) -> Path:
    """Return the file of what the application remembers of a project."""
    import hashlib

    digest = hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()
    return state_dir() / "projects" / f"{digest[:16]}.json"


def runtime_dir() -> Path:
    """Return the folder of the daemon: its lock, its socket and what it says about itself.

    It lies with the data, not in `XDG_RUNTIME_DIR`: whoever comes to the same stores, from a terminal, a cron job or an
    agent's sandbox, must come to the same daemon.
    """
    return data_dir() / "run"


def project_config_file(root: Path) -> Path:
    """Return the configuration file that a project carries."""
    return root / PROJECT_FOLDER / "config.toml"


def private_dir(path: Path) -> Path:
    """Make a folder that only the user can read, and so all that are missing above it.

    Raises:
        OSError: when it cannot be made.
    """
    # `mkdir` with `parents` would give its mode to the last one alone.
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True, mode=0o700)
    return path
