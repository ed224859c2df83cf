"""No request for vectors holds a secret, of passages or of questions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from cm_tui import paths
from cm_tui.config import EmbeddingConfig
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.search.embed.choice import provider_for
from cm_tui.engine.search.embed.remote import DIALECTS
from tests.embedding_endpoint import Endpoint, listening
from tests.gitrepo import Repo
from tests.planted import AWS, GITHUB, KEY, PASSWORD, leaked

LOCAL = {"bundled", "fastembed", "none"}
"""Providers that send nothing anywhere."""
REMOTE = sorted(set(get_args(EmbeddingConfig.model_fields["provider"].annotation)) - LOCAL)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with listening() as endpoint:
        yield endpoint


def configured(url: str, **more: Any) -> EmbeddingConfig:
    return EmbeddingConfig(model="m", base_url=url, api_key="k", **more)


@pytest.mark.parametrize("kind", REMOTE)
def test_no_request_holds_a_secret(kind: Any, tmp_path: Path, endpoint: Endpoint):
    repo = Repo(tmp_path / "app")
    repo.write(
        "net.py",
        f'def connect(token="{GITHUB}"):\n    """As {AWS}."""\n    return "{AWS}"\n\n\nKEY = """\n{KEY}\n"""\n',
    )
    repo.write(f"notes/{GITHUB}.md", f'# Sign in\n\npassword = "{PASSWORD}"\n')
    repo.commit(f"Use {AWS}")
    file = paths.config_file()
    file.parent.mkdir(parents=True)
    file.write_text(f'[embedding]\nprovider = "{kind}"\nmodel = "m"\nbase_url = "{endpoint.url}"\napi_key = "k"\n')
    with Engine.open(repo.root) as engine:
        for _ in engine.index():
            pass
        engine.search(f"where is {GITHUB} used", mode="vector")
        engine.pack(f"connect with {AWS}")
    sent = endpoint.heard
    assert not leaked(endpoint.bytes.decode())
    assert any('def connect(token="[redacted: ' in text for text in sent)
    assert any(text.startswith("where is [redacted: ") for text in sent)
    assert any("connect with [redacted: " in text for text in sent)


@pytest.mark.parametrize("kind", REMOTE)
def test_a_secret_at_the_cut_is_seen_whole(kind: Any, endpoint: Endpoint):
    provider = provider_for(configured(endpoint.url, provider=kind))
    most = DIALECTS[kind].text_characters
    for before in (most - 16, most - 40, most - 1):
        provider.embed(["x" * before + " " + GITHUB + " " + "y" * 9_000])
    assert not leaked(endpoint.bytes.decode())
    assert all(len(text) <= most for text in endpoint.heard)


@pytest.mark.parametrize("kind", REMOTE)
def test_vectors_of_unfiltered_texts_do_not_count(kind: Any, endpoint: Endpoint):
    assert provider_for(configured(endpoint.url, provider=kind)).fingerprint.endswith("/redacted")


def test_onnxruntime_collects_no_usage_data(tmp_path: Path):
    code = "import cm_tui, onnxruntime"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "HOME": str(tmp_path)}, check=True)
    assert list(tmp_path.rglob("*")) == []
