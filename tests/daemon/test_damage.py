"""Damage met by a daemon: the same words as without one, and mended while it runs."""

from __future__ import annotations

import subprocess

import pytest

from cm_tui.daemon import bootstrap, runtime_dir
from cm_tui.engine.doctor import installation
from tests import damage as ways
from tests.cli.conftest import Shop
from tests.damage import Place
from tests.mcp.served import answering


@pytest.fixture(autouse=True)
def _without_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "examine_installation", lambda: iter(()))


def findings(shop: Shop) -> dict[str, dict[str, str]]:
    done = shop.cm("doctor", "--json")
    return {check["finding"]: check for check in done.json["checks"] if check["finding"]}


@pytest.mark.parametrize("name", ["cut to 80 %", "a newer schema"])
def test_a_damaged_store_is_said_and_mended_through_a_daemon(indexed: Shop, name: str):
    shop = indexed
    before = shop.cm("search", "raise an amount", "--json").json["hits"]
    bootstrap.stop_daemon()
    damage, finding = ways.OF_THE_STORE[name]
    damage(Place(shop.root, shop.home))
    done = shop.cm("search", "raise an amount", "--json")
    found = findings(shop)
    assert finding in found
    if done.code:
        assert found[finding]["mend"] in done.err
    else:
        assert done.json["hits"] == before
    assert shop.cm("rebuild").code == 0
    assert findings(shop) == {}
    assert shop.cm("search", "raise an amount", "--json").json["hits"] == before


def test_damage_below_an_open_store_is_seen_on_disk(indexed: Shop):
    shop = indexed
    before = shop.cm("search", "raise an amount", "--json").json["hits"]
    place = Place(shop.root, shop.home)
    # What is only in the log would be written over the damage.
    bootstrap.stop_daemon()
    assert shop.cm("search", "raise an amount").code == 0
    assert findings(shop) == {}
    ways.zero_block(5)(place)
    assert "store-zeroed" in findings(shop)
    assert shop.cm("rebuild").code == 0
    assert findings(shop) == {}
    ways.half_the_vectors(place)
    assert "cm index" in findings(shop)["vectors-damaged"]["mend"]
    assert shop.cm("index").code == 0
    assert findings(shop) == {}
    assert shop.cm("search", "raise an amount", "--json").json["hits"] == before


@pytest.mark.few(2)
@pytest.mark.parametrize("name", [runtime_dir.LOCK, runtime_dir.START_LOCK, runtime_dir.INFO, runtime_dir.SOCKET])
def test_a_folder_in_place_of_a_file_of_the_daemon_is_named_and_cleared(indexed: Shop, name: str):
    shop = indexed
    bootstrap.stop_daemon()
    place = runtime_dir.folder() / name
    place.unlink(missing_ok=True)
    (place / "something").mkdir(parents=True)
    done = shop.cm("search", "raise an amount", "--json")
    assert done.code == 0
    assert done.json["hits"]
    found = findings(shop)["daemon-file-in-the-way"]
    assert str(place) in found["message"]
    assert found["mend"] in done.err
    assert shop.cm("status").code == 0
    command = found["mend"].split("`")[1]
    subprocess.run(["sh", "-c", command], check=True)
    assert findings(shop) == {}
    assert "Working without it" not in shop.cm("search", "raise an amount").err
    assert bootstrap.health() is not None


async def test_an_agent_is_told_the_same(indexed: Shop):
    shop = indexed
    bootstrap.stop_daemon()
    ways.sql("UPDATE meta SET value = 'three' WHERE key = 'schema'")(Place(shop.root, shop.home))
    async with answering(shop.root) as asked:
        said = await asked.refused("codememory_retrieve", query="cart")
    assert "cm rebuild" in said
    assert "schema is" in said
    assert "Internal" not in said
