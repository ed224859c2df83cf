"""An entry as a line of a prompt."""

from __future__ import annotations

from cm_tui.model import Entry


def line_of(entry: Entry) -> str:
    """Return an entry as `- [Category] Title: Content`, without repeating the title."""
    title = " ".join(entry.title.split())
    content = entry.content.strip()
    begun = title.removesuffix("…")
    if not title or " ".join(content.split()).startswith(begun):
        first, _, rest = content.partition("\n")
        said = " ".join(first.split())
        body = f"{said}\n{rest.strip()}" if rest.strip() else said
    else:
        body = f"{title}: {content}"
    # Further lines of an entry are indented, so that none of them looks like another entry.
    return f"- [{entry.category}] {body}".replace("\n", "\n  ")
