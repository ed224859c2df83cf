"""`cm hook EVENT`: write down what happened, and notify the daemon.

An agent or git waits for this process, so it imports next to nothing, never starts work of its own, and ends with 0
whatever happens: what went wrong is one line on stderr.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.agent_hooks import payload, settings, stdin
from cm_tui.engine.api.project_lookup import root_around
from cm_tui.errors import CmError, DaemonError

USAGE = f"usage: cm hook {'|'.join(payload.EVENTS[:-1])} [--agent NAME], or cm hook git NAME [ARGUMENT]..."

ACTION_S = 0.5
"""Longest wait of a tool call for what is known about it: an agent makes hundreds."""
_NEW_S, _TIMES, _MOST_S = 10.0, 3.0, 8.0
"""For so many seconds after a daemon's start a prompt waits so many times as long, but at most so many seconds: agents wait
ten for a hook, and the daemon opens its stores."""
_PAUSE_S = 0.02
"""Between two looks for a daemon that is starting."""


class Words(NamedTuple):
    """Arguments of the command."""

    event: str
    agent: str
    rest: tuple[str, ...]


def main(words: Sequence[str]) -> int:
    """Run a hook.

    `words`: what follows `cm hook`. Returns always 0: an agent's work never fails because of its memory.
    """
    try:
        out = run(_parsed(words))
        if out:
            sys.stdout.write(out + "\n")
            sys.stdout.flush()
    except CmError as error:
        _report(error.message)
    except (OSError, ValueError) as error:
        _report(str(error))
    except Exception as error:  # noqa: BLE001 - the agent gets the message and continues
        _report(f"{type(error).__name__}: {error}")
    return 0


def _report(text: str) -> None:
    # Late: a hook that goes well does without the records.
    from cm_tui.model.text import one_line

    try:
        sys.stderr.write(f"cm hook: {one_line(' '.join(text.split()))[:500]}\n")
    except (OSError, ValueError, AttributeError):
        # There is nowhere else to write.
        return


def _parsed(words: Sequence[str]) -> Words:
    rest = list(words)
    agent = ""
    if rest[:1] != ["git"] and "--agent" in rest:
        at = rest.index("--agent")
        agent = "".join(rest[at + 1 : at + 2])
        del rest[at : at + 2]
    if not rest or rest[0] not in payload.EVENTS:
        raise ValueError(USAGE)
    return Words(rest[0], agent[:40], tuple(rest[1:]))


def run(words: Words) -> str:
    """Record an event and tell the daemon; gives what is printed for the agent.

    Raises CmError if the journal cannot be written; ValueError: stdin holds no event; OSError: stdin cannot be read.
    """
    paths.settle_environment()
    if words.event == "git":
        return _git(words)
    facts = payload.read(stdin.read(), os.environ, os.getcwd())  # noqa: PTH109 - a hook's time is counted in milliseconds
    if words.event == "edit":
        return _edit(words, facts)
    root = root_around(Path(facts.folder))
    if root is None:
        return ""
    return _action(words, facts, root) if words.event == "action" else _session(words, facts, root)


def _git(words: Words) -> str:
    root = root_around(Path(os.getcwd()))  # noqa: PTH109
    if root is None:
        return ""
    data: dict[str, Any] = {"hook": "".join(words.rest[:1]), "arguments": list(words.rest[1:])[:10]}
    if data["hook"] == "post-checkout":
        data |= dict(zip(("old", "new", "branch"), words.rest[1:4], strict=False))
    _record(root, words, data)
    _notify(root)
    return ""


def _edit(words: Words, facts: payload.Payload) -> str:
    by_root: dict[Path, list[str]] = {}
    for path in facts.paths:
        file = Path(os.path.realpath(os.path.join(facts.folder, path)))  # noqa: PTH118
        root = root_around(file.parent)
        if root is not None:
            by_root.setdefault(root, []).append(file.relative_to(root).as_posix())
    for root, files in by_root.items():
        _record(root, words, {**_author_fields(words, facts), "paths": files})
        _notify(root)
    return ""


def _action(words: Words, facts: payload.Payload, root: Path) -> str:
    """Return what is known about the file or command of a tool call; an action is not recorded, and no daemon is started."""
    chosen = settings.read(root)
    if not chosen.remind or not (facts.paths or facts.command):
        return ""
    files = [Path(os.path.realpath(os.path.join(facts.folder, path))) for path in facts.paths]  # noqa: PTH118
    paths_inside = [file.relative_to(root).as_posix() for file in files if file.is_relative_to(root)]
    action = {"paths": paths_inside, "command": facts.command}
    if not any(action.values()):
        return ""
    seconds = min(chosen.wait_seconds, ACTION_S)
    return _hook_output("/v1/hook/action", words, facts, root, seconds, action) or ""


def _session(words: Words, facts: payload.Payload, root: Path) -> str:
    chosen = settings.read(root)
    data = _author_fields(words, facts)
    texts: dict[str, str] = {}
    if words.event == "prompt":
        if not facts.prompt.strip():
            return ""
        texts["prompt"] = facts.prompt
    elif words.event == "stop":
        texts["answer"] = facts.answer
        data["repeated"] = facts.repeated
    else:
        data["source"] = facts.source
    if chosen.record or words.event == "session-start":
        _record(root, words, data, texts, folder=facts.folder)
    if words.event == "prompt" and (chosen.budget or chosen.start_budget):
        return _response_text(words, facts, root, chosen)
    if words.event == "session-start":
        return _begun(words, facts, root, chosen)
    _notify(root)
    return _reminded(words, facts, root, chosen) if words.event == "stop" and chosen.flush else ""


def _begun(words: Words, facts: payload.Payload, root: Path, chosen: settings.HookSettings) -> str:
    """Give a session that begins its memory; where no daemon runs, one is started, and the first prompt gets it."""
    from cm_tui.agent_hooks import session_state

    session_state.clean()
    # Whatever begins a session again, the context is another one: it was compacted, cleared, or is new.
    session_state.take(facts.session, "flush")
    if not chosen.start_budget:
        if not _notify(root):
            _start_daemon(root)
        return ""
    if not _daemon_may_run() or not _notify(root):
        session_state.put(facts.session, "start")
        _start_daemon(root)
        return ""
    said = _hook_output("/v1/hook/start", words, facts, root, chosen.wait_seconds)
    if said is None:
        session_state.put(facts.session, "start")
    return said or ""


def _reminded(words: Words, facts: payload.Payload, root: Path, chosen: settings.HookSettings) -> str:
    """Return a reminder to write memory, where the context is nearly full and none was given since it was compacted."""
    # No reminder in plan mode, which writes nothing, nor after a turn that a reminder continued.
    if facts.repeated or facts.permissions == "plan" or not facts.transcript or not os.access(root, os.W_OK):
        return ""
    # Late, and only what is needed: most turns end without a reminder.
    from cm_tui.agent_hooks import flush, session_state

    usage = flush.usage_of(facts.transcript)
    if usage is None:
        return ""
    limits = {"window": chosen.window, "reserve": chosen.reserve_tokens, "soft": chosen.soft_tokens}
    if not flush.is_due(usage, **limits):
        session_state.take(facts.session, "flush")
        return ""
    from cm_tui.agent_hooks import reply

    said = reply.reminder(words.agent, flush.REMINDER)
    if not said or not _may_record(root, facts) or not session_state.put(facts.session, "flush"):
        return ""
    return said


def _may_record(root: Path, facts: payload.Payload) -> bool:
    from cm_tui.engine.api.events import may_record

    return may_record(root, facts.session, facts.folder)


def _author_fields(words: Words, facts: payload.Payload) -> dict[str, Any]:
    return {"agent": words.agent, "session": facts.session}


def _record(
    root: Path,
    words: Words,
    data: Mapping[str, Any],
    texts: Mapping[str, str] = MappingProxyType({}),
    *,
    folder: str = "",
) -> None:
    from cm_tui.engine.api.events import record_event

    record_event(root, f"hook.{words.event}", data, texts, limit=payload.PROMPT_CHARACTERS, folder=folder)


def _response_text(words: Words, facts: payload.Payload, root: Path, chosen: settings.HookSettings) -> str:
    from cm_tui.agent_hooks import session_state

    if _daemon_may_run():
        _replace_outdated(root)
    elif not session_state.is_starting():
        return ""
    is_first = session_state.has(facts.session, "start")
    if not (chosen.budget or is_first):
        return ""
    # Whether the prompt is worth it, the daemon decides: its rules take longer to import than to apply.
    more = {"prompt": facts.prompt, "first": is_first}
    said = _hook_output("/v1/hook/prompt", words, facts, root, patience(chosen.wait_seconds), more)
    if is_first and said is not None:
        session_state.take(facts.session, "start")
    return said or ""


def patience(seconds: float) -> float:
    """Return how long a prompt waits for the memory, by the user's setting; longer while a daemon is new."""
    from cm_tui.agent_hooks import session_state
    from cm_tui.daemon import endpoint

    daemon = endpoint.daemon_info()
    is_new = daemon is not None and 0 <= time.time() - daemon.started < _NEW_S
    return max(seconds, min(seconds * _TIMES, _MOST_S)) if is_new or session_state.is_starting() else seconds


