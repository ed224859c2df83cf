"""Events from agents' hooks: secrets are redacted, HEAD is noted, and the journal has them.

A hook delays the user's work: imports are local.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def record_event(
    root: Path, kind: str, data: Mapping[str, Any], texts: Mapping[str, str], *, limit: int, folder: str = ""
) -> None:
    """Append an event to the journal of the project at a root, unless recording is off.

    Args:
        root: of the checkout that it happened in.
        kind: what happened, such as `hook.prompt`.
        data: facts without words of users or agents.
        texts: those words by name; secrets are redacted.
        limit: characters to keep of each text.
        folder: where in the checkout the session works.

    Raises:
        RefusedError: git's data cannot be opened.
        StoreError: the journal cannot be written, or it is unknown whether recording is paused.
        ConfigError: the list of folders that are never recorded cannot be read.
        UsageError: it is too much for one event.
    """
    from cm_tui.engine.memory.recording.gate import why_not, without_never_recorded
    from cm_tui.engine.platform.git.git_dir import git_folders, head_of
    from cm_tui.engine.platform.journal.journal import Journal

    if why_not(root, str(data.get("session", "")), folder=folder):
        return
    if "paths" in data:
        data = {**data, "paths": without_never_recorded(root, data["paths"])}
        if not data["paths"]:
            return
    folders = git_folders(root)
    head = head_of(folders).sha if folders else None
    Journal.of(root).append(kind, {**data, **_redacted(texts, limit), "root": str(root)}, head=head)


def may_record(root: Path, session: str, folder: str = "") -> bool:
    """Return whether a session may be recorded now.

    `root`: of the checkout that it works in; `folder`: where in the checkout it works. Raises StoreError if it is
    unknown whether recording is paused; ConfigError if the list of folders that are never recorded cannot be read.
    """
    from cm_tui.engine.memory.recording.gate import why_not

    return not why_not(root, session, folder=folder)


def _redacted(texts: Mapping[str, str], limit: int) -> dict[str, str | int]:
    if not texts:
        return {}
    from cm_tui.engine.platform.redaction.redact import redact

    clean = {name: redact(text, limit) for name, text in texts.items()}
    secrets = sum(one.secrets for one in clean.values())
    return {name: one.text for name, one in clean.items()} | ({"redacted": secrets} if secrets else {})
