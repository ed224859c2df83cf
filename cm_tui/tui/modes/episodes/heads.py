"""The two lines above a story: whose it is, when it was, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from cm_tui.counts import noun
from cm_tui.model import Episode, Session
from cm_tui.model.dates import local_day, local_minute
from cm_tui.tui.modes.episodes.marks import OUTCOMES, PINNED, RATINGS, TYPES, clock
from cm_tui.tui.state.revision import agent_of, short_name_of
from cm_tui.tui.widgets.text import count, one_line, short_count

_DOT = Content.styled(" · ", "$faint")


def turn_head(episode: Episode) -> Content:
    """Return who, when and where; then what came of it and what people said."""
    who = {"person": "a person", "narrator": "the narrator"}.get(episode.actor, agent_of(episode))
    first = [Content.styled(who, "bold $secondary"), Content(local_minute(episode.time))]
    if episode.turn:
        first.append(Content(f"turn {episode.turn:,}"))
    where = f"saw {short_name_of(episode.moment)}" if episode.moment else "no commit to show"
    first.append(Content.styled(where, "$accent" if episode.moment else "$muted"))
    mark, style, words = OUTCOMES[episode.outcome]
    second = [Content.styled(f"{mark} {words}", style)]
    if episode.type != "task":
        second.append(Content(TYPES[episode.type][1]))
    if episode.state != "shown":
        second.append(Content.styled(episode.state, "$warning"))
    if episode.pinned:
        second.append(Content.styled(f"{PINNED} pinned", "$accent"))
    if episode.rating:
        sign, tone, said = RATINGS[episode.rating]
        second.append(Content.styled(f"{sign} {said}", tone))
    if episode.tokens:
        second.append(Content(f"{short_count(episode.tokens)} {noun(episode.tokens, 'token')}"))
    if episode.tags:
        second.append(Content.styled(" ".join(f"#{one_line(tag)}" for tag in episode.tags), "$secondary"))
    return Content("\n").join((_line(first), _line(second)))


def session_head(session: Session | None, episodes: Sequence[Episode], *, by_hand: bool = False) -> Content:
    """Return what a session is called and how much there is of it."""
    if session is None:
        whose = "by hand or in no session" if by_hand else "of every session"
        words = f"{count(len(episodes), 'episode')}, {whose}"
        return Content.assemble((" The newest first", "bold"), f"\n {words}")
    title = " ".join(one_line(session.title[:400]).split()) or one_line(session.id)
    facts = [
        Content.styled(
            f"{one_line(session.agent) or 'by hand'}{', a sub-agent' if session.parent else ''}", "bold $secondary"
        ),
        Content(_from_to(session.began, session.ended)),
        Content(count(session.episodes, "turn")),
    ]
    if session.failed:
        facts.append(Content.styled(f"{session.failed:,} failed", "$error"))
    if session.tokens:
        facts.append(Content(f"{short_count(session.tokens)} {noun(session.tokens, 'token')}"))
    if session.files:
        facts.append(Content(count(session.files, "file")))
    return Content("\n").join((Content.assemble(" ", (title, "bold")), _line(facts)))


def _from_to(began: float, ended: float) -> str:
    """Return `2026-01-31 12:38 – 14:02`; the end has its day where that is another one, and its year likewise."""
    if local_day(began) == local_day(ended):
        return f"{local_minute(began)} – {clock(ended)}"
    same_year = local_day(began)[:4] == local_day(ended)[:4]
    return f"{local_minute(began)} – {local_minute(ended)[5 if same_year else 0 :]}"


def _line(pieces: Sequence[Content]) -> Content:
    return Content.assemble(" ", _DOT.join(pieces))
