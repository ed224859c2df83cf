"""Reading expressions of a Python package by what its source states; the second half of the yardstick in `truth`."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from tests.bench.bases import Bases
from tests.bench.source import (
    Binding,
    Definition,
    Module,
    Outside,
    Read,
    Scope,
    Site,
    Target,
    Value,
    decorators,
    first_parameter_class,
    last_name,
)
from tests.bench.truth import Package

_DEPTH = 14
_TRANSPARENT = {
    "staticmethod", "classmethod", "abstractmethod", "overload", "override", "lru_cache", "cache", "wraps", "final",
}  # fmt: skip
_PLAIN = {"str", "bytes", "int", "float", "list", "dict", "set", "tuple", "len", "repr"}
_GETTERS = {"property", "cached_property"}
_WRAPPERS = {"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired"}
_BUILTINS = frozenset(dir(builtins))
_OUTSIDE = Outside()


def sites(package: Package) -> Iterator[Site]:
    """Every call and every use of a decorator in a package."""
    evaluator = Evaluator(package)
    for function, scope, caller in package.calls:
        name = last_name(function)
        if name:
            line = function.end_lineno or function.lineno
            yield Site(scope.module.path, line, name, caller, evaluator.called(function, scope))


class Evaluator:
    """What expressions are, as far as scopes, imports, classes and annotations decide it."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._bases = Bases(self.read)

    def called(self, function: ast.expr, scope: Scope) -> Target | Outside | None:
        """Target of a call: a definition's name, Outside, or None."""
        found = self.read(function, scope, 0)
        if isinstance(found, Value):
            if found.kind in {"class", "function"} and isinstance(found.of, Definition):
                return found.of.target
            if found.kind == "instance" and isinstance(found.of, Definition):
                call = self._member(found.of, "__call__", found, 0)
                return call.of.target if isinstance(call, Value) and isinstance(call.of, Definition) else None
            return None
        return found

    def read(self, node: ast.AST | None, scope: Scope, depth: int) -> Read:
        """Value of an expression in a scope."""
        if node is None or depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            return self._name(node.id, scope, depth + 1)
        if isinstance(node, ast.Attribute):
            return self._attribute(self.read(node.value, scope, depth + 1), node.attr, depth + 1)
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth + 1)
        if isinstance(node, ast.Await):
            return self.read(node.value, scope, depth + 1)
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.List | ast.Dict | ast.Set | ast.Tuple | ast.ListComp):
            return _OUTSIDE
        if isinstance(node, ast.NamedExpr):
            return self.read(node.value, scope, depth + 1)
        if isinstance(node, ast.IfExp):
            return _same([self.read(node.body, scope, depth + 1), self.read(node.orelse, scope, depth + 1)])
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return _same([self.read(value, scope, depth + 1) for value in node.values])
        return None

    def _name(self, name: str, scope: Scope, depth: int) -> Read:
        at: Scope | None = scope
        while at is not None:
            where = at.elsewhere.get(name)
            visible = at.kind != "class" or at is scope
            if where == "global":
                at = at.module.scope
                assert at is not None
            if visible and name in at.names and where != "nonlocal":
                return self._bound(at.names[name], at, depth)
            if at.kind == "module":
                return self._module_name(at.module, name, depth)
            at = at.parent
        return None

    def _bound(self, bindings: list[Binding], scope: Scope, depth: int) -> Read:
        stated = [b for b in bindings if b.kind == "annotation"]
        return _same([self._binding(b, scope, depth) for b in stated or bindings if b.kind != "none"])

    def _binding(self, binding: Binding, scope: Scope, depth: int) -> Read:
        if depth > _DEPTH:
            return None
        if binding.kind == "def" and binding.target is not None:
            return Value("class" if binding.target.is_class else "function", binding.target)
        if binding.kind == "import":
            return self._imported(binding.module)
        if binding.kind == "from":
            module = self._imported(binding.module)
            return self._attribute(module, binding.name, depth + 1)
        if binding.kind == "value":
            return self.read(binding.node, scope, depth + 1)
        if binding.kind == "annotation":
            return self._annotation(binding.node, scope, depth + 1)
        if binding.kind == "caught":
            return self._instance(self.read(binding.node, scope, depth + 1))
        if binding.kind == "enter":
            return self._entered(self.read(binding.node, scope, depth + 1), depth + 1)
        if binding.kind == "parameter" and isinstance(binding.node, ast.arg):
            owner = first_parameter_class(binding)
            if owner is not None and binding.target is not None:
                cls = "classmethod" in decorators(binding.target) or binding.target.node.name in {
                    "__new__",
                    "__init_subclass__",
                }
                return Value("class" if cls else "instance", owner)
            return self._annotation(
                binding.node.annotation, binding.target.outer if binding.target else scope, depth + 1
            )
        return None

    def _imported(self, module: str) -> Read:
        found = self._package.modules.get(module)
        if found is not None:
            return Value("module", found)
        inside = module == self._package.name or module.startswith(self._package.name + ".")
        return None if inside else _OUTSIDE

    def _module_name(self, module: Module, name: str, depth: int) -> Read:
        if depth > _DEPTH:
            return None
        scope = module.scope
        if scope is not None and name in scope.names:
            return self._bound(scope.names[name], scope, depth + 1)
        for star in module.stars:
            taken = self._package.modules.get(star)
            if taken is None:
                return None
            found = self._module_name(taken, name, depth + 2)
            if found is not None and not (found == _OUTSIDE and name in _BUILTINS):
                return found
        return _OUTSIDE if name in _BUILTINS else None

    def _attribute(self, value: Read, name: str, depth: int) -> Read:
        if value is None or depth > _DEPTH or isinstance(value, Outside):
            return value
        if isinstance(value.of, Module):
            scope = value.of.scope
            submodule = self._package.modules.get(f"{value.of.name}.{name}")
            if scope is not None and name in scope.names:
                own = [
                    b for b in scope.names[name] if not (b.kind == "from" and submodule and b.module == value.of.name)
                ]
                return self._bound(own, scope, depth + 1) if own else Value("module", submodule) if submodule else None
            return Value("module", submodule) if submodule else self._module_name(value.of, name, depth + 1)
        if value.kind in {"class", "instance", "super"}:
            return self._member(value.of, name, value, depth)
        return None

    def _member(self, owner: Definition, name: str, value: Value, depth: int) -> Read:
        """An attribute of a class or its object, along the order of its bases; None behind an unknown base."""
        for number, cls in enumerate(self._bases.order(owner)):
            if cls is None:
                return None
            if number == 0 and value.kind == "super":
                continue
            receiver = value.receiver or (owner if value.kind != "super" else None)
            found = cls.scope.names.get(name) if cls.scope else None
            if found and cls.scope is not None and all(b.kind == "def" for b in found):
                result = self._bound(found, cls.scope, depth + 1)
                if isinstance(result, Value) and result.kind == "function" and isinstance(result.of, Definition):
                    if decorators(result.of) & _GETTERS:
                        return self._returned(result.of, receiver, depth + 1)
                    return Value("function", result.of, receiver)
                return result
            places = [(b, cls.scope) for b in found or () if cls.scope is not None] + cls.attributes.get(name, [])
            if places:
                stated = [p for p in places if p[0].kind == "annotation"]
                return _same([self._binding(b, s, depth + 1) for b, s in stated or places if b.kind != "none"])
        return None

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> Read:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            at: Scope | None = scope
            while at is not None and at.definition is not None:
                if at.definition.owner is not None and not at.definition.is_class:
                    return Value("super", at.definition.owner)
                at = at.definition.outer
            return None
        if isinstance(node.func, ast.Name | ast.Attribute) and last_name(node.func) == "cast" and node.args:
            return self._annotation(node.args[0], scope, depth)
        found = self.read(node.func, scope, depth)
        if isinstance(found, Outside):
            # What a call outside gives may be anything, but for the classes that the language brings.
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            return _OUTSIDE if name in _PLAIN else None
        if isinstance(found, Value) and isinstance(found.of, Definition):
            if found.kind == "class":
                return Value("instance", found.of)
            if found.kind == "function":
                return self._returned(found.of, found.receiver, depth)
        return None

    def _returned(self, function: Definition, receiver: Definition | None, depth: int) -> Read:
        node = function.node
        if isinstance(node, ast.ClassDef) or decorators(function) - _TRANSPARENT - _GETTERS:
            return None
        if isinstance(node.returns, ast.Name | ast.Attribute) and last_name(node.returns) == "Self":
            owner = receiver or function.owner
            return Value("instance", owner) if owner else None
        return self._annotation(node.returns, function.outer, depth + 1)

    def _entered(self, value: Read, depth: int) -> Read:
        if not isinstance(value, Value) or value.kind != "instance" or not isinstance(value.of, Definition):
            return None
        method = self._member(value.of, "__enter__", value, depth)
        method = method or self._member(value.of, "__aenter__", value, depth)
        if isinstance(method, Value) and isinstance(method.of, Definition):
            return self._returned(method.of, value.of, depth)
        return None

    def _annotation(self, node: ast.AST | None, scope: Scope, depth: int) -> Read:
        """The object that an annotation promises; None for unions of several, containers and type variables."""
        if node is None or depth > _DEPTH:
            return None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self._annotation(ast.parse(node.value, mode="eval").body, scope, depth + 1)
            except SyntaxError:
                return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            sides = [n for n in (node.left, node.right) if not (isinstance(n, ast.Constant) and n.value is None)]
            return self._annotation(sides[0], scope, depth + 1) if len(sides) == 1 else self._union(sides, scope, depth)
        if isinstance(node, ast.Subscript):
            return self._generic(node, scope, depth)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._instance(self.read(node, scope, depth + 1))
        return None

    def _generic(self, node: ast.Subscript, scope: Scope, depth: int) -> Read:
        name = last_name(node.value)
        inside = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in _WRAPPERS:
            return self._annotation(inside[0], scope, depth + 1)
        if name == "Union":
            return self._union(
                [n for n in inside if not (isinstance(n, ast.Constant) and n.value is None)], scope, depth
            )
        if name in {"type", "Type"}:
            found = self._annotation(inside[0], scope, depth + 1)
            return Value("class", found.of) if isinstance(found, Value) and found.kind == "instance" else None
        found = self._instance(self.read(node.value, scope, depth + 1))
        if isinstance(found, Value):
            return found
        return _OUTSIDE if name in {"list", "dict", "set", "tuple", "List", "Dict"} else None

    def _union(self, sides: list[ast.expr], scope: Scope, depth: int) -> Read:
        return _same([self._annotation(side, scope, depth + 1) for side in sides])

    @staticmethod
    def _instance(value: Read) -> Read:
        if isinstance(value, Value):
            return Value("instance", value.of) if value.kind == "class" else None
        # `Any`, a type variable or a protocol from outside promises nothing about where the object comes from;
        # nor does a class outside, of which the object may be a subclass of the package.
        return None


def _same(values: list[Read]) -> Read:
    """The one thing that all of these are; None when they differ or one is not decided."""
    if not values or any(v is None for v in values):
        return None
    keys = {
        v if isinstance(v, Outside) else (v.kind, v.of.target if isinstance(v.of, Definition) else v.of.name)
        for v in values
        if v
    }
    return values[0] if len(keys) == 1 else None
