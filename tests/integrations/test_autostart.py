"""Files that start the daemon with a session: valid, the same when written again, removed without a trace."""

from __future__ import annotations

import plistlib
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from cm_tui.errors import CmError
from cm_tui.integrations import autostart

ODD = "odd 100% $HOME größe & <b>"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose folders and cm have odd names."""
    home = tmp_path / ODD
    tool = home / "cm"
    home.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("CM_HOME", str(home / "cm home"))
    monkeypatch.setattr(autostart, "cm_command", lambda: str(tool))
    monkeypatch.setattr(autostart.Path, "home", lambda: home)
    return home


@pytest.fixture(params=["systemd", "launchd", "task scheduler"])
def there(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    ran: list[list[str]] = []
    if request.param == "task scheduler":
        # Only Windows has its program; what is handed to it is looked at.
        monkeypatch.setattr(autostart, "_run", lambda words: ran.append(list(words)))
    kinds = (autostart.Systemd, autostart.Launchd, autostart.TaskScheduler)
    made = next(kind for kind in kinds if kind.name == request.param)()
    made.ran = ran
    return made


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


def test_it_comes_and_goes(there, home: Path):
    before = files_below(home)
    assert autostart.status(on=there).state == "missing"
    planned = autostart.install(dry_run=True, on=there)
    assert planned.state == "missing"
    assert files_below(home) == before
    done = autostart.install(on=there)
    assert done.state == "installed"
    assert Path(done.path).read_text() == done.text == planned.text
    once = files_below(home)
    assert autostart.install(on=there).state == "installed"
    assert files_below(home) == once
    Path(done.path).write_text("old")
    assert autostart.status(on=there).state == "outdated"
    assert autostart.install(on=there).state == "installed"
    assert autostart.uninstall(dry_run=True, on=there).state == "installed"
    assert autostart.uninstall(on=there).state == "missing"
    assert autostart.uninstall(on=there).state == "missing"
    assert files_below(home) == before


def test_systemd_is_enabled_as_systemctl_does(home: Path):
    made = autostart.Systemd()
    autostart.install(on=made)
    link = home / ".config/systemd/user/default.target.wants/cm-tui.service"
    assert link.resolve() == made.file.resolve()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd's own validator")
def test_systemd_itself_reads_the_unit():
    made = autostart.Systemd()
    assert made.check(made.text(["/bin/true", "serve"])) == "by systemd-analyze"
    with pytest.raises(CmError, match="systemd-analyze rejected"):
        made.check(made.text(["no/whole/path", "serve"]))


def test_launchd_gets_the_words_as_they_are(home: Path):
    agent = plistlib.loads(autostart.install(on=autostart.Launchd()).text.encode())
    assert agent["ProgramArguments"] == [str(home / "cm"), "serve"]
    assert agent["EnvironmentVariables"] == {"CM_HOME": str(home / "cm home")}
    assert agent["RunAtLoad"] is True


def test_windows_gets_the_task_and_gives_it_back(home: Path, monkeypatch: pytest.MonkeyPatch):
    ran: list[list[str]] = []
    monkeypatch.setattr(autostart, "_run", lambda words: ran.append(list(words)))
    made = autostart.TaskScheduler()
    tree = ET.fromstring(autostart.install(on=made).text.encode())
    space = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    assert tree.findtext(f".//{space}Command") == str(home / "cm")
    assert tree.findtext(f".//{space}Arguments") == "serve"
    autostart.uninstall(on=made)
    assert ran == [
        ["schtasks", "/Create", "/F", "/TN", "cm-tui", "/XML", str(made.file)],
        ["schtasks", "/Delete", "/F", "/TN", "cm-tui"],
    ]


def test_without_a_cm_on_the_path_python_starts_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(autostart, "cm_command", lambda: None)
    text = autostart.status(on=autostart.Launchd()).text
    assert plistlib.loads(text.encode())["ProgramArguments"] == [sys.executable, "-m", "cm_tui", "serve"]


def test_a_system_without_any_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(autostart, "system", lambda: None)
    assert autostart.status().state == "unsupported"
    with pytest.raises(CmError, match="neither"):
        autostart.install()


def test_a_folder_that_cannot_be_written_is_told(home: Path):
    (home / ".config").write_text("in the way")
    with pytest.raises(CmError, match="Cannot write"):
        autostart.install(on=autostart.Systemd())
