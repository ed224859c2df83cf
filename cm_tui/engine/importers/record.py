"""The record of an imported turn: cut, redacted, its paths those of the project."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.importers import patches
from cm_tui.engine.importers.heads import Heads
from cm_tui.engine.importers.turn import ANSWER_CHARACTERS, STEP_CHARACTERS, Piece, Turn, TurnStep, piece
from cm_tui.engine.memory.episode_record import EpisodeRecord
from cm_tui.engine.memory.left_out import is_agent_settings, without_credentials
from cm_tui.engine.redaction import redact
from cm_tui.engine.scan.credential_files import is_credential_file
from cm_tui.model import Step

_TITLE = 200
_HIDDEN = "[left out: it is a file for credentials]"
_RUN = 200
_MAY_GO_ON = re.compile(r"[\w+/=.-]{12}[\s\"'\\]{0,8}$")
"""A word so long at the end of a line that it may be broken there."""
_SHORTENED = "steps and patch are left out: the turn was too long for the journal"


class Session(NamedTuple):
    """What the records of a session's turns have in common."""

    agent: str
    session: str
    parent: str
    title: str
    worked_in: Path
    """Root of the checkout, where the session knew it."""
    root: Path
    """Root of the checkout that stands for it now."""


def record_of(turn: Turn, session: Session, *, origin: str, number: int, heads: Heads) -> tuple[EpisodeRecord, str]:
    """Return the record of a turn, and HEAD when it ended (empty: not known).

    Args:
        turn: as it was read.
        session: whose turn it is.
        origin: names the turn.
        number: its place in the session.
        heads: the commits of the checkout by time.
    """
    cut = _Cut()
    base, head = heads.at(turn.began), heads.at(turn.ended)
    patch, is_cut = _patch(turn, session, cut)
    record = EpisodeRecord(
        agent=session.agent,
        session=session.session,
        root=str(session.root),
        prompts=tuple(cut.text(prompt) for prompt in turn.prompts),
        answer=cut.text(piece("\n\n".join(turn.answer), ANSWER_CHARACTERS)),
        files=tuple(_files(turn, session)),
        base=base.sha,
        patch=patch,
        patch_cut=is_cut,
        redacted=cut.secrets,
        note="; ".join(filter(None, (patches.NOTE if patch else "", base.note))),
        actor="import",
        at=_end_of(turn),
        origin=origin,
        title=cut.text(piece(session.title, _TITLE)),
        parent=session.parent,
        turn=number,
        plan=cut.text(piece(turn.plan, STEP_CHARACTERS["plan"])),
        verdict=turn.verdict,
        outcome=turn.outcome,
        steps=tuple(_step(step, session, turn.folder, cut) for step in turn.steps),
        step_count=turn.step_count,
        tools=tuple(turn.tools)[:50],
        tokens=turn.tokens,
    )
    return record, head.sha


def shortened(record: EpisodeRecord) -> EpisodeRecord:
    """Return a record without what makes it too long for the journal."""
    note = "; ".join(filter(None, (record.note, _SHORTENED)))
    return replace(record, steps=(), patch="", patch_cut=True, plan=record.plan[:1_000], note=note)


class _Cut:
    """Cuts texts so that no half of a secret stays, and counts the secrets."""

    def __init__(self) -> None:
        self.secrets = 0

    def text(self, found: Piece) -> str:
        """Return as much of a text as is kept; one that is short is redacted when it is written."""
        if len(found.text) <= found.limit:
            return found.text
        # Between two lines nothing is cut that is seen by itself; looking far beyond each of many cuts takes its time.
        end = found.text.rfind("\n", found.limit // 2, found.limit)
        if end > 0 and not _MAY_GO_ON.search(found.text, max(0, end - _RUN), end):
            return found.text[:end]
        clean = redact(found.text, found.limit)
        self.secrets += clean.secrets
        return clean.text


def _end_of(turn: Turn) -> float | None:
    """Return when it ended; a clock that was set back meanwhile does not count."""
    if turn.ended is None or turn.began is None:
        return turn.began
    return max(turn.ended, turn.began)


def _step(step: TurnStep, session: Session, folder: str, cut: _Cut) -> Step:
    path = relative(step.path, session, folder) or step.path
    text, result = (cut.text(found) for found in step.pieces())
    if result and is_credential_file(path.replace(os.sep, "/")):
        result = _HIDDEN
    return Step(step.kind, text, step.tool, result, path, step.failed)


def _files(turn: Turn, session: Session) -> Iterator[str]:
    """Yield the files of the project that were written, as the project names them."""
    paths = (relative(path, session, turn.folder) for path in turn.files)
    yield from dict.fromkeys(path for path in paths if path and not is_agent_settings(path))


def relative(path: str, session: Session, folder: str) -> str:
    """Return a path below the checkout; empty for one that lies elsewhere.

    Args:
        path: as the agent names it.
        session: whose checkout it is.
        folder: where the agent worked.
    """
    if not path or "\0" in path:
        return ""
    whole = os.path.normpath(Path(folder or session.worked_in) / path)
    for root in (session.worked_in, session.root):
        if whole.startswith(f"{root}{os.sep}"):
            return whole[len(str(root)) + 1 :].replace(os.sep, "/")
    return ""


def _patch(turn: Turn, session: Session, cut: _Cut) -> tuple[str, bool]:
    """Return the patch with the paths of the project, and whether it was cut."""
    text = turn.patch.text
    for root in {session.worked_in.as_posix(), session.root.as_posix()}:
        text = text.replace(f" a/{root}/", " a/").replace(f" b/{root}/", " b/")
    text = without_credentials(text)
    return cut.text(Piece(text, patches.PATCH_BYTES)), turn.patch.is_cut or len(text) > patches.PATCH_BYTES
