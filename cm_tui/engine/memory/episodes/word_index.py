"""The word index: which episodes have a text within one of their words.

The newest episodes are searched as text. The words of the others are rows, each with its episodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables

PART = 8_192
"""Episodes that are searched as text, at most; then their words become rows."""
HAVING = (
    "SELECT seq FROM episode_text WHERE contains(words, ?) "
    "UNION ALL SELECT unnest(seqs) FROM episode_word WHERE contains(word, ?)"
)
"""The numbers of the episodes with a text within a word; the text, in lower case and without blanks, is given twice."""
_WORDS = (
    "INSERT INTO episode_word SELECT word, list(seq) FROM "
    "(SELECT seq, unnest(string_split(words, chr(10))) AS word FROM episode_text) WHERE word <> '' GROUP BY word"
)


def add(tables: EpisodeTables, texts: Mapping[int, str]) -> None:
    """Add the words of new episodes, a line each, by their numbers; the caller writes."""
    tables.insert("episode_text", {"seq": list(texts), "words": list(texts.values())})
    if tables.row("SELECT count(*) FROM episode_text")[0] >= PART:
        tables.cursor.execute(_WORDS)
        tables.cursor.execute("DELETE FROM episode_text")


def remove(tables: EpisodeTables, numbers: Collection[int]) -> None:
    """Remove all words of episodes; the caller writes."""
    gone = [list(numbers)]
    tables.cursor.execute("DELETE FROM episode_text WHERE seq IN (SELECT unnest(?::INTEGER[]))", gone)
    left = "list_filter(seqs, lambda seq: NOT list_contains($1::INTEGER[], seq))"
    tables.cursor.execute(f"UPDATE episode_word SET seqs = {left} WHERE list_has_any(seqs, $1::INTEGER[])", gone)  # noqa: S608 - our own columns
    tables.cursor.execute("DELETE FROM episode_word WHERE len(seqs) = 0")
