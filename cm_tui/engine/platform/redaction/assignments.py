"""Secrets by name: values assigned to `password`, `api_key`, `client_secret` … in any notation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.pattern import Pattern, compiled
from cm_tui.engine.platform.redaction.placeholders import is_placeholder, is_reference, is_type
from cm_tui.engine.platform.redaction.strength import is_mixed, is_random

CODE = Pattern(r"[A-Za-z_$][\w$-]*(?:(?:\.|->|::|\?\.)\w+)+;?|[A-Z_]+|https?:.*|/.*|[\w.]+\(.*")
"""Text after a name that is not a secret: an attribute, another name, an address, a path."""
_SIGN = Pattern(r"[(){}\[\];,<>\"'`]")
_EXPRESSION = Pattern(r"[A-Za-z_]{3}\(|[;,{]$|[\"'`]")
_CAMEL = Pattern(r"[a-z]+(?:[A-Z][a-z]*)+|[A-Z][A-Za-z]*")
_PLAIN_PIECE = Pattern(r"(?:[A-Z]?[a-z]++)*\d{0,2}|(?:[A-Z]{0,3}[a-z]{3,}+\d{0,2})*|[A-Z]++\d{0,2}|[vV]?\d{1,4}")
_CLASS_NAME = Pattern(r"[A-Z]{2,6}(?:[A-Z][a-z]{2,})+\d?")
"""`HTTPBasicAuth1`."""
_STOP_LIST = "a an the of to for is are be it in on at with your my our or and not no this that please enter must can will used use as by from"
_STOP = frozenset(_STOP_LIST.split())


def is_word_alone(value: str) -> bool:
    """Whether a value of a single word is a password, and not an expression, type or sentence."""
    if _SIGN.search(value):
        # Signs that code has, and passwords too.
        return is_mixed(value) and not _EXPRESSION.search(value)
    return (
        len(value) >= 4
        and not CODE.fullmatch(value)
        and not _CAMEL.fullmatch(value)
        and not value.endswith((":", "?", "."))
    )


def is_phrase(value: str) -> bool:
    """Whether it is a phrase as used for passwords: at least three short words, none of them grammar."""
    words = re.split(r"[ _-]", value)
    return (
        3 <= len(words) <= 12
        and all(word.isalnum() and word == word.lower() and word not in _STOP and len(word) > 1 for word in words)
        and not is_placeholder(value)
    )


def is_name(value: str) -> bool:
    """Whether it is a name with a number at the end of a word: `user_token_v2`, `oauth2-client`, `getSecret2`."""
    if _CLASS_NAME.fullmatch(value):
        return True
    pieces = [piece for piece in re.split(r"[_.:/-]", value) if piece]
    plain = all(_PLAIN_PIECE.fullmatch(piece) for piece in pieces)
    if not plain:
        return False
    words = [re.sub(r"\d+", "", piece) for piece in pieces]
    return (
        len(pieces) > 1 or any(is_placeholder(word) for word in words if word) or bool(re.search(r"[a-z][A-Z]", value))
    )


def is_long_word(value: str) -> bool:
    """Whether it is letters alone, too many for a word, and not written as a name is."""
    return len(value) >= 20 and value.isalpha() and not re.search(r"[a-z][A-Z]", value) and not value.isupper()


def has_space(value: str) -> bool:
    """Whether it is more than one word."""
    return any(map(str.isspace, value))


NAMES = (
    "pass", "pwd", "pw", "psw", "psk", "secret", "token", "key", "credential", "cookie", "salt", "auth", "contrase", "senha",
    "wachtwoord", "hasło", "парол", "密码", "密碼", "パスワード", "비밀번호",
)  # fmt: skip
"""Every text with a match contains one of them in lower case."""

# The words are looked for themselves, never the name around them: a long run of letters is then read once.
_WORD = (
    r"passw(?:or)?d|passwort|pass[_-]?phrase|passcode|pass|pwd|pw|pswd?|psk|key|token|secret|credential|auth|salt|"
    r"contrase[nñ]a|senha|mot de passe|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호"
)
_KINDS = {"key": "key", "tok": "token", "aut": "token", "sec": "secret", "cre": "secret", "sal": "secret"}
_WHOLE = frozenset({"pass", "pwd", "pw", "psw", "pswd", "psk", "auth", "salt"})
"""Words that are parts of other words: they count only as a whole name, or as its last part."""
_KEYS = Pattern(
    r"(?:api|app|application|access|private|encrypt(?:ion)?|decryption|signing|sign|signature|master|auth|account|service|client|"
    r"session|storage|sas|shared|sharedaccess|jwt|hmac|cipher|crypto?|cryptographic|deploy|license|write|admin|security|cookie|"
    r"secret|subscription|integration|ingest|webhook|consumer|root|data|aes|des|rsa|symmetric|functions?|host|ssh|wallet)[_-]?$"
)
_AFTER = (
    r"(?P<rest>[\w-]{0,64}+)\\{0,7}+['\"]?\]?(?P<type>[ \t]{0,8}:[ ]?[A-Za-z_][\w.\[\]|]{0,40}(?=[ ]?=[^=]))?"
    r"(?P<op>[ \t]{0,40}+(?:=>|:=|\?=|={1,3}|!=|:(?!:)|\()[ \t]{0,40}+)"
)
_VALUE = (
    r"(?:\s{0,40}+(?:[a-zA-Z]{1,2}(?=['\"]))?(?:"
    r"(?P<slashes>\\{1,7})(?P<quote>['\"])(?P<escaped>[^'\"\\\n]*+(?:(?!(?P=slashes)['\"])\\.[^'\"\\\n]*+)*)(?:(?P=slashes)(?P=quote)|\Z|(?=\n))"
    r"|\"(?P<double>[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*)(?:\"|\Z)"
    r"|'(?P<single>[^'\\\n]*+(?:\\.[^'\\\n]*+)*)(?:'|\Z)"
    r"|`(?P<tick>[^`\n]*+)(?:`|\Z)))"
    r"|(?P<block>[|>][+-]?[ \t]*+\n[ \t]++[+-]?[ \t]*+)?(?P<bare>[^\s'\"`(){}\[\],;<>$&|\\][^\s'\"`(){}\[\],;<>$&|\\]{2,400}+)(?:(?=[\s'\"`;,&|\\]|\Z)|(?P<more>[^\s'\"`(){}\[\],;<>$&|\\]++))"
)
_QUOTED = ("escaped", "double", "single", "tick")
_LINE_VALUE = r"(?P<line>[^\s#][^\n#]{0,200}?)[ \t\r]*(?:[ ]#[^\n]*)?(?=\n|\Z)"

# Suffixes of a name that still names the secret itself, and not something about it.
_PLAIN_REST = Pattern(
    r"(?i)(?:[_-]?(?:key|keys|value|val|base|string|str|text|plain|raw|b64|base64|hex|prod|production|dev|staging|live|new|old|current|\d{1,3}))*"
)
_ABOUT = Pattern(
    r"(?i)(?:^|[_-]|(?<=[a-z])(?=[A-Z]))(?-i:[a-z]+ize|[Ii]z)|"
    r"(?:^|[_-]|(?<=[a-z]))(?:names?|ids?|ur[li]s?|paths?|files?|filename|dir|types?|count|counter|length|len|size|limit|budget|expir\w*|ttl|timeout|"
    r"algo\w*|regexp?|pattern|format|policy|fields?|labels?|hints?|address|index|idx|class|kind|versions?|prefix|suffix|headers?|refs?|arn|"
    r"store|manager|provider|service|endpoint|scheme|env|var|variable|column|params?|parameter|options?|prompt|messages?|error|help|title|"
    r"placeholder|created|updated|at|rotation|strength|required|enabled|disabled|mask\w*|digest|sha\d*|md5|fingerprint|checksum|thumbprint|"
    r"hash\w*|usage|location|source|selector|validator|encoder|generator|handler|factory|builder|request|response|grant|scopes?|status|state|test|"
    r"issuer|audience|mode|method|info|description|desc|rule|rules|group|role|schema|table|template|property|attribute|element|input|output|"
    r"list|set|map|cache|pool|bucket|signature|sig|cost|page|form|view|model|reset|change|update|check|validation|strategy|callback|func|fn)(?=$|[_A-Z-]|\d)"
)
_ENDING = Pattern(r"(?:s|key|word)(?:$|[_A-Z\d-])")
_SETTER = Pattern(r"(?i)(?:\.|(?:^|[._])(?:set|with)_?)$")
_PUBLIC = Pattern(
    r"(?i)(?:public(?:[_-]?key)?|pub|foreign|primary|partition|sort|row|cache|lookup|license[_-]?plate|no|use|is|has|max|min|num|csrf|xsrf|strip|next|bad|unexpected|update|ask|require|allow|show|hide|skip|forgot|missing|empty)[_-]?$"
)
_VARIABLE = Pattern(r"[A-Z]+(?:_[A-Z0-9]+)+")
"""A variable of the environment that holds a secret."""
_LINE_BEGIN = Pattern(r"[+-]?[ \t]*(?:- )?[\"']?[\w.-]*")
_STEM = Pattern(r"[\w.$-]{0,64}\Z")
_OPEN, _CLOSE = ("(", "{", "[", ","), (")", "}", "]", ",")
_PAIR = Pattern(
    r"(?i)\b(?:server|data source|host|hostname|uid|user id|user|username|userid|database|dbname|db|initial catalog|driver|endpoint|accountname|defaultendpointsprotocol|provider|port|dsn|login|jdbc:\w+:[^\s?;]*[?;]\w+)[ ]?="
)


class _Name(NamedTuple):
    """A name of a secret, and the text between it and its value."""

    kind: str
    word: str
    start: int
    end: int
    """Where the value begins."""
    stem: str
    """Part of the name before the word."""
    rest: str
    """Part after it."""
    op: str

    @property
    def plain(self) -> bool:
        """Return whether it names the secret itself, and not something about it."""
        return _PLAIN_REST.fullmatch(self.rest) is not None


def find_assigned(text: str, lowered: str) -> Iterator[Found]:
    """Yield values assigned to names of secrets, in code, configuration and connection strings.

    `text`: the text to search; `lowered`: the text in lower case, with the same positions.
    """
    done = 0
    for word in compiled(_WORD).finditer(lowered):
        name = _name_of(text, lowered, word) if word.start() >= done else None
        found = _value_of(text, name) if name is not None else None
        if found is not None:
            # A name inside a secret is not looked at: all of them together would be read again for each.
            done = found.end
            yield found


def _name_of(text: str, lowered: str, word: re.Match[str]) -> _Name | None:
    after = compiled(_AFTER).match(text, word.end())
    if after is None:
        return None
    start, rest = word.start(), after["rest"]
    said = text[start : word.end()]
    if word[0] == "key" and not _KEYS.search(lowered, max(0, start - 24), start):
        return None
    before = text[max(0, start - 1) : start]
    if word[0] in _WHOLE and ((before.isalpha() and said[0].islower() | before.isupper()) or rest[:1].isalpha()):
        return None
    # Another word: `tokenizer`, `secretary`, `passwordless`.
    if rest[:1].islower() and said[-1:].islower() and not _ENDING.match(rest):
        return None
    stem = _stem(text, start)
    if _PUBLIC.search(stem) or _ABOUT.search(rest):
        return None
    kind = _KINDS.get(word[0][:3], "password")
    if kind == "key" and stem.lower().rstrip("_-").endswith("api"):
        kind = "api key"
    return _Name(kind, said, start, after.end(), stem, rest, after["op"])


def _value_of(text: str, name: _Name) -> Found | None:
    value = compiled(_VALUE).match(text, name.end)
    if value is not None:
        quoted = next((group for group in _QUOTED if value[group] is not None), None)
        if quoted is not None:
            secret = _is_quoted_secret(name, value[quoted]) and (
                "(" not in name.op or _is_setter(text, name, value.end())
            )
            return Found(*value.span(quoted), name.kind) if secret else None
    if "(" in name.op or name.op.strip() in {"==", "===", "!="}:
        return None
    if value is not None and value["more"]:
        # A longer line is not a word of a program.
        return Found(value.start("bare"), value.end("more"), name.kind)
    if value is not None and _is_bare_secret(text, name, value):
        return Found(*value.span("bare"), name.kind)
    line = compiled(_LINE_VALUE).match(text, name.end)
    if line is not None and _is_line_secret(text, name, line):
        return Found(*line.span("line"), name.kind)
    return None


def _is_setter(text: str, name: _Name, end: int) -> bool:
    """Whether it is `setPassword("…")` or `.password("…")`, with nothing else."""
    return name.kind == "password" and not name.rest and text[end : end + 1] == ")" and bool(_SETTER.search(name.stem))


def _stem(text: str, start: int) -> str:
    found = _STEM.search(text[max(0, start - 64) : start])
    return found[0] if found else ""


def _is_quoted_secret(name: _Name, value: str) -> bool:
    if len(value) < 4 or _VARIABLE.fullmatch(value) or is_placeholder(value) or is_reference(value):
        return False
    if not name.plain:
        return len(value) >= 12 and not has_space(value) and is_random(value)
    if has_space(value):
        # Words with a number among them; without one they are a label or a message, but for a phrase of small words.
        return name.kind == "password" and (
            is_phrase(value) or (is_mixed(value) and len(value.split()) <= 6 and not value[:1].isupper())
        )
    if name.kind == "password":
        return (
            not (":" in name.op and value[:1].isupper() and value[1:].isalpha() and value[1:].islower())
            and value.isascii()
        )
    if name.kind == "secret" and is_mixed(value):
        return len(value) >= 6 and not is_name(value)
    return is_random(value) or is_long_word(value)


def _is_bare_secret(text: str, name: _Name, value: re.Match[str]) -> bool:
    bare, end = value["bare"], value.end("bare")
    if is_placeholder(bare) or is_reference(bare) or bare.endswith(":"):
        return False
    is_set = name.plain and _is_set(text, name) and not CODE.fullmatch(bare) and any(map(str.isalpha, bare))
    if is_set or _in_pairs(text, name, end):
        return True
    follows = text[end : end + 1]
    if follows == ",":
        return is_random(bare) and len(bare) >= 16 and "." not in bare
    return follows != ";" and is_mixed(bare) and not is_name(bare) and _is_strong(name, bare)


def _is_strong(name: _Name, value: str) -> bool:
    """Whether an unquoted value with letters and digits is more than a name in code."""
    if name.kind == "password":
        return name.plain and len(value) >= 6 and not CODE.fullmatch(value)
    if len(value) >= 12 and "." not in value:
        return name.plain or is_random(value)
    return len(value) >= 20 and is_random(value) and not CODE.fullmatch(value)


def _is_set(text: str, name: _Name) -> bool:
    """Whether it is `DB_PASSWORD=…`, as in a settings file or on a command line: code has spaces there."""
    before = text[max(0, name.start - len(name.stem) - 1) : name.start - len(name.stem)]
    upper = name.word.isupper() and name.stem == name.stem.upper()
    return name.op == "=" and upper and "." not in name.stem and not before.isalnum()


def _in_pairs(text: str, name: _Name, end: int) -> bool:
    """Whether it is a pair in a connection string or query: `…;Pwd=…;`, `host=… password=…`, `?token=…`."""
    before = text[max(0, name.start - 1) : name.start]
    if name.op.strip() != "=" or before not in {";", " ", "?", "&", '"', "'", "\n", "\t", ""}:
        return False
    bare = text[name.end : end]
    if before and before in "?&" and " " not in name.op:
        return (name.kind == "password" and name.plain) or is_random(bare)
    if name.kind not in {"password", "key"} or CODE.fullmatch(bare) or text[end : end + 1] == ",":
        return False
    line = max(text.rfind("\n", max(0, name.start - 400), name.start), name.start - 400, 0)
    stop = text.find("\n", end, end + 400)
    around = text[line : name.start] + "\n" + text[end : stop if stop >= 0 else end + 400]
    return bool(_PAIR.search(around)) and (";" in around or "," not in around)


def _is_line_secret(text: str, name: _Name, line: re.Match[str]) -> bool:
    """Whether a whole line is `name: value` or `name=value`, as in configuration, and the value is no word of code."""
    value = line["line"]
    if not name.plain or is_placeholder(value) or is_reference(value) or is_type(value):
        return False
    begin = text.rfind("\n", max(0, name.start - 200), name.start) + 1
    written = name.op == "=" or name.op.strip() == ":"
    if not (written and _LINE_BEGIN.fullmatch(text[begin : name.start]) and _is_configuration(text, begin, line.end())):
        return False
    if has_space(value):
        return name.kind == "password" and name.op != "=" and is_phrase(value)
    if name.kind != "password":
        return len(value) >= 8 and is_random(value) and not CODE.fullmatch(value)
    return (name.op == "=" or name.op.endswith(" ")) and is_word_alone(value)


def _is_configuration(text: str, begin: int, end: int) -> bool:
    """Whether the lines around are no list of arguments or of an object's parts."""
    before = text[max(0, begin - 400) : max(0, begin - 1)].rstrip()
    after = text[end : end + 400].lstrip(" \t\r\n+-")
    return not before.endswith(_OPEN) and not after.startswith(_CLOSE)
