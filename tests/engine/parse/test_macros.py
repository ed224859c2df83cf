"""Macros that stand alone on a line must not hide what comes after them."""

from __future__ import annotations

from cm_tui.engine.code.parse.parse_blob import parse_blob

SOURCE = b"""\
LIB_NAMESPACE_BEGIN
template <typename T> struct Box { T value; T get() const { return value; } };
LIB_NAMESPACE_END
BOOL
is_open(int door)
{
  return door;
}
"""


def test_a_bare_macro_before_a_template_hides_nothing():
    parsed = parse_blob("0" * 40, "cpp", SOURCE)
    places = {symbol.qualname: symbol.start_line for symbol in parsed.symbols}
    assert places["Box"] == 2
    assert places["Box.get"] == 2
    assert places["is_open"] in {4, 5}
