import pytest

from cm_tui.errors import UsageError


def test_go_packages_methods_and_module_path(project):
    p = project(
        {
            "go.mod": "module example.com/shop\n\ngo 1.22\n",
            "store/store.go": "package store\n\ntype Store struct{}\n\nfunc (s *Store) Load(id string) string { return s.key(id) }\n\nfunc New() *Store { return &Store{} }\n",
            "store/key.go": "package store\n\nfunc (s *Store) key(id string) string { return pad(id) }\n\nfunc pad(id string) string { return id }\n",
            "shop.go": "package shop\n\nfunc Open() {}\n",
            "cmd/cmd.go": 'package cmd\n\nimport "example.com/shop"\n\nfunc all() { shop.Open() }\n',
            "main.go": """
                package main

                import (
                    "fmt"
                    st "example.com/shop/store"
                )

                func run(s *st.Store) {
                    s.Load("1")
                    fmt.Println(st.New())
                }
                """,
        }
    )
    assert p.called_from("New") == ["main.go:10 run (import)"]
    assert p.called_from("Store.Load") == ["main.go:9 run (receiver)"]
    assert p.sites("Store.key") == ["store/store.go:5 Store.Load"]
    assert p.sites("pad") == ["store/key.go:3 Store.key"]
    assert [edge.path for edge in p.graph.importers("store/key.go").rows] == ["main.go"], "its package is imported"
    assert [(i.target, i.resolution) for i in p.graph.dependencies("main.go").rows] == [
        (None, "external"),
        ("store", "import"),
    ]
    assert p.graph.dependencies("main.go").rows[1].file == "store/key.go", "the first file of the package"
    assert [f"{i.path} → {i.target}" for i in p.graph.importers("shop.go").rows] == ["cmd/cmd.go → ."], "root folder"


def test_java_packages_inheritance_and_bare_member_calls(project):
    p = project(
        {
            "src/main/java/shop/Base.java": "package shop;\n\npublic class Base {\n  protected void log(String m) {}\n}\n",
            "src/main/java/shop/Cart.java": """
                package shop;

                import shop.pay.Gateway;

                public class Cart extends Base {
                  private final Gateway gateway;

                  public Cart(Gateway gateway) { this.gateway = gateway; }

                  public void pay() {
                    log("x");
                    gateway.charge(1);
                    this.check();
                  }

                  private void check() {}
                }
                """,
            "src/main/java/shop/pay/Gateway.java": "package shop.pay;\n\npublic class Gateway {\n  public void charge(int cents) {}\n}\n",
        }
    )
    assert p.sites("Base.log") == ["src/main/java/shop/Cart.java:11 Cart.pay"]
    assert p.called_from("Gateway.charge") == ["src/main/java/shop/Cart.java:12 Cart.pay (receiver)"]
    assert p.sites("Cart.check") == ["src/main/java/shop/Cart.java:13 Cart.pay"]


def test_rust_modules_and_methods(project):
    p = project(
        {
            "Cargo.toml": '[package]\nname = "geo"\n',
            "src/lib.rs": "pub mod shapes;\n\nuse crate::shapes::Circle;\n\npub fn total(c: &Circle) -> f64 {\n    shapes::unit();\n    c.area()\n}\n",
            "src/shapes.rs": "pub struct Circle;\n\nimpl Circle {\n    pub fn area(&self) -> f64 { self.half() }\n    fn half(&self) -> f64 { 1.0 }\n}\n\npub fn unit() {}\n",
        }
    )
    assert p.sites("Circle.area") == ["src/lib.rs:7 total"]
    assert p.sites("Circle.half") == ["src/shapes.rs:4 Circle.area"]
    assert p.sites("unit") == ["src/lib.rs:6 total"]


def test_csharp_namespaces(project):
    p = project(
        {
            "Shop/Store.cs": "namespace Shop.Data\n{\n  public class Store\n  {\n    public void Load(string id) { }\n  }\n}\n",
            "Shop/Program.cs": """
                using Shop.Data;

                namespace Shop
                {
                  public class Program
                  {
                    private readonly Store _store;

                    public Program(Store store) { _store = store; }

                    public void Run() { _store.Load("1"); Check(); }

                    private void Check() { }
                  }
                }
                """,
        }
    )
    assert p.sites("Store.Load") == ["Shop/Program.cs:11 Shop.Program.Run"]
    assert p.sites("Program.Check") == ["Shop/Program.cs:11 Shop.Program.Run"]
    assert [e.qualname.rpartition(".")[0] for e in p.graph.callers("Store", kinds=("inject",)).rows] == ["Shop.Program"]


def test_ruby_classes_and_bare_member_calls(project):
    p = project(
        {
            "lib/store.rb": "class Store\n  def load_all(id)\n    pad(id)\n  end\n\n  def pad(id)\n    id\n  end\nend\n",
            "app.rb": "require_relative 'lib/store'\n\ndef run\n  Store.new.load_all(1)\nend\n",
        }
    )
    assert p.sites("Store.pad") == ["lib/store.rb:3 Store.load_all"]
    assert p.sites("load_all") == ["app.rb:4 run"]
    assert [i.target for i in p.graph.dependencies("app.rb").rows] == ["lib/store.rb"]


