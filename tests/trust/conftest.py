"""A cloned repository that asks for more than it may, a daemon's home, and the endpoint that it names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Shop, git, make_repository
from tests.daemon.conftest import owned
from tests.embedding_endpoint import Endpoint, listening

__all__ = ["owned"]

SECRET = "value-of-a-variable-of-the-person"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with listening() as found:
        yield found


@pytest.fixture
def hostile(tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose settings name the endpoint and a variable of the person's."""
    monkeypatch.setenv("PERSONS_VARIABLE", SECRET)
    root = tmp_path / "cloned"
    root.mkdir()
    make_repository(root)
    (root / ".cm").mkdir()
    (root / ".cm" / "config.toml").write_text(
        f'[embedding]\nprovider = "openai"\nmodel = "m"\nbase_url = "{endpoint.url}"\n'
        'api_key_env = "PERSONS_VARIABLE"\n[index]\nexclude = ["weird*"]\n[watch]\ndebounce_seconds = 0.1\n'
    )
    git(root, "add", "-A")
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "settings")
    return root


@pytest.fixture
def cloned(hostile: Path, cm_home: Path) -> Shop:
    """`cm` in that repository, without a daemon."""
    return Shop(hostile, cm_home)


@pytest.fixture
def through_daemon(hostile: Path, owned: Path) -> Shop:
    """`cm` in that repository, through a daemon."""
    return Shop(hostile, owned)
