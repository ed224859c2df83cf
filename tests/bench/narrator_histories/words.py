"""Words of ordinary work: prompts, answers, names, lines of code, all drawn by chance."""

from __future__ import annotations

import random
from typing import Any

_THINGS = (
    "total", "status", "label", "discount", "address", "currency", "date", "owner", "weight", "colour", "limit", "reason", "tax",
    "note", "name", "quantity", "deadline", "language", "position", "rating", "source", "summary", "threshold", "title", "version",
    "zip code", "phone number", "expiry", "category", "priority", "margin", "locale", "balance", "attachment", "signature",
)  # fmt: skip
_VERBS = (
    "archive", "approve", "cancel", "clone", "confirm", "export", "hide", "import", "lock", "merge", "move", "pause", "print", "reopen",
    "restore", "send", "share", "split", "sync", "tag", "transfer", "unlock", "validate",
)  # fmt: skip
_VALUES = (
    "null",
    "an empty string",
    "0",
    "404",
    "500",
    "None",
    "-1",
    "NaN",
    "two rows",
    "nothing",
    "undefined",
    "a timeout",
)
_STEMS = (
    "amber", "anchor", "apex", "arch", "aspen", "atlas", "bay", "beacon", "birch", "bolt", "brook", "canyon", "cedar", "cinder",
    "cliff", "cobalt", "coral", "crest", "dawn", "delta", "drift", "dune", "ember", "fern", "field", "flint", "forge", "frost",
    "gale", "glade", "grove", "harbor", "haven", "hazel", "heath", "inlet", "iris", "ivory", "jade", "keel", "lagoon", "larch",
    "ledge", "lichen", "linden", "loft", "maple", "marsh", "mesa", "mill", "moss", "nest", "north", "oak", "onyx", "orbit", "otter",
    "pebble", "pine", "plume", "prism", "quarry", "quill", "raven", "reef", "ridge", "river", "rowan", "sable", "sage", "shale",
    "shore", "slate", "spruce", "summit", "swift", "thorn", "tide", "timber", "topaz", "trail", "umber", "vale", "vista", "willow",
    "wren", "yarrow", "zephyr",
)  # fmt: skip


class Words:
    """Draws names and texts for one project.

    Args:
        chance: of the history.
        ecosystem: its record in the bank.
        texts: the bank's words of ordinary work.
    """

    def __init__(self, chance: random.Random, ecosystem: dict[str, Any], texts: dict[str, Any]) -> None:
        self._chance = chance
        self._ecosystem = ecosystem
        self._texts = texts
        names = chance.sample([f"{one}_{other}" for one in _STEMS for other in _STEMS if one != other], 150)
        self.files = tuple(f"{chance.choice(ecosystem['dirs'])}/{name}.{ecosystem['ext']}" for name in names)
        """Files that ordinary work changes."""

    def fill(self, text: str) -> str:
        """Return a text with its places filled, each anew."""
        chance, noun = self._chance, self._ecosystem["nouns"]
        nouns, stems = chance.sample(noun, 2), chance.sample(_STEMS, 4)
        places = {
            "noun": nouns[0], "noun2": nouns[1], "thing": chance.choice(_THINGS), "verb": chance.choice(_VERBS),
            "value": chance.choice(_VALUES), "file": chance.choice(self.files), "symbol": self.symbol(), "symbol2": self.symbol(),
            "ticket": f"{self._ecosystem['name'].upper()}-{chance.randrange(100, 9999)}", "number": str(chance.randrange(100, 9999)),
            "dir": chance.choice(self._ecosystem["dirs"]).rsplit("/", 1)[-1],
            **{f"w{place}": stem for place, stem in enumerate(stems, 1)},
        }  # fmt: skip
        for name, value in places.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def symbol(self) -> str:
        """Return the name of a function."""
        one, other = self._chance.sample(_STEMS, 2)
        verb = self._chance.choice(_VERBS)
        return (
            f"{verb}_{one}_{other}"
            if self._ecosystem["ext"] in {"py", "rs", "rb"}
            else f"{verb}{one.title()}{other.title()}"
        )

    def task(self) -> str:
        """Return an order of ordinary work."""
        chance = self._chance
        text = self.fill(chance.choice(self._texts["openers"]) + chance.choice(self._texts["tasks"]))
        return text[0].upper() + text[1:] if chance.random() < 0.3 else text

    def tail(self) -> str:
        """Return what is said beside an order."""
        return self.fill(self._chance.choice(self._texts["tails"]))

    def prompt(self, task: str) -> str:
        """Return a whole ordinary prompt."""
        chance = self._chance
        if chance.random() < 0.12:
            return str(chance.choice(self._texts["short"]))
        return f"{self.sentence(task)} {self.tail()}" if chance.random() < 0.35 else task

    def answer(self) -> str:
        """Return what an agent answers."""
        count = self._chance.randrange(1, 4)
        return " ".join(self.fill(text) for text in self._chance.sample(self._texts["answers"], count))

    def sentence(self, text: str, *, capital: bool = False) -> str:
        """Return a text that ends as a sentence does."""
        text = text if text.endswith((".", "!", "?", ":")) else f"{text}."
        return text[0].upper() + text[1:] if capital and not text.startswith(("http", "/")) else text

    def carry(self, said: str, task: str) -> tuple[str, bool]:
        """Return a prompt that holds something said, and whether the order in it is a sentence of its own."""
        chance, carriers = self._chance, self._texts["carriers"]
        carrier = chance.choices(carriers, [carrier["weight"] for carrier in carriers])[0]
        capital = chance.random() < 0.6
        places = {
            "said": said, "Said": self.sentence(said, capital=capital), "task": task, "Task": self.sentence(task),
        }  # fmt: skip
        tail = self.tail()
        places |= {"tail": tail, "Tail": self.sentence(tail, capital=capital)}
        text = carrier["form"]
        for name, value in places.items():
            text = text.replace(f"{{{name}}}", value)
        return text, not carrier.get("mid", False)

    def edit(self) -> str:
        """Return a changed line of code."""
        return self.fill(self._chance.choice(self._ecosystem["edit"]))
