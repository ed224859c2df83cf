"""README, the guide to the command line and `cm --help` tell the same story."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Shop

ROOT = Path(__file__).parent.parent.parent
HELP = re.compile(r"^[│ ]*([a-z][a-z-]*) {2,}\S", re.MULTILINE)


def commands_of(help_text: str) -> set[str]:
    listing = help_text.split("Commands", 1)[1]
    return set(HELP.findall(listing))


def test_every_command_is_in_the_guide_and_every_one_there_exists(shop: Shop):
    known = commands_of(shop.cm("--help", NO_COLOR="1").out)
    assert {"index", "search", "callers", "pack", "doctor", "bench"} <= known
    guide = set(re.findall(r"`cm ([a-z][a-z-]*)", (ROOT / "cm_tui/docs/cli.md").read_text()))
    assert guide == known
    readme = set(re.findall(r"^cm ([a-z][a-z-]*)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert readme <= known


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere():
    for page in (ROOT / "README.md", *(ROOT / "cm_tui/docs").glob("*.md")):
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
            found = page.parent / target if target else page
            assert found.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(found.read_text()), f"{page.name}: {target}#{anchor}"
