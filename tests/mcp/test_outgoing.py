"""No answer holds a secret, wherever in a project it stands, and every answer says how many were taken out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from cm_tui.mcp import build
from cm_tui.mcp.engine_pool import EnginePool
from cm_tui.mcp.safe_text import fitting, short, shortened
from cm_tui.mcp.server import filtered
from cm_tui.mcp.tools import TOOLS
from tests.gitrepo import Repo
from tests.mcp.served import answering
from tests.planted import AWS, BODY, GITHUB, KEY, PASSWORD, leaked
from tests.templates import Template

CODE = f'''"""Deploys with {GITHUB}."""

KEY = """
{KEY}
"""
LONG = "{"x" * 215}", "{GITHUB}"


def deploy(token="{GITHUB}", *, password="{PASSWORD}"):
    """Deploy as {AWS}."""
    return connect("{AWS}", password="{PASSWORD}"), {GITHUB}()


def {GITHUB}():
    return deploy("{GITHUB}")


class {AWS}:
    """Uses {GITHUB}."""

    def connect(self):
        return deploy(password="{PASSWORD}")
'''
USER = f'from shop.deploy import {AWS}, deploy\n\nx = deploy(password="{PASSWORD}")  # {GITHUB}\n'
README = f'# Deploy with {AWS}\n\nSign in as admin, password = "{PASSWORD}", token {GITHUB}.\n\n```\n{KEY}\n```\n'

CALLS: dict[str, list[dict[str, Any]]] = {
    "codememory_retrieve": [
        {"query": "deploy password token", "limit": 20, "explain": True, "max_chars": 100_000},
        {"query": GITHUB, "mode": "keyword"},
        {"query": AWS, "max_chars": 500},
        {"query": "deploy password token", "by": "file", "max_chars": 100_000},
        {"query": BODY[2]},
    ],
    "context_assemble": [{"question": f"how to deploy with {GITHUB}", "budget": 5000}, {"question": "LONG", "budget": 300}, {"question": "deploy", "session": GITHUB, "without": [f"kv://{GITHUB}"]}],
    "codememory_definitions": [{"symbol": "deploy"}, {"symbol": GITHUB}, {"symbol": AWS}],
    "codememory_callers": [{"symbol": "deploy", "depth": 3}, {"symbol": GITHUB}],
    "codememory_callees": [{"symbol": "deploy"}, {"symbol": GITHUB}],
    "codememory_dependencies": [{"path": "user.py"}],
    "codememory_importers": [{"target": "shop.deploy"}],
    "codememory_assembly_members": [{"type_name": GITHUB}],
    "codememory_ingest": [{}, {"confirmed": True}, {"since": f"release/{GITHUB}"}],
    "codememory_reingest": [{"path": "shop/deploy.py"}],
    "codememory_drift": [{}, {"head_sha": "HEAD~1"}, {"head_sha": f"release/{GITHUB}"}],
    "codememory_at_sha": [{"sha": "HEAD"}, {"sha": "HEAD~1", "label": "File"}, {"sha": f"release/{GITHUB}"}],
    "codememory_callers_at_sha": [{"symbol": "deploy", "sha": "HEAD"}, {"symbol": GITHUB, "sha": "HEAD~1"}],
    "memory_search": [{"query": "deploy password", "min_score": 0}, {"query": GITHUB, "min_score": 0}],
    "recall": [{"question": "deploy password"}, {"question": GITHUB}],
    "remember": [{"content": f'Deploy with {GITHUB}, password = "{PASSWORD}".', "title": f"Token {AWS}"}],
    "manage_core_memory": [
        {"action": "add", "content": f"Sign with {GITHUB}", "title": AWS, "category": "Rule", "scope": "project"},
        {"action": "search", "query": "deploy"},
        {"action": "search"},
    ],
    "codememory_record": [{"prompt": f"deploy with {GITHUB}", "plan": KEY, "patch": f"+{CODE}", "verdict": AWS}],
    "codememory_propose": [{"text": f"Deploy with {GITHUB}.", "why": f"the key is {AWS}"}],
    "codememory_proposals": [{"state": "all"}],
    "working_memory": [
        {"action": "put", "session": GITHUB, "key": AWS, "value": f"sign with {GITHUB}"},
        {"action": "get", "session": GITHUB},
        {"action": "get", "session": GITHUB, "key": AWS},
    ],
    "forget": [{"id": GITHUB}],
    "memory_get": [
        {"path": "shop/deploy.py"},
        {"path": "shop/deploy.py", "from": 6, "lines": 3},
        {"path": "README.md", "from": 9, "lines": 1},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template(tmp_path_factory.mktemp("planted"), plant)


def plant(root: Path) -> None:
    """A repository with secrets in everything, the names of its files too."""
    repo = Repo(root)
    repo.write("shop/__init__.py", "")
    repo.write("shop/deploy.py", "def deploy():\n    return 1\n")
    repo.commit(f"Begin with {GITHUB}")
    repo.write("shop/deploy.py", CODE)
    repo.write("user.py", USER)
    repo.write("README.md", README)
    repo.write(
        f"shop/d1-{AWS}/f_{GITHUB}.py", "from shop.deploy import deploy\n\n\ndef deploy_all():\n    return deploy()\n"
    )
    repo.commit(f'Use {AWS}, password = "{PASSWORD}"')
    repo.git("checkout", "-q", "-b", f"release/{GITHUB}")
    repo.write("user.py", USER + "\n# changed\n")


@pytest.fixture
def project(planted: Template, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CM_HOME", str(planted.home))
    return planted.put_back()


async def test_no_tool_gives_a_secret_away(project: Path):
    assert set(CALLS) == {tool.name for tool in TOOLS}, "a new tool is called here too"
    marked = 0
    async with answering(project) as asked:
        for tool, calls in CALLS.items():
            for arguments in calls:
                answer = (await asked.call(tool, **arguments)).model_dump_json(by_alias=True)
                assert not leaked(answer), (tool, arguments)
                marked += "[redacted: " in answer
    assert marked > 15


async def test_no_resource_prompt_or_completion_gives_one_away(project: Path):
    async with answering(project) as asked:
        client = asked.client
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        uris = {
            "cm://project{?project}": f"cm://project?project={project}",
            "cm://file/{+path}{?start,end,project}": "cm://file/shop/deploy.py?start=6&end=15",
            "cm://symbol/{+qualname}{?project}": f"cm://symbol/{GITHUB}",
        }
        assert set(uris) == templates, "a new resource is read here too"
        for uri in (*uris.values(), "cm://project", "cm://symbol/deploy", "cm://file/README.md"):
            answer = (await client.read_resource(uri)).model_dump_json()
            assert not leaked(answer.replace(uri, "")), uri
            assert "[redacted: " in answer
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        given = {"explain_symbol": {"symbol": "deploy"}, "context_for_task": {"task": f"deploy with {GITHUB}"}}
        assert set(given) == prompts, "a new prompt is asked for here too"
        for name, arguments in given.items():
            answer = (await client.get_prompt(name, arguments)).model_dump_json()
            assert not leaked(answer), name
            assert "secrets were redacted" in answer
        for reference in (PromptReference(name="explain_symbol"), ResourceTemplateReference(uri=uris.popitem()[0])):
            for name in ("symbol", "qualname"):
                found = await client.complete(reference, {"name": name, "value": GITHUB[:8]})
                assert not leaked(found.model_dump_json())


async def test_no_error_gives_one_away(project: Path):
    async with answering(project) as asked:
        for tool, arguments in (
            ("codememory_definitions", {"symbol": f"{GITHUB}x"}),
            ("memory_get", {"path": f"no/{GITHUB}"}),
            ("codememory_ingest", {"since": AWS}),
            (f"tool {GITHUB}", {}),
        ):
            try:
                said = (await asked.call(tool, **arguments)).model_dump_json()
            except MCPError as error:
                said = error.message
            assert not leaked(said), (tool, arguments)
        with pytest.raises(MCPError) as raised:
            await asked.client.get_prompt(f"prompt {GITHUB}")
        assert not leaked(str(raised.value))


async def test_what_is_added_to_the_server_passes_the_filter_by_itself(project: Path):
    engines = EnginePool(project)
    server = build(engines)

    def leak() -> dict[str, str]:
        return {"told": f"It is {GITHUB}."}

    def crash() -> str:
        raise RuntimeError(f"It is {GITHUB}.")

    server.add_tool(leak)
    server.add_tool(crash)

    def told() -> str:
        return f"It is {GITHUB}."

    server.resource("cm://leak")(told)
    server.prompt("leak")(told)
    server.prompt("crash")(crash)
    try:
        from mcp import Client

        async with Client(server) as client:
            said = (await client.call_tool("leak", {})).model_dump_json()
            assert said.count("It is [redacted: ") == 2
            assert not leaked(said + (await client.call_tool("crash", {})).model_dump_json())
            assert not leaked((await client.read_resource("cm://leak")).model_dump_json())
            assert not leaked((await client.get_prompt("leak")).model_dump_json())
            with pytest.raises(MCPError) as raised:
                await client.get_prompt("crash")
            assert not leaked(str(raised.value))
    finally:
        engines.close()


async def test_the_answer_says_how_many_and_stays_what_it_was(project: Path):
    async with answering(project) as asked:
        text, record = await asked.ok("codememory_definitions", symbol="deploy")
        assert text.endswith("\nnote: 2 secrets were redacted.")
        assert record["notes"] == ["2 secrets were redacted."]
        row = record["rows"][0]
        assert (row["path"], row["kind"], row["qualname"]) == ("shop/deploy.py", "function", "deploy")
        assert 'password="[redacted: ' in row["signature"]
        text, record = await asked.ok("codememory_dependencies", path="shop/deploy.py")
        assert "redacted" not in text
        text, record = await asked.ok("context_assemble", question="deploy", budget=4000)
        assert text.count("redacted.") == 1


async def test_lines_keep_their_numbers_and_a_key_is_known_by_any_of_its_lines(project: Path):
    lines = CODE.split("\n")
    async with answering(project) as asked:
        for number in range(1, len(lines)):
            _, record = await asked.ok("memory_get", path="shop/deploy.py", lines=1, **{"from": number})
            assert not leaked(record["text"])
            if not leaked(lines[number - 1]) and "PRIVATE" not in lines[number - 1]:
                assert record["text"] == lines[number - 1]
        _, whole = await asked.ok("memory_get", path="shop/deploy.py")
        assert whole["end_line"] == len(lines) - 1
        assert whole["text"].split("\n")[-2] == lines[-3] == "    def connect(self):"


def test_paths_lose_secrets_and_ids_stay():
    answer = {
        "content": [{"type": "text", "text": f"a {GITHUB}\nnote: 1 secret was redacted."}],
        "structuredContent": {
            "path": f"src/x_{GITHUB}.py", "renamed": [["a.py", f"{GITHUB}.py"]], "sha": "ab" * 20,
            "rows": [{"line": 7, "text": f"a {GITHUB}"}], GITHUB: None,
        },
        "isError": False,
    }  # fmt: skip
    before = json.dumps(answer)
    clean = filtered(answer)
    mark = clean["content"][0]["text"].split("\n")[0].removeprefix("a ")
    assert clean["structuredContent"] == {
        "path": f"src/x_{mark}.py", "renamed": [["a.py", f"{mark}.py"]], "sha": "ab" * 20,
        "rows": [{"line": 7, "text": f"a {mark}"}], GITHUB: None,
    }  # fmt: skip
    assert clean["content"][0]["text"].startswith("a [redacted: ")
    assert clean["content"][0]["text"].count("redacted.") == 1
    assert json.dumps(answer) == before


def test_a_secret_at_a_cut_is_taken_out_whole():
    for before in range(200, 250):
        line = f'{"x" * before} "{GITHUB}"'
        assert not leaked(short(line))
        assert not leaked(shortened(f"a\n{line}\nb"))
        assert not leaked(fitting([line], str, 240)[0])
    assert shortened(f"a\n{GITHUB}") == f"a\n{GITHUB}", "what is not cut, the filter sees whole"
