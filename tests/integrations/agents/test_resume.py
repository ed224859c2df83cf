"""The command line that opens an agent at a session."""

from __future__ import annotations

import pytest

from cm_tui.errors import UsageError
from cm_tui.integrations.agents.resume import resume_command


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("claude-code", ("claude", "--resume", "s-1")), ("codex", ("codex", "resume", "s-1")),
        ("opencode", ("opencode", "--session", "s-1")), ("gemini", ("gemini", "--resume", "s-1")),
        ("cursor", ("cursor-agent", "--resume", "s-1")), ("copilot", ("copilot", "--resume=s-1")),
    ],
)  # fmt: skip
def test_each_agent_is_opened_by_its_own_words(agent: str, words: tuple[str, ...]):
    assert resume_command(agent, "s-1") == words
    assert resume_command(agent, "child", "s-1") == words
    for bad in ("-s", "a b", "a;b", "../x", "a\nb"):
        with pytest.raises(UsageError, match="does not look like a session id"):
            resume_command(agent, bad)


def test_of_an_unknown_agent_the_known_ones_are_named():
    with pytest.raises(UsageError, match="No command is known") as caught:
        resume_command("other", "s-1")
    assert "Gemini CLI" in str(caught.value.hint)
