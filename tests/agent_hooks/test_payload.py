"""What each agent says, as its documentation has it, and what no agent should."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.agent_hooks.payload import PayloadError, read

COMMON = {"session_id": "abc", "transcript_path": "/t.jsonl", "cwd": "/repo", "permission_mode": "default"}
CURSOR = {
    "conversation_id": "abc",
    "generation_id": "g",
    "model": "m",
    "cursor_version": "3.20.17",
    "workspace_roots": ["/repo"],
    "user_email": None,
}
PATCH = """*** Begin Patch
*** Update File: shop/cart.py
*** Move to: shop/basket.py
@@
-a
+b
*** Add File: weird name [x].py
+print("*** Add File: not this one")
*** Delete File: old.py
*** End Patch
"""
SAID = {
    "claude-code prompt": (
        {**COMMON, "hook_event_name": "UserPromptSubmit", "prompt": "Add tax"},
        {"prompt": "Add tax"},
    ),
    "claude-code command": (
        {**COMMON, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "npm ci"}},
        {"command": "npm ci"},
    ),
    "claude-code write": (
        {
            **COMMON,
            "hook_event_name": "PostToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": "/repo/a.py", "content": "*** Add File: x"},
            "tool_response": {"filePath": "/repo/a.py", "success": True},
        },
        {"paths": ("/repo/a.py",)},
    ),
    "claude-code notebook": (
        {**COMMON, "tool_name": "NotebookEdit", "tool_input": {"notebook_path": "/repo/n.ipynb"}},
        {"paths": ("/repo/n.ipynb",)},
    ),
    "claude-code start": ({**COMMON, "hook_event_name": "SessionStart", "source": "resume"}, {"source": "resume"}),
    "claude-code stop": ({**COMMON, "hook_event_name": "Stop", "stop_hook_active": True}, {"repeated": True}),
    "codex prompt": (
        {**COMMON, "transcript_path": None, "turn_id": "1", "model": "m", "prompt": "Add tax"},
        {"prompt": "Add tax"},
    ),
    "codex patch": (
        {**COMMON, "turn_id": "1", "tool_name": "apply_patch", "tool_input": {"command": PATCH}, "tool_response": "ok"},
        {"paths": ("shop/cart.py", "shop/basket.py", "weird name [x].py", "old.py")},
    ),
    "codex stop": (
        {**COMMON, "last_assistant_message": "Done.", "stop_hook_active": False},
        {"answer": "Done."},
    ),
    "cursor prompt": ({**CURSOR, "prompt": "Add tax", "attachments": []}, {"prompt": "Add tax"}),
    "cursor edit": (
        {**CURSOR, "file_path": "/repo/a.py", "edits": [{"old_string": "a", "new_string": "b"}]},
        {"paths": ("/repo/a.py",)},
    ),
    "cursor stop": ({**CURSOR, "status": "completed", "loop_count": 0}, {}),
    "opencode edit": (
        {"session_id": "abc", "cwd": "/repo", "tool_name": "edit", "tool_input": {"filePath": "a.py"}},
        {"paths": ("a.py",)},
    ),
}


@pytest.mark.parametrize(("said", "facts"), list(SAID.values()), ids=list(SAID))
def test_each_agent_is_understood(said: dict, facts: dict):
    found = read(json.dumps(said).encode(), {}, "/here")
    facts = {"transcript": said.get("transcript_path") or "", "permissions": said.get("permission_mode", ""), **facts}
    assert found._asdict() == {
        "prompt": "",
        "paths": (),
        "answer": "",
        "source": "",
        "repeated": False,
        "command": "",
        "session": "abc",
        "folder": "/repo",
        **facts,
    }


def test_where_the_folder_comes_from():
    assert read(b"", {}, "/here").folder == "/here"
    assert read(b"{}", {"CLAUDE_PROJECT_DIR": "/theirs"}, "/here").folder == "/theirs"
    assert read(b'{"cwd": "relative"}', {"CURSOR_PROJECT_DIR": "/theirs"}, "/here").folder == "/theirs"
    assert read(b'{"cwd": 7, "workspace_roots": "x"}', {}, "/here").folder == "/here"


@pytest.mark.parametrize("text", [b"nope", b"[1]", b"\xff\xfe\x00", b'{"a":', b"7", b"[" * 100_000])
def test_what_is_no_event_is_refused(text: bytes):
    with pytest.raises(PayloadError):
        read(text, {}, "/here")


WORDS = st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    ["session_id", "conversation_id", "cwd", "workspace_roots", "prompt", "file_path", "tool_input", "source"]
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(FIELDS, JSON, max_size=4))
def test_any_value_in_any_field_is_survived(said: dict):
    found = read(json.dumps(said).encode(), {}, "/here")
    assert "\0" not in found.folder
    f"{found.prompt}{found.session}{found.answer}".encode()


def test_lone_surrogates_and_giant_prompts_are_tamed():
    found = read(rb'{"prompt": "a\ud800b", "session_id": "' + b"x" * 5000 + b'"}', {}, "/here")
    assert found.prompt == "a?b"
    assert len(found.session) == 32
    assert len(read(json.dumps({"prompt": "x" * 1_000_000}).encode(), {}, "/here").prompt) == 36_000
