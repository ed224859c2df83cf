"""Notations for a name and its secret without `=` or `:`: pairs, statements, fallbacks, tables."""

from __future__ import annotations

from collections.abc import Iterator

from cm_tui.engine.platform.redaction.by_word import ByWord
from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.placeholders import is_placeholder, is_reference
from cm_tui.engine.platform.redaction.places import Place, find_in, is_anything
from cm_tui.engine.platform.redaction.strength import is_mixed, is_random


def _likely(value: str) -> bool:
    return len(value) >= 6 and is_mixed(value) and is_anything(value)


def _aws(value: str) -> bool:
    return is_random(value) and any(map(str.isupper, value)) and any(map(str.islower, value))


_WORD = r"(?:password|passwd|passwort|pwd|passphrase|secret|token|(?:api|access|secret|private|auth|encryption|signing|master|account)[ _-]?key|_salt|_pass)"
_NAME = rf"(?i:(?<![\w.-])[\w.-]{{0,40}}?{_WORD}(?:_(?:\d{{1,2}}|prod|dev|staging|base|key|value))?)(?![\w-])"
_TAIL = rf"(?i:{_WORD}(?:_(?:\d{{1,2}}|prod|dev|staging|base|key|value))?)(?![\w-])"
"""Only the end of a name: its beginning does not matter."""
_LABEL = rf"(?i:(?:[\w.-]{{1,30}} ){{0,2}}?[\w.-]{{0,30}}?{_WORD})"
_BARE = r"[\"']?(?P<value>[^\s\"'`|;&<>(){}]{4,400}+)"
_QUOTED = r"(?:\"(?P<d>[^\"\n]{4,400})\"|'(?P<s>[^'\n]{4,400})')"
_LINE = r"(?m:^)[+-]?[ \t]{0,20}+(?:[$>%#][ \t]{1,4})?"

