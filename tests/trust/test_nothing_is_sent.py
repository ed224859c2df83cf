"""No byte reaches an endpoint that a repository names before a person trusts it, nor after trust is taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cm_tui.config import grant, load_config
from cm_tui.config.held import repository_trust
from cm_tui.daemon.open_engine import open_engine
from cm_tui.engine.api.engine import Engine
from tests.cli.conftest import Shop
from tests.daemon.conftest import until
from tests.embedding_endpoint import Endpoint
from tests.mcp.served import answering
from tests.trust.conftest import SECRET
from tests.tui.mode_driver import driving

ASKED = "How is tax added to the cart?"


def trust(root: Path) -> None:
    found = repository_trust(root)
    assert found.state == "held"
    grant.decide(found, "trusted")


def test_the_command_line(cloned: Shop, endpoint: Endpoint):
    for words in (["index"], ["search", ASKED], ["pack", ASKED], ["doctor"], ["status"], ["index", "--full"]):
        assert cloned.cm(*words).code == 0
    assert "embedding.base_url" in cloned.cm("status").out
    assert "embedding.base_url" in cloned.cm("doctor").out
    assert endpoint.connections == 0
    trust(cloned.root)
    cloned.cm("index")
    assert any("def add_tax" in text for text in endpoint.heard)
    assert SECRET.encode() in endpoint.bytes
    grant.revoke(cloned.root)
    endpoint.connections = 0
    for words in (["index", "--full"], ["search", "another question"], ["doctor"]):
        cloned.cm(*words)
    assert endpoint.connections == 0


@pytest.mark.process
async def test_an_agent(hostile: Path, endpoint: Endpoint):
    for way in ("memory", "stdio"):
        async with answering(hostile, way) as agent:
            await agent.ok("codememory_ingest", confirmed=True, full=True)
            await agent.ok("codememory_retrieve", query=ASKED)
    assert endpoint.connections == 0


async def test_the_application(hostile: Path, endpoint: Endpoint):
    async with driving(hostile, config=load_config(hostile)) as driver:
        assert "This repository wants to" in driver.text
        assert endpoint.url in driver.text
        assert "PERSONS_VARIABLE" in driver.text
        await driver.press("y", "enter")  # whoever was typing has not trusted
        assert repository_trust(hostile).state == "held"
        assert "Held back" in driver.text or "wants to" not in driver.text
        assert endpoint.connections == 0
        await driver.press("T", "right", "right", "enter")
        assert repository_trust(hostile).state == "trusted"
        await driver.press("T", "right", "enter")
        assert repository_trust(hostile).state == "held"


@pytest.mark.process
def test_the_daemon_a_hook_and_the_watcher(through_daemon: Shop, endpoint: Endpoint):
    shop = through_daemon

    def hook(event: str, **said: object) -> None:
        who = {"session_id": "s", "cwd": str(shop.root), **said}
        assert shop.cm("hook", event, "--agent", "claude-code", stdin=json.dumps(who)).code == 0

    def edit(name: str) -> None:
        (shop.root / "shop" / f"{name}.py").write_text(f"def {name}():\n    return 1\n")

    def is_indexed(name: str) -> bool:
        engine = open_engine(shop.root)
        try:
            return any(entry.path == f"shop/{name}.py" for entry in engine.files().rows)
        finally:
            engine.close()

    shop.cm("index")
    hook("session-start", source="startup")
    hook("prompt", prompt=ASKED)
    edit("watched")
    until(lambda: is_indexed("watched"), "the watcher")
    edit("told")
    hook("edit", tool_input={"file_path": str(shop.root / "shop" / "told.py")})
    until(lambda: is_indexed("told"), "the hook's edit")
    assert endpoint.connections == 0
    trust(shop.root)
    edit("trusted")
    until(lambda: any("def trusted" in text for text in endpoint.heard), "the endpoint")
    grant.revoke(shop.root)
    before = len(endpoint.bytes)
    edit("revoked")
    until(lambda: is_indexed("revoked"), "the watcher")
    hook("prompt", prompt="Where is the receipt of a customer made?")
    shop.cm("search", "what is revoked")
    assert len(endpoint.bytes) == before


def test_an_open_engine_stops_sending_at_once(hostile: Path, endpoint: Endpoint):
    trust(hostile)
    with Engine.open(hostile) as engine:
        list(engine.index())
        assert endpoint.heard
        grant.revoke(hostile)
        before = len(endpoint.bytes)
        engine.search("a question that was never asked")
        (hostile / "later.py").write_text("def later(): ...\n")
        list(engine.index())
        assert len(endpoint.bytes) == before


@pytest.mark.parametrize("answer", ["trusted", "refused"])
def test_other_values_are_another_question(hostile: Path, endpoint: Endpoint, answer: str):
    grant.decide(repository_trust(hostile), answer)
    file = hostile / ".cm" / "config.toml"
    file.write_text(file.read_text() + "[profiles.code]\nrrf_k = 30\n[history]\ndepth = 7\n")
    assert repository_trust(hostile).state == answer, "a weight is no reason to ask"
    file.write_text(file.read_text().replace('model = "m"', 'model = "m"\nheaders = {"X-More" = "1"}'))
    assert repository_trust(hostile).state == "held"
    assert load_config(hostile).embedding.provider == "bundled"
    assert load_config(hostile).history.depth == 7
