"""Preprocessor that converts Razor pages to C#: there is no grammar for Razor, but its declarations are C#."""

from __future__ import annotations

import re

COMPONENT = "RazorComponent__"
"""Name of the partial classes that hold a page's members; the extractor leaves them out."""

_DIRECTIVE = re.compile(r"[ \t]*@(using|inject|inherits|implements|attribute|model)[ \t]+(.*)")
_BLOCK = re.compile(r"@(?:code|functions)\b(?=\s*\{)")
_COMMENT = re.compile(r"@\*.*?(?:\*@|\Z)", re.DOTALL)
_TAG = re.compile(r"<([A-Z][\w.]*)(?=[\s/>])")
# A brace may be part of: raw, verbatim and plain strings, characters, comments. Each of them also ends where the text ends,
# and a character has at most ten signs: else a page of openings without an end would be read once for each of them.
_CSHARP_TOKEN = re.compile(
    r'"""(?:.*?)(?:"""|\Z)|\$?@\$?"(?:[^"]|"")*(?:"|\Z)|"(?:[^"\\\n]|\\.)*(?:"|$|\\)|\'(?:[^\'\\\n]|\\.){1,10}\'|//[^\n]*|/\*.*?(?:\*/|\Z)|[{}]',
    re.DOTALL | re.MULTILINE,
)


def to_csharp(text: str) -> str:
    """Return the C# that a page declares, each part on its own line of the page.

    `@using`, `@inject`, `@inherits`, `@implements`, `@attribute` and `@model` become declarations, `@code` and
    `@functions` blocks partial classes, component tags type uses. Markup and inline expressions are skipped.
    """
    text = _COMMENT.sub(lambda match: _blank(match.group()), text)
    parts: list[str] = []
    position = 0
    while block := _BLOCK.search(text, position):
        opening = text.index("{", block.end())
        closing = _closing_brace(text, opening)
        parts.append(_markup(text[position : block.start()]))
        parts.append(f"partial class {COMPONENT} " + text[block.end() : closing])
        position = closing
    parts.append(_markup(text[position:]))
    return "".join(parts)


def _closing_brace(text: str, opening: int) -> int:
    """Return the position after the brace that closes the one at `opening`, or the end of the text."""
    depth = 0
    for token in _CSHARP_TOKEN.finditer(text, opening):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        if depth == 0:
            return token.end()
    return len(text)


def _markup(text: str) -> str:
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    if (match := _DIRECTIVE.match(line)) is None:
        return " ".join(f"partial class {COMPONENT} {{ {tag} _; }}" for tag in _TAG.findall(line))
    directive, value = match[1], match[2].rstrip().removesuffix(";")
    if directive == "using":
        return f"using {value};"
    if directive == "attribute":
        return f"{value} partial class {COMPONENT} {{ }}"
    if directive == "inject":
        return f"partial class {COMPONENT} {{ [Inject] {value} {{ get; set; }} }}"
    if directive == "model":
        return f"partial class {COMPONENT} {{ {value} Model {{ get; set; }} }}"
    return f"partial class {COMPONENT} : {value} {{ }}"


def _blank(text: str) -> str:
    return "\n" * text.count("\n")
