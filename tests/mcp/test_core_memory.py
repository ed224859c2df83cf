"""manage_core_memory: add, update, delete, search, with the protections of remember and forget."""

from __future__ import annotations

import json
from pathlib import Path

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.model import EntryEdit
from cm_tui.model.author import Author
from tests.mcp.served import answering
from tests.planted import GITHUB, leaked

NEW = {
    "content": f"Refunds go through {GITHUB} the ledger.",
    "category": "Knowledge",
    "title": "Refunds",
    "scope": "project",
}


async def test_from_adding_to_deleting(own: Path):
    async with answering(own, tools="memory") as asked:
        text, kept = await asked.ok("manage_core_memory", action="add", **NEW)
        assert (kept["action"], kept["state"]) == ("add", "done")
        assert "1 secret" in text
        _, found = await asked.ok("manage_core_memory", action="search", query="ledger")
        [row] = found["entries"]
        assert (row["id"], row["category"], row["title"], row["scope"]) == (
            kept["id"],
            "Knowledge",
            "Refunds",
            "project",
        )
        assert "refunds" in row["keywords"].split("|")
        assert isinstance(row["timestamp"], int)
        assert not leaked(json.dumps(found))
        await asked.ok("manage_core_memory", action="update", id=kept["id"], title="How money goes back")
        assert Entries(own).named(kept["id"]).title == "How money goes back"
        assert (await asked.ok("manage_core_memory", action="add", **{**NEW, "title": "How money goes back"}))[1][
            "state"
        ] == "unchanged"
        assert (await asked.ok("manage_core_memory", action="delete", id=kept["id"]))[1]["state"] == "done"
        text, found = await asked.ok("manage_core_memory", action="search")
        assert (found["entries"], found["total"], "No matching entries" in text) == ([], 0, True)


async def test_what_is_missing_is_named(own: Path):
    async with answering(own, tools="memory") as asked:
        for arguments, missing in (
            ({"action": "add", "content": "x"}, "category, title, scope"),
            ({"action": "update", "title": "x"}, "id"),
            ({"action": "delete"}, "id"),
        ):
            assert f"missing: {missing}." in await asked.refused("manage_core_memory", **arguments)


async def test_a_persons_entries_and_those_of_all_projects_are_proposed(own: Path):
    mine, _ = Entries(own).add("Deploy on mondays.", Author())
    async with answering(own, tools="memory") as asked:
        for arguments in (
            {"action": "update", "id": mine.id, "content": "Deploy on sundays."},
            {"action": "delete", "id": mine.id},
            {"action": "add", **NEW, "scope": "user"},
        ):
            _, kept = await asked.ok("manage_core_memory", **arguments)
            assert (kept["state"], bool(kept["proposal"])) == ("proposed", True)
    assert [one.content for one in Entries(own).all().entries] == ["Deploy on mondays."]


async def test_what_is_never_recalled_or_held_is_not_found(own: Path):
    silent, _ = Entries(own).add("The wallaby is silent.", Author())
    Entries(own).change(silent, EntryEdit(never_recall=True), Author())
    content = Entries(own).files["project"].read()
    content.items.append({"id": "zzzzzzz", "content": "The wallaby came along."})
    Entries(own).files["project"].write(content, lambda _: None)
    async with answering(own, tools="memory") as asked:
        assert (await asked.ok("manage_core_memory", action="search", query="wallaby"))[1]["total"] == 0
