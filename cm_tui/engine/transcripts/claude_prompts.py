"""What a person typed, out of what Claude Code puts around it."""

from __future__ import annotations

INTERRUPTED = "[Request interrupted by user"
_LEFT_OUT = ("system-reminder", "user-prompt-submit-hook", "ide_opened_file", "ide_selection", "command-message")
_NOT_TYPED = (
    "<local-command-", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "<command-contents>", "<teammate-message",
    "Caveat: The messages below were generated",
)  # fmt: skip


def prompt_of(text: str) -> str:
    """Return what a person typed; empty where the text is the program's own."""
    for tag in _LEFT_OUT:
        text = _without(text, tag)
    text = text.strip()
    if text.startswith(_NOT_TYPED):
        return ""
    command = _inside(text, "command-name")
    if command:
        return f"{command} {_inside(text, 'command-args')}".strip()
    shell = _inside(text, "bash-input")
    return f"! {shell}" if shell else text


def _inside(text: str, tag: str) -> str:
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start)
    return text[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""


def _without(text: str, tag: str) -> str:
    """Return a text without all that stands between two tags of a name."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    kept: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(closing)
    return "".join((*kept, text[at:])) if kept or at else text
