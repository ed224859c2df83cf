"""The role of a file by its path: conventions that hold in any repository."""

from __future__ import annotations

import re
from functools import lru_cache

from cm_tui.engine.search.ranking import tokens

_TEST_FOLDERS = tokens.word_set(
    "test tests __tests__ spec specs testdata test_data test-data fixtures fixture __fixtures__ __mocks__ mocks "
    "__snapshots__ e2e integration-tests integration_tests unittest unittests unit-tests androidtest "
    "commontest jvmtest"
)
_TEST_FILE = re.compile(
    r"(?:^(?:test|tests|conftest|spec_helper|test_helpers?)$"
    r"|^test[_-]|[_.-](?:tests?|specs?|e2e|unittest)$"
    r"|(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|Suite|IT)$)"
)
_EXAMPLE_FOLDERS = tokens.word_set(
    "example examples _example _examples sample samples demo demos tutorial tutorials playground playgrounds "
    "benchmark benchmarks bench benches docs_src doc_src snippets"
)
_DOC_FOLDERS = tokens.word_set("doc docs documentation site website wiki man")
_DOC_SUFFIXES = tokens.word_set("md markdown mdx rst txt adoc asciidoc org html htm tex 1 3")
_LEGACY = tokens.word_set("legacy compat _compat compatibility deprecated obsolete polyfill polyfills shim shims old")
_VENDOR = tokens.word_set(
    "vendor vendored _vendor third_party third-party thirdparty 3rdparty external externals extern deps node_modules "
    "bower_components"
)
_BUNDLED = tokens.word_set("js cjs mjs css map ts")
"""Suffixes of files built into `dist` from sources elsewhere."""
_SETUP = tokens.word_set(
    "setup.py conf.py manage.py rakefile gemfile makefile cmakelists.txt dockerfile build.rs build.gradle "
    "build.gradle.kts settings.gradle build.sbt package.json pom.xml package.swift mix.exs gulpfile.js gruntfile.js "
    "cargo.toml pyproject.toml go.mod composer.json tsconfig.json build.zig"
)
_CONFIG = re.compile(
    r"\.config\.[cm]?[jt]s$|^\.[^/]+$|\.(?:json|ya?ml|toml|ini|cfg|lock|xml|csproj|sln|props|gemspec)$"
)
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$|\.pyi$")
_ENTRY = tokens.word_set("main __main__ app application cli index server lib mod")

ROLES = ("tests", "examples", "docs", "legacy", "vendored", "settings", "declarations")

_NAMED_BY = {
    "tests": tokens.word_set("test spec fixture mock unittest"),
    "examples": tokens.word_set("exampl sampl demo benchmark bench tutorial snippet"),
    "docs": tokens.word_set("doc document readm guid changelog licens manual"),
    "legacy": tokens.word_set("legac compat deprecat polyfill shim obsolet"),
    "vendored": tokens.word_set("vendor third part external"),
    "settings": tokens.word_set("setup build packag config configur settings set makefil docker gradl"),
    "declarations": tokens.word_set("declar stub typ"),
    "types": tokens.word_set("typ class struct interfac trait enum protocol model schema shap definit declar"),
    "values": tokens.word_set("constant const default valu vari field opt config configur set settings enum"),
}
"""Stems that request files of a role, or symbols of a kind, which are then not ranked down."""


@lru_cache(maxsize=1 << 15)
def roles(path: str) -> frozenset[str]:
    """Roles of a file by its path."""
    *folders, name = path.split("/")
    stem, _, suffix = name.partition(".") if name.startswith(".") else (*_stem(name), name.rpartition(".")[2])
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    below = {folder.lower() for folder in folders}
    found = set()
    if below & _TEST_FOLDERS or _TEST_FILE.search(stem) or any(_is_test_project(folder) for folder in folders):
        found.add("tests")
    if below & _EXAMPLE_FOLDERS:
        found.add("examples")
    if below & _DOC_FOLDERS or suffix in _DOC_SUFFIXES:
        found.add("docs")
    if below & _LEGACY or stem.lower().strip("_") in _LEGACY:
        found.add("legacy")
    if below & _VENDOR or ("dist" in below and suffix in _BUNDLED):
        found.add("vendored")
    if name.lower() in _SETUP or _CONFIG.search(name.lower()):
        found.add("settings")
    if _DECLARATIONS.search(name):
        found.add("declarations")
    return frozenset(found)


def asked_for(role: str, stems: frozenset[str]) -> bool:
    """Return whether a query's words ask for files of a role."""
    return bool(_NAMED_BY[role] & stems)


def file_stem(path: str) -> str:
    """Name of a file without folder and suffix: `a/b.test.ts` gives `b.test`, `c.d.ts` gives `c`."""
    name = path.rpartition("/")[2]
    return _DECLARATIONS.sub("", name) if _DECLARATIONS.search(name) else _stem(name)[0]


def _stem(name: str) -> tuple[str, str]:
    head, dot, _ = name.rpartition(".")
    return (head, dot) if head else (name, "")


def _is_test_project(folder: str) -> bool:
    """`My.Product.Tests`, `core-test`: a whole module of tests, as in .NET, Java and Kotlin projects."""
    return re.search(r"[._-](?:unit)?tests?$", folder, re.IGNORECASE) is not None