def test_c_functions_across_files_and_includes(project):
    p = project(
        {
            "src/list.h": "#ifndef LIST_H\n#define LIST_H\nint list_size(void);\n#endif\n",
            "src/list.c": '#include "list.h"\nint list_size(void) { return 0; }\n',
            "src/main.c": '#include <stdio.h>\n#include "list.h"\nint main(void) { return list_size(); }\n',
        }
    )
    assert [(e.site, e.line) for e in p.graph.callers("list_size").rows] == [("src/main.c", 3)]
    assert [(i.path, i.target) for i in p.graph.importers("src/list.h").rows] == [
        ("src/list.c", "src/list.h"),
        ("src/main.c", "src/list.h"),
    ]


def test_namespaces_without_a_block(project):
    """`namespace A;` holds for the rest of the file, in C# and in PHP."""
    p = project(
        {
            "Shop/Money.cs": "namespace Shop.Web;\n\npublic static class Money\n{\n    public static int Parse(string text) { return 1; }\n}\n",
            "Shop/Cart.cs": 'namespace Shop.Web;\n\npublic class Cart\n{\n    public int Total() { return Money.Parse("1"); }\n}\n',
            "Shop/Far.cs": 'using Shop.Web;\nnamespace Other;\n\npublic class Far\n{\n    public int Go() { return Money.Parse("1"); }\n'
            '    public int Whole() { return global::Shop.Web.Money.Parse("1") + Shop.Web.Money.Parse("2"); }\n}\n',
            "Shop/Inner.cs": 'namespace Shop.Web.Api;\n\npublic class Inner\n{\n    public int Go() { return Money.Parse("3"); }\n}\n',
            "src/Retry.php": "<?php\n\nnamespace Acme;\n\nclass Retry\n{\n    public static function make() {}\n}\n",
            "boot.php": "<?php\ninclude __DIR__ . '/src/Stack.php';\n",
            "src/Stack.php": "<?php\n\nnamespace Acme;\n\nclass Stack\n{\n    public function push() { return Retry::make(); }\n}\n",
            "tests/Retry/RetryTest.php": "<?php\n\nnamespace Acme\\Tests\\Retry;\n\nuse Acme\\Retry;\n\nclass RetryTest\n{\n"
            "    public function testIt() { return Retry::make(); }\n}\n",
        }
    )
    assert p.called_from("Money.Parse") == [
        "Shop/Cart.cs:5 Cart.Total (scope)",
        "Shop/Far.cs:6 Far.Go (scope)",
        "Shop/Far.cs:7 Far.Whole (scope)",
        "Shop/Far.cs:7 Far.Whole (scope)",
        "Shop/Inner.cs:5 Inner.Go (scope)",
    ]
    assert p.called_from("Retry.make") == [
        "src/Stack.php:7 Stack.push (scope)",
        "tests/Retry/RetryTest.php:9 RetryTest.testIt (import)",
    ], "the last part of a file's own namespace hides no import"
    importers = {
        name: [edge.path for edge in p.graph.importers(name).rows] for name in ("src/Retry.php", "src/Stack.php")
    }
    assert importers == {"src/Retry.php": ["tests/Retry/RetryTest.php"], "src/Stack.php": ["boot.php"]}
    assert [edge.path for edge in p.graph.importers("Shop/Cart.cs").rows] == ["Shop/Far.cs"], (
        "all of a namespace is used"
    )
    with pytest.raises(UsageError):
        p.graph.importers(" ")


def test_names_from_the_root_of_phps_namespaces(project):
    p = project(
        {
            "src/Exception.php": "<?php\nnamespace Acme;\nclass Exception extends \\Exception {}\nfunction strlen($x) { return 1; }\n",
            "src/Sub/Thing.php": "<?php\nnamespace Acme\\Sub;\nclass Thing { static function make() {} }\n",
            "src/Plain.php": "<?php\nclass Plain { function near() {} }\n",
            "src/Use.php": """
                <?php
                namespace Acme;
                class Used extends \\Plain {
                  function a() { throw new \\Exception("x"); }
                  function b() { throw new Exception("x"); }
                  function c() { return \\strlen("x"); }
                  function d() { return \\Acme\\strlen("x"); }
                  function e() { return Sub\\Thing::make(); }
                  function f() { return \\Acme\\Sub\\Thing::make(); }
                  function g() { return $this->near(); }
                }
                """,
        }
    )
    assert p.called_from("Exception") == ["src/Use.php:5 Used.b (scope)"], "`\\Exception` is PHP's own"
    assert p.called_from("strlen") == ["src/Use.php:7 Used.d (scope)"]
    assert p.called_from("Thing.make") == ["src/Use.php:8 Used.e (scope)", "src/Use.php:9 Used.f (scope)"]
    assert p.called_from("Plain.near") == ["src/Use.php:10 Used.g (receiver)"]
    assert [edge.qualname for edge in p.graph.callees("Used.c").rows] == ["strlen"]


