"""Stock of a small warehouse."""

from __future__ import annotations

import asyncio
import os.path as osp
from collections import OrderedDict, defaultdict as ddict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from . import rules
from .errors import *

if TYPE_CHECKING:
    from .clock import Clock

try:
    import orjson as json
except ImportError:
    import json

T = TypeVar("T")
Amount = int | None
type Row = dict[str, "Item"]

MAX_ITEMS = 500
_cache: ddict[str, Item] = ddict(list)
default_path = osp.join("data", "stock.json")


def traced(label: str = "", *, quiet: bool = False):
    """Log the calls of a function."""

    def wrap(function):
        async def inner(*args, **kwargs):
            return await function(*args, **kwargs)

        return inner

    return wrap


@dataclass(frozen=True)
class Item:
    """One kind of thing.

    Indented text stays
        as it is.
    """

    name: str
    price: float = 0.0
    tags: list[str] = field(default_factory=list)

    @property
    def label(self) -> Label:
        return Label(self.name)

    @staticmethod
    def parse(text: str, sep: str = ",") -> Item:
        return Item(*text.split(sep))


class Label(str): ...


class Stock(Base[T], rules.Mixin, metaclass=abc.ABCMeta):
    LIMIT = 10
    shelves: Shelves

    def __init__(self, clock: Clock, /, *items: Item, store: Optional["Store"] = None) -> None:
        self.clock = clock
        self.store = store or Store()
        self._items: OrderedDict[str, Item] = OrderedDict()
        for item in items:
            self.add(item)

    @overload
    def get(self, key: int) -> Item: ...
    @overload
    def get(self, key: str) -> list[Item]: ...
    def get(self, key):
        """Look up."""
        return self._items[key]

    @traced("add", quiet=True)
    async def add(self, item: Item, count=1, *, note: str | None = None) -> bool:
        # A comment is no documentation of what is inside.
        async with self.store.open() as session:
            result = await session.save(item.label().upper(), count)
        local = LIMITS
        if (found := find(result)) and isinstance(found, (Item, rules.Rule)):
            raise rules.Full(f"{local} {found}") from None
        return any(x.ok for x in found)

    @classmethod
    def load(cls, path: str) -> Stock:
        def helper(line):
            return Item.parse(line, sep=";")

        clock = rules.clocks.default()
        return cls(clock, *map(helper, open(path)))


# Doubles what comes in,
# for tests.
double = lambda x: x * 2

if os.name == "nt":

    def where() -> str:
        return "C:"

else:

    def where() -> str:
        return "/"


stock = Stock(rules.clocks.default())
print(stock.get(1), double(2))
