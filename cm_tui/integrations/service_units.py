"""The files that start a program with a session, in each system's own form."""

from __future__ import annotations

import plistlib
import subprocess
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_UNIT = """\
# Made by `cm autostart install`; `cm autostart uninstall` removes it.
[Unit]
Description=cm: memory for coding agents
StartLimitIntervalSec=300
StartLimitBurst=3

[Service]
Type=exec
ExecStart={command}
{environment}Restart=on-failure
RestartSec=10
UMask=0077

[Install]
WantedBy=default.target
"""
_TASK = """\
<?xml version="1.0" encoding="UTF-8"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>cm: memory for coding agents. Made by `cm autostart install`.</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{command}</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"""


def unit(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """A systemd user unit.

    `words`: the program, by its whole path, and its arguments; `environment`: variables that it needs.
    """
    # `$` is expanded in arguments alone: neither in the program's own path nor in assignments.
    command = " ".join([_unit_word(words[0]), *(_unit_word(word).replace("$", "$$") for word in words[1:])])
    lines = "".join(f"Environment={_unit_word(f'{key}={value}')}\n" for key, value in environment.items())
    return _UNIT.format(command=command, environment=lines)


def _unit_word(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def plist(label: str, words: Sequence[str], environment: Mapping[str, str]) -> str:
    """A launchd agent.

    `words`: the program, by its whole path, and its arguments; `environment`: variables that it needs.
    """
    agent = {
        "Label": label,
        "ProgramArguments": list(words),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        # Again after a crash, not when it ended by itself.
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "Umask": 0o077,
    }
    return plistlib.dumps(agent).decode("utf-8")


def task(words: Sequence[str]) -> str:
    """A task for Windows' Task Scheduler; it has the user's own environment.

    `words`: the program, by its whole path, and its arguments.
    """
    return _TASK.format(command=escape(words[0]), arguments=escape(subprocess.list2cmdline(words[1:])))
