"""Symbols that texts mention: those that existed when a text was written, compared with the current ones."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from cm_tui.engine.code.history.symbol_versions import SymbolVersions
from cm_tui.engine.code.parse.qualified_name import QualifiedName
from cm_tui.engine.memory.mentions.report import EVER, SOON, Finding, Known, NameQuery
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import MentionState, SymbolKey

_MOST_STEPS = 20
"""Moves of one symbol that are followed."""
_TRACED = 400
"""Symbols that are traced together: their versions are in memory at once."""
_MOST_KEYS = 8
"""Most symbols of one name to trace: more are not one thing."""
_FEW = 3
"""Most symbols with a single called word for it to match one of them."""
_OUTERMOST = frozenset(
    {"class", "struct", "interface", "trait", "enum", "function", "type", "module", "macro", "record", "protocol"}
)
_HERE = frozenset({"crate", "self", "super"})
"""Words of Rust for the package or module that a name is in."""
_WORDS = re.compile(r"\w+")
_ENDING = re.compile(r"\.[^./]+$")
_HOLDERS = frozenset(
    {"class", "struct", "interface", "trait", "enum", "type", "module", "record", "protocol", "union", "namespace"}
)
"""Kinds with few lines of their own compared with their members."""
_FIELDS = "f.path, s.qualname, s.kind, s.overload"
_THEN = f"""
SELECT w.id, {_FIELDS}, arg_min(coalesce(s.body, 0), f.from_ord), arg_min(s.start_line, f.from_ord)
FROM (SELECT unnest(?::INTEGER[]) AS id, unnest(?::VARCHAR[]) AS name, unnest(?::INTEGER[]) AS since, unnest(?::INTEGER[]) AS until) w
JOIN symbol s ON s.name = w.name AND s.kind <> 'section'
JOIN file_span f ON f.blob = s.blob AND f.from_ord <= w.until AND (f.to_ord IS NULL OR f.to_ord > w.since)
GROUP BY ALL
"""  # noqa: S608 - our own columns
_NOW = f"""
SELECT s.name, {_FIELDS}, coalesce(s.body, 0), s.start_line FROM {{files}} f JOIN symbol s ON s.blob = f.blob
WHERE s.kind <> 'section' AND s.name IN (SELECT unnest(?::VARCHAR[]))
"""  # noqa: S608 - our own columns
_SAME_NOW = f"""
SELECT {_FIELDS}, s.body, s.start_line FROM now_file f JOIN symbol s ON s.blob = f.blob
WHERE s.kind <> 'section' AND s.end_line - s.start_line >= 3 AND s.body IN (SELECT unnest(?::BIGINT[]))
"""  # noqa: S608 - our own columns
"""Bodies of few lines are alike by chance."""
_USED = """
SELECT DISTINCT r.name, coalesce(r.receiver, '') FROM now_file f JOIN reference r ON r.blob = f.blob
WHERE r.name IN (SELECT unnest(?::VARCHAR[])) AND (
    coalesce(r.receiver, '') <> ''
    OR NOT EXISTS (FROM import i WHERE i.blob = r.blob AND i.name IS NOT NULL)
    OR EXISTS (FROM import i WHERE i.blob = r.blob AND (i.name = '*' OR coalesce(i.alias, i.name) = r.name))
)
UNION SELECT i.name, '' FROM now_file f JOIN import i ON i.blob = f.blob
WHERE i.name IN (SELECT unnest(?::VARCHAR[])) AND coalesce(i.alias, i.name) = i.name
"""
"""What is imported under another name is not used by this one (`from redis import Connection as RedisConnection`). In a
file that imports names, a bare name that it does not import is its own: a parameter, or a leftover."""
_MEMBERS_THEN = """
SELECT DISTINCT c.name FROM file_span f JOIN symbol s ON s.blob = f.blob JOIN symbol c ON c.blob = s.blob AND c.parent = s.idx
WHERE f.path = ? AND s.qualname = ? AND s.kind = ?
QUALIFY dense_rank() OVER (ORDER BY f.from_ord DESC) = 1
"""
_MEMBERS_NOW = """
SELECT c.name FROM now_file f JOIN symbol s ON s.blob = f.blob JOIN symbol c ON c.blob = s.blob AND c.parent = s.idx
WHERE f.path = ? AND s.qualname = ? AND s.kind = ?
"""
_ENDS = f"""
SELECT {_FIELDS}, max(coalesce(f.to_ord, {EVER}))
FROM symbol s JOIN file_span f ON f.blob = s.blob WHERE s.name IN (SELECT unnest(?::VARCHAR[])) AND f.path IN (SELECT unnest(?::VARCHAR[]))
GROUP BY ALL
"""  # noqa: S608 - our own columns


class _SymbolVersion(NamedTuple):
    """A symbol at one time."""

    key: SymbolKey
    body: int
    line: int


class _Case(NamedTuple):
    """A name that is the project's, with what bore it then and what bears it now."""

    wanted: NameQuery
    then: list[_SymbolVersion]
    now: list[_SymbolVersion]


