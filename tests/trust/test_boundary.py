"""Which settings of a repository count, and when."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from cm_tui import paths
from cm_tui.agent_hooks import settings as hook_settings
from cm_tui.config import Config, grant, load_config
from cm_tui.config.boundary import PLACES, part, rule_of
from cm_tui.config.held import repository_trust
from cm_tui.config.trust import decisions, digest
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import ConfigError, RefusedError
from tests.cli.conftest import Shop
from tests.mcp.served import answering


def every_setting() -> set[str]:
    names = set()
    for section, field in Config.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            names |= {f"{section}.{name}" for name in kind.model_fields}
        else:
            names.add(section)
    return names


def test_every_setting_has_its_place():
    assert set(PLACES) == every_setting()
    assert {name: place.harmless for name, place in PLACES.items() if place.harmless} == {
        "embedding.provider": ("bundled", "none"),
        "embedding.fallback": ("bundled", "none"),
        "agents.record": (False,),
        "memory.follow_transcripts": (False,),
    }


def test_the_guide_prints_the_table():
    guide = (Path(load_config.__code__.co_filename).parents[1] / "docs" / "trust.md").read_text()
    rows = {
        cells[1].strip("` "): cells[2].strip()
        for cells in (line.split("|") for line in guide.splitlines())
        if len(cells) == 5 and cells[1].strip().startswith("`")
    }
    words = {"counts": "at once", "trust": "after trust", "user": "never"}
    assert {name: rows.get(name) for name in PLACES} == {name: words[place.rule] for name, place in PLACES.items()}


def test_what_was_not_placed_waits():
    assert rule_of("embedding", "new_setting") == "trust"
    assert rule_of("new_section", "anything") == "trust"


def repository(root: Path, text: str) -> Path:
    (root / ".cm").mkdir(parents=True, exist_ok=True)
    (root / ".cm" / "config.toml").write_text(text)
    return root


def user(text: str) -> None:
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text(text)


ASKS = '[embedding]\nprovider = "openai"\nmodel = "m"\nbase_url = "https://collector.example/v1"\n'


def test_harmless_ones_count_at_once(tmp_path: Path):
    text = '[index]\nexclude = ["a/**"]\n[history]\ndepth = 9\n[profiles.code]\nrrf_k = 30\n[embedding]\nprovider = "none"\n'
    config = load_config(repository(tmp_path, text))
    assert (config.index.exclude, config.history.depth, config.embedding.provider) == (("a/**",), 9, "none")
    assert repository_trust(tmp_path).state == "nothing"


def test_guarded_ones_wait(tmp_path: Path):
    root = repository(tmp_path, ASKS + '[search]\nreranker = "a/b"\n[tui.keys]\n"app.quit" = "enter"\n')
    held = load_config(root)
    assert (held.embedding.provider, held.search.reranker, held.tui.keys) == ("bundled", None, {})
    grant.decide(repository_trust(root), "trusted")
    trusted = load_config(root)
    assert (trusted.embedding.provider, trusted.search.reranker) == ("openai", "a/b")
    assert dict(trusted.tui.keys) == {"app.quit": "enter"}
    assert grant.revoke(root)
    assert load_config(root).embedding.provider == "bundled"


def test_the_persons_own_settings_win(tmp_path: Path):
    user('[embedding]\nprovider = "openai"\nbase_url = "http://localhost:1/v1"\napi_key = "mine"\n')
    root = repository(tmp_path, ASKS + 'api_key_env = "HOME"\n')
    grant.decide(repository_trust(root), "trusted")
    embedding = load_config(root).embedding
    assert (embedding.base_url, embedding.api_key, embedding.model) == (
        "http://localhost:1/v1",
        "mine",
        None,
    )
    assert repository_trust(root).state == "nothing", "nothing of it would count"


def test_a_repositorys_table_of_an_endpoint_waits_and_shows_no_key(tmp_path: Path):
    text = (
        '[embedding]\nprovider = "voyage"\nfallback = "gemini"\n[embedding.remote]\n'
        'base_url = "https://collector.example/v1"\napi_key = "k-secret"\nheaders = {"X-A" = "h-secret"}\n'
        "[embedding.batch]\nenabled = true\n"
    )
    root = repository(tmp_path, text)
    held = load_config(root).embedding
    assert (held.provider, held.fallback, held.remote.base_url, held.batch.enabled) == ("bundled", "none", None, False)
    found = repository_trust(root)
    assert found.effects == (
        "send its code, piece by piece, and your questions to collector.example",
        "send a key from its file",
        "send 1 header",
        "also send it in batches: as files that stay there until they are done",
        (
            "send its code, piece by piece, and your questions to generativelanguage.googleapis.com, "
            "whenever the model before it fails"
        ),
        'send the value of your environment variable "GEMINI_API_KEY", which is not set now',
    )
    shown = " ".join(f"{one.name} {one.value}" for one in found.settings)
    assert "k-secret" not in shown
    assert "h-secret" not in shown
    assert 'embedding.remote."base_url" "https://collector.example/v1"' in shown
    grant.decide(found, "trusted")
    assert load_config(root).embedding.remote.api_key == "k-secret"


def test_a_fallback_that_sends_nothing_counts_at_once(tmp_path: Path):
    root = repository(tmp_path, '[embedding]\nfallback = "local"\n')
    assert load_config(root).embedding.fallback == "bundled"
    assert repository_trust(root).state == "nothing"
    repository(tmp_path, '[embedding]\nfallback = "openai"\n')
    assert load_config(root).embedding.fallback == "none"
    assert "api.openai.com, whenever the model before it fails" in repository_trust(root).effects[0]


def test_a_repository_adds_nothing_to_an_endpoint_of_the_person(tmp_path: Path):
    user('[embedding]\nprovider = "voyage"\n')
    root = repository(tmp_path, '[embedding.remote]\nbase_url = "https://collector.example/v1"\n')
    grant.decide(repository_trust(root), "trusted")
    assert load_config(root).embedding.remote.base_url is None


def test_tables_of_a_weaker_place_stay_where_a_stronger_one_is_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    user('[embedding]\nprovider = "openai"\n[embedding.remote]\nbase_url = "http://localhost:1/v1"\n')
    monkeypatch.setenv("CM_EMBEDDING__REMOTE__API_KEY", "mine")
    monkeypatch.setenv("CM_EMBEDDING__BATCH__WAIT", "true")
    embedding = load_config(tmp_path).embedding
    assert (embedding.remote.base_url, embedding.remote.api_key) == ("http://localhost:1/v1", "mine")
    assert embedding.batch.wait


def test_a_key_of_the_person_never_meets_an_endpoint_of_the_repository(tmp_path: Path):
    user('[embedding]\napi_key = "mine"\n')
    root = repository(tmp_path, ASKS)
    grant.decide(repository_trust(root), "trusted")
    assert load_config(root).embedding.base_url != "https://collector.example/v1"


def test_some_are_never_read_from_a_repository(tmp_path: Path):
    root = repository(tmp_path, '[daemon]\nport = 4321\n[mcp]\nroots = ["/"]\n')
    assert (load_config(root).daemon.port, load_config(root).mcp.roots) == (0, ())
    assert repository_trust(root).ignored == ("daemon.port", "mcp.roots")
    user('[mcp]\nroots = ["/srv"]\n')
    assert load_config(root).mcp.roots == ("/srv",)


def test_recording_is_switched_on_by_no_repository(tmp_path: Path):
    user("[agents]\nrecord = false\n")
    root = repository(tmp_path, "[agents]\nrecord = true\nbudget = 5\n")
    assert not load_config(root).agents.record
    assert not hook_settings.read(root).record
    assert load_config(root).agents.budget == hook_settings.read(root).budget == 5
    user("")
    repository(tmp_path, "[agents]\nrecord = false\n")
    assert not load_config(root).agents.record
    assert not hook_settings.read(root).record


def test_credentials_are_let_in_by_trust_alone(tmp_path: Path):
    root = repository(tmp_path, '[index]\ninclude = ["**", ".envrc"]\ninclude_credentials = [".npmrc"]\n')
    assert load_config(root).index.untrusted_include == ("**", ".envrc")
    grant.decide(repository_trust(root), "trusted")
    index = load_config(root).index
    assert index.include == ("**", ".envrc", ".npmrc")
    assert index.untrusted_include == ("**", ".envrc")


def test_another_folder_is_another_question(tmp_path: Path):
    one, two = repository(tmp_path / "one", ASKS), repository(tmp_path / "two", ASKS)
    grant.decide(repository_trust(one), "trusted")
    assert repository_trust(two).state == "held"
    link = tmp_path / "link"
    link.symlink_to(one)
    assert repository_trust(link).state == "trusted", "the same real folder"
    assert [decision.root for decision in decisions()] == [str(one)]
    assert stat.S_IMODE(paths.trust_file().stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"checkouts": 1}', b'{"checkouts": {"/x": {"answer": "trusted"}}}']
)
def test_a_damaged_file_trusts_nothing(tmp_path: Path, damage: bytes):
    root = repository(tmp_path, ASKS)
    grant.decide(repository_trust(root), "trusted")
    paths.trust_file().write_bytes(damage)
    assert load_config(root).embedding.provider == "bundled"
    grant.decide(repository_trust(root), "trusted")
    assert load_config(root).embedding.provider == "openai"


def test_a_file_of_settings_that_is_none(tmp_path: Path):
    import os

    (tmp_path / ".cm").mkdir()
    os.mkfifo(tmp_path / ".cm" / "config.toml")
    with pytest.raises(ConfigError, match="not a regular file"):
        load_config(tmp_path)
    (tmp_path / ".cm" / "config.toml").unlink()
    repository(tmp_path, "#" * 1_000_001)
    with pytest.raises(ConfigError, match="more than"):
        load_config(tmp_path)


def test_settings_that_lead_out_of_the_repository(tmp_path: Path):
    user(ASKS)
    root = tmp_path / "cloned"
    root.mkdir()
    (root / ".cm").symlink_to(paths.config_file().parent)
    with pytest.raises(ConfigError, match="is outside the project"):
        load_config(root)
    (root / ".cm").unlink()
    repository(root / "inside", "[index]\nworkers = 3\n")
    (root / ".cm").symlink_to("inside/.cm")
    assert load_config(root).index.workers == 3


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.openai.com@collector.example/v1", "collector.example"),
        ("https://\u0430pi.openai.com/v1", "xn--pi-6kc.openai.com"),
    ],
)
def test_what_is_shown_cannot_deceive(tmp_path: Path, url: str, host: str):
    text = f'[embedding]\nprovider = "openai"\nbase_url = "{url}"\nmodel = "m\\u001b[2K\\u202e"\napi_key = "k-secret"\n'
    found = repository_trust(repository(tmp_path, text))
    assert found.effects[0].endswith(f"to {host}")
    shown = " ".join([*found.effects, *(setting.value for setting in found.settings)]).replace("…", "")
    assert shown.isprintable()
    assert shown.isascii()
    assert "k-secret" not in shown


def test_what_cannot_be_shown_whole_cannot_be_trusted(tmp_path: Path):
    hidden = '["docs/example.env' + " " * 300 + '", "**/.env"]'
    found = repository_trust(repository(tmp_path, f"[index]\ninclude_credentials = {hidden}\n"))
    assert "too long" in found.unshowable
    with pytest.raises(RefusedError, match="too long"):
        grant.decide(found, "trusted")
    keys = "\n".join(f'"app.k{number}" = "f1"' for number in range(60))
    assert "60 values" in repository_trust(repository(tmp_path, f"[tui.keys]\n{keys}\n")).unshowable
    found = repository_trust(repository(tmp_path, '[index]\ninclude_credentials = ["a.env", "**/.env", "**/*.pem"]\n'))
    assert [setting.value for setting in found.settings] == ['"a.env"', '"**/.env"', '"**/*.pem"']
    assert not found.unshowable


def test_the_stricter_of_two_counts(tmp_path: Path):
    user(
        '[index]\nexclude = ["private/"]\ninclude = ["mine/.env"]\nmax_file_bytes = 10\n[agents]\nbudget = 0\n'
        "[history]\nenabled = false\ndepth = 5\n"
    )
    root = repository(
        tmp_path,
        '[index]\nexclude = []\ninclude = ["x"]\nmax_file_bytes = 99\n[agents]\nbudget = 20000\n'
        "[history]\nenabled = true\ndepth = 0\n[watch]\nenabled = false\n",
    )
    config = load_config(root)
    assert (config.index.exclude, config.index.include) == (("private/",), ("mine/.env", "x"))
    assert config.index.untrusted_include == ("x",)
    assert (config.index.max_file_bytes, config.agents.budget) == (10, 0)
    assert (config.history.enabled, config.history.depth, config.watch.enabled) == (False, 5, False)
    repository(tmp_path, "[history]\ndepth = 3\n[agents]\nbudget = 7\n")
    user("[history]\ndepth = 0\n")
    assert (load_config(root).history.depth, load_config(root).agents.budget) == (3, 7)


def test_a_value_in_words_is_what_it_means(tmp_path: Path):
    assert repository_trust(repository(tmp_path, '[agents]\nrecord = "no"\n')).state == "nothing"
    assert not load_config(tmp_path).agents.record


@pytest.mark.parametrize("text", ["[index]\nmax_file_bytes = " + "9" * 5000, "a = " + "[" * 50_000, "\udcff", "\0"])
def test_settings_that_nobody_can_read(tmp_path: Path, text: str):
    (tmp_path / ".cm").mkdir()
    (tmp_path / ".cm" / "config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match="Cannot read"):
        load_config(tmp_path)


def test_lists_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_MCP__ROOTS", '["/srv/work"]')
    assert load_config().mcp.roots == ("/srv/work",)
    monkeypatch.setenv("CM_MCP__ROOTS", '["/srv/work"')
    with pytest.raises(ConfigError, match=r"mcp\.roots"):
        load_config()


values = st.dictionaries(st.sampled_from(["provider", "model", "base_url", "batch_size"]), st.integers(), max_size=4)


@given(values, values)
def test_a_guarded_value_is_somewhere_exactly_once(theirs: dict[str, int], own: dict[str, int]):
    found = part({"embedding": theirs}, {"embedding": own})
    placed = [name for place in (found.counts, found.harmless, found.guarded) for name in place.get("embedding", {})]
    assert len(placed) == len(set(placed))
    assert {"batch_size"} & set(theirs) == set(found.counts.get("embedding", {}))
    if set(own) - {"batch_size"}:
        assert not found.guarded


def test_the_digest_does_not_depend_on_order():
    assert digest({"a": {"x": 1, "y": 2}}) == digest({"a": {"y": 2, "x": 1}}) != digest({"a": {"x": 1, "y": 3}})


def test_a_script_cannot_trust(cloned: Shop):
    done = cloned.process("trust", stdin="y\n")
    assert (done.code, repository_trust(cloned.root).state) == (4, "held")
    assert "no terminal" in done.err
    shown = cloned.cm("trust", "--show").out
    assert "PERSONS_VARIABLE" in shown
    assert cloned.cm("trust", "--show", "--json").json["state"] == "held"
    assert cloned.cm("trust", "--list").out.startswith("No decisions")
    assert cloned.cm("trust", "--show", "--list").code == 2
    done = cloned.process("link", stdin="y\n")
    assert "says that it is" not in done.err


async def test_an_agent_is_told_and_cannot_trust(hostile: Path):
    async with answering(hostile) as agent:
        names = {tool.name for tool in (await agent.client.list_tools()).tools}
        assert not {name for name in names if "trust" in name or "link" in name}
    with Engine.open(hostile) as engine:
        assert any("Held back" in note for note in engine.status().notes)
