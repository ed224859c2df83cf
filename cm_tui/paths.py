"""Folders and files in which things are kept. `CM_HOME` moves all of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

APP = "cm-tui"
STORE_DATABASE = "store.duckdb"
"""Database in a store's folder, named here for clients that do without DuckDB."""
STORE_MANIFEST = "project.json"
"""File in a store's folder that says whose it is; written once the project is indexed."""
PROJECT_FOLDER = ".cm"
"""Folder in a project with its configuration; where there is no git, it makes its parent a root."""

_OF_WORKTREE = "+"
"""Between a project and a worktree in the name of a store's folder; no project has it in its name."""

_XDG = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")
AGENT_FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "CURSOR_DATA_DIR")
"""Variables that move the folders of agents' transcripts."""
AGENT_VARIABLES = (*AGENT_FOLDERS, "XDG_DATA_HOME", "OPENCODE_DB")
"""All variables by which agents' transcripts are found where they are not in their usual place."""


def settle_environment() -> None:
    """Make what this process's environment says of folders hold in every folder, for it and for all that it starts.

    A relative `CM_HOME` becomes absolute: a daemon runs in another folder, and would be where no command looks for it.
    So do the folders of agents. A relative `HOME` is replaced by the one of the user's account, and relative XDG
    variables are removed, as their specification has it.

    Raises ConfigError if `CM_HOME` is no folder, or begins with the home of a user that does not exist;
    FileNotFoundError if one is relative, and the current folder is gone.
    """
    relative = [name for name in ("HOME", *_XDG) if not os.path.isabs(os.environ.get(name, "/"))]  # noqa: PTH117 - hooks
    for name in relative:
        del os.environ[name]
    if "HOME" in relative and os.path.isabs(user := os.path.expanduser("~")):  # noqa: PTH111, PTH117
        os.environ["HOME"] = user
    for name in AGENT_FOLDERS:
        if text := os.environ.get(name):
            os.environ[name] = ",".join(_absolute(part.strip()) for part in text.split(","))
    home = home_folder()
    if home is None:
        return
    os.environ["CM_HOME"] = str(home)
    if os.path.lexists(home) and not home.is_dir():
        raise _unusable(f"CM_HOME is not a folder: {home}.")


def _absolute(text: str) -> str:
    return os.path.abspath(text) if text and text[0] != "~" else text  # noqa: PTH100 - links stay


def home_folder() -> Path | None:
    """The folder of `CM_HOME`; None when it is not set, or blank."""
    text = os.environ.get("CM_HOME", "")
    if not text.strip():
        return None
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise _unusable(f"CM_HOME is not valid: {text}: {error}") from error


def _unusable(problem: str) -> Exception:
    from cm_tui.errors import ConfigError

    return ConfigError(problem, hint="Set CM_HOME to the absolute path of a folder that you can write.")


def _base(part: Literal["data", "config", "state"]) -> Path:
    home = home_folder()
    if home is not None:
        return home / part
    import platformdirs

    places = {
        "data": platformdirs.user_data_dir,
        "config": platformdirs.user_config_dir,
        "state": platformdirs.user_state_dir,
    }
    folder = Path(places[part](APP))
    if not folder.is_absolute():
        raise _unusable(f"cm has no folder for its files: {folder} is not absolute. HOME is missing or relative.")
    return folder


def data_dir() -> Path:
    """Return the folder of stores, one below it for each project."""
    return _base("data")


def store_dir(identity: str, name: str) -> Path:
    """Return the folder of a project's store, below the data folder; not made here.

    `identity`: the project's name for itself, such as `path:FOLDER`; `name`: for people.
    """
    import hashlib
    import re

    # Clones without a remote lie in folders of any name, and must still meet in one store.
    name = "commit" if identity.startswith("root-commit:") else name
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "project"
    digest = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return data_dir() / "projects" / f"{slug}-{digest}"


def worktree_store(project: Path, root: Path) -> Path:
    """Return the folder of a further checkout's own store, next to its project's store; not made here."""
    import hashlib

    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return project.with_name(f"{project.name}{_OF_WORKTREE}{digest}")


def project_store(store: Path) -> Path:
    """Return the folder of the project's store, which another checkout's own one is a copy of."""
    return store.with_name(store.name.partition(_OF_WORKTREE)[0])


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


def clipboard_file() -> Path:
    """Return the file of the text that was copied last where no clipboard is known to have taken it."""
    return state_dir() / "clipboard.md"


def choices_file(root: Path) -> Path:
    """Return the file of what the application remembers of a project."""
    import hashlib

    digest = hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()
    return state_dir() / "projects" / f"{digest[:16]}.json"


def runtime_dir() -> Path:
    """Return the folder of the daemon: its lock, its socket and what it says about itself.

    It is in the data folder, not in `XDG_RUNTIME_DIR`: every process that uses the same stores (a terminal, a cron job,
    an agent's sandbox) must reach the same daemon.
    """
    return data_dir() / "run"


def project_config_file(root: Path) -> Path:
    """Return the configuration file that a project carries."""
    return root / PROJECT_FOLDER / "config.toml"


def private_dir(path: Path) -> Path:
    """Make a folder that only the user can read, and so all that are missing above it.

    Raises OSError when it cannot be made.
    """
    # `mkdir` with `parents` would give its mode to the last one alone.
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True, mode=0o700)
    return path
