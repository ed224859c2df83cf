"""The measurement of history measures a real history, finds it right, and draws what it found."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.bench import history


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    folder = tmp_path / "tool"
    folder.mkdir()
    for number in range(12):
        with zipfile.ZipFile(folder / f"tool-1.{number}-py3-none-any.whl", "w") as wheel:
            for name in ("a", "b"):
                wheel.writestr(
                    f"tool/{name}.py", f"def {name}():\n    return {name}{number}()\n\n\ndef {name}{number}(): ...\n"
                )
            wheel.writestr("tool-1.dist-info/METADATA", "no part of it")
    return folder


@pytest.mark.deep
def test_a_history_of_releases_is_measured_checked_and_drawn(releases, tmp_path, capsys):
    plots = tmp_path / "plots"
    assert history.main(["--releases", str(releases), "--samples", "2", "--plots", str(plots), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows["commits on the line"] == rows["known"] == 24
    assert rows["file contents of the past"] == 22
    assert rows["that differ"] == 0
    assert rows["used blocks of the store after, MB"] >= rows["used blocks of the store before, MB"] > 0
    assert {file.name for file in plots.iterdir()} == {
        "history-reading.svg",
        "history-tags.svg",
        "history-growth.svg",
        "history-latency.svg",
    }
    latency = (plots / "history-latency.svg").read_text()
    assert "target: 50" in latency
    assert "tool, 24 commits" in latency
