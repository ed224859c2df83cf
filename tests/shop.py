"""A small project in a real store, without git or parser: the search room alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arro3.core import DataType

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking import passages
from cm_tui.engine.search.ranking.code_source import CodeSource
from cm_tui.engine.search.ranking.source import SourceContext

INT, TEXT, BOOL = DataType.int32(), DataType.string(), DataType.bool()


class Project:
    """Files that can be put and removed; chunks are paragraphs, symbols are lines that start with `def NAME`."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.texts: dict[str, str] = {}
        self.blobs: dict[str, int] = {}

    def put(self, files: dict[str, str | None]) -> passages.PassageDelta:
        with self.db.transaction():
            for path, text in files.items():
                self.db.execute("DELETE FROM head_file WHERE path = ?", [path])
                if text is not None:
                    blob = self._blob(text)
                    self.db.execute("INSERT INTO head_file VALUES (?, ?)", [path, blob])
            code = CodeSource(SourceContext(Path(), lambda _path, oid: self.texts[oid]))
            return passages.sync(self.db, [code])

    def _blob(self, text: str) -> int:
        if text in self.blobs:
            return self.blobs[text]
        number = self.blobs[text] = len(self.blobs) + 1
        self.texts[str(number)] = text
        lines = text.split("\n")
        self._insert(
            "blob",
            [(number, str(number), "python", len(text), len(lines), False, "1")],
            {
                "id": INT,
                "oid": TEXT,
                "language": TEXT,
                "bytes": INT,
                "lines": INT,
                "generated": BOOL,
                "parsed_by": TEXT,
            },
        )
        symbols, chunks, start = [], [], 0
        for row in range(len(lines) + 1):
            if row < len(lines) and lines[row].strip():
                continue
            if row > start:
                first = lines[start].split("(")[0].split()
                owner = None
                if len(first) == 2 and first[0] in ("def", "class"):
                    owner = len(symbols)
                    kind = "function" if first[0] == "def" else "class"
                    symbols.append((number, owner, kind, first[1], first[1], 0, lines[start], "", start + 1, row))
                chunks.append((number, len(chunks), owner, start + 1, row))
            start = row + 1
        self._insert(
            "symbol",
            symbols,
            {
                "blob": INT, "idx": INT, "kind": TEXT, "name": TEXT, "qualname": TEXT, "overload": INT,
                "signature": TEXT, "doc": TEXT, "start_line": INT, "end_line": INT,
            },
        )  # fmt: skip
        self._insert("chunk", chunks, {"blob": INT, "idx": INT, "symbol": INT, "start_line": INT, "end_line": INT})
        return number

    def _insert(self, table: str, rows: list[tuple[Any, ...]], types: dict[str, Any]) -> None:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
        self.db.insert(table, dict(zip(types, map(list, columns), strict=True)))


SHOP: dict[str, str | None] = {
    "shop/cart.py": (
        'class ShoppingCart(object):\n    """Holds what a customer wants to buy."""\n    items = []\n\n'
        "def add_item(cart, product):\n    cart.items.append(product)\n\n"
        "def total_price(cart):\n    return sum(item.price for item in cart.items)\n"
    ),
    "shop/payment.py": (
        "class PaymentGateway(object):\n    def charge(self, amount):\n        return self.connection.send(amount)\n\n"
        "def refund(payment):\n    return payment.gateway.reverse(payment)\n"
    ),
    "shop/config.py": (
        "def parse_config(text):\n    return dict(line.split('=') for line in text.splitlines())\n\n"
        "def HTTPServer2(port):\n    listen(port)\n"
    ),
    "tests/test_cart.py": (
        "def test_total_price(cart):\n    cart = ShoppingCart()\n    assert total_price(cart) == 0\n\n"
        "def test_add_item(cart):\n    add_item(cart, 'apple')\n"
    ),
    "shop/日本.py": "def 検索(query):\n    全文検索エンジン = query\n    return 全文検索エンジン\n",
    "README.md": "The shop\n\nA cart holds items. Payments go through a gateway. Configuration is read from a file.\n",
}
