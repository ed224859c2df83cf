"""Entries as records: read from a file, made of a text, and found by name."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, TypedDict, Unpack, get_args

from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.search.ranking.tokens import STOP_WORDS
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Actor, Category, Entry, EntryEdit, Scope
from cm_tui.model.author import Author
from cm_tui.model.ids import SHORTEST_NAME, plain_id, quoted, where_ids_are
from cm_tui.model.text import one_line

# --- an entry as a file has it ---

CONTENT_CHARACTERS = 20_000
"""The longest content: a longer text is a document, and belongs into a file."""
TITLE_CHARACTERS = 200
KEYWORDS = 24
KEYWORD_CHARACTERS = 60
ID_LETTERS = 7
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Without letters that look like others."""
_FIRST_LETTERS = "ghjkmnqrstvwxyz"
"""An id of an episode has hexadecimal digits alone: no id of an entry begins one."""
PROPOSAL_LETTER = "p"
"""First letter of a proposal's id."""
_LATEST = 2**53
IF_SAID = ("agent", "changed_by", "changed_agent", "session", "commit", "pinned", "never_recall", "from", "redacted")
"""Fields that a file omits when empty."""
_SOURCES = 50
"""Of one entry, at most: it may have been merged again and again."""


def new_id(taken: Iterable[str], first: str = _FIRST_LETTERS) -> str:
    """Return an unused id. `taken`: existing ids; `first`: letters that it may begin with."""
    known = set(taken)
    while True:
        numbers = os.urandom(ID_LETTERS)
        rest = "".join(_ALPHABET[number % len(_ALPHABET)] for number in numbers[1:])
        made = first[numbers[0] % len(first)] + rest
        if made not in known:
            return made


def read_entry(data: Any, scope: Scope) -> Entry | None:
    """Return the entry in a file's record; None: invalid. `data`: the parsed JSON."""
    if not isinstance(data, Mapping):
        return None
    content, name = _text(data, "content"), _text(data, "id")
    if not content.strip() or not 0 < len(name) <= 64 or not name.isprintable() or len(content) > CONTENT_CHARACTERS:
        return None
    return Entry(
        id=name,
        category=category_of(_text(data, "category")) or "Knowledge",
        title=_text(data, "title")[:TITLE_CHARACTERS],
        content=content,
        keywords=split_keywords(data.get("keywords")),
        scope=scope,
        timestamp=_count(data, "timestamp"),
        actor=_actor(data, "actor"),
        agent=_text(data, "agent")[:TITLE_CHARACTERS],
        changed_by=_actor(data, "changed_by") if data.get("changed_by") else "",
        changed_agent=_text(data, "changed_agent")[:TITLE_CHARACTERS],
        session=_text(data, "session")[:TITLE_CHARACTERS],
        commit=_text(data, "commit")[:64],
        pinned=data.get("pinned") is True,
        never_recall=data.get("never_recall") is True,
        made_from=split_keywords(data.get("from"), _SOURCES),
        redacted=_count(data, "redacted"),
    )


def entry_data(entry: Entry) -> dict[str, Any]:
    """Return an entry as a file's record, without empty fields."""
    data: dict[str, Any] = {
        "id": entry.id,
        "category": entry.category,
        "title": entry.title,
        "content": entry.content,
        "keywords": "|".join(entry.keywords),
        "scope": entry.scope,
        "timestamp": entry.timestamp,
        "actor": entry.actor,
    }
    more = {name: "|".join(entry.made_from) if name == "from" else getattr(entry, name) for name in IF_SAID}
    return {**data, **{name: value for name, value in more.items() if value}}


def digest(entry: Entry) -> str:
    """Return a digest of an entry's content, which identifies it."""
    said = entry_data(entry)
    text = "\0".join(f"{name}={said[name]!r}" for name in sorted(said))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def has_same_content(one: Entry | None, other: Entry | None) -> bool:
    """Return whether two states of an entry are the same to a reader."""
    if one is None or other is None:
        return one is other
    return digest(one) == digest(other)


def category_of(text: str) -> Category | None:
    """Return the category of a name, ignoring case; None: no such category."""
    return next((one for one in get_args(Category) if one.lower() == text.strip().lower()), None)


def checked_category(text: str) -> Category:
    """Return the category of a name. Raises UsageError: no such category."""
    found = category_of(text)
    if found is None:
        names = ", ".join(get_args(Category))
        raise UsageError(f"Unknown category: {text[:40]!r}.", hint=f"Use one of {names}.")
    return found


def split_keywords(found: object, most: int = KEYWORDS) -> tuple[str, ...]:
    """Return unique keywords from a text with `|` between them or from a list, up to a limit."""
    given = found.split("|") if isinstance(found, str) else found if isinstance(found, (list, tuple)) else ()
    words = (" ".join(word.replace("|", " ").split()) for word in given if isinstance(word, str))
    return tuple(dict.fromkeys(word[:KEYWORD_CHARACTERS] for word in words if word))[:most]


def storable(text: str) -> str:
    """Return a text for files and store: without lone surrogates and zero bytes, with plain line ends."""
    valid = text.encode("utf-8", "replace").decode("utf-8")
    return valid.replace("\0", " ").replace("\r\n", "\n").replace("\r", "\n")


def first_line(text: str, most: int = 80) -> str:
    """Return the first line with words, cut at a word if it is long."""
    line = next((" ".join(one.split()) for one in text.split("\n") if one.strip()), "")
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return storable(value) if isinstance(value, str) else ""


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 <= value <= _LATEST else 0


def _actor(data: Mapping[str, Any], name: str) -> Actor:
    # An entry without an author is treated as the user's: agents do not change it.
    return next((one for one in get_args(Actor) if one == data.get(name)), "person")


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
