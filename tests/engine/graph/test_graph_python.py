import pytest

from cm_tui.errors import NotFoundError


def test_absolute_relative_and_aliased_imports_all_lead_home(project):
    p = project(
        {
            "pkg/__init__.py": "",
            "pkg/util.py": "def helper(x):\n    return x\n",
            "pkg/near.py": "from .util import helper\n\ndef near():\n    return helper(1)\n",
            "pkg/sub/__init__.py": "",
            "pkg/sub/deep.py": "from ..util import helper as h\n\ndef deep():\n    return h(2)\n",
            "pkg/far.py": "import pkg.util\nimport pkg.util as u\n\ndef far():\n    pkg.util.helper(1)\n    u.helper(2)\n",
            "app.py": "from pkg import util\n\nutil.helper(3)\n",
        }
    )
    assert p.called_from("helper") == [
        "app.py:3 <module> (import)",
        "pkg/far.py:5 far (import)",
        "pkg/far.py:6 far (import)",
        "pkg/near.py:4 near (import)",
        "pkg/sub/deep.py:4 deep (import)",
    ]


def test_reexports_star_imports_and_cycles(project):
    p = project(
        {
            "pkg/__init__.py": "from .core import *\nfrom ._impl import made as exported\n",
            "pkg/core.py": "from pkg._impl import made\nimport pkg\n\ndef starred():\n    return pkg.exported()\n",
            "pkg/_impl.py": "def made():\n    from pkg.core import starred\n    return starred()\n",
            "use.py": "import pkg\nfrom pkg import starred, exported\n\nstarred()\nexported()\npkg.made()\n",
        }
    )
    assert p.sites("starred") == ["pkg/_impl.py:3 made", "use.py:4 <module>"]
    assert p.sites("made") == ["pkg/core.py:5 starred", "use.py:5 <module>", "use.py:6 <module>"]
    # made → starred → made: the circle is walked once.
    assert [(e.depth, e.qualname, e.line) for e in p.graph.callers("made", depth=3).rows] == [
        (1, "starred", 5),
        (1, "<module>", 5),
        (1, "<module>", 6),
        (2, "made", 3),
        (2, "<module>", 4),
    ]


def test_source_root_and_namespace_package(project):
    p = project(
        {
            "src/shop/__init__.py": "",
            "src/shop/cart.py": "def total():\n    pass\n",
            "space/plugin/tool.py": "def run_tool():\n    pass\n",
            "tests/test_cart.py": "from shop.cart import total\nfrom space.plugin import tool\n\ndef test_it():\n    total()\n    tool.run_tool()\n",
        }
    )
    assert p.called_from("total") == ["tests/test_cart.py:5 test_it (import)"]
    assert p.called_from("run_tool") == ["tests/test_cart.py:6 test_it (import)"]


def test_scopes_nested_functions_locals_and_class_bodies(project):
    p = project(
        {
            "m.py": """
                def work():
                    pass

                def outer():
                    def work():
                        pass
                    work()

                class Box:
                    def work(self):
                        pass

                    def go(self):
                        work()
                        self.work()

                def other(work: int):
                    work()
                """
        }
    )
    by_target = {(e.target, e.line) for e in p.graph.callers("work").rows}
    assert by_target == {("outer.work", 7), ("work", 14), ("Box.work", 15)}


def test_receivers_by_constructor_annotation_attribute_and_return_type(project):
    p = project(
        {
            "db.py": """
                class Session:
                    def flush_all(self):
                        return self

                class Base:
                    def connect(self) -> Session:
                        return Session()

                class Engine(Base):
                    def __init__(self, session: Session):
                        self.session = session
                        self.own = Session()
                """,
            "use.py": """
                from typing import Optional
                import db

                def by_annotation(s: Optional[db.Session]):
                    s.flush_all()

                def by_constructor():
                    e = db.Engine(None)
                    e.session.flush_all()
                    e.own.flush_all()
                    e.connect().flush_all()
                    other = e.connect()
                    other.flush_all()

                class Sub(db.Engine):
                    def go(self):
                        self.own.flush_all()
                        super().connect()
                """,
        }
    )
    assert p.called_from("flush_all") == [
        "use.py:5 by_annotation (receiver)",
        *(f"use.py:{n} by_constructor (receiver)" for n in (9, 10, 11, 13)),
        "use.py:17 Sub.go (receiver)",
    ]
    assert p.sites("Base.connect") == ["use.py:11 by_constructor", "use.py:12 by_constructor", "use.py:18 Sub.go"]


def test_members_are_looked_for_in_the_order_of_the_bases(project):
    p = project(
        {
            "a.py": "class Root:\n    def act(self):\n        pass\n\nclass Left(Root):\n    pass\n\nclass Right(Root):\n    def act(self):\n        pass\n",
            "b.py": "from a import Left, Right\n\nclass Both(Left, Right):\n    def go(self):\n        self.act()\n        super().act()\n",
        }
    )
    assert p.sites("Right.act") == ["b.py:5 Both.go", "b.py:6 Both.go"]
    assert p.sites("Root.act") == []


