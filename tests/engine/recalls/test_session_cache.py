"""A session keeps three values for half an hour, for itself alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cm_tui.engine.memory.recalls.session_cache import TTL_SECONDS, VALUE_CHARACTERS, SessionCache
from cm_tui.errors import UsageError
from tests.planted import GITHUB


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    return root


def test_it_keeps_three_for_half_an_hour(root: Path):
    cache = SessionCache(root, "s1")
    for number in range(4):
        cache.put(f"k{number}", f"v{number}", 1_000.0 + number)
    assert [cache.get(f"k{number}", 1_010.0) for number in range(4)] == [None, "v1", "v2", "v3"]
    cache.put("k1", "again", 1_020.0)
    cache.put("k4", "v4", 1_021.0)
    assert [cache.get(key, 1_022.0) for key in ("k1", "k2", "k3", "k4")] == ["again", None, "v3", "v4"]
    assert cache.get("k1", 1_020.0 + TTL_SECONDS - 1) == "again"
    assert cache.get("k1", 1_020.0 + TTL_SECONDS) is None


def test_sessions_and_projects_see_their_own(root: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    SessionCache(root, "s1").put("k", "mine")
    assert SessionCache(root, "s1").get("k") == "mine"
    assert SessionCache(root, "s2").get("k") is None
    assert SessionCache(other, "s1").get("k") is None
    SessionCache(root, "s1").clear()
    assert SessionCache(root, "s1").get("k") is None


def test_it_is_private_cleaned_and_without_secrets(root: Path):
    old, new = SessionCache(root, "old"), SessionCache(root, "new")
    old.put("k", f"token {GITHUB}")
    assert GITHUB not in old._file.read_text()
    assert stat.S_IMODE(old._file.stat().st_mode) == 0o600
    new.put("k", "v", old._file.stat().st_mtime + TTL_SECONDS + 5)
    assert not old._file.exists()


@pytest.mark.parametrize("junk", [b"", b"[]", b"\xff", b'{"k": 5}', b'{"k": ["v", true]}', b'{"k": ["v", 1e300]}'])
def test_a_damaged_file_holds_nothing(root: Path, junk: bytes):
    cache = SessionCache(root, "s1")
    cache.put("x", "y")
    cache._file.write_bytes(junk)
    assert cache.get("k") is None
    cache.put("k", "v")
    assert cache.get("k") == "v"


def test_what_cannot_be_is_refused(root: Path):
    for key, value in (("", "v"), ("k" * 201, "v"), ("k", "v" * (VALUE_CHARACTERS + 1))):
        with pytest.raises(UsageError):
            SessionCache(root, "s1").put(key, value)
    with pytest.raises(UsageError):
        SessionCache(root, "")
