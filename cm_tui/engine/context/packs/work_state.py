"""The last session of a project with its turns, and the state of its work.

The state (last request, decisions, changed files, failures, open parts of the plan) is a pure function of the turns and
git's report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.episodes.episode_lists import LAST
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.importers.details import with_details
from cm_tui.engine.memory.narrator.cues import AGAINST, cues_of
from cm_tui.engine.memory.narrator.miners.fixes import sign_of
from cm_tui.engine.memory.narrator.miners.statements import statements_in, tidy
from cm_tui.engine.memory.narrator.own_words import is_own, sentences_in
from cm_tui.engine.memory.narrator.runs import Run
from cm_tui.engine.memory.narrator.turn import Turn
from cm_tui.engine.memory.projection import turns as hook_turns
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.journal_consumer import JournalCursor
from cm_tui.engine.platform.journal.event import RESTORED, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.redact import BEYOND, redact
from cm_tui.engine.search.ranking.prompt_policy import classify
from cm_tui.errors import NotFoundError
from cm_tui.model import WorkState
from cm_tui.model.ids import SESSIONS, SHORTEST_NAME, kind_and_id
from cm_tui.model.search import EPISODES

_LONG = 4_000
"""Characters of a request and of a plan."""
_SHORT = 300
"""Characters of a decision, a step, a command, an error."""
_DECISIONS, _STEPS, _FILES = 20, 40, 200
_RECENT = 10
"""Turns whose commands and answers are looked at; requests and decisions of the user count from all of them."""
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[(?P<mark>[ xX~-])\]\s+)?(?P<text>\S.*)")
EXPECTED = re.compile(r"E {2,}\S|(?:AssertionError|assert(?:ion)?|expected)\b", re.IGNORECASE)
_VERDICT = re.compile(r"`(?P<command>[^`]{1,300})` failed")


def work_state(turns: Sequence[Turn], changed: Iterable[str] | None, written: Sequence[str] = ()) -> WorkState:
    """Return the state of a session's work.

    `turns`: of one session, the oldest first; at least one. `changed`: paths with uncommitted changes; None: no git.
    `written`: memories saved in the session, the newest first.
    """
    last = turns[-1].record
    command, error = _failure(turns[-_RECENT:])
    plan = next((turn.record.plan for turn in reversed(turns) if turn.record.plan.strip()), "")
    return WorkState(
        agent=last.agent,
        session=last.session,
        parent=last.parent,
        title=clean_line(next((turn.record.title for turn in reversed(turns) if turn.record.title), "")),
        episode=next((turn.id for turn in reversed(turns) if turn.id), ""),
        ended=turns[-1].time,
        request=_clean(_request(turns), _LONG),
        decisions=tuple(dict.fromkeys(map(clean_line, [*written, *_decisions(turns)])))[:_DECISIONS],
        files=tuple(_clean(path, 1_000) for path in _files(turns, changed)),
        command=clean_line(command),
        error=clean_line(error),
        plan=_clean(plan, _LONG),
        steps=tuple(map(clean_line, _open_steps(plan)))[:_STEPS],
    )


def _clean(text: str, limit: int) -> str:
    """Return the start of a redacted text, including a secret at the cut."""
    return redact(text[: limit + BEYOND], limit).text.strip()


def clean_line(text: str) -> str:
    """Return a text as one line, redacted and cut."""
    return _clean(" ".join(text.split()), _SHORT)


def _request(turns: Sequence[Turn]) -> str:
    """Return the last request; if that only continues an earlier one, preceded by it."""
    prompts = [one.strip() for turn in turns for one in turn.record.prompts if one.strip() and is_own(one)]
    # A command of the agent's own, such as /compact, is not a request.
    asked = [one for one in prompts if not one.startswith("/")] or prompts
    if not asked:
        return ""
    whole = next((one for one in reversed(asked) if classify(one).substantive), "")
    return asked[-1] if whole in ("", asked[-1]) else f"{whole}\n\nThen: {asked[-1]}"


def _decisions(turns: Sequence[Turn]) -> Iterator[str]:
    """Yield the user's decisions and corrections, and the agent's stated decisions, the newest first."""
    for number, turn in enumerate(reversed(turns)):
        yield from (one.text for one in reversed(statements_in(turn)))
        if number < _RECENT:
            yield from (f"{turn.record.agent or 'agent'}: {one}" for one in reversed(_of_agent(turn)))


def _of_agent(turn: Turn) -> list[str]:
    record = turn.record
    texts = [*(step.text for step in record.steps if step.kind == "said"), record.answer]
    found = [(one, cues_of(one)) for text in texts for one in sentences_in(text)]
    return [tidy(one) for one, cues in found if "decision" in cues and AGAINST.isdisjoint(cues)]


def _files(turns: Sequence[Turn], changed: Iterable[str] | None) -> list[str]:
    touched = dict.fromkeys(path for turn in reversed(turns) for path in turn.record.files)
    if changed is None:
        return list(touched)[:_FILES]
    found = dict.fromkeys(changed)
    return [*(path for path in touched if path in found), *(path for path in found if path not in touched)][:_FILES]


def _failure(turns: Sequence[Turn]) -> tuple[str, str]:
    """Return the last failed command that did not pass since, and why; empty: none."""
    passed: set[str] = set()
    for turn in reversed(turns):
        for run in reversed(turn.runs):
            if has_failed(run) and run.command.text not in passed:
                # Which of several commands in one line failed is unknown.
                return run.line if run.state == "unknown" else run.command.text, _error(run.output)
            if run.state == "ok":
                passed.add(run.command.text)
        verdict = _VERDICT.match(turn.record.verdict) if turn.record.outcome == "failed" and not turn.runs else None
        if verdict is not None and verdict["command"] not in passed:
            return verdict["command"], ""
    return "", ""


def has_failed(run: Run) -> bool:
    """Return whether a command failed, also by an error in output that a filter let pass as success."""
    if run.state == "unsure":
        return sign_of(run.output, hidden=True) is not None
    return run.state in ("failed", "missing", "unknown")


def _error(output: str) -> str:
    """Return the line with the cause, for a test its expectation, else the last two."""
    lines = [line.strip() for line in output.split("\n") if line.strip()]
    if expected := next((line for line in lines if EXPECTED.match(line)), ""):
        return expected
    sign = sign_of(output)
    return sign.words if sign is not None else " … ".join(lines[-2:])


def _open_steps(plan: str) -> list[str]:
    """Return the steps that are not done; of a plan that marks none as done, all."""
    found = [item for line in plan.split("\n") if (item := _ITEM.fullmatch(line.rstrip()))]
    return [item["text"] for item in found if item["mark"] not in ("x", "X")]


RECENT_S = 7 * 86_400.0
"""A session that ended longer ago is not taken up by itself, only by its name."""
_MOST_TURNS = 40
_SESSIONS = 50


class UnderWay(NamedTuple):
    """A turn that has not ended yet, as hooks reported it."""

    agent: str
    turn: hook_turns.Turn


def turns_named(episodes: Episodes, root: Path, name: str) -> list[Turn]:
    """Return the newest turns of a session that the user names, the oldest first.

    `name`: the session's id or a prefix of it, or an episode of it; `last` is the last used one, at any time. Raises
    NotFoundError if nothing visible has that name; UsageError if the name is ambiguous; StoreError if the journal
    cannot be read.
    """
    open_turns = under_way(episodes.journal, root, episodes.index.open_turns_since())
    session = _session_named(episodes, root, name, open_turns)
    found = _turns(episodes, root, session, open_turns)
    if not found:
        raise NotFoundError(
            f"The session {session[:80]!r} has no visible episodes.", hint="`cm episodes` lists episodes."
        )
    return found


def last_turns(episodes: Episodes, root: Path, session: str, now: float) -> list[Turn]:
    """Return the newest turns of a continuing session, else of the last used one; empty: no session.

    `root`: of the checkout; its own sessions come before those of other checkouts. `session`: a session whose context
    begins again; may be empty or unknown. `now`: seconds since the epoch. Raises StoreError if the journal cannot be
    read.
    """
    open_turns = under_way(episodes.journal, root, episodes.index.open_turns_since())
    found = _turns(episodes, root, session, open_turns) if session else []
    if found:
        return found
    last = _last_session(episodes, root, now - RECENT_S, open_turns)
    return _turns(episodes, root, last, open_turns) if last else []


def _last_session(episodes: Episodes, root: Path, since: float, open_turns: dict[str, UnderWay]) -> str:
    """Return the last used session, of this checkout if there is one; empty: no session."""
    known = [one for one in episodes.last_sessions(since, _SESSIONS) if not one.parent]
    times = {one.id: one.ended for one in [one for one in known if one.root == str(root)] or known}
    for name, one in open_turns.items():
        if one.turn.last >= since:
            times[name] = max(one.turn.last, times.get(name, 0.0))
    return max(times, key=times.__getitem__, default="")


def under_way(journal: Journal, root: Path, since: Position = START) -> dict[str, UnderWay]:
    """Return the current turns in a checkout by session; fast if the daemon follows the journal.

    `since`: none of them began earlier. Raises StoreError if the journal cannot be read.
    """
    kept = JournalCursor(journal.folder.name).read()
    at = max(since, kept.start if journal.holds(kept.past, kept.event) else START)
    turns, agents = hook_turns.Turns(), dict[str, str]()
    # Of what is recorded it takes nothing: without a daemon that is hundreds of megabytes.
    for event in journal.read(at, kinds=hook_turns.UNDER_WAY):
        if event.data.get("root") == str(root) and event.data.get(RESTORED) is not True:
            agents[str(event.data.get("session", ""))] = str(event.data.get("agent", ""))
            turns.follow(event, at)
    found = ((session, turns.of(str(root), session)) for session in agents if session)
    return {session: UnderWay(agents[session], turn) for session, turn in found if turn is not None and turn.prompts}


def _session_named(episodes: Episodes, root: Path, name: str, open_turns: dict[str, UnderWay]) -> str:
    kind, id_ = kind_and_id(name)
    if id_ == LAST and (last := _last_session(episodes, root, 0.0, open_turns)):
        return last
    if kind == EPISODES or id_ == LAST:
        return episodes.session_of(name)
    named = [one for one in open_turns if len(id_) >= SHORTEST_NAME and one.startswith(id_)]
    try:
        return episodes.session_named(id_)
    except NotFoundError:
        if len(named) == 1:
            return named[0]
        if kind == SESSIONS:
            raise
    try:
        return episodes.session_of(name)
    except NotFoundError as error:
        raise NotFoundError(f"Session or episode not found: {name[:40]!r}.", hint=error.hint) from error


def _turns(episodes: Episodes, root: Path, session: str, open_turns: dict[str, UnderWay]) -> list[Turn]:
    found: list[Turn] = []
    for id_, time, record in episodes.newest_of(session, _MOST_TURNS):
        found.append(Turn(id_, time, record, _alone(found)))
    one = open_turns.get(session)
    if one is not None and (not found or one.turn.last > found[-1].time):
        record = EpisodeRecord(
            agent=one.agent,
            session=session,
            root=str(root),
            prompts=tuple(one.turn.prompts),
            files=tuple(one.turn.files),
        )
        found.append(Turn("", one.turn.last, with_details(record), _alone(found)))
    return found


def _alone(found: list[Turn]) -> Turn | None:
    """Return the last turn, without the one before it."""
    return Turn(found[-1].id, found[-1].time, found[-1].record) if found else None
