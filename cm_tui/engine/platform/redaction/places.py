"""Secrets by place: options of commands, `.netrc`, XML, headers, Kubernetes, sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from cm_tui.engine.platform.redaction.by_word import ByWord
from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.pattern import Pattern, compiled
from cm_tui.engine.platform.redaction.placeholders import is_placeholder, is_reference, is_type
from cm_tui.engine.platform.redaction.strength import is_mixed, is_random


class Place(NamedTuple):
    """One place; the group `value` of its pattern is the possible secret."""

    kind: str
    words: tuple[str, ...]
    """One of them is in the lower case of every text that has such a place."""
    pattern: str
    accept: Callable[[str], bool]
    """Whether a value there is a secret."""
    source: str
    """Address of the page that describes the place."""
    also: tuple[str, ...] = ("",)
    """And one of these."""


def is_anything(value: str) -> bool:
    """Return whether a value is no placeholder, reference, type or word of a sentence."""
    return (
        len(value) >= 3 and not (is_placeholder(value) or is_reference(value) or is_type(value)) and value not in _PROSE
    )


def _strong(value: str) -> bool:
    return len(value) >= 8 and is_mixed(value) and is_anything(value)


def _random(value: str) -> bool:
    return is_random(value) and not is_reference(value)


def _pair(value: str) -> bool:
    user, _, password = value.partition(":")
    return is_anything(password) and not user.startswith("$")


def _basic(value: str) -> bool:
    from base64 import b64decode

    try:
        return ":" in b64decode(value + "=" * (-len(value) % 4)).decode("utf-8")
    except ValueError:
        return False


_PROSE_LIST = "the a an is are was and or to for in with of on must can will may option options flag flags argument arguments parameter that when if it from has have instead be"
_PROSE = frozenset(_PROSE_LIST.split())
_ARG = (
    r"(?:\"(?P<d>[^\"\n$]{1,200})\"|'(?P<s>[^'\n]{1,200})'|(?P<value>[^\s\"'`|;&<>()$\\-][^\s\"'`|;&<>()\\]{0,200}+))"
)
_SHELL = r"[^\n|;&]{0,200}?[ \t]"
_TAG = r"(?i:[\w.-]{0,40}?(?:%s)(?:[_.-]?(?:key|value|id_rsa))?)"

PLACES: tuple[Place, ...] = (
    Place("password", ("--pass", "--db-pass", "-password", "-passwd"), r"(?<!\w)--?(?!ask-|no-|prompt-|update-)(?:[a-z]{1,20}-){0,3}(?:password|passwd|pass|passphrase|passcode)(?:=|[ \t]{1,8})" + _ARG, is_anything, "https://www.gnu.org/prep/standards/html_node/Option-Table.html"),
    Place("token", ("-token", "-secret", "-key"), r"(?<!\w)--?(?:[a-z]{1,20}-){0,3}(?:token|secret|(?:api|access|secret|auth|private|account|encryption)-?key|key)(?:=|[ \t]{1,8})" + _ARG, _strong, "https://www.gnu.org/prep/standards/html_node/Option-Table.html"),
    Place("password", ("mysql", "mariadb"), r"\b(?:mysql|mariadb)(?:dump|admin|import|show|check|sh|-dump|-admin)?\b" + _SHELL + r"-p(?!rint0?\b|rune\b|erm\b|ath\b)" + _ARG, is_anything, "https://dev.mysql.com/doc/refman/8.4/en/command-line-options.html", (" -p", "\t-p")),
    Place("password", ("curl", "wget", "http "), r"\b(?:curl|http|https)\b" + _SHELL + r"(?:-u|--user|--proxy-user|-U|-a)(?:=|[ \t]{0,4})(?:\"(?P<d>[^\"\n$:]{0,80}:[^\"\n$]{1,200})\"|'(?P<s>[^'\n:]{0,80}:[^'\n]{1,200})'|(?P<value>[^\s\"'`|;&<>()$\\:]{0,80}:[^\s\"'`|;&<>()$\\]{1,200}))", _pair, "https://curl.se/docs/manpage.html#-u", (" -u", " --user", " --proxy-user", " -a", "\t-u", "\t--user", "\t--proxy-user", "\t-a")),
    Place("password", ("sshpass", "docker", "podman", "helm", "sqlcmd", "mongo", "zip", "7z", "rar", "az ", "redis-cli", "ldap", "twine", "oc login", "cf login", "nexus", "svn"), r"\b(?:sshpass|docker\s+login|podman\s+login|helm\s+registry\s+login|sqlcmd|mongo(?:sh|dump|restore|export|import)?(?=[ \t])|zip|7z|7za|rar|unrar|redis-cli|ldap(?:search|add|modify|whoami|passwd)|az\s+login|twine\s+upload|oc\s+login|cf\s+login|bcp)\b" + _SHELL + r"(?:(?<=sshpass )-p|(?<=[ \t])-[pPaw])(?:[ \t]{0,4})(?<!-p\d)" + _ARG, lambda value: is_anything(value) and not value[0].isdecimal() | (":" in value) and "/" not in value and not value.endswith((".zip", ".txt", ".rar")), "https://docs.docker.com/reference/cli/docker/login/", (" -p", " -a", " -w", "\t-p", "\t-a", "\t-w")),
    Place("password", ("pass:",), r"(?:(?<=\s)|(?<=[\"'=]))-?-?pass(?:in|out)?[ =]pass:(?P<value>[^\s\"'`|;&]{1,200})", is_anything, "https://docs.openssl.org/master/man1/openssl-passphrase-options/"),
    Place("password", ("chpasswd", "sudo -s", "--password-stdin", "--stdin"), r"(?:echo|printf|<<<)[ \t]+(?:-n[ \t]+)?(?:\"(?P<d>[^\"\n$]{1,200})\"|'(?P<s>[^'\n]{1,200})'|(?P<value>[^\s\"'`|;&<>()$\\]{3,200}))[ \t]*\|[ \t]*(?:[\w./-]+[ \t]+){0,4}(?:chpasswd|sudo[ \t]+-S|[\w -]{1,60}--(?:password-)?stdin)", is_anything, "https://docs.docker.com/reference/cli/docker/login/"),
    Place("password", ("smbclient", "net use", "smb"), r"\b(?:smbclient|rpcclient|smbmap)\b" + _SHELL + r"-U[ \t]{0,4}[\"']?[\w\\/.-]{1,60}%(?P<value>[^\s\"'`|;&]{1,200})", is_anything, "https://www.samba.org/samba/docs/current/man-html/smbclient.1.html"),
    Place("password", ("htpasswd",), r"\bhtpasswd[ \t]+-[a-zA-Z]*b[a-zA-Z]*(?:[ \t]+[^\s\"']{1,200}){1,2}[ \t]+[\"']?(?<!\{\{ )(?P<value>[^\s\"'`|;&{}]{3,200})", is_anything, "https://httpd.apache.org/docs/2.4/programs/htpasswd.html"),
    Place("password", ("machine", "login"), r"(?:\bmachine\s{1,20}\S{1,255}|\bdefault)\s{1,20}(?:login\s{1,20}\S{1,255}\s{1,20})?(?:account\s{1,20}\S{1,255}\s{1,20})?password\s{1,20}(?P<value>\S{1,200}+)", is_anything, "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html"),
    Place("password", ("login",), r"(?m:^)[+ \t-]{0,20}login[ \t]{1,20}\S{1,255}\s{1,20}[+-]?[ \t]{0,20}password[ \t]{1,20}(?P<value>\S{1,200}+)", is_anything, "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html"),
    Place("password", ("pass", "pwd"), rf"<(?:\w{{1,20}}:)?(?P<tag>{_TAG % 'password|passwd|pwd|passphrase'})(?:\s[^<>]{{0,200}})?>\s{{0,20}}(?P<value>[^<>\n]{{1,400}}?)\s{{0,20}}</", lambda value: is_anything(value) and (" " not in value or is_mixed(value)), "https://maven.apache.org/settings.html#servers"),
    Place("secret", ("token", "secret", "key"), rf"<(?:\w{{1,20}}:)?(?P<tag>{_TAG % 'token|secret|apikey|api[_-]key|privatekey|accesskey|access[_-]key'})(?:\s[^<>]{{0,200}})?>\s{{0,20}}(?P<value>[^<>\n]{{1,400}}?)\s{{0,20}}</", lambda value: _strong(value) and is_random(value) and " " not in value, "https://maven.apache.org/settings.html#servers"),
    Place("password", ("pass", "pwd"), r"(?i:\b(?:key|name)=[\"'][^\"'\n]{0,60}(?:password|passwd|pwd|passphrase)[\"']\s{1,8}(?:value|content)=[\"'](?P<value>[^\"'\n]{1,200})[\"'])", is_anything, "https://learn.microsoft.com/en-us/nuget/reference/nuget-config-file", ('key="', "key='", 'name="', "name='")),
    Place("credentials", ("authorization", "basic "), r"(?i:\bbasic[ ]{1,4})(?P<value>[A-Za-z0-9+/]{8,}+=*+)", _basic, "https://www.rfc-editor.org/rfc/rfc7617"),
    Place("credentials", ("authorization",), r"(?i:\bauthorization[\"']?\s{0,4}[:=,]\s{0,4}[\"'`]?(?:bearer|token|apikey|api-key|ssws|key|splunk|bot|genie-?key|pass)?[ ]{0,4}(?:token=)?)[\"']?(?P<value>[\w.~+/=:-]{12,}+)", _strong, "https://www.rfc-editor.org/rfc/rfc9110#name-authorization"),
    Place("cookie", ("cookie",), r"(?i:\b(?:set-)?cookie[\"']?:[ \t]{0,4}[\"']?)(?P<value>[^\n\"']{8,4000}+)", _random, "https://www.rfc-editor.org/rfc/rfc6265"),
    Place("secret", ("_authtoken", "_auth", "_password"), r"(?<!\w)_(?:authToken|auth|password)[ ]?=[ ]?[\"']?(?P<value>[^\s\"'$]{4,2000}+)", is_anything, "https://docs.npmjs.com/cli/configuring-npm/npmrc#auth-related-configuration"),
    Place("secret", ("otpauth://",), r"(?i:otpauth://[^\s\"'<>]{0,200}?[?&]secret=)(?P<value>[A-Z2-7a-z]{10,}+)", is_anything, "https://github.com/google/google-authenticator/wiki/Key-Uri-Format"),
    Place("wireguard key", ("privatekey", "presharedkey"), r"(?i:\b(?:PrivateKey|PresharedKey)[ \t]*=[ \t]*)(?P<value>[A-Za-z0-9+/]{42,43}=)", is_anything, "https://www.wireguard.com/quickstart/"),
)  # fmt: skip
_PLACES = ByWord[Place](PLACES)

_KUBERNETES = Pattern(r"(?m)^[+ -]?[ \t]{0,40}[\"']?kind[\"']?:[ \t]*[\"']?Secret[\"']?[ \t,]*\r?$")
_DATA = Pattern(r"(?m)^[+ -]?([ \t]{0,40})[\"']?(?:data|stringData)[\"']?:[ \t]*(?:\{[ \t]*)?\r?\n")
_ENTRY = Pattern(
    r"[+ -]?([ \t]+)[\"']?[\w./-]+[\"']?:[ \t]*[\"']?([^\s\"',|>#][^\n\"',#]*?)[\"']?,?[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)"
)
_MOST_BEFORE = 4_000
# In lower case, and from the name on: the text before it is checked after a match.
_SECRETS = ("password", "passwort", "passphrase", "passwd", "passcode", "secret", "token", "pin", "api", "access")
"""What `_STATED` begins with."""
_STATED = Pattern(
    r"(?:password|passwort|passphrase|passwd|passcode|secret|token|(?<!\w)pin|(?:api|access)[ _-]?key)"
    r"(?: [\w.-]{1,30}+){0,6}? (?:is|was|ist|lautet|to):? [\"'`]?(?P<value>[^\s'\"`,;<>(){}\[\]]{4,}+)"
)
_WHOSE = Pattern(r"\b(?:my|our|mein|unser) $")
_MARK = Pattern(r"[!@#$%^&*?~+=]")


def find_places(text: str, lowered: str) -> Iterator[Found]:
    """Yield values in the places of secrets.

    `text`: the text to search; `lowered`: the text in lower case.
    """
    yield from find_in(_PLACES, text, lowered)
    if "kind" in lowered and "secret" in lowered:
        yield from _kubernetes(text)
    yield from _stated(text, lowered)


def find_in(places: ByWord[Place], text: str, lowered: str) -> Iterator[Found]:
    """Yield values in some places. `text`: the text to search; `lowered`: the text in lower case."""
    for place in places.wanted(lowered):
        if any(word in lowered for word in place.also):
            for found in compiled(place.pattern).finditer(text):
                group = next(group for group in ("value", "d", "s") if found.groupdict().get(group) is not None)
                if place.accept(found[group]):
                    yield Found(*found.span(group), place.kind)


def _kubernetes(text: str) -> Iterator[Found]:
    """Yield every value of a Kubernetes secret: https://kubernetes.io/docs/concepts/configuration/secret/."""
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


def _stated(text: str, lowered: str) -> Iterator[Found]:
    """Yield secrets in sentences: `my password for the shop is …`."""
    for found in _statements(lowered):
        start = found.start("value")
        whole = text[start : found.end("value")]
        value = whole.rstrip(".:!?") or whole
        if lowered[found.start() - 1 : found.start()].isalnum() or is_placeholder(value) or is_reference(value):
            continue
        mixed = value != value.lower() and value != value.upper()
        strong = len(value) >= 8 and (mixed or _MARK.search(value) is not None or is_random(value))
        own = _WHOSE.search(lowered, max(0, found.start() - 8), found.start()) is not None
        if is_mixed(value) and len(value) >= 6 and (own or strong):
            yield Found(start, start + len(value), "password" if found[0].startswith("pass") else "secret")


def _statements(lowered: str) -> Iterator[re.Match[str]]:
    for word in _SECRETS:
        at = lowered.find(word)
        while at >= 0:
            found = _STATED.match(lowered, at)
            if found is not None:
                yield found
            at = lowered.find(word, at + len(word) if found is None else found.end())
