"""The wheel carries everything that is read at run time."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.process
def test_wheel_is_complete(tmp_path: Path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(ROOT)], check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    for folder, pattern in (
        ("styles", "*.tcss"),
        ("cm_tui/engine/code/parse/queries", "*.scm"),
        ("cm_tui/engine/code/graph/sql", "*.sql"),
        ("cm_tui/engine/platform/store/migrations", "*.sql"),
        ("cm_tui/docs", "*.md"),
        ("cm_tui/integrations", "autostart.[sx]*"),
        ("cm_tui/data/models/code-static-256", "*"),
    ):
        found = (ROOT / folder).rglob(pattern)
        files = [file for file in found if file.is_file() and "__pycache__" not in file.parts]
        assert files, folder
        for file in files:
            inside = file.relative_to(ROOT).as_posix()
            inside = inside if inside.startswith("cm_tui/") else f"cm_tui/{inside}"
            assert inside in names
        assert "cm_tui/data/questions.json" in names
        assert not [name for name in names if "bench/" in name]