FORMS: tuple[Place, ...] = (
    Place("secret", ("value:", 'value"', "value'", "value ", "value\t"), rf"(?i:(?<!\w)name\"?)[ \t]{{0,4}}:[ \t]{{0,8}}[\"']?{_NAME}[\"']?,?[ \t]{{0,8}}\r?(?:\n[+ -]?[ \t]{{0,60}})?[\"']?(?i:value)[\"']?[ \t]{{0,4}}:[ \t]{{0,8}}{_BARE}", _likely, "https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/", ("name:", 'name"', "name ", "name\t")),
    Place("secret", ("env ", "setenv", "setx", "set -"), rf"{_LINE}(?:ENV|setenv|setx|set[ \t]+-[gxU]{{1,3}})[ \t]+{_NAME}[ \t]+{_BARE}", _likely, "https://docs.docker.com/reference/dockerfile/#env"),
    Place("secret", ("aws configure set", "secret set"), rf"\b(?:aws[ \t]+configure[ \t]+set[ \t]+(?:[\w.-]{{1,40}}\.)?|gh[ \t]+secret[ \t]+set[ \t]+){_NAME}[ \t]+(?:(?:--body|-b)[ =])?{_BARE}", _likely, "https://docs.aws.amazon.com/cli/latest/reference/configure/set.html"),
    Place("npm token", ("_authtoken",), rf"\b(?:npm|pnpm|yarn)[ \t]+config[ \t]+set[ \t]+[^\s=]{{0,200}}_authToken[ \t]+{_BARE}", _likely, "https://docs.npmjs.com/cli/commands/npm-config"),
    Place("password", ("convertto-securestring", "::add-mask::"), rf"(?:ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?{_QUOTED}|::add-mask::{_BARE})", is_anything, "https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.security/convertto-securestring"),
    Place("password", ("identified",), r"(?i:\bidentified\s{1,8}(?:with\s{1,4}\S{1,40}\s{1,4})?by\s{1,8}(?:password\s{1,4})?)'(?P<value>[^'\n]{3,200})'", is_anything, "https://dev.mysql.com/doc/refman/8.4/en/create-user.html"),
    Place("password", ("password",), r"(?i:\b(?:alter|create)\s{1,4}(?:user|role|login)\b[^;\n]{0,200}?\bpassword\s{0,4}=?\s{0,4}N?)'(?P<value>[^'\n]{3,200})'", is_anything, "https://www.postgresql.org/docs/current/sql-createrole.html", ("alter", "create")),
    Place("password", ("password(",), r"(?<![\w.])(?i:password)\([ ]?'(?P<value>[^'\n]{3,200})'[ ]?\)", _likely, "https://mariadb.com/kb/en/set-password/"),
    Place("password", ("requirepass", "masterauth"), rf"(?i:(?<![\w-])(?:requirepass|masterauth))[ \t]+{_BARE}", _likely, "https://redis.io/docs/latest/operate/oss_and_stack/management/security/"),
    Place("password", ("auth ",), rf"(?<=>)[ \t]?(?i:AUTH)[ \t]+{_BARE}[ \t]*(?=\r?\n|\Z)", _likely, "https://redis.io/docs/latest/commands/auth/"),
    Place("secret", ("getenv(", "environ.get(", "env(", "env.fetch("), rf"\((?:(?<=getenv\()|(?<=environ\.get\()|(?<=[^\w.]env\()|(?<=ENV\.fetch\())\s{{0,8}}[\"']{_NAME}[\"'],\s{{0,8}}{_QUOTED}", _likely, "https://docs.python.org/3/library/os.html#os.getenv"),
    Place("secret", ("process.env",), rf"\bprocess\.env\.(?:(?!\.)){_NAME.replace('(?<![' + chr(92) + 'w.-])', '', 1)}\s{{0,4}}(?:\|\||\?\?)\s{{0,4}}{_QUOTED}", _likely, "https://nodejs.org/api/process.html#processenv"),
    Place("secret", ("${",), rf"\$\{{{_NAME}:?[-=](?P<value>[^\s\"'`{{}}$]{{4,400}})\}}", _likely, "https://www.gnu.org/software/bash/manual/html_node/Shell-Parameter-Expansion.html"),
    Place("secret", ("define(", "define ", "define\t"), rf"(?:\bdefine\([ ]?[\"'](?:{_NAME}|[A-Z_]{{0,20}}_KEY)[\"'],\s{{0,20}}|#[ \t]{{0,4}}define[ \t]+{_NAME}[ \t]+){_QUOTED}", _likely, "https://developer.wordpress.org/advanced-administration/wordpress/wp-config/", ("define('", 'define("', "define( ", "#")),
    Place("secret", ("[] =", "[]=", ": &str", ": &'static"), rf"{_TAIL}(?:\[\][ ]?=|:[ ]?&(?:'static[ ])?str[ ]?=)[ ]?{_QUOTED}", _likely, "https://doc.rust-lang.org/std/primitive.str.html"),
    Place("secret", ("|",), rf"\|[ \t]{{0,40}}+[*`]{{0,3}}{_LABEL}[*`]{{0,3}}[ \t]{{0,40}}\|[ \t]{{0,40}}`?(?P<value>[^\s|`]{{6,400}}+)`?[ \t]{{0,40}}\|", _likely, "https://github.github.com/gfm/#tables-extension-"),
    Place("secret", ("**",), rf"\*\*{_LABEL}:?\*\*:?[ \t]{{1,4}}`?(?P<value>[^\s|`*]{{6,400}}+)`?[ \t]*(?=\r?\n|\Z)", _likely, "https://spec.commonmark.org/current/#emphasis-and-strong-emphasis"),
    Place("secret", ("</td>", "</th>", "</key>"), rf"(?:<t[dh](?:\s[^<>]{{0,80}})?>\s{{0,8}}{_LABEL}:?\s{{0,8}}</t[dh]>\s{{0,40}}<td(?:\s[^<>]{{0,80}})?>|<key>{_LABEL}</key>\s{{0,40}}<string>)\s{{0,8}}(?:<code>)?(?P<value>[^<>\s]{{6,400}})", _likely, "https://developer.apple.com/library/archive/documentation/General/Reference/InfoPlistKeyReference/Articles/AboutInformationPropertyListFiles.html"),
    Place("password", ("auth=", "auth =", "creds=", "creds =", "credentials=", "credentials ="), rf"(?i:\b(?:basic_)?(?:auth|creds|credentials)[ ]?=[ ]?)\([\"'][^\"'\n]{{1,80}}[\"'],[ ]?{_QUOTED}\)", _likely, "https://requests.readthedocs.io/en/latest/user/authentication/", ('("', "('")),
    Place("password", ("@tcp(", "@unix("), r"(?<![\w.-])[\w.-]{1,60}+:(?P<value>[^\s\"'`/@]{3,200}+)(?=@(?:tcp|unix)\()", is_anything, "https://pkg.go.dev/github.com/go-sql-driver/mysql#readme-dsn-data-source-name"),
    Place("password", (":543", ":6432:", ":*:"), r"(?m:^)(?:[\w.-]{1,200}+|\*):(?:543\d|6432|\*):[^:\s/]{1,60}+:[^:\s/]{1,60}+:(?P<value>[^\s:]{6,200}+)(?=\r?\n|\Z)", _likely, "https://www.postgresql.org/docs/current/libpq-pgpass.html"),
    Place("password", ("://",), r"(?<=://)[^\s/@:\"'`]{1,64}+:(?P<value>[^\s\"'`@/]{1,100}+@[^\s\"'`@]{1,100}+)(?=@[\w.-]{1,200}+:\d{2,5}(?!\d))", _likely, "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1"),
    Place("secret", ('" -> "',), rf"{_TAIL}[ \t]{{0,60}}=[ \t]{{0,4}}\"[^\"\n]{{0,200}}\"[ ]->[ ]{_QUOTED}", _likely, "https://developer.hashicorp.com/terraform/cli/commands/plan"),
    Place("secret", ("= <<", "=<<"), rf"{_TAIL}[ \t]{{0,60}}=[ \t]{{0,4}}<<[-~]?[\"']?\w{{1,30}}[\"']?\r?\n[ \t]{{0,40}}(?P<value>\S{{6,400}}+)(?=\r?\n)", _likely, "https://developer.hashicorp.com/terraform/language/expressions/strings#heredoc-strings"),
    Place("secret", ('"value"',), rf"\"{_NAME}\"[ ]?:\s{{0,4}}\{{[^{{}}]{{0,200}}?\"value\"[ ]?:[ ]?\"(?P<value>[^\"\n]{{4,400}})\"", _likely, "https://developer.hashicorp.com/terraform/cli/commands/output"),
    Place("secret", ("!!str", ": &"), rf"{_TAIL}[\"']?:[ \t]{{1,8}}(?:!!str|&\w{{1,40}})[ \t]{{1,8}}{_BARE}", _likely, "https://yaml.org/spec/1.2.2/#3222-anchors-and-aliases"),
    Place("aws secret key", ("akia", "asia"), r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])[^\n]{1,200}?(?<![A-Za-z0-9/+=])(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", _aws, "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html"),
)  # fmt: skip
_FORMS = ByWord[Place](FORMS)

