"""`cm topics`: listed with size, tags and overlap; created, merged, split, retired, restored; each taken back."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shop, ShopTemplate

FOLDER = ".cm/notes/topics"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> ShopTemplate:
    return ShopTemplate(tmp_path_factory.mktemp("topics"), write_topics, indexed=False)


@pytest.fixture
def topical(kept: ShopTemplate, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A project with two topics that share most of their tags."""
    return kept.put_back(monkeypatch)


def write_topics(shop: Shop) -> None:
    assert shop.cm("topics", "create", "router", "--title", "The router", "--tag", "net", "--tag", "http").code == 0
    assert shop.cm("topics", "create", "routing", "--tag", "net", "--tag", "http").code == 0
    assert shop.cm("notes", "append", "It listens on 8123.", "--to", "router").code == 0


def ids(shop: Shop, *words: str) -> list[str]:
    return [row["id"] for row in shop.cm("topics", "list", *words, "--json").json["rows"]]


def test_none_yet(new_shop: Shop):
    done = new_shop.cm("topics")
    assert (done.code, done.out) == (0, "")
    assert "cm topics create" in done.err


def test_listed_with_what_would_do_them_good(topical: Shop):
    found = topical.cm("topics", "--json").json
    assert found["total"] == 2
    router = next(row for row in found["rows"] if row["id"].endswith("router.md"))
    assert {
        "id",
        "title",
        "scope",
        "tags",
        "bytes",
        "cap_bytes",
        "lines",
        "modified",
        "retired",
        "overlaps",
        "advice",
    } <= set(router)
    assert (router["title"], set(router["tags"])) == ("The router", {"net", "http"})
    assert router["overlaps"][0]["share"] == pytest.approx(1.0)
    done = topical.cm("topics")
    assert "100% of the tags shared with" in done.out
    assert "merge with" in done.out
    assert "of 32 KB" in done.out


def test_merged_and_taken_back(topical: Shop):
    done = topical.cm("topics", "merge", "router", "routing")
    assert done.code == 0, done.err
    assert "cm undo" in done.err
    assert [one for one in ids(topical) if one.endswith("routing.md")] == []
    assert topical.cm("undo").code == 0
    assert len(ids(topical)) == 2


def test_split_at_a_heading(topical: Shop):
    file = topical.root / FOLDER / "router.md"
    file.write_text(file.read_text() + "\n## Timeouts\n\n- Five seconds.\n")
    done = topical.cm("topics", "split", "router", "Timeouts", "--title", "Timeouts", "--json")
    assert done.code == 0, done.err
    assert "Five seconds" not in file.read_text()
    assert any("Five seconds" in one.read_text() for one in (topical.root / FOLDER).glob("*.md"))


def test_retired_and_restored(topical: Shop):
    assert topical.cm("topics", "retire", "routing").code == 0
    assert [one for one in ids(topical) if one.endswith("routing.md")] == []
    retired = [one for one in ids(topical, "--retired") if one.endswith("routing.md")]
    assert len(retired) == 1
    assert topical.cm("topics", "restore", retired[0]).code == 0
    assert len(ids(topical)) == 2


def test_a_merge_takes_no_title_that_it_would_not_use(topical: Shop):
    assert topical.cm("topics", "merge", "router", "routing", "--title", "New").code == 2
    assert len(ids(topical)) == 2
