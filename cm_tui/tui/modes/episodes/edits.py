"""Changes of episodes: of the one under the cursor, of those that are selected, or of a whole session."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cm_tui.errors import CmError
from cm_tui.model import Edited, Entry, Episode, EpisodeEdit, EpisodeFilter, PurgeReport
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.episodes.query import BY_HAND, EVERY, of_key
from cm_tui.tui.modes.episodes.view import EpisodesView
from cm_tui.tui.screens.question import Line, ask_line, confirm, confirm_by_word
from cm_tui.tui.screens.undo import ask_entry, ask_note, do_undoable
from cm_tui.tui.screens.writing import EntryDraft
from cm_tui.tui.state.revision import headline
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.text import count, elide_end, one_line, sentence, size

MOST = 5_000
"""Episodes that are changed at once."""
_PAGE = 1_000
_LONGEST = 60


def all_of(engine: Engine, where: EpisodeFilter) -> list[Episode]:
    """Return the episodes that fit, the newest first, `MOST` at most."""
    rows: list[Episode] = []
    before: str | None = None
    while len(rows) < MOST:
        page = engine.episodes(where=where, before=before, limit=_PAGE)
        rows += page.rows
        if len(rows) >= page.total or not page.rows:
            break
        before = page.rows[-1].id
    return rows[:MOST]


def listed(screen: EpisodesView) -> EpisodeFilter:
    """Return which episodes are listed: those of the session that fit."""
    return of_key(screen.where, screen.session_key)


def with_selected(screen: EpisodesView, then: Callable[[Sequence[Episode]], None]) -> None:
    """Find the episodes to change: the selected ones, else all of the session, else the one under the cursor."""
    if screen.selected:
        then(tuple(screen.selected.values()))
    elif screen.on_sessions and screen.session_key:
        where = listed(screen)
        screen.do(lambda engine: all_of(engine, where), lambda rows: then(rows) if rows else None)
    elif (episode := screen.episode) is not None:
        then((episode,))


def on_selected(run: Callable[..., None]) -> Callable[..., None]:
    """Make the command of a function that changes episodes: it gets those that are to be changed."""

    def command(screen: EpisodesView, **how: Any) -> None:
        with_selected(screen, partial(run, screen, **how))

    return command


def nothing_selected(screen: EpisodesView) -> str | None:
    """Return why there is nothing to change."""
    if screen.selecting:
        return "the selection is still being read"
    if screen.selected or screen.episode is not None:
        return None
    if not screen.on_sessions or not screen.turns.rows:
        return "no episode"
    return None if screen.session_key else "choose a session, or select episodes with space"


def change(screen: EpisodesView, episodes: Sequence[Episode], edit: EpisodeEdit) -> None:
    """Change episodes, say what was done, and show it."""
    ids = [episode.id for episode in episodes]

    def done(edited: Edited) -> None:
        screen.cm.tell(f"{sentence(edited.words)}; u undoes it.")
        screen.selected.clear()
        screen.reload()

    title = headline(episodes[0]) if len(episodes) == 1 else ""
    do_undoable(screen, lambda engine: engine.edit_episodes(ids, edit), done, title=title)


# --- pins, ratings, tags ---


@on_selected
def flip_pin(screen: EpisodesView, episodes: Sequence[Episode]) -> None:
    """Pin, or unpin where all of them are pinned."""
    change(screen, episodes, EpisodeEdit(pinned=not all(one.pinned for one in episodes)))


@on_selected
def rate(screen: EpisodesView, episodes: Sequence[Episode], rating: int) -> None:
    """Rate, or take the same rating back."""
    same = all(one.rating == rating for one in episodes)
    change(screen, episodes, EpisodeEdit(rating=0 if same else rating))


@on_selected
def prompt_tags(screen: EpisodesView, episodes: Sequence[Episode]) -> None:
    """Ask for tags: those that all have stand there already."""
    common = [tag for tag in episodes[0].tags if all(tag in one.tags for one in episodes)]

    def answered(text: str) -> None:
        tags = tags_in(text)
        add = tuple(tag for tag in tags if any(tag not in one.tags for one in episodes))
        remove = tuple(tag for tag in common if tag not in tags)
        if add or remove:
            change(screen, episodes, EpisodeEdit(add_tags=add, remove_tags=remove))

    used = [one_line(facet.value) for facet in (screen.totals.stats.tags[:8] if screen.totals else ())]
    hint = f"In use: {', '.join(used)}" if used else "Separate tags with commas; deleted ones are removed."
    what = count(len(episodes), "episode")
    there = "".join(f"{one_line(tag)}, " for tag in common)
    ask_line(screen, f"Tags of {what}", Line(answered, there, hint, adds=True))


def tags_in(text: str) -> list[str]:
    """Return the tags in a line: `big router, #bug` are two."""
    return list(dict.fromkeys(tag for word in text.split(",") if (tag := " ".join(word.split()).lstrip("#"))))


# --- forgetting ---


@on_selected
def forget(screen: EpisodesView, episodes: Sequence[Episode]) -> None:
    """Forget the episodes, or restore them where all of them are forgotten."""
    back = all(one.state == "forgotten" for one in episodes)
    do = partial(change, screen, episodes, EpisodeEdit(forgotten=not back))
    if back or len(episodes) == 1 or screen.selected:
        do()
        return
    whole = screen.session
    title = f"the session “{elide_end(one_line(whole.title or whole.id), _LONGEST)}”" if whole else "this session"
    where = "everything recorded by hand" if screen.session_key == BY_HAND else title
    what = f"Forget {count(len(episodes), 'episode')} of {where}?"
    confirm(screen, f"{what}\n\nThey disappear from lists, search and agents. u undoes it.", "Forget", do)


def select(screen: EpisodesView) -> None:
    """Select what the cursor is on, a session or an episode, or not any more, and go on."""
    if screen.on_sessions:
        _flip_session(screen)
    else:
        _flip_episode(screen)


def _flip_episode(screen: EpisodesView) -> None:
    row = screen.turn_list.current
    if row is None:
        return
    if screen.selected.pop(row.id, None) is None:
        screen.selected[row.id] = row
    screen.show_selection()
    if screen.focused is screen.turn_list:
        screen.turn_list.cursor += 1


def _flip_session(screen: EpisodesView) -> None:
    row = screen.session_list.current
    if row is None or row.key is None:
        return
    if row.key == EVERY:
        select_all(screen)
    elif row.key in screen.session_list.selected:
        _drop(screen, row.key)
    else:
        _flip(screen, row.key, of_key(screen.where, row.key))
    if screen.focused is screen.session_list:
        screen.session_list.cursor += 1


def _drop(screen: EpisodesView, session: str) -> None:
    screen.selected = {id_: one for id_, one in screen.selected.items() if one.session != session}
    screen.show_selection()


def select_all(screen: EpisodesView) -> None:
    """Select everything that fits the filter, inside of a session its episodes; nothing where all of it is selected."""
    _flip(screen, EVERY, screen.where if screen.on_sessions else listed(screen))


def _flip(screen: EpisodesView, key: str, where: EpisodeFilter) -> None:
    """Select all that fits, also what was not read yet, or none of it where all of it is selected."""

    def got(rows: list[Episode]) -> None:
        screen.selecting.discard(key)
        known = screen.selected.keys() >= {row.id for row in rows}
        for row in rows:
            if known:
                del screen.selected[row.id]
            elif len(screen.selected) < MOST:
                screen.selected[row.id] = row
        if len(screen.selected) >= MOST:
            screen.cm.tell(f"{count(MOST, 'episode')} selected, the most that can be changed at once.")
        screen.show_selection()

    def failed(error: CmError) -> None:
        screen.selecting.discard(key)
        screen.cm.tell_error(error)

    screen.selecting.add(key)
    topic = {EVERY: "all", BY_HAND: "select by hand"}.get(key, f"select {key}")
    screen.ask(topic, lambda engine: all_of(engine, where), got, failed)


WORD = "purge"
_NAMED, _WIDTH = 6, 56
"""Episodes that the question names, and cells of each: all of it fits the smallest screen."""


def cannot_purge(screen: EpisodesView) -> str | None:
    """Return why nothing can be deleted."""
    chosen = [*screen.selected.values()] or [one for one in (screen.episode,) if one is not None]
    if screen.where.state == "archived" or any(one.state == "archived" for one in chosen):
        return None
    return "only archived episodes can be deleted: state:archived lists them"


@on_selected
def purge(screen: EpisodesView, episodes: Sequence[Episode]) -> None:
    """Delete the archived episodes among them, after two questions."""
    archived = [one for one in episodes if one.state == "archived"]
    if not archived:
        screen.cm.tell("None of these is archived; nothing was deleted.", severity="warning")
        return
    ids = [one.id for one in archived]
    screen.ask("purge", lambda engine: engine.purge(ids, dry_run=True), partial(_confirm, screen, archived))


def _confirm(screen: EpisodesView, episodes: Sequence[Episode], report: PurgeReport) -> None:
    confirm_by_word(
        screen, question(episodes, report), "Delete", WORD,
        f"Type `{WORD}` to delete {count(len(report.ids), 'archived episode')}", "This cannot be undone.",
        lambda: screen.do(lambda engine: engine.purge(report.ids), partial(_gone, screen)),
    )  # fmt: skip


def question(episodes: Sequence[Episode], report: PurgeReport) -> str:
    """Return what is asked: how much goes, and what of it is called how."""
    going = [one for one in episodes if one.id in set(report.ids)]
    lines = [elide_end(f"{local_day(one.time)}  {headline(one)}", _WIDTH) for one in going[:_NAMED]]
    if len(going) > _NAMED:
        lines.append(f"… and {len(going) - _NAMED:,} more")
    return (
        f"Delete {count(len(report.ids), 'archived episode')} permanently, {size(report.bytes)}?\n\n"
        + "\n".join(lines)
        + "\n\nThis cannot be undone; only a backup can restore them."
    )


def _gone(screen: EpisodesView, report: PurgeReport) -> None:
    message = f"Deleted permanently: {count(len(report.ids), 'archived episode')}."
    screen.cm.tell(message)
    screen.cm.activity_log.add(message, "ok")
    for one in report.ids:
        screen.selected.pop(one, None)
    if screen.story.episode is not None and screen.story.episode.id in report.ids:
        screen.story.say("It was deleted.")
    screen.reload()


_TITLE = 100
_MOST_CHARACTERS = 4_000
"""Most characters of an episode's outcome in the dialog, for the user to shorten."""


