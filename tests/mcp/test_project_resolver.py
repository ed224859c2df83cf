"""Which project a call is about: named, the server's own, or the client's only folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from mcp_types import ErrorData, ListRootsResult

from cm_tui.engine.api.engine import Engine
from cm_tui.mcp import build, project_resolver
from cm_tui.mcp.engine_pool import EnginePool
from cm_tui.mcp.project_resolver import folders_of, without_odd_roots
from tests.cli.conftest import git
from tests.mcp.served import Answers, answering, environment
from tests.mcp.test_access import rooted

STDIO = pytest.param("stdio", "legacy", marks=pytest.mark.process)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A second project with something that the first has not."""
    root = tmp_path / "an other, 100%25"
    root.mkdir()
    (root / "only.py").write_text("def only_here():\n    return 1\n")
    with Engine.open(root) as engine:
        for _ in engine.index():
            pass
    return root


async def test_a_named_project_is_asked(shop: Path, other: Path):
    async with answering(shop, given=[other]) as asked:
        await asked.refused("codememory_definitions", symbol="only_here")
        _, found = await asked.ok("codememory_definitions", symbol="only_here", project=str(other))
        assert found["rows"][0]["path"] == "only.py"
        _, again = await asked.ok("codememory_definitions", symbol="Cart", project=None)
        assert again["total"] == 1


async def test_words_that_name_no_project_are_refused_with_the_right_one(shop: Path):
    async with answering(shop) as asked:
        for word in ("auto", "default", "", " ", "Auto", ".", "shop", "../shop", "~", "~nobody/x"):
            assert str(shop) in await asked.refused("codememory_callers", symbol="add_tax", project=word), word


async def test_projects_that_are_not_there_or_unsafe_are_refused(shop: Path):
    async with answering(shop, given=[Path("/")]) as asked:
        assert "Folder not found" in await asked.refused("codememory_drift", project="/no/such/folder")
        assert "name too long" in await asked.refused("codememory_drift", project="/" + "a" * 300)
        assert "the root of the disk" in await asked.refused("codememory_ingest", project="/", confirmed=True)
        assert "system folder" in await asked.refused("codememory_ingest", project="/etc")
    async with answering(shop) as asked:
        # Of what was not given, nobody hears whether it is there.
        for project in ("/no/such/folder", "/" + "a" * 300, "/", "/etc"):
            assert "has no access to" in await asked.refused("codememory_drift", project=project)


@pytest.mark.few(2)
@pytest.mark.parametrize(("way", "mode"), [("memory", "auto"), ("memory", "legacy"), STDIO, ("http", "auto")])
async def test_the_clients_only_folder_is_the_project(shop: Path, other: Path, mode: str, way: str):
    async with answering(shop, way, mode=mode, given=[other], list_roots_callback=rooted(other)) as asked:
        _, found = await asked.ok("codememory_definitions", symbol="only_here")
        assert found["total"] == 1
        _, named = await asked.ok("codememory_definitions", symbol="only_here", project=str(other))
        assert named["total"] == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_several_folders_make_it_ask(shop: Path, other: Path, mode: str):
    async with answering(shop, mode=mode, given=[other], list_roots_callback=rooted(shop, other)) as asked:
        refused = await asked.refused("codememory_definitions", symbol="Cart")
        assert "several folders" in refused
        assert f"{shop}, {other}" in refused
        await asked.ok("codememory_definitions", symbol="Cart", project=str(shop))


async def test_no_folder_open_means_the_servers_own(shop: Path):
    async with answering(shop, list_roots_callback=rooted()) as asked:
        await asked.ok("codememory_definitions", symbol="Cart")


REMOTE = (
    "vscode-remote://wsl%2Bubuntu/p",
    "untitled:Untitled-1",
    "vscode-vfs://github/me/p",
    "file://host/x",
    "http://[x",
)
ODD = (
    *REMOTE,
    "file:///no/such/folder",
    "file:///C:/x",
    "file:///a%00b",
    "file:",
    "p",
    "",
    None,
    5,
    [],
    "file://" + "a" * 9999,
)


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize("shape", [lambda uri: {"uri": uri}, lambda uri: uri, lambda uri: {"name": 5, "uri": uri}])
def test_an_odd_root_costs_no_other(tmp_path: Path, odd: object, shape: Callable[[object], object]):
    file = tmp_path / "a file.py"
    file.touch()
    good = [
        {"uri": tmp_path.as_uri(), "name": 5},
        {"uri": f"file://localhost{tmp_path}/", "_meta": 1},
        {"uri": file.as_uri()},
    ]
    told = ListRootsResult.model_validate(without_odd_roots({"roots": [shape(odd), *good, shape(odd)]}))
    folders, ignored = folders_of(told)
    assert [folder for folder in folders if folder != Path("/")] == [tmp_path]
    assert len(ignored) in (2, 0 if odd == "file:" else 2)
    assert all(len(uri) < 20_000 for uri in ignored)


