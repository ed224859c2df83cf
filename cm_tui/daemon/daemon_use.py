"""Whether commands go through the daemon, having one answer that speaks this version, and asking it for upkeep."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from cm_tui import __version__, paths
from cm_tui.daemon import bootstrap, endpoint, runtime_dir
from cm_tui.errors import DaemonError

Say = Callable[[str], None]


def uses_daemon() -> bool:
    """Return whether commands go through the daemon: `daemon.use` of the environment, else of the user's file.

    Read by hand, as building the whole configuration would take longer than many a question; the daemon checks it all.
    """
    said: Any = os.environ.get("CM_DAEMON__USE", os.environ.get("CM_OWNER__USE"))
    if said is None:
        try:
            values = tomllib.loads(paths.config_file().read_text(encoding="utf-8"))
            said = values.get("daemon", {}).get("use", values.get("owner", {}).get("use"))
        except (OSError, ValueError, AttributeError):
            said = None  # opening the project validates the file and reports mistakes
    if said in (None, "auto", "never"):
        return bool(said != "never")
    from cm_tui.config import load_config

    return load_config().daemon.use == "auto"


def ready(say: Say) -> bool:
    """Have a daemon answer that speaks this version; False when none can be started.

    Raises RefusedError if the runtime folder is not private to the user; DaemonError if something foreign is in its
    place, it hangs, or it is newer than this cm.
    """
    try:
        daemon = bootstrap.health()
    except DaemonError as error:
        if error.finding != runtime_dir.UNWRITABLE:
            raise
        say(f"{error.message}. Working without a daemon. {error.hint}")
        return False
    if daemon is not None and _identity(daemon) != (__version__, endpoint.PROTOCOL) and _agree(daemon):
        daemon = None
    if daemon is None:
        try:
            bootstrap.start_daemon()
        except DaemonError as error:
            say(f"{error.message} Working without it. {error.hint}".strip())
            return False
    elif daemon.get("settings") != runtime_dir.settings_digest():
        say(
            "The daemon runs with other CM_* settings than this terminal; `cm serve --stop` lets the next start with these."
        )
    return True


def is_running() -> bool:
    """Return whether commands go through the daemon and one answers."""
    return uses_daemon() and bootstrap.health() is not None


def tell(path: str, body: dict[str, Any], kind: Any) -> Any:
    """Ask a running daemon for upkeep. `kind`: type of the answer.

    Raises DaemonError if it has gone, or does not answer; CmError: what the daemon says went wrong.
    """
    from pydantic import TypeAdapter

    from cm_tui.daemon import rpc

    answer = bootstrap.request("POST", path, body, timeout=bootstrap.START_SECONDS * 5)
    if answer is None:
        raise DaemonError("The daemon has stopped.", hint="Run the command again.")
    return rpc.checked(TypeAdapter(kind), rpc.parse_response(*answer).get("result"), f"the response of {path}")


def _agree(daemon: Mapping[str, Any]) -> bool:
    """Have an older daemon hand over, which leaves none; put up with a newer one that speaks the same protocol."""
    theirs, protocol = _identity(daemon)
    if endpoint.is_outdated(theirs, protocol):
        return bootstrap.stop_daemon(handover=True)
    if protocol != endpoint.PROTOCOL:
        raise DaemonError(
            f"The daemon is cm {theirs}, this is cm {__version__}: their protocols differ.",
            hint="Update this cm, or stop the daemon with `cm serve --stop`.",
        )
    return False


def _identity(daemon: Mapping[str, Any]) -> tuple[str, int]:
    """Its version, and the protocol that it speaks; 0 when it does not say."""
    protocol = daemon.get("protocol")
    return str(daemon.get("version")), protocol if isinstance(protocol, int) else 0
