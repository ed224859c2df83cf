"""A pack holds no secret, however it was made and whatever part of one lies on its lines."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest
from typer.testing import CliRunner

from cm_tui.cli.app import command_line
from cm_tui.engine.api.context import ContextMethods
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.needs import is_request
from cm_tui.model import Pack, PackRequest
from tests.gitrepo import Repo
from tests.planted import AWS, BODY, GITHUB, KEY, PASSWORD, leaked
from tests.templates import Template

CODE = f'''def connect(token="{GITHUB}"):
    """Connect as {AWS}, by the token."""
    # Tokens are renewed.
    return open_channel("{AWS}",
                        password="{PASSWORD}")


KEY = """
{KEY}
"""


def {GITHUB}():
    return connect()


LIMIT = 3
'''
LINES = CODE.split("\n")


def make(root: Path) -> None:
    repo = Repo(root)
    repo.write("net.py", CODE)
    repo.write(f"keys/{GITHUB}/renew.py", "def renew_named():\n    return connect()\n")
    repo.write("guide.md", f'# Connect with {GITHUB}\n\npassword = "{PASSWORD}"\n\n    token = {GITHUB}\n')
    repo.commit()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template(tmp_path_factory.mktemp("planted"), make)


@pytest.fixture
def engine(kept: Template, cm_home: Path) -> Iterator[Engine]:
    with Engine.open(kept.put_back(cm_home)) as engine:
        yield engine


def packs(engine: Engine) -> dict[str, list[Pack]]:
    """Packs by the method of the interface that made them."""
    one_by_one = [engine.pack_items([PackRequest("net.py", n, n)]) for n in range(1, len(LINES))]
    whole = [PackRequest("net.py", 1, 999, GITHUB, f"by {AWS}"), PackRequest("guide.md", 1, 9)]
    return {
        "pack": [
            engine.pack(question, budget=budget, neighbours=neighbours)
            for question in ("how to connect", f"who calls {GITHUB}", "token password", "renew named")
            for budget in (40, 150, 4000)
            for neighbours in (True, False)
        ],
        "pack_items": [
            *one_by_one,
            engine.pack_items(whole, budget=9000),
            engine.pack_items([PackRequest(f"keys/{GITHUB}/{name}.py", 1, 2) for name in ("renew", "gone")]),
            engine.pack_items(whole, budget=100, question=f"Why {GITHUB}?"),
        ],
    }


def test_no_pack_holds_one(engine: Engine):
    made = packs(engine)
    methods = inspect.getmembers(ContextMethods, inspect.isfunction)
    makers = {name for name, method in methods if is_request(method) and get_type_hints(method)["return"] is Pack}
    assert set(made) == makers, "a new way to make packs is tried here too"
    for pack in (pack for some in made.values() for pack in some):
        # The application opens files by the items' paths.
        assert not leaked(pack.markdown + repr([replace(item, path="") for item in pack.items]) + repr(pack.notes)), (
            pack
        )
        assert pack.tokens <= pack.budget
    assert sum("[redacted: " in pack.markdown for some in made.values() for pack in some) > 15


def test_lines_keep_their_numbers(engine: Engine):
    (item,) = engine.pack_items([PackRequest("net.py", 1, 999)], budget=9000).items
    shown = item.text.split("\n")
    assert (item.start_line, item.end_line, len(shown)) == (1, len(LINES) - 1, len(LINES) - 1)
    for number, line in enumerate(shown):
        assert line == LINES[number] or "[redacted: " in line or LINES[number] in KEY
    (middle,) = engine.pack_items([PackRequest("net.py", 10, 12)]).items
    assert leaked("\n".join(LINES[9:12])) == list(BODY[:3])
    assert middle.end_line == 12 or not middle.included


def test_it_says_how_many(engine: Engine):
    pack = engine.pack_items([PackRequest("net.py", 1, 5)])
    assert pack.notes == ("4 secrets were redacted.",)
    assert pack.markdown.count("[redacted: ") == 4
    (one,) = engine.pack_items([PackRequest("net.py", 9, 16)]).notes
    assert one == "1 secret was redacted."
    last = len(LINES) - 1
    assert engine.pack_items([PackRequest("net.py", last, last)]).notes == ()


def test_what_a_person_reads_stays_as_it_is(engine: Engine):
    assert engine.source("net.py").text == CODE.rstrip("\n")
    assert any(GITHUB in hit.snippet for hit in engine.search("connect token").hits)


def test_the_command_prints_none(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(engine.root)
    engine.close()
    for form in ("markdown", "json"):
        done = CliRunner().invoke(command_line(["pack"]), ["pack", f"renew named with {GITHUB}", "--format", form])
        assert done.exit_code == 0
        assert "[redacted: " in done.stdout
        assert "keys/[redacted: github token]/renew.py" in done.stdout
        assert not leaked(done.stdout + done.stderr)
    assert any("secrets were redacted" in note for note in json.loads(done.stdout)["notes"])
