"""The source of ingested texts: pipelines' output for semantic search, one event of the journal each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cm_tui.engine.memory.projection.journal_source import JournalSource, name_in_path
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.search.ranking.source import SourcePassage
from cm_tui.model.definition import INGESTED

KIND = "ingest.vector"
"""Kind of the events: {index, text, metadata}."""
INDEX = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TITLE = 200


class IngestedSource(JournalSource):
    """Passages of pipelines' output."""

    name = INGESTED
    kind = KIND
    key = "ingested"
    words = "Texts from pipelines are"

    def passages_of(self, event: Event) -> Iterator[SourcePassage]:
        """Yield the passage of a text, if it and its index are valid."""
        index, text = str(event.data.get("index", "")), event.data.get("text")
        if not INDEX.fullmatch(index) or not isinstance(text, str) or not text.strip():
            return
        clean = text if event.is_clean else redact(text).text
        metadata = event.data.get("metadata")
        named = metadata.get("title") if isinstance(metadata, dict) else None
        title = str(named or clean.strip().split("\n", 1)[0])[:_TITLE]
        path, lines = f"vector/{index}/{name_in_path(event.id)}", clean.count("\n") + 1
        yield SourcePassage(path, 1, lines, title, clean, time=int(min(event.time, 2.0**40)))