def test_ambiguous_stays_ambiguous(project):
    p = project(
        {
            "a.py": "class A:\n    def frobnicate(self):\n        pass\n",
            "b.py": "class B:\n    def frobnicate(self):\n        pass\n",
            "c.py": "def use(x):\n    x.frobnicate()\n\ndef user():\n    use(1)\n",
        }
    )
    (edge,) = p.graph.callers("A.frobnicate", depth=3).rows
    assert edge.resolution == "ambiguous"
    assert [(c.path, c.qualname) for c in edge.candidates] == [("a.py", "A.frobnicate"), ("b.py", "B.frobnicate")]
    assert "ambiguous" in p.graph.callers("frobnicate").note
    (callee,) = p.graph.callees("use").rows
    assert (callee.path, callee.resolution, len(callee.candidates)) == ("", "ambiguous", 2)


def test_a_unique_name_counts_only_where_its_arguments_fit_and_never_for_a_common_one(project):
    p = project(
        {
            "a.py": "class A:\n    def recalibrate(self, one, two):\n        pass\n\n    def get(self, key):\n        pass\n",
            "b.py": "def use(x):\n    x.recalibrate(1, 2)\n    x.recalibrate(1)\n    x.get(1)\n",
        }
    )
    assert p.called_from("recalibrate") == ["b.py:2 use (unique)"]
    assert p.called_from("A.get") == []


def test_outside_is_said_to_be_outside(project):
    p = project(
        {
            "m.py": "import os.path\nfrom json import dumps\n\ndef path(): ...\n\ndef f():\n    os.path.join('a')\n    dumps(1)\n    print(2)\n    ''.join([])\n"
        }
    )
    assert [(e.qualname, e.path, e.resolution) for e in p.graph.callees("f").rows] == [
        ("os.path.join", "", "external"),
        ("dumps", "", "external"),
        ("print", "", "external"),
        ("''.join", "", "external"),
    ]


def test_calling_a_class_is_a_call_of_the_class(project):
    p = project(
        {
            "m.py": """
                class Node:
                    @classmethod
                    def make(cls):
                        return cls()

                    def copy(self):
                        return self.__class__()

                def build():
                    return Node()
                """
        }
    )
    assert p.sites("Node") == ["m.py:4 Node.make", "m.py:7 Node.copy", "m.py:10 build"]


def test_decorators_are_callers(project):
    p = project({"m.py": "def deco(f):\n    return f\n\n@deco\ndef plain():\n    pass\n"})
    (edge,) = p.graph.callers("deco").rows
    assert (edge.qualname, edge.reference, edge.line) == ("plain", "decorate", 4)


def test_an_added_comment_line_keeps_all_callers(project):
    text = "from b import f\n\ndef g():\n    f()\n\ndef h():\n    g()\n    f()\n"
    p = project({"a.py": text, "b.py": "def f():\n    pass\n"})
    before = p.graph.callers("f", depth=2).rows
    p.write({"a.py": "# a comment\n" + text})
    after = p.graph.callers("f", depth=2).rows
    assert [(e.path, e.qualname, e.line + 1, e.depth, e.resolution) for e in before] == [
        (e.path, e.qualname, e.line, e.depth, e.resolution) for e in after
    ]


def test_depth_three_walks_up_and_each_site_once(project):
    p = project({"m.py": "def a(): pass\ndef b(): a()\ndef c(): b(); a()\ndef d(): c()\ndef e(): d()\n"})
    assert [(e.depth, e.qualname) for e in p.graph.callers("a", depth=3).rows] == [
        (1, "b"),
        (1, "c"),
        (2, "c"),
        (2, "d"),
        (3, "e"),
    ]
    assert [(e.depth, e.qualname) for e in p.graph.callees("e", depth=3).rows] == [
        (1, "d"),
        (2, "c"),
        (3, "b"),
        (3, "a"),
    ]


def test_an_aliased_class_and_a_local_alias(project):
    p = project(
        {
            "a.py": "class Thing:\n    def poke_it(self):\n        pass\n",
            "b.py": "from a import Thing as T\n\ndef f():\n    t = T()\n    u = t\n    u.poke_it()\n",
        }
    )
    assert p.sites("Thing") == ["b.py:4 f"]
    assert p.sites("poke_it") == ["b.py:6 f"]


def test_odd_names_are_not_found(project):
    p = project({"m.py": "def helper(): pass\n"})
    for name in ("helper'; DROP TABLE blob; --", "a" * 5000, "…", "[/foo]"):
        with pytest.raises(NotFoundError):
            p.graph.callers(name)
        assert p.graph.definitions("helper").total == 1, name


def test_attributes_that_are_made_of_each_other_come_to_an_end(project):
    names = [f"a{n}" for n in range(12)]
    lines = ["class Knot:", "    def __init__(self):"]
    lines += [f"        self.{a} = self.{b}.{a}.make()" for a in names for b in names]
    lines += [f"        self.{a} = self.{b}" for a, b in zip(names, names[1:] + names[:1], strict=True)]
    lines += ["    def use(self):"] + [f"        self.{a}.{b}.turn_around()" for a in names for b in names]
    lines += ["    def turn_around(self):", "        pass"]
    p = project({"m.py": "\n".join(lines) + "\n"})
    assert all(e.resolution in {"unique", "ambiguous", "receiver"} for e in p.graph.callers("turn_around").rows)
