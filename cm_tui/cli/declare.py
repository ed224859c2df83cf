"""Commands made of functions: types and defaults are those of the signature, help texts those of the docstring.

Parameters before the `*` are arguments, those behind it options. The docstring's section `Args:` describes each; names
of an option that differ from the parameter's, and the name of its value, are in parentheses: `limit (--limit, -n):`,
`target (--to NOTE):`. A parameter annotated with `typer.Option` or `typer.Argument` is used as it is.

Every command also gets `--project` and `--json`, whose values `chosen_project` and `wants_json` return.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import typer
from typer.models import ParameterInfo

from cm_tui.cli.options import PROJECT
from cm_tui.cli.output import WANTS_JSON
from cm_tui.errors import UsageError

Command = Callable[..., None]
_ENTRY = re.compile(r"^    (\w+)(?: \(([^)]*)\))?: (.*(?:\n     .*)*)", re.MULTILINE)


class Bounds(NamedTuple):
    """Least and largest value of an argument or option, included."""

    least: float | None
    most: float | None = None


Positive = Annotated[int, Bounds(1)]
Project = Annotated[
    Path | None,
    typer.Option("--project", "-p", help="Folder of the project; default: the repository around the current folder."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
_COMMON = {
    "project": Parameter("project", Parameter.KEYWORD_ONLY, default=None, annotation=Project),
    "as_json": Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=Json),
}


class _Declaration(NamedTuple):
    """What sets a command apart: common options that it lacks, and settings of the library."""

    lacks: str = ""
    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed


def declared(*, lacks: str = "", **settings: Any) -> Callable[[Command], Command]:
    """Declare a function as a special command.

    `lacks`: names of common options that it does not have; `settings`: for typer, such as `hidden`.
    """

    def mark(function: Command) -> Command:
        vars(function)["_declaration"] = _Declaration(lacks, settings)
        return function

    return mark


class Family(NamedTuple):
    """Commands below a name: `cm NAME COMMAND`, each called as its function.

    Attributes:
        help: describes them; empty: the docstring of `alone`.
        commands: their functions.
        alone: runs for the name alone.
        group: resolves words; None: as usual.
        hidden: not in `cm --help`.
    """

    help: str
    commands: tuple[Command, ...]
    alone: Command | None = None
    group: type[Any] | None = None
    hidden: bool = False


def add(app: typer.Typer, name: str, member: Command | Family) -> None:
    """Add a command, or a family of commands, under a name."""
    if not isinstance(member, Family):
        app.command(name, **_declaration_of(member).settings)(made(member))
        return
    alone = made(member.alone, is_alone=True) if member.alone else None
    family = typer.Typer(
        cls=member.group, no_args_is_help=alone is None, invoke_without_command=alone is not None, rich_markup_mode=None
    )
    if alone is not None:
        family.callback()(alone)
    for command in member.commands:
        add(family, command.__name__.rstrip("_"), command)
    app.add_typer(family, name=name, help=member.help or alone.__doc__, hidden=member.hidden)


def made(function: Command, *, is_alone: bool = False) -> Command:
    """Return a function as the command line takes it: with the common options, and with help texts.

    `is_alone`: it runs for the name of a family alone, and takes no options where a command follows.
    """
    text, _, section = inspect.cleandoc(function.__doc__ or "").partition("\n\nArgs:\n")
    entries = {name: (spec, " ".join(words.split())) for name, spec, words in _ENTRY.findall(section)}
    hints = get_type_hints(function, include_extras=True)
    own = [_parameter(one, hints[one.name], entries) for one in inspect.signature(function).parameters.values()]
    lacks = _declaration_of(function).lacks.split()

    @functools.wraps(function)
    def command(**values: Any) -> None:
        if (project := values.pop("project", None)) is not None:
            PROJECT.set(project)
        if values.pop("as_json", False):
            WANTS_JSON.set(True)
        elif "as_json" in lacks and WANTS_JSON.get():
            name = f"cm {function.__name__}"
            raise UsageError(f"`{name}` does not accept --json before it.", hint=f"`{name} --help` lists its options.")
        following = values.pop("context").invoked_subcommand if is_alone else None
        if following is None:
            function(**values)
        elif given := [one.name for one in own if values[one.name] != one.default]:
            raise UsageError(f"--{' and --'.join(given)} cannot stand before {following}.", hint="Give it behind.")

    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)] * is_alone
    parameters += [*own, *(one for name, one in _COMMON.items() if name not in lacks)]
    result: Any = command
    result.__doc__ = text
    result.__signature__ = inspect.Signature(parameters)
    result.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _declaration_of(function: Command) -> _Declaration:
    found: _Declaration = vars(function).get("_declaration", _Declaration())
    return found


def _parameter(one: Parameter, hint: Any, entries: dict[str, tuple[str, str]]) -> Parameter:
    """Return a parameter annotated for the command line. Raises KeyError if the docstring does not describe it."""
    metadata = getattr(hint, "__metadata__", ())
    if hint is typer.Context or any(isinstance(part, ParameterInfo) for part in metadata):
        return one.replace(annotation=hint)
    spec, words = entries[one.name]
    names = [word.rstrip(",") for word in spec.split() if word.startswith("-")]
    value = next((word for word in spec.split() if not word.startswith("-")), None)
    bounds = metadata[0] if metadata else Bounds(None, None)
    given: dict[str, Any] = {"help": words, "metavar": value, "min": bounds.least, "max": bounds.most}
    if one.kind is Parameter.KEYWORD_ONLY:
        info: Any = typer.Option(*(names or [f"--{one.name.rstrip('_').replace('_', '-')}"]), **given)
    else:
        info = typer.Argument(**given)
    return one.replace(annotation=Annotated[get_args(hint)[0] if metadata else hint, info])
