"""The graph over a real index: manifests come from the store, and answers follow every change."""

from cm_tui.config import Config
from cm_tui.engine.code.graph.graph import Graph
from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.platform.store.database import Database

PACKAGE = ",\n".join(f'    "dep{n}": "^1.0.0"' for n in range(200))


def test_answers_follow_edits_and_reverts(tmp_path):
    root = tmp_path / "repo"
    (root / "libs/one/src").mkdir(parents=True)
    (root / "app").mkdir()
    (root / "tsconfig.json").write_text('{"compilerOptions": {"paths": {"@one": ["./libs/one/src/index.ts"]}}}')
    # Long enough to be cut into several passages.
    (root / "libs/one/package.json").write_text(
        f'{{\n  "dependencies": {{\n{PACKAGE}\n  }},\n\n\n  "name": "named-one"\n}}\n'
    )
    (root / "libs/one/src/index.ts").write_text("export function one() {}\n")
    text = "import { one } from '@one';\nimport * as other from 'named-one';\nexport function main() { one(); other.one(); }\n"
    (root / "app/main.ts").write_text(text)
    db = Database(tmp_path / "store")
    config = Config.model_validate({"embedding": {"provider": "none"}, "index": {"workers": 1}})

    def index() -> None:
        for _ in Indexer(db, root, config).run():
            pass

    index()
    graph = Graph(db)
    before = graph.callers("one")
    assert [(e.path, e.line, e.resolution) for e in before.rows] == [("app/main.ts", 3, "import")] * 2
    assert before.rows[0].text == "export function main() { one(); other.one(); }"
    (root / "app/main.ts").write_text("// moved\n" + text.replace("other.one();", ""))
    index()
    assert [(e.path, e.line) for e in graph.callers("one").rows] == [("app/main.ts", 4)]
    (root / "app/main.ts").write_text(text)
    index()
    assert graph.callers("one") == before
    (root / "app/main.ts").unlink()
    index()
    assert graph.callers("one").rows == ()
    db.close()
