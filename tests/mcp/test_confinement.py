"""Nothing outside the project is read, whatever a path, a resource or a revision says, and whatever lies in its tree."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError
from cm_tui.model import PackRequest
from tests.cli.conftest import git
from tests.mcp.served import answering

NEVER = "plain words that lie outside"
PATHS = (
    "../secret/credentials", "shop/../../secret/credentials", "{secret}/credentials", "//{secret}/credentials",
    "~/credentials", "~root/.ssh/id_rsa", "~nobody-is-called-so/x", "/proc/self/environ", "/proc/self/cwd/shop/cart.py",
    "/proc/self/root{secret}/credentials", "/dev/stdin", "/dev/zero", "C:\\\\Windows\\\\win.ini", "C:/Windows/win.ini",
    "\\\\\\\\server\\\\share\\\\x", "..\\\\secret\\\\credentials", "keys", "keys/credentials", "deep/keys/credentials", "direct",
    "pipe", ".git/config", ".git/HEAD", "shop/cart.py/../../../secret/credentials", "-", "--help", "x" * 4096, "a/" * 2000,
    "%2e%2e/secret/credentials", "file://{secret}/credentials", "shop", ".", "..", " ",
)  # fmt: skip
REFS = (
    "-", "--all", "--output=x", "-n1", "@{-1}", "@{u}", "@{1}", "HEAD@{1}", "HEAD@{yesterday}", ":shop/cart.py", ":0:shop/cart.py",
    "HEAD:../x", "HEAD:shop/cart.py", "HEAD:", "HEAD^{tree}", "HEAD^{/total}", ":/shop", "../../../../../../etc/passwd",
    "refs/../../config", "/etc/passwd", "HEAD..main", "a...b", "^HEAD", "HEAD~999999999", "HEAD" + "^" * 190, "+refs/heads/*:refs/x/*",
    "ext::sh -c x", "\u202e", "#0", "#-1", "#999999999", "0000000000000000000000000000000000000000", "deadbeef", "9999-99-99",
)  # fmt: skip


@pytest.fixture
def trapped(own: Path) -> Path:
    """A project full of ways out of it: each was indexed, committed, or both."""
    secret = own.parent / "secret"
    secret.mkdir(exist_ok=True)
    (secret / "credentials").write_text(f"{NEVER}\n")
    (secret / "code.py").write_text(f"def outside_only():\n    return {NEVER!r}\n")
    (own / "keys").symlink_to(secret)
    (own / "deep").mkdir()
    (own / "deep/keys").symlink_to("../../secret")
    (own / "direct").symlink_to(secret / "credentials")
    (own / "direct.py").symlink_to(secret / "code.py")
    (own / "again.py").symlink_to("/proc/self/environ")
    git(own, "add", "-A")
    git(own, "commit", "-qm", "links")
    # A file that was committed, and has a link in its place now.
    (own / "shop/money.py").unlink()
    (own / "shop/money.py").symlink_to(secret / "code.py")
    os.mkfifo(own / "pipe")
    os.mkfifo(own / "pipe.py")
    with Engine.open(own) as engine:
        for _ in engine.index():
            pass
    return own


def paths_of(root: Path) -> list[str]:
    return [path.replace("{secret}", str(root.parent / "secret")) for path in PATHS]


async def test_no_path_leads_out(trapped: Path):
    async with answering(trapped) as asked:
        for path in paths_of(trapped):
            for tool in ("memory_get", "codememory_dependencies"):
                answer = await asked.call(tool, path=path)
                assert answer.is_error, (tool, path)
                assert NEVER not in str(answer), (tool, path)
                assert "Error executing" not in str(answer), (tool, path)
            answer = str(await asked.call("codememory_at_sha", sha="HEAD", file=path[:4096]))
            assert NEVER not in answer
            assert "Error executing" not in answer
            answer = str(await asked.call("codememory_reingest", path=path))
            assert NEVER not in answer
            assert "Error executing" not in answer


async def test_no_resource_leads_out(trapped: Path):
    async with answering(trapped) as asked:
        for path in paths_of(trapped):
            for text in (quote(path, safe=""), quote(path), quote(quote(path, safe=""), safe="")):
                with pytest.raises(MCPError) as caught:
                    await asked.client.read_resource(f"cm://file/{text}")
                assert NEVER not in str(caught.value)
                assert "Traceback" not in str(caught.value)
        for text in (
            "cm://file/%2e%2e/secret/credentials",
            "cm://file/%2e%2e%2fsecret%2fcredentials",
            "cm://file/keys%00",
        ):
            with pytest.raises(MCPError):
                await asked.client.read_resource(text)


async def test_nothing_behind_a_link_is_indexed(trapped: Path):
    async with answering(trapped) as asked:
        await asked.ok("codememory_ingest", confirmed=True, full=True)
        await asked.refused("codememory_definitions", symbol="outside_only")
        for call in (
            ("codememory_retrieve", {"query": NEVER, "mode": "keyword"}),
            ("codememory_retrieve", {"query": "outside_only"}),
            ("context_assemble", {"question": f"outside_only {NEVER}"}),
            ("memory_search", {"query": NEVER}),
            ("codememory_at_sha", {"sha": "HEAD"}),
            ("codememory_drift", {}),
        ):
            text = str(await asked.call(call[0], **call[1])).replace(f"outside_only {NEVER}", "")
            assert NEVER not in text, call
            assert "def outside_only" not in text, call
        # What stood there before is what was committed.
        _, found = await asked.ok("codememory_at_sha", sha="HEAD", file="shop/money.py")
        assert "add_tax" in str(found["rows"])


def test_no_piece_of_a_pack_leads_out(trapped: Path):
    with Engine.open(trapped) as engine:
        for path in paths_of(trapped):
            try:
                pack = engine.pack_items([PackRequest(path, 1, 5, "x")])
            except CmError:
                continue
            assert NEVER not in pack.markdown
            assert not any(item.included for item in pack.items), path


async def test_no_revision_leads_out(trapped: Path):
    async with answering(trapped) as asked:
        for sha in REFS:
            for tool, more in (
                ("codememory_at_sha", {"label": "File"}),
                ("codememory_callers_at_sha", {"symbol": "add_tax"}),
            ):
                answer = await asked.call(tool, sha=sha, **more)
                assert "Error executing" not in str(answer), (tool, sha)
                assert "Traceback" not in str(answer), (tool, sha)
                if not answer.is_error:
                    # Names that git has for a commit of this repository are as good as its sha.
                    assert sha.startswith(("HEAD", "@", ":/")), (tool, sha)
            for tool, argument in (("codememory_drift", "head_sha"), ("codememory_ingest", "since")):
                assert "Error executing" not in str(await asked.call(tool, **{argument: sha})), (tool, sha)
        assert not (trapped / "x").exists()