_SENTENCES, _CHARACTERS = 3, 600
"""Of a paragraph, most that are proposed of its end."""
_SENTENCE_END = re.compile(r"(?<=[.!…。！])\s+(?=[^\s])")
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_LIST = re.compile(r"^[ \t]*([-*+•]|[0-9]{1,3}[.)])[ \t]", re.MULTILINE)


def words_of(episode: Episode) -> str:
    """Return what an episode taught, to begin with: what the agent concluded, else what was asked, else the verdict."""
    concluded = conclusion(episode.answer)
    lesson = next((one for one in (concluded, *episode.prompts, episode.verdict) if one.strip()), "")
    return lesson.strip()[:_MOST_CHARACTERS]


def conclusion(answer: str) -> str:
    """Return the last sentences of an answer, or its last list; code, headings and questions at its end are skipped."""
    paragraphs = [
        part.strip() for part in re.split(r"\n[ \t]*\n", _HEADING.sub("", _CODE.sub("", answer))) if part.strip()
    ]
    statements = [part for part in paragraphs if not part.endswith("?")]
    if not statements:
        return ""
    last = statements[-1]
    if _LIST.search(last):
        lead = statements[-2] if len(statements) > 1 and statements[-2].endswith(":") and _LIST.match(last) else ""
        return f"{lead}\n{last}".strip()
    sentences: list[str] = []
    for one in reversed(_SENTENCE_END.split(last)):
        if sentences and (len(sentences) == _SENTENCES or sum(map(len, sentences)) + len(one) > _CHARACTERS):
            break
        sentences.insert(0, one)
    return " ".join(sentences)


