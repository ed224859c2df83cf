"""Every value of a Kubernetes secret: https://kubernetes.io/docs/concepts/configuration/secret/."""

from __future__ import annotations

from collections.abc import Iterator

from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.placeholders import is_placeholder, is_reference

_KUBERNETES = Pattern(r"(?m)^[+ -]?[ \t]{0,40}[\"']?kind[\"']?:[ \t]*[\"']?Secret[\"']?[ \t,]*\r?$")
_DATA = Pattern(r"(?m)^[+ -]?([ \t]{0,40})[\"']?(?:data|stringData)[\"']?:[ \t]*(?:\{[ \t]*)?\r?\n")
_ENTRY = Pattern(
    r"[+ -]?([ \t]+)[\"']?[\w./-]+[\"']?:[ \t]*[\"']?([^\s\"',|>#][^\n\"',#]*?)[\"']?,?[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)"
)
_MOST_BEFORE = 4_000
_JSON = Pattern(r"\"kind\"[ ]?:[ ]?\"Secret\"")
_JSON_DATA = Pattern(r"\"(?:data|stringData)\"[ ]?:[ ]?\{(?P<entries>[^{}\n]{1,4000})\}")
_JSON_ENTRY = Pattern(r"\"[\w./-]{1,200}\"[ ]?:[ ]?\"(?P<value>[^\"\n]{1,4000})\"")


def find_kubernetes(text: str, lowered: str) -> Iterator[Found]:
    """Yield the values of secrets in YAML and in JSON. `lowered`: the text in lower case."""
    if "kind" in lowered and "secret" in lowered:
        yield from _in_yaml(text)
        yield from _on_one_line(text)


def _in_yaml(text: str) -> Iterator[Found]:
    """Yield the values of secrets that are several lines."""
    done = 0
    for kind in _KUBERNETES.finditer(text):
        if kind.start() < done:
            # Of a document that was looked through: its end is not sought again.
            continue
        begin = max(done, text.rfind("\n---", done, kind.start()) + 1, kind.start() - _MOST_BEFORE)
        stop = text.find("\n---", kind.end())
        stop = len(text) if stop < 0 else stop
        for data in _DATA.finditer(text, begin, stop):
            at = data.end()
            while (entry := _ENTRY.match(text, at)) is not None and len(entry[1]) > len(data[1]):
                if not is_reference(entry[2]) and not is_placeholder(entry[2]):
                    yield Found(*entry.span(2), "kubernetes secret")
                at = entry.end()
        done = stop


def _on_one_line(text: str) -> Iterator[Found]:
    """Yield the values of secrets that are one line of JSON."""
    done = 0
    for kind in _JSON.finditer(text):
        if kind.start() < done:
            continue
        begin = max(
            done, text.rfind("\n", max(0, kind.start() - _MOST_BEFORE), kind.start()) + 1, kind.start() - _MOST_BEFORE
        )
        stop = text.find("\n", kind.end(), kind.end() + _MOST_BEFORE)
        stop = min(len(text), kind.end() + _MOST_BEFORE) if stop < 0 else stop
        for data in _JSON_DATA.finditer(text, begin, stop):
            for entry in _JSON_ENTRY.finditer(text, *data.span("entries")):
                if not (is_placeholder(entry["value"]) or is_reference(entry["value"])):
                    yield Found(*entry.span("value"), "kubernetes secret")
        done = stop
