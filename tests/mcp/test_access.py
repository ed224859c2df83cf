"""A server answers for what a person gave it: not for what an agent names, a client has open, or a repository claims."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsResult, ResourceTemplateReference, Root

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.git.identity import Identity
from cm_tui.engine.status import _claimed
from cm_tui.errors import RefusedError
from cm_tui.mcp.access import Access
from tests.cli.conftest import git
from tests.cli.in_process import run_here
from tests.mcp.served import Answers, answering

NEVER = "plain words that lie in another folder"
WAYS = [pytest.param("stdio", marks=pytest.mark.process), "http"]


def indexed(root: Path, content: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "notes.py").write_text(content)
    with Engine.open(root) as engine:
        for _ in engine.index():
            pass
    return root


def rooted(*folders: Path) -> Callable[[object], object]:
    """What a client with these folders open answers."""

    async def roots(_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=folder.as_uri()) for folder in folders])

    return roots


def settings(text: str) -> None:
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text(text)


@pytest.fixture
def neighbour(tmp_path: Path) -> Path:
    """Another repository, indexed, whose content is nobody's business here."""
    root = tmp_path / "neighbour"
    root.mkdir()
    git(root, "init", "-q")
    (root / "notes.py").write_text(text := f"def only_next_door():\n    return {NEVER!r}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "theirs")
    return indexed(root, text)


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    """A folder such as `~/.aws`."""
    folder = tmp_path / "home/.aws"
    folder.mkdir(parents=True)
    (folder / "credentials").write_text(f"[default]\nkey = {NEVER}\n")
    return folder


async def refused_at_every_door(asked: Answers, project: Path) -> None:
    """Whatever an agent tries with a folder, it gets the ways in which a person can give it."""
    name = str(project)
    said = [
        await asked.refused("codememory_ingest", project=name),
        await asked.refused("codememory_ingest", project=name, confirmed=True),
        await asked.refused("codememory_reingest", project=name, path="notes.py"),
        await asked.refused("codememory_retrieve", project=name, query="plain words"),
        await asked.refused("context_assemble", project=name, question="plain words"),
        await asked.refused("codememory_definitions", project=name, symbol="only_next_door"),
        await asked.refused("codememory_drift", project=name),
        await asked.refused("codememory_at_sha", project=name, sha="HEAD"),
        await asked.refused("memory_search", project=name, query="plain words"),
        await asked.refused("memory_get", project=name, path="notes.py"),
        await asked.refused("memory_get", project=str(project / "notes.py"), path="notes.py"),
    ]
    for uri in ("cm://project?project={}", "cm://file/notes.py?project={}", "cm://symbol/only_next_door?project={}"):
        with pytest.raises(MCPError) as caught:
            await asked.client.read_resource(uri.format(quote(name)))
        said.append(str(caught.value))
    with pytest.raises(MCPError) as caught:
        await asked.client.get_prompt("explain_symbol", {"symbol": "only_next_door", "project": name})
    said.append(str(caught.value))
    for text in said:
        assert "This server has no access to" in text, text
        assert "`mcp.roots`" in text
        assert NEVER not in text
    file = ResourceTemplateReference(uri="cm://file/{+path}{?start,end,project}")
    offered = await asked.client.complete(file, {"name": "path", "value": "no"}, {"project": name})
    assert offered.completion.values == []


@pytest.mark.parametrize("way", WAYS)
async def test_what_was_not_given_is_refused(shop: Path, neighbour: Path, credentials: Path, way: str):
    async with answering(shop, way) as asked:
        for folder in (neighbour, credentials):
            await refused_at_every_door(asked, folder)
        said = await asked.refused("codememory_ingest", project=str(credentials))
        assert "`cm mcp --root FOLDER`" in said
        assert str(paths.config_file()) in said
        for uri in (f"cm://file/{neighbour}/notes.py", f"cm://file/{quote('../neighbour/notes.py', safe='')}"):
            with pytest.raises(MCPError, match="outside the project"):
                await asked.client.read_resource(uri)
    assert not any("aws" in store.name for store in (paths.data_dir() / "projects").iterdir())


@pytest.mark.process
async def test_a_server_for_a_project_is_for_that_one(shop: Path, neighbour: Path):
    async with answering(shop, "stdio", chosen=True, list_roots_callback=rooted(neighbour)) as asked:
        await asked.ok("codememory_definitions", symbol="Cart")
        assert "has no access to" in await asked.refused("codememory_drift", project=str(neighbour))
        assert "has no access to" in await asked.refused("codememory_ingest", project=str(shop.parent))


async def test_a_link_in_the_project_gives_nothing(own: Path, neighbour: Path, credentials: Path):
    roundabout = own.joinpath(*[".."] * (len(own.parts) - 1), *neighbour.parts[1:])
    (own / "next").symlink_to(neighbour)
    (own / "keys").symlink_to(credentials)
    async with answering(own) as asked:
        for folder in (own / "next", own / "keys", roundabout):
            assert "has no access to" in await asked.refused("codememory_ingest", project=str(folder), confirmed=True)
        for path in ("keys/credentials", "next/notes.py"):
            await asked.call("codememory_reingest", path=path)
            assert NEVER not in str(await asked.call("memory_get", path=path))


async def test_worktrees_belong_to_the_project(own: Path, tmp_path: Path):
    tree = tmp_path / "tree"
    git(own, "worktree", "add", "-q", str(tree))
    (tree / "only.py").write_text("def only_in_the_tree():\n    return 1\n")
    for root, other in ((own, tree), (tree, own)):
        async with answering(root) as asked:
            text, _ = await asked.ok("codememory_ingest", project=str(other))
            assert str(other) in text


async def test_a_folder_that_claims_to_be_a_worktree_does_not_belong(own: Path, tmp_path: Path):
    git(own, "worktree", "add", "-q", str(tmp_path / "tree"))
    claims = tmp_path / "claims"
    claims.mkdir()
    async with answering(own) as asked:
        for target in (own / ".git", own / ".git/worktrees/tree"):
            (claims / ".git").write_text(f"gitdir: {target}\n")
            assert "has no access to" in await asked.refused("codememory_ingest", project=str(claims))


async def test_a_folder_cannot_claim_the_neighbours_history(neighbour: Path, tmp_path: Path):
    """Its `.git` points at a repository that knows nothing of it: what was committed there would be read here."""
    claims = tmp_path / "claims"
    claims.mkdir()
    (claims / ".git").write_text(f"gitdir: {neighbour / '.git'}\n")
    async with answering(claims) as asked:
        for tool, arguments in (("codememory_ingest", {"confirmed": True}), ("memory_get", {"path": "notes.py"})):
            said = await asked.refused(tool, **arguments)
            assert "does not reference this folder" in said
            assert NEVER not in said
    shutil.rmtree(claims)
    git(tmp_path, "init", "-q", str(claims))
    (claims / ".git/commondir").write_text(str(neighbour / ".git"))
    async with answering(claims) as asked:
        assert "does not reference this folder" in await asked.refused("codememory_ingest", confirmed=True)


async def test_a_repository_cannot_name_another_folder_as_its_own(credentials: Path, tmp_path: Path):
    claims = tmp_path / "home/claims"
    claims.mkdir()
    git(claims, "init", "-q")
    for place in (credentials, tmp_path / "home"):
        git(claims, "config", "core.worktree", str(place))
        async with answering(claims) as asked:
            said = await asked.refused("codememory_ingest", confirmed=True)
            assert "has no access to" in said or "not a checkout of it" in said
            said = await asked.refused("codememory_ingest", confirmed=True, project=str(claims))
            assert "has no access to" in said or "not a checkout of it" in said


async def test_a_repository_inside_the_project_is_given_with_it(own: Path, neighbour: Path):
    inside = Path(shutil.copytree(neighbour, own / "vendor/inside"))
    async with answering(own) as asked:
        await asked.ok("codememory_ingest", project=str(inside), confirmed=True)
        _, found = await asked.ok("codememory_definitions", project=str(inside), symbol="only_next_door")
        assert found["total"] == 1


@pytest.mark.parametrize("way", WAYS)
async def test_a_person_gives_more_by_root(shop: Path, neighbour: Path, way: str):
    # Each of them, or a folder that it is in.
    given = [neighbour.parent] if way == "http" else [neighbour]
    async with answering(shop, way, given=given) as asked:
        _, found = await asked.ok("codememory_definitions", symbol="only_next_door", project=str(neighbour))
        assert found["total"] == 1


async def test_a_person_gives_more_by_their_settings(shop: Path, neighbour: Path, credentials: Path):
    async with answering(shop) as asked:
        assert "has no access to" in await asked.refused("codememory_drift", project=str(neighbour))
        settings(f"[mcp]\nroots = [{str(neighbour.parent)!r}]\n")
        await asked.ok("codememory_definitions", symbol="only_next_door", project=str(neighbour))
        settings(f"[mcp]\nroots = [{str(neighbour)!r}]\n")
        assert "has no access to" in await asked.refused("codememory_ingest", project=str(credentials))
        settings("[mcp]\nroots = ['work']\n")
        assert "not an absolute path" in await asked.refused("codememory_drift", project=str(neighbour))


async def test_a_repository_gives_nothing(own: Path, neighbour: Path):
    (own / ".cm").mkdir()
    (own / ".cm/config.toml").write_text("[mcp]\nroots = ['/']\n")
    async with answering(own) as asked:
        assert "has no access to" in await asked.refused("codememory_drift", project=str(neighbour))
        assert "has no access to" in await asked.refused("codememory_ingest", project=str(neighbour), confirmed=True)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_narrows(shop: Path, neighbour: Path, mode: str):
    """It has one of two given projects open: for the other one nothing is answered, at no door."""
    async with answering(shop, mode=mode, given=[neighbour], list_roots_callback=rooted(neighbour)) as asked:
        await asked.ok("codememory_definitions", symbol="only_next_door")
        await asked.ok("codememory_definitions", symbol="only_next_door", project=str(neighbour))
        assert "not open in this client" in await asked.refused(
            "codememory_definitions", symbol="Cart", project=str(shop)
        )
        assert "only_next_door" in (await asked.client.read_resource("cm://file/notes.py")).contents[0].text
        assert str(neighbour) in (await asked.client.read_resource("cm://project")).contents[0].text
        with pytest.raises(MCPError, match="not open in this client"):
            await asked.client.read_resource(f"cm://project?project={quote(str(shop))}")
        with pytest.raises(MCPError, match="not open in this client"):
            await asked.client.get_prompt("explain_symbol", {"symbol": "Cart", "project": str(shop)})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_never_widens(shop: Path, neighbour: Path, mode: str):
    async with answering(shop, mode=mode, list_roots_callback=rooted(neighbour)) as asked:
        for project in ({}, {"project": str(neighbour)}):
            assert "has no access to" in await asked.refused("codememory_drift", **project)
        with pytest.raises(MCPError, match="has no access to"):
            await asked.client.read_resource("cm://project")
    async with answering(shop, mode=mode, list_roots_callback=rooted(neighbour, shop)) as asked:
        await asked.ok("codememory_definitions", symbol="Cart")
        assert "has no access to" in await asked.refused("codememory_drift", project=str(neighbour))
    # A client may have a wider folder open, such as one of many projects: what was given is the narrower one.
    async with answering(shop, mode=mode, list_roots_callback=rooted(Path("/"))) as asked:
        await asked.ok("codememory_definitions", symbol="Cart")
        assert "has no access to" in await asked.refused("codememory_drift", project=str(neighbour))


def test_a_root_that_is_not_there_ends_with_a_message(shop: Path):
    code, out, err = run_here(("mcp", "--root", str(shop / "nowhere")), cwd=shop, environment={}, stdin="")
    assert (code, out) == (3, "")
    assert "Folder not found" in err


# --- what a refusal says, and what is done before ---


def test_what_was_not_given_is_not_even_opened(
    neighbour: Path, credentials: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    own = indexed(tmp_path / "own", "x = 1\n")
    opened: list[Path] = []
    monkeypatch.setattr("cm_tui.engine.platform.git.opening.refuse_special", opened.append)
    (own / "way").symlink_to(neighbour)
    inside = neighbour / "deep"
    inside.mkdir()
    for folder in (neighbour, inside, credentials, own / "way", own / "../neighbour", tmp_path / "nowhere", Path("/")):
        with pytest.raises(RefusedError) as caught:
            Access((own,)).root_of(folder)
        # In the words that were given, so that nothing is learned of what is there.
        assert caught.value.message == f"This server has no access to {folder}."
    assert not opened
    assert Access((own,)).root_of(own) == own
    assert Access.of_indexed().root_of(own) == own
    assert Access.of_indexed().root_of(neighbour) == neighbour
    assert opened
    opened.clear()
    with pytest.raises(RefusedError):
        Access.of_indexed().root_of(credentials)
    assert not opened


def test_a_folder_that_cannot_be_looked_into(own: Path, monkeypatch: pytest.MonkeyPatch):
    def denied(folder: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr("cm_tui.mcp.access.projects.root_of", denied)
    with pytest.raises(RefusedError) as caught:
        Access((own,)).root_of(own / "closed")
    assert caught.value.message == f"This server has no access to {own / 'closed'}."


def test_a_checkout_that_claims_a_project_is_not_told_which(own: Path):
    assert all("example.org" not in note for note in _claimed(Identity("path:/x", "x", claims="remote:example.org/x")))


# --- checkouts that share a store ---


async def test_another_checkouts_index_is_never_answered_from(own: Path, tmp_path: Path):
    """Two clones of one project have one store; without a daemon it is brought to the one that asks."""
    git(own, "remote", "add", "origin", "https://example.org/shared.git")
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(own), str(other))
    git(other, "remote", "set-url", "origin", "https://example.org/shared.git")
    indexed(own, "def only_in_own():\n    return 1\n")
    indexed(other, f"def only_next_door():\n    return {NEVER!r}\n")
    async with answering(own) as asked:
        _, found = await asked.ok("codememory_definitions", symbol="only_in_own")
        assert found["total"] == 1
        await asked.refused("codememory_definitions", symbol="only_next_door")
        assert NEVER not in str(await asked.call("codememory_retrieve", query=NEVER, mode="keyword"))
        assert NEVER not in str(await asked.call("memory_get", path="notes.py"))
        assert "has no access to" in await asked.refused("memory_get", path="notes.py", project=str(other))
