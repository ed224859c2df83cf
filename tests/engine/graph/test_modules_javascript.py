from cm_tui.engine.code.graph.modules_javascript import loose_json


def test_extensions_index_files_barrels_and_default_exports(project):
    p = project(
        {
            "src/shapes/circle.ts": "export function area(r: number) { return r }\nexport default class Circle { grow() {} }\n",
            "src/shapes/index.ts": "export * from './circle';\nexport { default as Circle } from './circle.js';\nexport { area as surface } from './circle';\n",
            "src/app.ts": """
                import { area, surface, Circle } from './shapes';
                import Round, { area as a2 } from './shapes/circle';
                import * as all from './shapes/circle';

                export const draw = () => {
                  area(1);
                  surface(2);
                  a2(3);
                  all.area(4);
                  const c = new Circle();
                  c.grow();
                  new Round().grow();
                };
                """,
        }
    )
    assert p.sites("area") == [f"src/app.ts:{n} draw" for n in (6, 7, 8, 9)]
    assert p.sites("Circle") == ["src/app.ts:10 draw", "src/app.ts:12 draw"]
    assert p.sites("Circle.grow") == ["src/app.ts:11 draw", "src/app.ts:12 draw"]


def test_a_nested_or_unclosed_manifest_maps_nothing():
    assert loose_json("[" * 100_000) == {}
    assert loose_json("{" + "/*" * 50_000) == {}
    assert loose_json('"\\' * 50_000) == {}


def test_tsconfig_paths_base_url_and_workspace_packages(project):
    p = project(
        {
            "tsconfig.base.json": '{\n  // shared\n  "compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["libs/*/src"], "@one": ["libs/one/src/index.ts"],},},\n}\n',
            "app/tsconfig.json": '{"extends": "../tsconfig.base.json"}',
            "libs/two/src/index.ts": "export function two() {}\n",
            "libs/one/src/index.ts": "export function one() {}\n",
            "packages/ui/package.json": '{"name": "@acme/ui", "main": "dist/index.js"}',
            "packages/ui/src/index.ts": "export function button() {}\n",
            "packages/ui/src/table.ts": "export function table() {}\n",
            "app/main.ts": """
                import { two } from '@lib/two';
                import { one } from '@one';
                import { button } from '@acme/ui';
                import { table } from '@acme/ui/table';
                import { helper } from 'app/helper';
                import { useState } from 'react';

                function main() {
                  two(); one(); button(); table(); helper(); useState();
                }
                """,
            "app/helper.ts": "export function helper() {}\n",
        }
    )
    for name in ("two", "one", "button", "table", "helper"):
        assert p.called_from(name) == ["app/main.ts:9 main (import)"], name
    assert [(e.qualname, e.resolution) for e in p.graph.callees("main").rows][-1] == ("useState", "external")


def test_class_fields_this_inheritance_and_constructor_injection(project):
    p = project(
        {
            "store.ts": "export class Store {\n  load(id: string) { return id }\n}\nexport class Base {\n  protected log(m: string) {}\n}\n",
            "view.ts": """
                import { Store, Base } from './store';

                export class View extends Base {
                  constructor(private readonly store: Store) { super(); }

                  show = () => {
                    this.store.load('1');
                    this.log('x');
                    this.hide();
                  };

                  hide() {}
                }
                """,
        }
    )
    assert p.called_from("Store.load") == ["view.ts:7 View.show (receiver)"]
    assert p.called_from("Base.log") == ["view.ts:8 View.show (receiver)"]
    assert p.called_from("View.hide") == ["view.ts:9 View.show (receiver)"]
    assert [e.qualname.split(".")[0] for e in p.graph.callers("Store", kinds=("inject",)).rows] == ["View"]
    assert [e.qualname for e in p.graph.callees("View", kinds=("inject",)).rows] == ["Store"]


def test_require_and_common_js(project):
    p = project(
        {
            "lib/log.js": "function info(m) {}\nmodule.exports = { info };\n",
            "main.js": "const log = require('./lib/log');\nconst { info } = require('./lib/log');\nfunction go() {\n  log.info(1);\n  info(2);\n}\n",
        }
    )
    assert p.sites("info") == ["main.js:4 go", "main.js:5 go"]


def test_what_a_commonjs_module_is_itself(project):
    p = project(
        {
            "package.json": '{"name": "shop", "main": "shop.js", "types": "shop.d.ts"}',
            "shop.d.ts": "declare function shop(): void;\nexport = shop;\n",
            "shop.js": "function shop(o) { return o }\nfunction close() {}\nmodule.exports = shop\nmodule.exports.close = close\n",
            "lib/cart.js": "module.exports = class Cart {\n  total() { return 1 }\n}\n",
            "lib/sum.js": "module.exports = function sumUp(a) { return a }\n",
            "test/all.js": """
                const Shop = require('..')
                const Cart = require('../lib/cart')
                const sum = require('../lib/sum')
                import imported from '../shop'

                function opens() { return Shop({}) }
                function closes() { return Shop.close() }
                function counts() { return new Cart().total() }
                function sums() { return sum(1) }
                function interops() { return imported({}) }
                """,
        }
    )
    assert [one.target for one in p.graph.dependencies("test/all.js").rows] == [
        "shop.js", "lib/cart.js", "lib/sum.js", "shop.js",
    ]  # fmt: skip
    assert p.called_from("close") == ["test/all.js:7 closes (import)"]
    assert p.called_from("Cart.total") == ["test/all.js:8 counts (receiver)"]
    assert p.called_from("sumUp") == ["test/all.js:9 sums (receiver)"]
    shop = [one for one in p.graph.definitions("shop").rows if one.path == "shop.js"]
    assert [(edge.line, edge.resolution) for edge in p.graph.callers(shop[0].key).rows] == [
        (6, "receiver"),
        (10, "receiver"),
    ]


def test_global_is_a_receiver_and_no_root_of_namespaces(project):
    p = project({"a.js": "function run() {\n  global.start();\n  return 1;\n}\n"})
    assert [edge.qualname for edge in p.graph.callees("run").rows] == ["global.start"]
