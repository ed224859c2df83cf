"""Nothing is downloaded at run time: everything works where no connection can be made."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import make_repository

REFUSE = """
import socket

def refuse(*arguments, **options):
    raise AssertionError("a connection was tried")

socket.socket.connect = refuse
socket.socket.connect_ex = refuse
socket.getaddrinfo = refuse
"""


@pytest.fixture
def without_network() -> list[str]:
    """Words before a command that take the network away, where the system lets us."""
    unshare = shutil.which("unshare")
    if unshare and subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False).returncode == 0:
        return [unshare, "-rn"]
    return []


def test_index_search_and_pack_offline(tmp_path: Path, cm_home: Path, without_network: list[str]):
    root = tmp_path / "repo"
    root.mkdir()
    make_repository(root)
    (tmp_path / "sitecustomize.py").write_text(REFUSE)

    def cm(*words: str) -> str:
        run = subprocess.run(
            [*without_network, sys.executable, "-m", "cm_tui", *words],
            cwd=root,
            env={
                "CM_HOME": str(cm_home),
                "CM_DAEMON__USE": "never",
                "PYTHONPATH": str(tmp_path),
                "PATH": "/usr/bin:/bin",
                "HOME": str(tmp_path),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    cm("index")
    assert '"mode": "hybrid"' in cm("search", "sum with tax", "--json")
    assert "add_tax" in cm("pack", "tax")
    assert '"failed"' not in cm("doctor", "--json")
