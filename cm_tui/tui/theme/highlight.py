"""Syntax highlighting: source to styled lines, in colours of the theme."""

from __future__ import annotations

from functools import lru_cache

from textual.content import Content, Span

from cm_tui.model.text import harmless

MAX_CHARACTERS = 400_000
"""Beyond this a file is shown plain: colouring it would take seconds."""

_STYLES = {
    "Comment": "italic $muted",
    "Keyword": "$part-decay",
    "Keyword.Constant": "$part-keyword",
    "Keyword.Type": "$part-rerank",
    "Literal.String": "$part-adjust",
    "Literal.String.Doc": "italic $part-adjust",
    "Literal.Number": "$part-keyword",
    "Name.Function": "$part-vector",
    "Name.Class": "bold $part-rerank",
    "Name.Decorator": "$part-diversity",
    "Name.Builtin": "$part-rerank",
    "Name.Constant": "$part-keyword",
    "Name.Tag": "$part-vector",
    "Name.Attribute": "$part-keyword",
    "Operator": "$soft",
    "Operator.Word": "$part-decay",
    "Punctuation": "$soft",
    "Generic.Heading": "bold $part-vector",
    "Generic.Subheading": "bold $part-vector",
    "Generic.Strong": "bold",
    "Generic.Emph": "italic",
}


def plain_lines(text: str) -> list[Content]:
    """Source as lines without colours."""
    return [Content(line) for line in _clean(text).split("\n")]


@lru_cache(maxsize=48)
def highlighted_lines(text: str, language: str, path: str) -> list[Content]:
    """Source as styled lines; slow for long files, so call it off the application's thread.

    Args:
        text: the source.
        language: as the index names it.
        path: says the language where the name is not known.
    """
    text = _clean(text)
    if len(text) > MAX_CHARACTERS:
        return plain_lines(text)
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    options = {"stripnl": False, "ensurenl": False}
    try:
        lexer = get_lexer_by_name(language, **options)
    except ClassNotFound:
        try:
            lexer = get_lexer_for_filename(path, **options)
        except ClassNotFound:
            return plain_lines(text)
    lines: list[Content] = []
    line, spans = "", list[Span]()
    for token, value in lexer.get_tokens(text):
        style = _style_of(str(token))
        for index, piece in enumerate(value.split("\n")):
            if index:
                lines.append(Content(line, spans=spans))
                line, spans = "", []
            if piece:
                if style:
                    spans.append(Span(len(line), len(line) + len(piece), style))
                line += piece
    lines.append(Content(line, spans=spans))
    return lines


@lru_cache(maxsize=256)
def _style_of(token: str) -> str:
    name = token.removeprefix("Token").removeprefix(".")
    while name:
        if name in _STYLES:
            return _STYLES[name]
        name = name.rpartition(".")[0]
    return ""


def _clean(text: str) -> str:
    """Source as it can be drawn: tabs as spaces, what cannot be printed visible as a dot."""
    text = harmless(text.replace("\r\n", "\n").replace("\r", "\n")).expandtabs(4)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() or character == "\n" else "·" for character in text)
