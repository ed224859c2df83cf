"""The texts of the symbols mode."""

from __future__ import annotations

from textual.content import Content

from cm_tui.tui.screens.symbol_content import SymbolContent
from cm_tui.tui.widgets.code_nodes import kind_mark
from cm_tui.tui.widgets.text import count, one_line


def waiting_head(before: SymbolContent | None, words: str) -> Content:
    """What stands above the source until that of another revision is there: in as many lines as before."""
    if before is None:
        return Content.styled(words, "$muted")
    lines = head_text(before).plain.count("\n")
    return Content.assemble((words, "$muted"), "\n" * lines)


def head_text(view: SymbolContent) -> Content:
    """What stands above the source: name and kind, signature, the first sentences of its documentation."""
    symbol = view.symbol
    if symbol is None:
        facts = count(len(view.symbols), "symbol")
        return Content.assemble((one_line(view.place.path), "bold"), (f"  {facts}", "$muted"))
    letter, style = kind_mark(symbol.kind)
    lines = f"lines {symbol.start_line}-{symbol.end_line}"
    if symbol.start_line == symbol.end_line:
        lines = f"line {symbol.start_line}"
    signature = one_line(symbol.signature)
    doc = one_line(symbol.doc.strip().split("\n\n")[0])
    rows = [
        Content.assemble(
            (f"{letter} ", style),
            (one_line(symbol.qualname), "bold"),
            (f"  {symbol.kind} · {symbol.language} · {lines}", "$muted"),
        )
    ]
    if signature:
        rows.append(Content.styled(signature, "$primary"))
    if doc:
        rows.append(Content.styled(doc, "$soft"))
    return Content("\n").join(rows)
