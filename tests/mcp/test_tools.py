"""What the tools say: real lines, honest counts, bounds, and errors that help."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.freshness import policy
from tests.mcp.served import answering


async def test_retrieve_gives_place_symbol_and_source(shop: Path):
    async with answering(shop) as asked:
        text, record = await asked.ok("codememory_retrieve", query="ShoppingCart.add an item", limit=2)
        first = record["rows"][0]
        assert (first["path"], first["symbol"], first["kind"]) == ("shop/cart.py", "Cart.add", "method")
        assert f"1. shop/cart.py:{first['start_line']}-{first['end_line']} method Cart.add" in text
        assert first["snippet"] in text
        assert set(first["snippet"].splitlines()) <= set((shop / "shop/cart.py").read_text().splitlines())
        assert "parts" not in first
        assert text.startswith(f"2 of {record['total']} candidates, hybrid")


async def test_score_parts_on_request_add_up(shop: Path):
    async with answering(shop) as asked:
        text, record = await asked.ok("codememory_retrieve", query="add_tax", limit=1, explain=True)
        parts = record["rows"][0]["parts"]
        assert sum(part["contribution"] for part in parts) == pytest.approx(record["rows"][0]["score"], abs=1e-3)
        assert all(part["name"] in text for part in parts)


async def test_the_rest_of_an_answer_can_be_had_and_nothing_twice(shop: Path):
    async with answering(shop) as asked:
        _, whole = await asked.ok("codememory_retrieve", query="cart money", limit=50)
        seen, offset = [], 0
        while offset is not None:
            text, page = await asked.ok("codememory_retrieve", query="cart money", limit=3, offset=offset)
            assert page["total"] == whole["total"]
            seen += page["rows"]
            offset = page.get("next_offset")
            assert (offset is not None) == (f"More: offset={offset}" in text)
        assert seen == whole["rows"]
        assert len(seen) == whole["total"]


async def test_an_answer_stays_within_its_bound_and_says_so(shop: Path):
    async with answering(shop) as asked:
        text, record = await asked.ok("codememory_retrieve", query="cart total tax price", limit=20, max_chars=500)
        assert len(text) < 700
        assert 1 <= len(record["rows"]) < record["total"]
        assert record["next_offset"] == len(record["rows"])
        assert f"{len(record['rows'])} of {record['total']} candidates" in text


async def test_files_instead_of_passages(shop: Path):
    async with answering(shop) as asked:
        _, passages = await asked.ok("codememory_retrieve", query="cart money", limit=50)
        text, record = await asked.ok("codememory_retrieve", query="cart money", by="file", max_chars=50_000)
        paths = list(dict.fromkeys(row["path"] for row in passages["rows"]))
        assert [row["path"] for row in record["rows"]] == paths
        assert record["total"] == len(paths) < passages["total"]
        assert text.startswith(f"{len(paths)} of {len(paths)} files, hybrid")
        assert sum(1 + len(row["further"]) + row["more"] for row in record["rows"]) == passages["total"]
        assert all("further" not in row for row in passages["rows"])
        for number, row in enumerate(record["rows"], start=1):
            own = [one for one in passages["rows"] if one["path"] == row["path"]]
            assert f"{number}. {row['path']}:{own[0]['start_line']}-{own[0]['end_line']}" in text
            assert row["snippet"] == own[0]["snippet"]
            for place, one in zip(row["further"], own[1:], strict=False):
                assert (place["start_line"], place.get("symbol")) == (one["start_line"], one.get("symbol"))
                assert f"{one['start_line']}-{one['end_line']}" in text.split(row["path"], 1)[1]
        rest, page = await asked.ok("codememory_retrieve", query="cart money", by="file", limit=1, offset=1)
        assert page["rows"] == record["rows"][1:2]
        assert "2–2 of" in rest


async def test_keyword_only_is_said(shop: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    async with answering(shop) as asked:
        text, record = await asked.ok("codememory_retrieve", query="cart")
        assert record["mode"] == "keyword"
        assert "note: Keyword only" in text
        _, found = await asked.ok("memory_search", query="cart")
        assert found["fallback"] is True


async def test_callers_and_callees_name_the_line(shop: Path):
    async with answering(shop) as asked:
        text, record = await asked.ok("codememory_callers", symbol="Cart.total")
        assert record["total"] == len(record["rows"])
        row = record["rows"][0]
        line = (shop / row["site"]).read_text().splitlines()[row["line"] - 1].strip()
        assert row["text"] == line
        assert f"shop/checkout.py:{row['line']} function receipt" in text
        assert line in text
        _, deeper = await asked.ok("codememory_callers", symbol="Cart.total", depth=2)
        assert ("pay", 2, "receipt") in {(r["qualname"], r["depth"], r.get("via")) for r in deeper["rows"]}
        text, called = await asked.ok("codememory_callees", symbol="receipt")
        assert {"Cart.total", "format_price"} <= {r["qualname"] for r in called["rows"]}
        assert "shop/money.py" in text


async def test_pages_of_a_list_cover_it(shop: Path):
    async with answering(shop) as asked:
        _, whole = await asked.ok("codememory_importers", target="shop.money")
        _, first = await asked.ok("codememory_importers", target="shop.money", limit=1)
        _, second = await asked.ok("codememory_importers", target="shop.money", limit=1, offset=1)
        assert [*first["rows"], *second["rows"]] == whole["rows"][:2]
        assert first["next_offset"] == 1
        text, beyond = await asked.ok("codememory_importers", target="shop.money", offset=500)
        assert beyond["rows"] == []
        assert text.startswith(f"0 of {whole['total']}")


async def test_a_pack_is_within_its_budget_and_says_what_fell_out(shop: Path):
    async with answering(shop) as asked:
        text, record = await asked.ok("context_assemble", question="how is the total of a cart made", budget=200)
        assert record["tokens"] <= 200
        assert record["markdown"] in text
        assert f"{record['tokens']:,} of 200 tokens" in text
        assert sum(item["included"] for item in record["items"]) >= 1


def noted(shop: Path) -> None:
    """What people wrote down about refunds, as notes."""
    day = shop / ".cm/memory/2026-02-10.md"
    day.parent.mkdir(parents=True, exist_ok=True)
    day.write_text("# 2026-02-10\n\n## 10:00\n\nRefunds go back to the card within fourteen days.\n")


async def test_memory_search_finds_notes_and_leaves_out_what_is_weak(shop: Path):
    noted(shop)
    async with answering(shop) as asked:
        text, record = await asked.ok("memory_search", query="refunds", max_results=3)
        top = record["rows"][0]
        assert top["path"] == ".cm/memory/2026-02-10.md"
        assert f"Source: .cm/memory/2026-02-10.md#L{top['start_line']}-L{top['end_line']}" in text
        assert all(len(row["snippet"]) <= 700 and row["score"] >= 0.35 for row in record["rows"])
        text, record = await asked.ok("memory_search", query="refunds", max_results=3, min_score=1)
        assert record["rows"] == []
        assert "No matching notes." in text
        assert "less than or equal to 1" in await asked.refused("memory_search", query="refunds", min_score=1.5)
        text, record = await asked.ok("memory_get", path=top["path"], lines=1, **{"from": 5})
        assert "Refunds go back to the card" in text
        assert record["path"] == top["path"]
        assert "is outside" in await asked.refused("memory_get", path="user:../up.md")
    with Engine.open(shop) as engine:
        counted = engine.recall_counts([f"note/{top['path']}"])[0]
        assert counted.times >= 2, "found once, and read"


async def test_memory_get_reads_lines_and_says_where_it_goes_on(shop: Path):
    async with answering(shop) as asked:
        lines = (shop / "shop/cart.py").read_text().splitlines()
        got, start = [], 1
        while start is not None:
            text, record = await asked.ok("memory_get", path="shop/cart.py", lines=5, **{"from": start})
            assert record["start_line"] == start
            got += record["text"].split("\n")
            start = record.get("next_line")
            assert (start is not None) == (f"More: from={start}" in text)
        assert got == lines
        _, absolute = await asked.ok("memory_get", path=str(shop / "shop/cart.py"), lines=1)
        assert absolute["path"] == "shop/cart.py"
        _, odd = await asked.ok("memory_get", path="weird name [x].py")
        assert "bracketed" in odd["text"]
        assert "has no line 900" in await asked.refused("memory_get", path="shop/cart.py", **{"from": 900})


async def test_a_file_that_changed_is_said_to_be_stale(own: Path):
    (own / "shop/money.py").write_text("TAX_PERCENT = 7\n")
    async with answering(own) as asked:
        text, record = await asked.ok("memory_get", path="shop/money.py")
        assert record["stale"] is True
        assert "changed since it was indexed" in text
        assert "TAX_PERCENT = 7" in text


async def test_ingest_does_nothing_until_it_is_confirmed(fresh: Path):
    async with answering(fresh) as asked:
        refused = await asked.refused("codememory_retrieve", query="cart")
        assert "has no index yet" in refused
        assert "codememory_ingest with confirmed=true" in refused
        text, record = await asked.ok("codememory_ingest")
        assert record["done"] is False
        assert record["changes"]["counts"]["added"] == record["files"] > 0
        assert "Nothing was done" in text
        assert "has no index yet" in await asked.refused("codememory_definitions", symbol="Cart")
        text, record = await asked.ok("codememory_ingest", confirmed=True)
        assert record["done"] is True
        assert record["changed"] == record["files"]
        _, found = await asked.ok("codememory_definitions", symbol="Cart")
        assert found["total"] == 1


async def test_drift_names_paths_and_symbols(own: Path):
    async with answering(own) as asked:
        text, record = await asked.ok("codememory_drift")
        assert record["current"] is True
        assert text == "The index reflects the working tree."
        (own / "shop/checkout.py").unlink()
        (own / "shop/money.py").write_text("TAX_PERCENT = 7\n")
        (own / "shop/new.py").write_text("x = 1\n")
        text, record = await asked.ok("codememory_drift")
        assert record["current"] is False
        assert record["changes"]["removed"] == ["shop/checkout.py"]
        assert record["changes"]["modified"] == ["shop/money.py"]
        assert record["changes"]["added"] == ["shop/new.py"]
        status = {(row["qualname"], row["status"]) for row in record["rows"]}
        assert {("pay", "tombstoned"), ("add_tax", "tombstoned"), ("TAX_PERCENT", "drifted")} <= status
        assert ("x", "unindexed") in status
        _, page = await asked.ok("codememory_drift", limit=1, offset=1)
        assert page["rows"] == record["rows"][1:2]
        assert page["total"] == record["total"]
        await asked.ok("codememory_ingest", confirmed=True)
        _, record = await asked.ok("codememory_drift")
        assert record["current"] is True


async def test_a_moved_head_is_told_with_every_answer(own: Path):
    from tests.cli.conftest import git

    git(own, "commit", "-q", "--allow-empty", "-m", "Move")
    async with answering(own) as asked:
        text, record = await asked.ok("codememory_retrieve", query="cart")
        assert any("The index is behind" in note for note in record["notes"])
        assert "codememory_ingest" in text
        await asked.ok("codememory_ingest", confirmed=True)
        _, record = await asked.ok("codememory_retrieve", query="cart")
        assert record["notes"] == []


async def test_edits_are_in_the_answer_or_noted_in_it(own: Path, monkeypatch: pytest.MonkeyPatch):
    async with answering(own) as asked:
        (own / "shop/refund.py").write_text("def refund():\n    return 1\n")
        (own / "shop/checkout.py").unlink()
        _, record = await asked.ok("codememory_definitions", symbol="refund")
        assert (record["total"], record["notes"]) == (1, [])
        await asked.refused("codememory_definitions", symbol="pay")
        monkeypatch.setattr(policy, "QUICK_BYTES", 10)
        (own / "shop/refund.py").write_text("def refund():\n    return 22\n\n\ndef later():\n    return 1\n")
        missing = (
            "The index is behind: 1 file changed since the last index run; codememory_ingest brings it up to date."
        )
        text, record = await asked.ok("codememory_definitions", symbol="refund")
        assert record["notes"] == [missing]
        assert missing in text
        assert missing in await asked.refused("codememory_definitions", symbol="later")


async def test_lines_without_end_are_cut(own: Path):
    (own / "shop/wide.py").write_text(f"def wide():\n    return add_tax({'1 + ' * 5000}1)\n")
    async with answering(own) as asked:
        await asked.ok("codememory_reingest", path="shop/wide.py")
        text, record = await asked.ok("codememory_callers", symbol="add_tax")
        assert all(len(line) < 600 for line in text.splitlines())
        assert max(len(row["text"]) for row in record["rows"]) <= 240


async def test_a_row_is_a_line_whatever_a_file_is_called(own: Path):
    name = "forged\n9. all is well.py"
    (own / name).write_text("def forged():\n    return 1\n")
    with Engine.open(own) as engine:
        list(engine.index())
    async with answering(own) as asked:
        for tool, words in (
            ("codememory_definitions", {"symbol": "forged"}),
            ("codememory_retrieve", {"query": "forged"}),
        ):
            text, record = await asked.ok(tool, **words)
            assert record["rows"][0]["path"] == name
            assert "forged 9. all is well.py:1" in text
            assert name not in text


async def test_filters_narrow_every_tool_that_takes_a_query(shop: Path):
    async with answering(shop) as asked:
        text, record = await asked.ok("codememory_retrieve", query="total path:shop/cart.py lang:py")
        assert record["filters"] == ["path:shop/cart.py", "lang:python"]
        assert {row["path"] for row in record["rows"]} == {"shop/cart.py"}
        assert "hybrid, only path:shop/cart.py lang:python" in text.splitlines()[0]
        _, record = await asked.ok("codememory_retrieve", query="total")
        assert "filters" not in record
        _, packed = await asked.ok("context_assemble", question="total path:shop/cart.py", neighbours=False)
        assert packed["items"][0]["path"] == "shop/cart.py"


async def test_a_mistyped_name_and_an_unknown_filter_are_said(shop: Path):
    async with answering(shop) as asked:
        text, record = await asked.ok("codememory_retrieve", query="format_prise lang:pyhton")
        assert "note: Did you mean format_price?" in text
        assert any("Did you mean lang:python?" in note for note in record["notes"])