_SECRET = Pattern(r"\"kind\"[ ]?:[ ]?\"Secret\"")
_DATA = Pattern(r"\"(?:data|stringData)\"[ ]?:[ ]?\{(?P<entries>[^{}\n]{1,4000})\}")
_ENTRY = Pattern(r"\"[\w./-]{1,200}\"[ ]?:[ ]?\"(?P<value>[^\"\n]{1,4000})\"")
_NEAR = 4_000


def find_forms(text: str, lowered: str) -> Iterator[Found]:
    """Yield secrets in notations with names.

    `text`: the text to search; `lowered`: the text in lower case.
    """
    yield from find_in(_FORMS, text, lowered)
    yield from _on_one_line(text)


def _on_one_line(text: str) -> Iterator[Found]:
    """Yield the values of a Kubernetes secret that is one line of JSON."""
    done = 0
    for kind in _SECRET.finditer(text):
        if kind.start() < done:
            continue
        begin = max(done, text.rfind("\n", max(0, kind.start() - _NEAR), kind.start()) + 1, kind.start() - _NEAR)
        stop = text.find("\n", kind.end(), kind.end() + _NEAR)
        stop = min(len(text), kind.end() + _NEAR) if stop < 0 else stop
        for data in _DATA.finditer(text, begin, stop):
            for entry in _ENTRY.finditer(text, *data.span("entries")):
                if not (is_placeholder(entry["value"]) or is_reference(entry["value"])):
                    yield Found(*entry.span("value"), "kubernetes secret")
        done = stop
