"""Making an entry of a text: redacted, with a title and keywords."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack, get_args

from cm_tui.engine.memory.entries.entry_record import (
    CONTENT_CHARACTERS,
    TITLE_CHARACTERS,
    checked_category,
    first_line,
    split_keywords,
    storable,
)
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.search.ranking.tokens import STOP_WORDS
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Entry, EntryEdit, Scope
from cm_tui.model.author import Author
from cm_tui.model.ids import SHORTEST_NAME, plain_id, quoted, where_ids_are
from cm_tui.model.text import one_line

# --- names of entries: a whole id, or a unique prefix of it ---


def all_named(entries: Sequence[Entry], name: str) -> tuple[Entry, ...]:
    """Return the candidates: entries with the whole id, or else with that prefix."""
    wanted = plain_id(name)
    found = [one for one in entries if one.id == wanted] or [one for one in entries if one.id == wanted.lower()]
    if not found and len(wanted) >= SHORTEST_NAME:
        found = [one for one in entries if one.id.startswith(wanted.lower())]
    return tuple(found)


def one_named(entries: Sequence[Entry], name: str, scope: Scope | None = None) -> Entry:
    """Return the entry with a name.

    `name`: what was typed. `scope`: only this scope; None: either. Raises NotFoundError if no entry has that name;
    UsageError if the name is ambiguous.
    """
    wanted = plain_id(name)
    found = all_named([one for one in entries if scope in {None, one.scope}], name)
    if not found:
        of_scope = f" in the scope {scope}" if scope is not None else ""
        hint = _with_that_title(entries, wanted) or where_ids_are(wanted, "`cm entries list` lists them.")
        raise NotFoundError(f"Entry not found{of_scope}: {quoted(wanted)}.", hint=hint)
    if len(found) > 1:
        places = " and ".join(f"{one.id} ({one.scope})" for one in found[:4])
        in_both = len({one.id for one in found}) == 1
        hint = "Give the scope: user or project." if in_both else "Give more characters of the id."
        raise UsageError(f"Ambiguous entry {wanted!r}: {places}.", hint=hint)
    return found[0]


def _with_that_title(entries: Sequence[Entry], words: str) -> str:
    """Return which entries have some words in their title, as a sentence; empty: none has."""
    shown = [one for one in entries if words.strip() and words.lower() in one.title.lower() and not one.held][:3]
    named = ", ".join(f"{one.id} “{' '.join(one_line(one.title).split())[:60]}”" for one in shown)
    return f"Entries with that title: {named}. `cm entries search WORDS` finds more." if named else ""


def checked_scope(text: str) -> Scope | None:
    """Return the scope of a name; None for an empty one. Raises UsageError: no such scope."""
    found = next((one for one in get_args(Scope) if one == text), None)
    if found is None and text:
        raise UsageError(f"Unknown scope: {text[:40]!r}.", hint="Use `user` or `project`.")
    return found


# --- keywords for entries that have none ---

_WORD = re.compile(r"[^\W_][\w.-]*")
_MARK = re.compile(r"\[redacted: [^\]\n]{1,80}\]")
_MOST = 8
_SHORTEST = 3
_CHARACTERS = 40


def keywords_of(title: str, content: str) -> tuple[str, ...]:
    """Return the most frequent words of a text, of these the first; names as written.

    `title`: counts twice.
    """
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    for text, weight in ((title, 2), (content, 1)):
        for found in _WORD.findall(_MARK.sub(" ", text)):
            word = found.rstrip(".-")
            key = word.lower()
            if _SHORTEST <= len(word) <= _CHARACTERS and key not in STOP_WORDS and not key.isdecimal():
                counts[key] += weight
                written.setdefault(key, word if _is_name(word) else key)
    # Of equal ones the first: a counter keeps that order.
    return tuple(written[key] for key, _ in counts.most_common(_MOST))


def _is_name(word: str) -> bool:
    return any(one.isupper() for one in word[1:]) or "_" in word or "." in word


# --- making an entry of a text ---


def words_of_edit(edit: EntryEdit, what: str) -> str:
    """Return what an edit does; of a switch also which way, as the same key moves it to and fro."""
    match edit:
        case EntryEdit(None, None, None, None, bool() as pinned, None):
            return f"{'pinned' if pinned else 'unpinned'} {what}"
        case EntryEdit(None, None, None, None, None, bool() as never):
            return f"excluded {what} from answers" if never else f"included {what} in answers again"
    return f"changed {what}"


def edited(entry: Entry, edit: EntryEdit) -> Entry:
    """Return an entry as it would be after an edit, without secrets.

    Raises UsageError if a value cannot be.
    """
    # Keywords from the old text are replaced by those of the new one.
    own_title = "" if entry.title == first_line(entry.content) else entry.title
    derived = (keywords_of(entry.title, entry.content), keywords_of("", entry.content))
    own_words = () if entry.keywords in derived else entry.keywords
    title, content, secrets = _clean(
        own_title if edit.title is None else edit.title, entry.content if edit.content is None else edit.content
    )
    given = own_words if edit.keywords is None else split_keywords([_word(one) for one in edit.keywords])
    title_now = title or first_line(content)
    is_other = (title_now, content) != (entry.title, entry.content)
    return replace(
        entry,
        category=entry.category if edit.category is None else checked_category(edit.category),
        title=title_now,
        content=content,
        keywords=given or keywords_of(title, content),
        pinned=entry.pinned if edit.pinned is None else edit.pinned,
        never_recall=entry.never_recall if edit.never_recall is None else edit.never_recall,
        timestamp=_now() if is_other else entry.timestamp,
        redacted=entry.redacted + (secrets if is_other else 0),
        held=False,
    )


def changed_by(entry: Entry, author: Author) -> Entry:
    """Return an entry with its last editor: an agent may not change what the user did."""
    return replace(entry, changed_by=author.actor, changed_agent=_name(author.agent))


class Details(TypedDict, total=False):
    """What a new entry is given besides its text.

    Missing: an Experience of the project, with its first line as title and keywords from the text.
    """

    category: str
    title: str
    keywords: Iterable[str]
    scope: Scope


def new_entry(text: str, author: Author, head: str, **details: Unpack[Details]) -> Entry:
    """Return a new entry, without an id.

    `author`: who writes it; `head`: the commit that is checked out; `details`: the category ignores case. Raises
    UsageError if the text is empty or too long, or a value is invalid.
    """
    clean_title, content, secrets = _clean(details.get("title", ""), text)
    scope = details.get("scope", "project")
    checked_scope(scope)
    given = split_keywords([_word(one) for one in details.get("keywords", ())])
    return Entry(
        id="",
        category=checked_category(details.get("category", "Experience")),
        title=clean_title or first_line(content),
        content=content,
        keywords=given or keywords_of(clean_title, content),
        scope=scope,
        timestamp=_now(),
        actor=author.actor,
        agent=_name(author.agent),
        session=storable(author.session)[:TITLE_CHARACTERS],
        commit=head,
        redacted=secrets,
    )


def _clean(title: str, content: str) -> tuple[str, str, int]:
    """Return title and content without secrets, and how many there were.

    Raises UsageError if there is nothing, or too much.
    """
    text = storable(content).strip("\n").rstrip()
    if not text.strip():
        raise UsageError("Nothing to remember.", hint='For example: cm remember "tests run with pytest -n 3"')
    if len(text) > CONTENT_CHARACTERS:
        raise UsageError(
            f"An entry holds at most {CONTENT_CHARACTERS:,} characters; this text has {len(text):,}.",
            hint="Save it in a file of the project and remember its path.",
        )
    heading = redact(" ".join(storable(title).split())[: TITLE_CHARACTERS * 4])
    clean = redact(text)
    # The mark for a secret may be longer than the secret.
    return heading.text[:TITLE_CHARACTERS], clean.text[:CONTENT_CHARACTERS], heading.secrets + clean.secrets


def _word(text: str) -> str:
    return redact(storable(text)).text


def _name(agent: str) -> str:
    return redact(storable(agent)).text[:TITLE_CHARACTERS]


def _now() -> int:
    return time.time_ns() // 1_000_000