class SymbolCheck:
    """Checks names of symbols against one store. `known`: the known part of its history."""

    def __init__(self, db: Database, known: Known) -> None:
        self._db = db
        self._known = known

    def check(self, wanted: Iterable[NameQuery]) -> dict[NameQuery, Finding]:
        """Return a finding for each name; one that exists neither in its commits nor now is omitted."""
        asked = {one: QualifiedName(one.text) for one in wanted}
        asked = {one: name for one, name in asked.items() if name.ends}
        now = self._now(sorted({name.ends[0] for name in asked.values()}), "now_file")
        then = self._then(asked)
        cases: list[_Case] = []
        found: dict[NameQuery, Finding] = {}
        for one, name in asked.items():
            case = _Case(one, _fitting(name, then.get(one, ())), _fitting(name, now.get(name.ends[0], ())))
            case = _outermost(case) if one.plain else _of_few(case)
            if case.now:
                found[one] = _current(case)
            if case.then:
                cases.append(case)
        left = [case for case in cases if case.wanted not in found or found[case.wanted].state == "moved"]
        found |= self._left(left)
        return found

    # --- existing symbols ---

    def _then(self, asked: dict[NameQuery, QualifiedName]) -> dict[NameQuery, list[_SymbolVersion]]:
        if not self._known.first:
            return {}
        groups: dict[tuple[str, int, int], list[NameQuery]] = defaultdict(list)
        for one, name in asked.items():
            groups[(name.ends[0], *self._known.stretch(one.at, one.until))].append(one)
        names, since, until = ([group[place] for group in groups] for place in range(3))
        rows = self._db.rows(_THEN, [list(range(len(groups))), names, since, until])
        members = list(groups.values())
        found: dict[NameQuery, list[_SymbolVersion]] = defaultdict(list)
        for number, path, qualname, kind, overload, body, line in rows:
            standing = _SymbolVersion(SymbolKey(path, qualname, kind, overload), body, line)
            for one in members[number]:
                found[one].append(standing)
        return found

    def _now(self, names: Sequence[str], files: str) -> dict[str, list[_SymbolVersion]]:
        found: dict[str, list[_SymbolVersion]] = defaultdict(list)
        for name, path, qualname, kind, overload, body, line in self._db.rows(_NOW.format(files=files), [list(names)]):
            found[name].append(_SymbolVersion(SymbolKey(path, qualname, kind, overload), body, line))
        return found

    # --- removed symbols ---

    def _left(self, cases: Sequence[_Case]) -> dict[NameQuery, Finding]:
        """Return what became of names whose symbols are missing at their place."""
        found: dict[NameQuery, Finding] = {}
        ends = self._ends(cases)
        gone = [case for case in cases if not case.now]
        lost = {
            one.key: one for case in gone for one in sorted(case.then, key=lambda one: _order(one.key))[:_MOST_KEYS]
        }
        became = self._traced(lost)
        became |= self._of_same_body([standing for key, standing in lost.items() if key not in became])
        for case in cases:
            # Of several that ended together, the first by path: the database returns them in any order.
            last = min(case.then, key=lambda one: (-ends.get(one.key, 0), _order(one.key)))
            ordinal = ends.get(last.key, 0)
            if case.now:
                best = _best_now(case)
                found[case.wanted] = Finding("moved", best.key.path, best.line, _place(best), ordinal)
                continue
            names = {
                became[one.key]
                for one in case.then
                if one.key in became and self._holds_the_same(one.key, became[one.key].key)
            }
            if len(names) == 1:
                there = next(iter(names))
                word = _as_written(case.wanted.text, there.key)
                state: MentionState = "renamed" if word != case.wanted.text else "moved"
                shown = word if state == "renamed" else _place(there)
                found[case.wanted] = Finding(state, there.key.path, there.line, shown, ordinal)
            else:
                found[case.wanted] = Finding("gone", last.key.path, last.line, "", ordinal)
        return found | self._of_others([case for case in cases if found[case.wanted].state == "gone"], found)

    def _of_others(self, cases: Sequence[_Case], found: Mapping[NameQuery, Finding]) -> dict[NameQuery, Finding]:
        """Return those of removed names that the project uses long after it took the definition out, as alive.

        Code does not stand broken for `SOON` commits: another library defines what it uses (`ResponseInterface`).
        """
        old = [case for case in cases if 0 < found[case.wanted].ordinal <= self._known.head - SOON]
        names = sorted({QualifiedName(case.wanted.text).ends[0] for case in old})
        receivers: dict[str, list[str]] = defaultdict(list)
        for name, receiver in self._db.rows(_USED, [names, names]) if names else ():
            receivers[name].append(receiver)
        named = {case.wanted: (QualifiedName(case.wanted.text), case.then) for case in old}
        return {
            wanted: Finding("alive")
            for wanted, (name, then) in named.items()
            if any(_may_mean(name, receiver, then) for receiver in receivers[name.ends[0]])
        }

    def _ends(self, cases: Sequence[_Case]) -> dict[SymbolKey, int]:
        """Return by symbol the ordinal of the commit that took it away."""
        keys = {standing.key for case in cases for standing in case.then}
        if not keys:
            return {}
        names = sorted({QualifiedName(case.wanted.text).ends[0] for case in cases})
        rows = self._db.rows(_ENDS, [names, sorted({key.path for key in keys})])
        ends = {SymbolKey(*row[:4]): row[4] for row in rows if SymbolKey(*row[:4]) in keys}
        endless = [key for key, end in ends.items() if end == EVER]
        committed = set[SymbolKey]()
        if endless:
            committed = {one.key for group in self._now(names, "head_file").values() for one in group}
        return {key: self._known.gone_at(end, is_committed=key in committed) for key, end in ends.items()}

    def _traced(self, keys: Collection[SymbolKey]) -> dict[SymbolKey, _SymbolVersion]:
        """Return the destinations of removed symbols: the same body, added by the commit that removed them."""
        found: dict[SymbolKey, _SymbolVersion] = {}
        ordered = sorted(keys, key=_order)
        for start in range(0, len(ordered), _TRACED):
            found |= self._traced_together(ordered[start : start + _TRACED])
        return found

    def _traced_together(self, keys: Sequence[SymbolKey]) -> dict[SymbolKey, _SymbolVersion]:
        versions = SymbolVersions(self._db, with_spans=True)
        versions.load_of(keys)
        ways = {key: key for key in keys}
        found: dict[SymbolKey, _SymbolVersion] = {}
        for _ in range(_MOST_STEPS):
            versions.load_same_bodies(ways.values())
            steps = {key: versions.last_destination(at) for key, at in ways.items() if versions.knows(at)}
            ways = {key: there for key, there in steps.items() if there is not None}
            if not ways:
                break
            versions.load_of(list(ways.values()))
            alive = self._alive(set(ways.values()))
            found |= {key: alive[at] for key, at in ways.items() if at in alive}
            ways = {key: at for key, at in ways.items() if at not in alive}
        return found

    def _of_same_body(self, lost: Sequence[_SymbolVersion]) -> dict[SymbolKey, _SymbolVersion]:
        """Return the only current symbol with a symbol's exact body."""
        bodies = sorted({one.body for one in lost})
        found: dict[tuple[str, int], list[_SymbolVersion]] = defaultdict(list)
        for path, qualname, kind, overload, body, line in self._db.rows(_SAME_NOW, [bodies]) if bodies else ():
            found[kind, body].append(_SymbolVersion(SymbolKey(path, qualname, kind, overload), body, line))
        heirs = ((one.key, found.get((one.key.kind, one.body), [])) for one in lost)
        return {key: there[0] for key, there in heirs if len(there) == 1}

    def _holds_the_same(self, old: SymbolKey, new: SymbolKey) -> bool:
        """Return whether two types with the same lines have common members: without members, most types are alike."""
        before = {row[0] for row in self._db.rows(_MEMBERS_THEN, [old.path, old.qualname, old.kind])}
        now = {row[0] for row in self._db.rows(_MEMBERS_NOW, [new.path, new.qualname, new.kind])}
        if old.kind not in _HOLDERS or not (before or now):
            return True
        return 2 * len(before & now) >= min(len(before), len(now)) > 0

    def _alive(self, keys: Collection[SymbolKey]) -> dict[SymbolKey, _SymbolVersion]:
        names = sorted({end for key in keys for end in QualifiedName(key.qualname).ends[:1]})
        standing = (one for group in self._now(names, "now_file").values() for one in group)
        return {one.key: one for one in standing if one.key in keys}