def test_modules_of_elixir_are_found_by_their_names(project):
    p = project(
        {
            "lib/plug/conn.ex": "defmodule Plug.Conn do\n  def put_status(conn, s), do: {conn, s}\n  def send_resp(conn), do: conn\nend\n",
            "lib/plug.ex": "defmodule Plug do\n  def init(x), do: x\nend\n",
            "lib/far/conn.ex": "defmodule Far.Conn do\n  def put_status(conn), do: conn\n  def send_resp(conn), do: conn\nend\n",
            "lib/plug/other.ex": "defmodule Plug.Other do\n  import Plug.Conn\n  alias Plug.Conn\n  alias Far.Conn, as: Distant\n"
            "  def a(c), do: c |> put_status(1)\n  def b(c), do: Conn.send_resp(c)\n  def d(c), do: Plug.Conn.send_resp(c)\n"
            "  def e(c), do: Distant.send_resp(c)\nend\n",
        }
    )
    assert p.called_from("Plug.Conn.put_status") == ["lib/plug/other.ex:5 Plug.Other.a (scope)"]
    assert p.called_from("Plug.Conn.send_resp") == [
        "lib/plug/other.ex:6 Plug.Other.b (import)",
        "lib/plug/other.ex:7 Plug.Other.d (scope)",
    ]
    assert p.called_from("Far.Conn.send_resp") == ["lib/plug/other.ex:8 Plug.Other.e (import)"]
    assert [one.target for one in p.graph.dependencies("lib/plug/other.ex").rows] == [
        "Plug.Conn",
        "Plug.Conn",
        "Far.Conn",
    ]


def test_parts_of_a_class_of_csharp_are_one(project):
    p = project(
        {
            "Base.cs": "namespace Shop;\npublic class Base\n{\n    public int Far() { return 1; }\n}\n",
            "Cart.cs": "namespace Shop;\npublic partial class Cart : Base\n{\n    public int Total() { return Sum(); }\n}\n",
            "Cart.Sum.cs": "namespace Shop;\npublic partial class Cart\n{\n    private int Sum() { return Total() + Far(); }\n}\n",
            "Use.cs": "namespace Shop;\npublic class Use\n{\n    public int Go() { return new Cart().Total(); }\n}\n",
        }
    )
    assert p.called_from("Cart.Sum") == ["Cart.cs:4 Cart.Total (scope)"]
    assert p.called_from("Base.Far") == ["Cart.Sum.cs:4 Cart.Sum (scope)"]
    assert p.called_from("Cart.Total") == ["Cart.Sum.cs:4 Cart.Sum (scope)", "Use.cs:4 Use.Go (scope)"]


def test_parts_of_a_module_of_ruby_are_one(project):
    p = project(
        {
            "lib/shop.rb": "module Shop\n  def self.dump_json(x)\n    x\n  end\nend\n",
            "lib/shop/job.rb": "module Shop\n  class Job\n    def run\n      Shop.dump_json(1)\n    end\n  end\nend\n",
            "test/web.rb": "describe Shop do\n  it { near(1) }\nend\n",
            "lib/routes.rb": "module Routes\n  def near(x)\n    x\n  end\nend\n",
            "lib/other.rb": "module Other\n  def self.dump_json(x)\n    x\n  end\nend\n",
        }
    )
    [site] = p.called_from("Shop.dump_json")
    assert "(scope)" not in str(p.called_from("near")), "a method of a module has no bare name elsewhere"
    assert site.startswith("lib/shop/job.rb:4 Shop.Job.run (")
    assert "ambiguous" not in site


def test_what_kotlin_expects_and_has_is_one(project):
    p = project(
        {
            "common/Sink.kt": "package shop.io\n\nexpect class Sink {\n  fun write(n: Int)\n}\n\nexpect fun now(): Long\n",
            "jvm/Sink.kt": "package shop.io\n\nactual class Sink {\n  actual fun write(n: Int) {}\n}\n\nactual fun now(): Long = 1\n",
            "native/Sink.kt": "package shop.io\n\nactual class Sink {\n  actual fun write(n: Int) {}\n}\n\nactual fun now(): Long = 2\n",
            "common/Use.kt": "package shop.io\n\nclass Use(private val sink: Sink) {\n  fun go() { sink.write(1); now() }\n}\n",
        }
    )
    assert [edge.resolution for edge in p.graph.callees("Use.go").rows] == ["receiver", "scope"]
    assert p.called_from("now") == ["common/Use.kt:4 Use.go (scope)"]


def test_a_trait_comes_before_a_class_and_an_interface_last(project):
    p = project(
        {
            "src/Can.php": "<?php\nnamespace Acme;\ninterface Can { function format(); }\n",
            "src/Does.php": "<?php\nnamespace Acme;\ntrait Does { function format() {} }\n",
            "src/Base.php": "<?php\nnamespace Acme;\nclass Base { function format() {} }\n",
            "src/Handler.php": "<?php\nnamespace Acme;\nclass Handler extends Base implements Can {\n  use Does;\n"
            "  function go() { $this->format(); }\n}\n",
        }
    )
    assert p.called_from("Does.format") == ["src/Handler.php:5 Handler.go (receiver)"]
