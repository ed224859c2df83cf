"""`cm search` through a running daemon, or where none is used: the command that is run most, without what others need."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

_LONGEST_S = 30.0
_BESIDE = ("CM_SEARCH", "_CM_COMPLETE")
"""What these settings ask for is left to the full command line."""


class _Request(NamedTuple):
    """A search in words, as most are."""

    query: str
    folder: str
    around: bool
    limit: int | None
    as_json: bool


class _OtherError(Exception):
    """The full command line has to answer: it explains, waits, indexes or starts a daemon."""


def quick_search(arguments: Sequence[str]) -> int | None:
    """Run `cm search` with the few modules that the usual case takes.

    `arguments`: the words after `cm search`. Returns the exit code; None: nothing was printed, and the full command
    line has to run.
    """
    from cm_tui.errors import CmError

    try:
        try:
            request = _request(arguments)
            answer = _answer(request)
        except (_OtherError, CmError, OSError, ValueError, KeyError, TypeError):
            return None
        _print(_from_store(request) if answer is None else answer, as_json=request.as_json)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - reported as for every command
        from cm_tui.cli.failures import failed

        return failed(error)
    return 0


def _request(arguments: Sequence[str]) -> _Request:
    if any(key.startswith(_BESIDE) for key in os.environ):
        raise _OtherError
    words, limit, project, as_json = [], None, "", False
    rest = iter(arguments)
    for word in rest:
        if word == "--json":
            as_json = True
        elif word in ("-n", "--limit"):
            limit = int(next(rest, ""))
        elif word in ("-p", "--project"):
            if not (project := next(rest, "")):
                raise _OtherError
        elif word.startswith("-"):
            raise _OtherError
        else:
            words.append(word)
    if len(words) != 1 or not words[0].strip() or (limit is not None and limit < 1):
        raise _OtherError
    folder = Path(project).expanduser().absolute() if project else Path.cwd()
    return _Request(words[0], str(folder), not project, limit, as_json)


def _answer(request: _Request) -> dict[str, Any] | None:
    """Ask the daemon, unless it is of another version, its index is behind or a profile is configured.

    Returns None if commands use no daemon.
    """
    from cm_tui import __version__, paths
    from cm_tui.daemon import endpoint, runtime_dir
    from cm_tui.daemon.daemon_use import uses_daemon

    if not uses_daemon():
        return None
    info = endpoint.daemon_info()
    mine = __version__, endpoint.PROTOCOL, runtime_dir.settings_digest()
    if info is None or (info.version, info.protocol, info.settings) != mine:
        raise _OtherError
    where = {"folder": request.folder, "around": request.around}
    root = Path(_ask("project", where, create=False)["root"])
    for file in (paths.config_file(), paths.project_config_file(root)):
        if file.exists() and b"profile" in file.read_bytes():
            raise _OtherError
    if _ask("call/stale_reason", where, arguments={}):
        raise _OtherError
    limit = {} if request.limit is None else {"limit": request.limit}
    found: dict[str, Any] = _ask("call/search", where, arguments={"query": request.query, "profile": "code", **limit})
    remembered = [hit["path"] for hit in (*found["hits"], *found["beside"]) if hit["source"] != "code"]
    if remembered:
        _ask("call/note_recalled", where, arguments={"paths": remembered})
    return found


def _from_store(request: _Request) -> dict[str, Any]:
    """Search in this process, as the full command line does without a daemon."""
    from contextlib import closing

    from cm_tui import paths
    from cm_tui.cli.output import narrate, plain
    from cm_tui.config import load_config
    from cm_tui.daemon.open_engine import open_fresh_engine

    paths.settle_environment()
    with closing(open_fresh_engine(None if request.around else Path(request.folder), say=narrate)) as engine:
        profile = load_config(engine.root).search.profile
        result = engine.search(request.query, profile=profile, limit=request.limit)
        remembered = [hit.path for hit in (*result.hits, *result.beside) if hit.source != "code"]
        if remembered:
            engine.note_recalled(remembered)
    found: dict[str, Any] = plain(result)
    return found


def _ask(path: str, where: dict[str, Any], **body: Any) -> Any:
    from cm_tui.daemon.bootstrap import ask

    answer = ask(f"/v1/{path}", {"where": where, **body}, _LONGEST_S)
    if answer is None:
        raise _OtherError
    return answer["result"]


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    from cm_tui.cli.hits import RESULT_FIELDS, show_result
    from cm_tui.cli.output import print_json

    if as_json:
        print_json({name: found[name] for name in RESULT_FIELDS})
    else:
        record: Any = json.loads(json.dumps(found), object_hook=lambda values: SimpleNamespace(**values))
        show_result(record)
