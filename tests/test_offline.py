"""Nothing is downloaded at run time: everything works where no connection can be made."""

from __future__ import annotations

import json
import os
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


@pytest.mark.process
def test_index_search_and_pack_offline(tmp_path: Path, cm_home: Path, without_network: list[str]):
    root = tmp_path / "repo"
    root.mkdir()
    make_repository(root)
    (tmp_path / "sitecustomize.py").write_text(REFUSE)

    commands = [["index"], ["search", "sum with tax", "--json"], ["pack", "tax"], ["doctor", "--json"]]
    run = subprocess.run(
        [*without_network, sys.executable, "-m", "tests.cli.in_process", json.dumps(commands)],
        cwd=root,
        env={
            "CM_HOME": str(cm_home),
            "CM_DAEMON__USE": "never",
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parent.parent}",
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    results = [json.loads(line) for line in run.stdout.splitlines()]
    assert [code for code, _, _ in results] == [0, 0, 0, 0], results
    _, searched, packed, examined = (out for _, out, _ in results)
    assert '"mode": "hybrid"' in searched
    assert "add_tax" in packed
    assert '"failed"' not in examined