@pytest.mark.parametrize("result", [{"roots": None}, {"roots": []}, {"roots": {}}, {"roots": 5}, {"roots": [None]}])
def test_a_list_of_roots_that_is_none_is_empty(result: dict[str, object]):
    assert folders_of(ListRootsResult.model_validate(without_odd_roots(result)))[0] == ()


@pytest.mark.parametrize("result", [None, [], {}, {"action": "accept"}])
def test_what_is_no_list_of_roots_stays(result: object):
    assert without_odd_roots(result) == result


async def test_a_client_that_cannot_list_its_folders_is_answered(shop: Path):
    async def refuse(_: object) -> ErrorData:
        return ErrorData(code=-32601, message="Method not found")

    async with answering(shop, mode="legacy", list_roots_callback=refuse) as asked:
        text, found = await asked.ok("codememory_definitions", symbol="Cart")
        assert "could not list its folders: Method not found" in text
        assert any("could not list its folders" in note for note in found["notes"])
        await asked.client.read_resource("cm://project")
        await asked.client.get_prompt("explain_symbol", {"symbol": "Cart"})


async def test_a_client_that_never_lists_its_folders_is_asked_once(shop: Path, monkeypatch: pytest.MonkeyPatch):
    questions = []

    async def never(_: object) -> ListRootsResult:
        questions.append(1)
        await anyio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(project_resolver, "ROOTS_SECONDS", 0.05)
    async with answering(shop, mode="legacy", list_roots_callback=never) as asked:
        for _ in range(2):
            text, _ = await asked.ok("codememory_definitions", symbol="Cart")
            assert "did not list its folders in time" in text
        assert len(questions) == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_folder_that_is_gone_is_left_out_with_a_note(shop: Path, tmp_path: Path, mode: str):
    async with answering(shop, mode=mode, list_roots_callback=rooted(tmp_path / "gone", shop)) as asked:
        text, found = await asked.ok("codememory_definitions", symbol="Cart")
        assert f"Ignored client folders that are not on this machine: {(tmp_path / 'gone').as_uri()}" in text
        assert text.endswith(found["notes"][-1])
        assert "Ignored client folders" in await asked.refused("codememory_definitions", symbol="Nothing")


async def test_a_chosen_project_is_not_overruled_by_the_client(shop: Path, other: Path):
    from mcp import Client

    engines = EnginePool(shop)
    async with Client(build(engines, tools=["all"], ask_roots=False), list_roots_callback=rooted(other)) as client:
        await Answers(client).ok("codememory_definitions", symbol="Cart")
    engines.close()


async def test_two_checkouts_that_share_an_index_are_not_mixed_up(own: Path, tmp_path: Path):
    tree = tmp_path / "tree"
    git(own, "worktree", "add", "-q", str(tree))
    async with answering(own) as asked:
        await asked.ok("codememory_definitions", symbol="Cart")
        assert "shares its index" in await asked.refused("codememory_definitions", symbol="Cart", project=str(tree))


HOLD = """
import sys
from pathlib import Path
from cm_tui.engine.api.engine import Engine
memory = Engine.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def busy(shop: Path) -> Iterator[Path]:
    """The indexed repository, while another process has its store."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(shop)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "open\n"
        yield shop
        holder.communicate()


@pytest.mark.process
async def test_a_busy_store_is_a_message(busy: Path):
    async with answering(busy) as asked:
        assert "in use by process" in await asked.refused("codememory_definitions", symbol="Cart")


_WARM_UP = """
import pathlib, sys, threading
from cm_tui.mcp.engine_pool import EnginePool
pool = EnginePool(pathlib.Path(sys.argv[1]))
pool.warm_up()
warming = [one for one in threading.enumerate() if one.name == "cm-warm-up"]
print(len(warming), [one.daemon for one in warming])
for one in warming:
    one.join()
pool.close()
print("duckdb" in sys.modules)
"""


@pytest.mark.process
def test_a_server_that_ends_at_once_waits_for_its_warm_up_and_does_without_the_database(tmp_path: Path):
    """A daemon thread inside a library, while the interpreter ends, makes the process abort."""
    (tmp_path / "project" / ".cm").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", _WARM_UP, str(tmp_path / "project")],
        env={**os.environ, "CM_HOME": str(tmp_path / "home"), "CM_DAEMON__USE": "auto"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 [False]\nFalse\n", "")
