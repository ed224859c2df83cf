"""Who calls what in a Python package, by Python's own syntax tree: the yardstick that the graph is measured with.

Independent of the extractor and the resolver: only `ast` and rules that Python itself guarantees or that the source
states (scopes, imports, class hierarchies, constructors, annotations). A call that these do not decide is left open.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from cm_tui.errors import UsageError
from cm_tui.model.text import one_line
from tests.bench.source import Binding, Definition, Module, Node, Scope, first_parameter_class


class Package:
    """All modules of a package folder; paths are relative to the folder that holds it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve().parent
        self.name = folder.name
        self.modules: dict[str, Module] = {}
        self.definitions: list[Definition] = []
        self.calls: list[tuple[ast.expr, Scope, str]] = []
        for file in sorted(folder.resolve().rglob("*.py")):
            self._load(file)
        if not self.modules:
            raise UsageError(f"{folder} holds no Python.", hint="Name the folder of a package.")
        for module in list(self.modules.values()):
            _Reader(self, module).read()

    def _load(self, file: Path) -> None:
        path = file.relative_to(self.root).as_posix()
        parts = path[:-3].split("/")
        package = parts[-1] == "__init__"
        parts = parts[:-1] if package else parts
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError) as error:
            print(one_line(f"left out {path}: {error}"), file=sys.stderr)
            return
        name = ".".join(parts)
        self.modules[name] = Module(name, path, name if package else ".".join(parts[:-1]), tree)


class _Reader(ast.NodeVisitor):
    """Collects the scopes, bindings and calls of one module."""

    def __init__(self, package: Package, module: Module) -> None:
        self.package = package
        self.module = module
        self.scope = module.scope = Scope("module", None, module, None)
        self.caller = ""

    def read(self) -> None:
        for statement in self.module.tree.body:
            self.visit(statement)

    def bind(self, name: str, binding: Binding) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None and binding.kind == "walrus":
            scope = scope.parent
        where = scope.elsewhere.get(name)
        if where == "global":
            assert self.module.scope is not None
            scope = self.module.scope
        elif where == "nonlocal":
            scope = scope.parent or scope
            while name not in scope.names and scope.parent is not None:
                scope = scope.parent
        scope.names[name].append(binding)

    def _define(self, node: Node) -> None:
        qualname = f"{self.caller}.{node.name}" if self.caller else node.name
        definition = Definition(node, qualname, self.module, self.scope)
        self.package.definitions.append(definition)
        self.bind(node.name, Binding("def", target=definition))
        outer, caller = self.scope, self.caller
        self.caller = qualname
        for decorator in node.decorator_list:
            self.package.calls.append(
                (decorator.func if isinstance(decorator, ast.Call) else decorator, self.scope, qualname)
            )
            if isinstance(decorator, ast.Call):
                self._visit_all([*decorator.args, *decorator.keywords])
                self.visit(decorator.func)
        self.scope = definition.scope = Scope(
            "class" if definition.is_class else "function", outer, self.module, definition
        )
        if isinstance(node, ast.ClassDef):
            self.scope = outer
            self._visit_all([*node.bases, *node.keywords])
            self.scope = definition.scope
        else:
            self.scope = outer
            self._visit_all(_annotations(node))
            self._visit_all([*node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]])
            self.scope = definition.scope
            self._parameters(node.args, definition)
        self._visit_all(node.body)
        self.scope, self.caller = outer, caller

    def _parameters(self, arguments: ast.arguments, definition: Definition | None) -> None:
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            self.scope.names[argument.arg].append(Binding("parameter", argument, target=definition))
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                self.scope.names[extra.arg].append(Binding("unknown"))

    def _visit_all(self, nodes: list[ast.expr] | list[ast.stmt] | list[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _define  # noqa: N815 - names that ast calls

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_all([*node.args.defaults])
        self.scope = Scope("lambda", self.scope, self.module, self.scope.definition)
        self._parameters(node.args, None)
        self.visit(node.body)
        self.scope = self.scope.parent or self.scope

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        self.scope = Scope("comprehension", self.scope, self.module, self.scope.definition)
        for number, generator in enumerate(node.generators):
            self._unknown(generator.target)
            self._visit_all([*generator.ifs, *([generator.iter] if number else [])])
        self._visit_all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.scope = self.scope.parent or self.scope

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815

    def visit_Call(self, node: ast.Call) -> None:
        self.package.calls.append((node.func, self.scope, self.caller))
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.elsewhere.update(dict.fromkeys(node.names, "global"))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.elsewhere.update(dict.fromkeys(node.names, "nonlocal"))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            self.bind(alias.asname or module, Binding("import", module=module))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parts = self.module.package.split(".")
            parts = parts[: len(parts) - node.level + 1]
            base = ".".join([*parts, base] if base else parts)
        for alias in node.names:
            if alias.name == "*":
                self.module.stars.append(base)
            else:
                self.bind(alias.asname or alias.name, Binding("from", module=base, name=alias.name))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None:
            self.visit(node.value)
        self._place(node.target, Binding("annotation", node.annotation))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.bind(node.target.id, Binding("value", node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        self._unknown(node.target)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self._unknown(node.target)
        self.generic_visit(node)

    visit_AsyncFor = visit_For  # noqa: N815

    def visit_withitem(self, node: ast.withitem) -> None:
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self._place(node.optional_vars, Binding("enter", node.context_expr))

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bind(node.name, Binding("caught", node.type))
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.bind(node.name, Binding("unknown"))
        self.generic_visit(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        nothing = isinstance(value, ast.Constant) and value.value is None
        self._place(target, Binding("none") if nothing else Binding("value", value))

    def _place(self, target: ast.expr, binding: Binding) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, binding)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            owner = self._self_class(target.value.id)
            if owner is not None:
                owner.attributes[target.attr].append((binding, self.scope))
        else:
            self._unknown(target)
        if not isinstance(target, ast.Name):
            self.visit(target)

    def _unknown(self, target: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.bind(node.id, Binding("unknown"))
            elif (
                isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Store)
            ):
                owner = self._self_class(node.value.id)
                if owner is not None:
                    owner.attributes[node.attr].append((Binding("unknown"), self.scope))

    def _self_class(self, name: str) -> Definition | None:
        """The class whose object a name is, when it is the first parameter of a method around here."""
        scope: Scope | None = self.scope
        while scope is not None:
            for binding in scope.names.get(name, ()):
                return first_parameter_class(binding)
            scope = scope.parent
        return None


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """Annotations of parameters and result: `Annotated[str, Form()]` calls something."""
    everything = node.args
    arguments = [*everything.posonlyargs, *everything.args, *everything.kwonlyargs, everything.vararg, everything.kwarg]
    return [a.annotation for a in arguments if a is not None and a.annotation is not None] + (
        [node.returns] if node.returns else []
    )
