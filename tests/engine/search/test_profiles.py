from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui import paths
from cm_tui.config import Config, load_config
from cm_tui.engine.search.ranking import adjust, profile_file, profiles
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.errors import ConfigError, RefusedError
from tests.shop import Project
from tests.tiers import examples

BEFORE = """# our settings
[index]
exclude = ["third_party/"]  # not ours

[profiles.notes]
limit = 3
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    file = paths.project_config_file(tmp_path)
    file.parent.mkdir()
    file.write_text(BEFORE, encoding="utf-8")
    return tmp_path


def reload(root: Path) -> dict[str, object]:
    return dict(profiles.load(load_config(root).profiles))


def test_the_documents_numbers() -> None:
    known = profiles.load({})
    engine, notes, code = known["memory"], known["notes"], known["code"]
    assert (engine.vector_weight, engine.keyword_weight, engine.half_life_days) == (0.7, 0.3, 30)
    assert (engine.diversity, engine.diversity_lambda, engine.limit, engine.pool) == ("mmr", 0.5, 10, 20)
    assert (notes.vector_weight, notes.keyword_weight, notes.half_life_days) == (0.7, 0.3, None)
    assert (notes.diversity, notes.diversity_lambda, notes.limit) == ("none", 0.7, 6)
    assert (notes.min_score, notes.snippet_chars, notes.pool) == (0.35, 700, 200)
    assert (code.diversity, code.half_life_days, code.rerank_alpha) == ("none", None, 0.5)


def test_saving_changes_only_what_was_changed(project: Project, root: Path) -> None:
    searcher = Searcher(project.db, None, load_config(root), root=root)
    changed = replace(
        searcher.profile("code"),
        keyword_weight=0.4,
        adjustments={**searcher.profile("code").adjustments, "tests": 0.0},
    )
    file = searcher.save_profile(changed)
    text = file.read_text(encoding="utf-8")
    assert text.startswith(BEFORE.rstrip())
    assert text.removeprefix(BEFORE.rstrip()).split() == [
        "[profiles.code]", "keyword_weight", "=", "0.4", "[profiles.code.adjustments]", "tests", "=", "0.0",
    ]  # fmt: skip
    assert searcher.profile("code") == changed
    assert reload(root)["code"] == changed
    assert reload(root)["notes"].limit == 3


def test_saving_the_defaults_removes_the_section(project: Project, root: Path) -> None:
    searcher = Searcher(project.db, None, load_config(root), root=root)
    searcher.save_profile(profiles.make("notes", {}))
    assert "profiles" not in paths.project_config_file(root).read_text(encoding="utf-8")
    assert 'exclude = ["third_party/"]  # not ours' in paths.project_config_file(root).read_text(encoding="utf-8")


def test_the_users_changes_are_not_repeated_in_the_project(project: Project, root: Path) -> None:
    user = paths.config_file()
    user.parent.mkdir(parents=True)
    user.write_text("[profiles.code]\nkeyword_weight = 0.9\n", encoding="utf-8")
    searcher = Searcher(project.db, None, load_config(root), root=root)
    file = searcher.save_profile(replace(searcher.profile("code"), limit=7))
    assert "keyword_weight" not in file.read_text(encoding="utf-8")
    saved = reload(root)["code"]
    assert (saved.keyword_weight, saved.limit) == (0.9, 7)


def test_switching_decay_off_survives(project: Project, root: Path) -> None:
    searcher = Searcher(project.db, None, load_config(root), root=root)
    searcher.save_profile(replace(searcher.profile("memory"), half_life_days=None))
    assert reload(root)["memory"].half_life_days is None


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["code", "memory", "my own", "a.b"]),
    values=st.fixed_dictionaries(
        {},
        optional={
            "keyword_weight": st.floats(0, 5),
            "limit": st.integers(1, 99),
            "description": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
            "half_life_days": st.floats(0.5, 400),
            "sources": st.lists(st.sampled_from(["code", "note", "entry"]), min_size=1).map(tuple),
            "adjustments": st.dictionaries(
                st.sampled_from([name for name in adjust.NAMES if name not in adjust.PENALTIES]), st.floats(-2, 5)
            ),
        },
    ),
)
def test_round_trip(root: Path, name: str, values: dict[str, object]) -> None:
    file = root / "any.toml"
    wanted = profiles.make(name, values)
    profile_file.save(wanted, profiles.make(name, {}), file)
    import tomllib

    # Where nothing is changed, no file is left.
    read = tomllib.loads(file.read_text(encoding="utf-8")).get("profiles", {}) if file.exists() else {}
    assert profiles.load(read).get(name, profiles.make(name, {})) == wanted


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
def test_what_ends_a_line_elsewhere_ends_none_in_a_value(root: Path, end: str) -> None:
    file = root / "any.toml"
    for name in ("memory", "code"):
        wanted = profiles.make(name, {"description": f"one{end}[profiles.code]{end}two", "limit": 7})
        profile_file.save(wanted, profiles.make(name, {}), file)
    other = profiles.make("code", {"limit": 9})
    profile_file.save(other, profiles.make("code", {}), file)
    import tomllib

    read = profiles.load(tomllib.loads(file.read_text(encoding="utf-8"))["profiles"])
    assert read["memory"].description == f"one{end}[profiles.code]{end}two"
    assert read["code"] == other


def test_a_number_that_profiles_had_before_is_without_effect() -> None:
    assert profiles.make("code", {"adjustments": {"best-of-file": 0.06}}) == profiles.make("code", {})


def test_quotas_are_saved_and_taken_back(project: Project, root: Path) -> None:
    searcher = Searcher(project.db, None, load_config(root), root=root)
    plain = searcher.profile("code")
    with_quotas = replace(plain, sources=("code", "episode"), quotas={"code": 8, "episode": 5})
    file = searcher.save_profile(with_quotas)
    assert "[profiles.code.quotas]" in file.read_text(encoding="utf-8")
    assert reload(root)["code"] == with_quotas
    searcher.save_profile(plain)
    assert reload(root)["code"] == plain


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"speed": 1}, "unknown setting speed"),
        ({"adjustments": {"luck": 1}}, "unknown adjustment luck"),
        ({"adjustments": {"tests": 2}}, "from 0 to 1"),
        ({"keyword_weight": -1}, "between 0 and"),
        ({"pool": 0}, "between 1 and"),
        ({"limit": "many"}, "limit"),
        ({"diversity": "loud"}, "diversity"),
        ({"diversity_lambda": 3}, "between 0 and 1"),
        ({"coordination": 1.5}, "between 0 and 1"),
        ({"min_score": float("nan")}, "between 0 and 1"),
        ({"rrf_k": 10**400}, "between 1 and"),
        ({"rrf_k": 2**63}, "between 1 and"),
        ({"limit": 2**63}, "between 1 and"),
        ({"keyword_weight": 1e308}, "between 0 and"),
        ({"adjustments": {"definition": 1e308}}, "at most"),
        ({"adjustments": {"file": -1e308}}, "at most"),
        ({"quotas": {"code": 0}}, "1 or more"),
        ({"quotas": {"note": 3}}, "does not search 'note'"),
        ({"quotas": {"code": "many"}}, "quotas.code"),
    ],
)
def test_wrong_numbers_name_the_setting(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        profiles.make("code", changes)


def test_a_file_that_cannot_be_edited_safely_stays_as_it_is(project: Project, tmp_path: Path) -> None:
    file = paths.project_config_file(tmp_path)
    file.parent.mkdir()
    text = "profiles = {code = {limit = 5}}\n"
    file.write_text(text, encoding="utf-8")
    searcher = Searcher(project.db, None, Config(), root=tmp_path)
    with pytest.raises(ConfigError, match="edited safely"):
        searcher.save_profile(replace(searcher.profile("code"), limit=9))
    assert file.read_text(encoding="utf-8") == text
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


def test_a_link_and_the_ends_of_lines_stay(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    shared, file = root / "cm.toml", root / ".cm/config.toml"
    file.parent.mkdir(exist_ok=True)
    shared.write_bytes(b"# ours\r\n[index]\r\n")
    file.unlink(missing_ok=True)
    file.symlink_to("../cm.toml")
    profile_file.save(profiles.make("code", {"limit": 9}), profiles.make("code", {}), file)
    assert file.is_symlink()
    assert shared.read_bytes() == b"# ours\r\n[index]\r\n\r\n[profiles.code]\r\nlimit = 9\r\n"
    outside = tmp_path_factory.mktemp("outside") / "theirs.toml"
    outside.write_text("# theirs\n")
    file.unlink()
    file.symlink_to(outside)
    with pytest.raises(RefusedError, match="outside the project"):
        profile_file.save(profiles.make("code", {"limit": 9}), profiles.make("code", {}), file)
    assert outside.read_text() == "# theirs\n"