def to_entry(screen: EpisodesView, episode: Episode) -> None:
    """Ask for an entry that begins with what came of an episode, and write it; it says which episode that was."""

    def ask(whole: Episode) -> None:
        def write(engine: Engine, given: EntryDraft) -> Entry:
            return engine.promote_episode(
                whole.id, content=given.content, category=given.category, title=given.title, keywords=given.keywords,
                scope=given.scope,
            )  # fmt: skip

        def wrote(entry: Entry) -> None:
            message = "Already saved." if entry.again else "Saved as an entry; u undoes it."
            screen.cm.tell(" ".join((message, *entry.notes)))

        draft = EntryDraft(words_of(whole), elide_end(headline(whole), _TITLE), "Experience")
        ask_entry(screen, "An entry of this episode", draft, write, wrote)

    # A row of the list has not all of its texts.
    screen.ask("promote", lambda engine: engine.episode(episode.id), ask)


def to_note(screen: EpisodesView, episode: Episode) -> None:
    """Ask for a paragraph that begins with what came of an episode, and write it into a note."""

    def ask(whole: Episode) -> None:
        asked, words = headline(whole), words_of(whole)
        text = words if " ".join(words.split()).startswith(asked) else f"{asked}: {words}"
        ask_note(screen, "", text, lambda change: screen.cm.tell(f"{sentence(change.words)}; u undoes it."))

    screen.ask("promote", lambda engine: engine.episode(episode.id), ask)