def _order(key: SymbolKey) -> tuple[str, str, str, int]:
    return key.path, key.qualname, key.kind, key.overload


def _fitting(name: QualifiedName, standing: Iterable[_SymbolVersion]) -> list[_SymbolVersion]:
    return [one for one in standing if name.fits(one.key.qualname, one.key.kind) or _is_below(name, one.key)]


def _is_below(name: QualifiedName, key: SymbolKey) -> bool:
    """Whether a name is a qualified name with its folders and modules: `requests.get`, `crate::net::Server`."""
    own = QualifiedName(key.qualname).parts
    if len(name.parts) <= len(own) or name.parts[-len(own) :] != own:
        return False
    around = iter(_ENDING.sub("", key.path).split("/"))
    return all(part in around for part in name.parts[: -len(own)] if part not in _HERE)


def _outermost(case: _Case) -> _Case:
    """For a plain word, only a unique, outermost definition matches."""
    then = [one for one in case.then if one.key.kind in _OUTERMOST and one.key.qualname == case.wanted.text]
    now = [one for one in case.now if one.key.kind in _OUTERMOST and one.key.qualname == case.wanted.text]
    return _Case(case.wanted, then if len(then) == 1 else [], now if len(then) == 1 or len(now) == 1 else [])


def _of_few(case: _Case) -> _Case:
    """For a single word such as `run()`, nothing matches if many symbols have the name: it may be another library's."""
    single = case.wanted.text.isalpha() and case.wanted.text.islower()
    return _Case(case.wanted, [], []) if single and len(case.then or case.now) > _FEW else case


