"""An entry as a line of a prompt."""

from __future__ import annotations

from cm_tui.model import Entry


def line_of(entry: Entry) -> str:
    """Return an entry as `- [Category] Title: Content`; what its title says already is not said twice."""
    title = " ".join(entry.title.split())
    content = entry.content.strip()
    begun = title.removesuffix("…")
    if not title or " ".join(content.split()).startswith(begun):
        first, _, rest = content.partition("\n")
        said = " ".join(first.split())
        body = f"{said}\n{rest.strip()}" if rest.strip() else said
    else:
        body = f"{title}: {content}"
    # Lines of one entry stand below each other, so that none of them reads like another entry.
    return f"- [{entry.category}] {body}".replace("\n", "\n  ")
