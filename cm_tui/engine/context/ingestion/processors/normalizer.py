"""`normalizer`: cleans white space and encoding, and replaces personal data by marks."""

from __future__ import annotations

import ipaddress
import re
import unicodedata

from cm_tui.engine.context.definitions.shapes.ingestion import Normalizer
from cm_tui.engine.context.ingestion.batch import Batch, Means, numbered
from cm_tui.engine.platform.redaction.redact import redact

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]")
_BLANKS, _LINES = re.compile(r"[ \t\u00a0]+"), re.compile(r"\n{3,}")
_MAIL = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{2,63}){1,8}")
_PHONE = re.compile(r"(?<![\w.])(?:\+\d{1,3}[ -]?)?(?:\(\d{1,5}\)[ -]?)?\d{2,5}(?:[ -]\d{2,5}){2,4}(?![\w.])")
_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w.])")
_ADDRESS = re.compile(r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f:]{3,39}:[0-9A-Fa-f:.]{0,39})(?![\w.:])")
_LEAST_DIGITS = 8


def run(step: Normalizer, batch: Batch, _: Means) -> None:
    """Clean the text of each item, and of the whole input; secrets go in any case."""
    batch.items = [
        numbered({**item, "text": normal(str(item.get("text", "")), step)}, place)
        for place, item in enumerate(batch.items)
    ]
    batch.input = {**batch.input, "text": normal(str(batch.input.get("text", "")), step)}
    if "chunks" in batch.made:
        batch.made["chunks"] = batch.items


def normal(text: str, step: Normalizer) -> str:
    """Return a text as the processor leaves it."""
    if step.encoding:
        text = _CONTROL.sub("", unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")))
    if step.whitespace:
        lines = (_BLANKS.sub(" ", line).rstrip() for line in text.split("\n"))
        text = _LINES.sub("\n\n", "\n".join(lines)).strip()
    text = redact(text).text
    return without_personal(text) if step.pii else text


def without_personal(text: str) -> str:
    """Replace mail addresses, card and telephone numbers and network addresses in a text by marks."""
    text = _MAIL.sub("[mail]", text)
    text = _CARD.sub(lambda found: "[card]" if _is_card(found[0]) else found[0], text)
    text = _ADDRESS.sub(lambda found: "[address]" if _is_address(found[0]) else found[0], text)
    return _PHONE.sub(lambda found: "[phone]" if _is_phone(found[0]) else found[0], text)


def _is_phone(text: str) -> bool:
    # Dates, versions and tables of numbers have groups, too.
    digits = sum(letter.isdigit() for letter in text)
    return digits >= _LEAST_DIGITS and not re.fullmatch(r"\d{4}-\d{2}-\d{2}(?: \d{2})?", text)


def _is_card(text: str) -> bool:
    """Luhn's formula: from the right, each second digit is doubled; the sum of all digits is a multiple of ten."""
    digits = [int(letter) for letter in text if letter.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(digit * 2, 10)) for place, digit in enumerate(reversed(digits))]
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _is_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
