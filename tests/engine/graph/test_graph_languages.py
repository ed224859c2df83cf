"""Calls from one file into another, in every language whose imports are paths, packages or nothing at all."""

import pytest

from cm_tui.errors import NotFoundError

PROJECTS = {
    "ruby": (
        {
            "lib/cart.rb": 'require_relative "money"\nclass Cart\n  def total\n    Money.parse_text("1")\n    wallet_sum\n  end\nend\n',
            "lib/money.rb": "class Money\n  def self.parse_text(text)\n    new(text)\n  end\nend\n\ndef wallet_sum\n  1\nend\n",
        },
        {"parse_text": "lib/cart.rb:4 Cart.total", "wallet_sum": "lib/cart.rb:5 Cart.total"},
    ),
    "php": (
        {
            "src/Mailer.php": "<?php\nnamespace App\\Mail;\nuse App\\Net\\Transport;\nclass Mailer {\n  public function __construct(private Transport $transport) {}\n"
            "  public function send() { return $this->transport->deliver(1); }\n}\n",
            "src/Transport.php": "<?php\nnamespace App\\Net;\nclass Transport {\n  public function deliver(int $count) {}\n}\n",
        },
        {"deliver": "src/Mailer.php:6 Mailer.send"},
    ),
    "kotlin": (
        {
            "com/shop/a/Orders.kt": "package com.shop.a\n\nimport com.shop.b.Gateway\n\nclass Orders(private val gateway: Gateway) {\n    fun place() { gateway.charge(1) }\n}\n",
            "com/shop/b/Gateway.kt": "package com.shop.b\n\nclass Gateway {\n    fun charge(amount: Int) {}\n}\n",
        },
        {"charge": "com/shop/a/Orders.kt:6 Orders.place"},
    ),
    "scala": (
        {
            "com/shop/Shelf.scala": "package com.shop\nimport com.shop.util.Helper\nclass Shelf(helper: Helper) {\n  def fill(): Int = helper.countAll(1)\n}\n",
            "com/shop/util/Helper.scala": "package com.shop.util\nclass Helper {\n  def countAll(x: Int): Int = x\n}\n",
        },
        {"countAll": "com/shop/Shelf.scala:4 Shelf.fill"},
    ),
    "swift": (
        {
            "Sources/Player.swift": "class Player {\n  let engine: Engine\n  func play() { engine.startUp(at: 1) }\n}\n",
            "Sources/Engine.swift": "class Engine {\n  func startUp(at time: Int) {}\n}\n",
        },
        {"startUp": "Sources/Player.swift:3 Player.play"},
    ),
    "lua": (
        {
            "app/main.lua": 'local store = require("app.store")\nlocal M = {}\nfunction M.open()\n  return store.fetch_row(1)\nend\nreturn M\n',
            "app/store.lua": "local M = {}\nfunction M.fetch_row(id)\n  return id\nend\nreturn M\n",
            "app/other.lua": "local M = {}\nfunction M.fetch_row(id)\n  return id\nend\nreturn M\n",
        },
        {"fetch_row": "app/main.lua:4 M.open"},
    ),
    "bash": (
        {
            "main.sh": 'source "$(dirname "$0")/lib/log.sh"\nrun() {\n  log_line hi\n}\n',
            "lib/log.sh": 'log_line() {\n  echo "$1"\n}\n',
        },
        {"log_line": "main.sh:3 run"},
    ),
    "elixir": (
        {
            "lib/cart.ex": "defmodule Shop.Cart do\n  alias Shop.Pricing\n  def total(c), do: Pricing.sum_up(c)\nend\n",
            "lib/pricing.ex": "defmodule Shop.Pricing do\n  def sum_up(c), do: c\nend\n",
        },
        {"sum_up": "lib/cart.ex:3 Shop.Cart.total"},
    ),
    "dart": (
        {
            "lib/cart.dart": "import 'src/price.dart';\n\nclass Cart {\n  final Price price;\n  Cart(this.price);\n  int total() => price.compute(1);\n}\n",
            "lib/src/price.dart": "class Price {\n  int compute(int x) => x;\n}\n",
        },
        {"compute": "lib/cart.dart:6 Cart.total"},
    ),
    "zig": (
        {
            "src/main.zig": 'const pool = @import("pool.zig");\npub fn main() void {\n    pool.registerAll(1);\n}\n',
            "src/pool.zig": "pub fn registerAll(count: u32) void {\n    _ = count;\n}\n",
        },
        {"registerAll": "src/main.zig:3 main"},
    ),
    "haskell": (
        {
            "src/Main.hs": "module Main where\nimport Data.Shape (area)\nimport qualified Data.Shape as S\nmain = print (area 1)\nother x = S.grow x\n",
            "src/Data/Shape.hs": "module Data.Shape where\narea :: Int -> Int\narea x = x\ngrow x = x\n",
        },
        {"area": "src/Main.hs:4 main", "grow": "src/Main.hs:5 other"},
    ),
    "fsharp": (
        {
            "Rates.fs": "module Shop.Rates\nlet grossOf x = x\n",
            "Bills.fs": "module Shop.Bills\nopen Shop.Rates\nlet total x = grossOf x\n",
        },
        {"grossOf": "Bills.fs:3 Shop.Bills.total"},
    ),
}


def test_a_call_reaches_the_other_file(project):
    made = project({path: text for files, _ in PROJECTS.values() for path, text in files.items()})
    for language, (_, expected) in PROJECTS.items():
        found = {name: made.sites(name) for name in expected}
        assert found == {name: [site] for name, site in expected.items()}, language


def test_what_a_lua_file_gives_back_is_what_its_users_call(project):
    files, _ = PROJECTS["lua"]
    assert project(files).called_from("fetch_row") == ["app/main.lua:4 M.open (import)"]


IN_SCOPE = {
    "go": (
        {
            "shop/cart.go": "package shop\n\nfunc near() int { return 1 }\n\nfunc Total() int { return near() + far() }\n",
            "shop/money.go": "package shop\n\nfunc far() int { return 2 }\n",
        },
        "shop/cart.go:5 Total",
    ),
    "ruby": (
        {
            "lib/cart.rb": "def near\n  1\nend\n\ndef total\n  near\n  far\nend\n",
            "lib/money.rb": "def far\n  2\nend\n",
        },
        "lib/cart.rb:6 total",
    ),
    "java": (
        {
            "shop/Base.java": "package shop;\nclass Base {\n  int far() { return 2; }\n}\n",
            "shop/Cart.java": "package shop;\nclass Cart extends Base {\n  int near() { return 1; }\n  int total() { return near() + far(); }\n}\n",
        },
        "shop/Cart.java:4 Cart.total",
    ),
}


@pytest.mark.parametrize("language", IN_SCOPE)
def test_same_file_means_the_same_file(project, language):
    """A name of the same package, or of a base class, is in scope without standing in this file."""
    files, site = IN_SCOPE[language]
    made = project(files)
    assert made.called_from("near") == [f"{site} (same-file)"]
    [far] = made.called_from("far")
    assert far.endswith(" (scope)"), far
    for name in ("total", "Total"):
        if (page := _callees(made, name)) is not None:
            for edge in page.rows:
                if edge.resolution == "same-file":
                    assert edge.path == edge.site
                if edge.resolution == "scope":
                    assert edge.path not in ("", edge.site)


def _callees(made, name):
    try:
        return made.graph.callees(name)
    except NotFoundError:
        return None