def _may_mean(name: QualifiedName, receiver: str, then: Iterable[_SymbolVersion]) -> bool:
    """Return whether a use of a name's last part, on a receiver, may be of the name: of `server.close` on a `server`."""
    around = _WORDS.findall(receiver.lower())
    if len(name.parts) > 1:
        return around[-1:] == [name.parts[-2].lower()]
    return not around or all(one.key.kind not in _OUTERMOST for one in then)


def _current(case: _Case) -> Finding:
    """The result for a name that exists now."""
    then = {one.key: one for one in case.then}
    same = next((one for one in case.now if one.key in then), None)
    if case.then and same is None:
        return Finding("moved")
    best = same or min(case.now, key=lambda one: _order(one.key))
    if same is None or len(then) > 1 or then[same.key].body == same.body:
        return Finding("alive", best.key.path, best.line)
    return Finding("changed", same.key.path, same.line)


def _best_now(case: _Case) -> _SymbolVersion:
    """The current match of several: with the same qualified name, of the same kind, first by path."""
    names, kinds = {one.key.qualname for one in case.then}, {one.key.kind for one in case.then}
    return min(case.now, key=lambda one: (one.key.qualname not in names, one.key.kind not in kinds, _order(one.key)))


def _place(one: _SymbolVersion) -> str:
    return f"{one.key.path}:{one.line}"


def _as_written(name: str, key: SymbolKey) -> str:
    """A symbol's qualified name with as many parts as the name to replace."""
    parts, own = QualifiedName(name).parts, QualifiedName(key.qualname).parts
    separator = next((mark for mark in ("::", "->", "#", ".") if mark in name), ".")
    return separator.join(own[-len(parts) :])
