"""What a Python package is made of, as its syntax tree tells it: modules, scopes, bindings, definitions and values."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

_DEF = (ast.FunctionDef, ast.AsyncFunctionDef)
Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Target(NamedTuple):
    """A definition of the package: overloads and conditional definitions of one name are one."""

    path: str
    qualname: str


@dataclass(frozen=True, slots=True)
class Outside:
    """Something that is certainly not of the package."""


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression is: a class or function of the package, an instance of a class, or a module."""

    kind: str
    """class, instance, super, function, module."""
    of: Definition | Module
    receiver: Definition | None = None


Read = Value | Outside | None
"""A value of the package, something certainly outside, or not decided."""


@dataclass(eq=False, slots=True)
class Binding:
    """One way in which a name comes to be in a scope."""

    kind: str
    """def, import, from, value, enter, caught, annotation, parameter, unknown, none."""
    node: ast.AST | None = None
    module: str = ""
    name: str = ""
    target: Definition | None = None


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class, function, lambda or comprehension with what it binds."""

    kind: str
    parent: Scope | None
    module: Module
    definition: Definition | None
    names: dict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    elsewhere: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Definition:
    """A class or function."""

    node: Node
    qualname: str
    module: Module
    outer: Scope
    scope: Scope | None = None
    attributes: dict[str, list[tuple[Binding, Scope]]] = field(default_factory=lambda: defaultdict(list))

    @property
    def is_class(self) -> bool:
        """True for a class."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def owner(self) -> Definition | None:
        """The class that a method stands in."""
        return self.outer.definition if self.outer.kind == "class" else None

    @property
    def target(self) -> Target:
        """What it is called in results."""
        return Target(self.module.path, self.qualname)


@dataclass(eq=False, slots=True)
class Module:
    """A file of the package."""

    name: str
    path: str
    package: str
    tree: ast.Module
    scope: Scope | None = None
    stars: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Site:
    """A call, with what it certainly calls: a definition, something outside, or None when nothing decides."""

    path: str
    line: int
    name: str
    caller: str
    target: Target | Outside | None


def first_parameter_class(binding: Binding) -> Definition | None:
    """The class of a method whose first parameter this is."""
    method = binding.target
    if binding.kind != "parameter" or method is None or method.owner is None or not isinstance(method.node, _DEF):
        return None
    arguments = [*method.node.args.posonlyargs, *method.node.args.args]
    if not arguments or arguments[0] is not binding.node or "staticmethod" in decorators(method):
        return None
    return method.owner


def decorators(definition: Definition) -> set[str]:
    """Last names of a definition's decorators."""
    names = set()
    for node in definition.node.decorator_list:
        function = node.func if isinstance(node, ast.Call) else node
        names.add(
            function.attr
            if isinstance(function, ast.Attribute)
            else function.id
            if isinstance(function, ast.Name)
            else "?"
        )
    return names


def last_name(node: ast.AST) -> str:
    """The last part of a name, qualified or not; empty for any other expression."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
