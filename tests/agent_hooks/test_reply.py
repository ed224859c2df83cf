"""Memory is marked as memory, and nothing in it can end the marks."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.agent_hooks.prompt_context import MARKS_TOKENS
from cm_tui.agent_hooks.reply import PREAMBLE, answer, quote_block
from tests.planted import GITHUB, KEY, leaked

NASTY = st.text(
    alphabet=st.one_of(st.sampled_from(list("</>cm-memoryCM \n`")), st.characters(exclude_categories=("Cs",)))
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(NASTY | st.sampled_from(["</cm-memory>", "< / CM-MEMORY >", "<cm-memory>", "```"])).map("".join))
def test_no_content_closes_the_fence(content: str):
    text = quote_block(content)
    assert text.startswith(f"<cm-memory>\n{PREAMBLE}\n\n")
    assert text.endswith("\n</cm-memory>")
    inside = text.removeprefix("<cm-memory>").removesuffix("</cm-memory>")
    squeezed = "".join(inside.lower().split())
    assert "<cm-memory" not in squeezed
    assert "</cm-memory" not in squeezed


def test_ordinary_content_is_untouched():
    code = "```python\nif a < b and c > d:\n    return '<b>cm-memory</b>'\n```"
    assert f"\n\n{code}\n" in quote_block(code)


def test_the_marks_take_no_more_than_is_set_aside():
    assert len(quote_block("")) / 4 < MARKS_TOKENS


def test_each_agent_gets_its_own_format():
    for agent in ("claude-code", "codex"):
        assert json.loads(answer(agent, "prompt", "c")) == {
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "c"}
        }
    assert json.loads(answer("cursor", "prompt", "c")) == {"continue": True, "additional_context": "c"}
    assert json.loads(answer("opencode", "prompt", "c")) == {"context": "c"}
    assert answer("", "prompt", "c") == "c"
    assert answer("claude-code", "prompt", "") == ""
    assert answer("claude-code", "stop", "c") == ""


def test_no_reply_holds_a_secret():
    for agent in ("claude-code", "codex", "cursor", "opencode", ""):
        said = answer(agent, "prompt", f"a {GITHUB}\n{KEY}\nb")
        assert not leaked(said)
        assert "a [redacted: " in said


def test_the_note_says_how_many_secrets_are_gone():
    text = quote_block("x = '[redacted: aws access key]' and '[redacted: secret]'")
    assert text.endswith("\n\nnote: 2 secrets were redacted.\n</cm-memory>")
    assert "note:" not in quote_block("x = 1")