def _hook_output(
    path: str,
    words: Words,
    facts: payload.Payload,
    root: Path,
    seconds: float,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> str | None:
    """Return what is printed for the agent of a daemon's answer; None: no daemon answered.

    `seconds`: for all of it, with the start of a daemon that is under way; `more`: fields of the question.
    """
    from cm_tui.agent_hooks import reply, session_state
    from cm_tui.daemon import bootstrap

    question = {"root": str(root), "agent": words.agent, "session": facts.session, **more}
    left, until = seconds, time.monotonic() + seconds
    while True:
        is_starting = session_state.is_starting()
        # Nothing listens yet where a daemon is starting, which may have left another one's address.
        try:
            found = bootstrap.ask(path, {**question, "seconds": left}, left) if _daemon_may_run() else None
        except DaemonError as error:
            # The event is in the journal; this is why the agent gets no context.
            raise DaemonError(f"nothing was added to the prompt: {error.message}") from error
        if found is not None:
            return reply.answer(words.agent, words.event, str(found.get("context") or ""))
        left = until - time.monotonic() - _PAUSE_S
        if not is_starting or left <= 0:
            return None
        time.sleep(_PAUSE_S)


def _daemon_may_run() -> bool:
    """Return whether a daemon wrote down where it is; what talks to it is not worth importing otherwise."""
    return (paths.runtime_dir() / "owner.json").exists()


def _notify(root: Path) -> bool:
    if not _daemon_may_run():
        return False
    from cm_tui.daemon.bootstrap import notify

    _replace_outdated(root)
    return notify(root)


def _replace_outdated(root: Path) -> None:
    """Have a daemon of an older cm replaced, once: it may not understand this hook, and its own code may be gone."""
    from cm_tui.agent_hooks import session_state
    from cm_tui.daemon import endpoint

    daemon = endpoint.daemon_info()
    if daemon is None or not endpoint.is_outdated(daemon.version, daemon.protocol):
        return
    if session_state.put(f"daemon {daemon.pid} {daemon.started}", "replaced"):
        _start_daemon(root)


def _start_daemon(root: Path) -> None:
    """Start a daemon without waiting for it; a session is beginning, and will want one."""
    if os.environ.get("CM_DAEMON__USE", os.environ.get("CM_OWNER__USE")) == "never":
        return
    from cm_tui.agent_hooks import session_state
    from cm_tui.daemon.bootstrap import spawn

    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    # -P: what lies in the current folder, which is the project's, is not what Python imports.
    words = ("-P", "-m", "cm_tui.agent_hooks.start_daemon", str(root))
    session_state.put_starter(spawn(words, {**os.environ, "PYTHONPATH": path}).pid)
