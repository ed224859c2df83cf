"""Supported languages, and facts about them that a query file cannot express."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cm_tui.engine.platform.git.encodings import wide_text

EXTRACTOR_VERSION = "9"
"""Increased whenever the same bytes would give other rows: because of this table, a query or the extractor."""


@dataclass(frozen=True, eq=False)
class Language:
    """Language or text format.

    `grammar` and `queries` are empty for formats that are cut by lines. `parameters` gives the role (`optional`,
    `variadic`, `skip`) of node types in a parameter list, also as a direct child of a parameter; others are required
    unless they have a field of `optional_fields`. `default` and `spread` are next to the parameter that they make
    optional; `*` is the role of all other types, `inside` sends one of them to its children; `>` before a type means
    only those directly in the list.
    """

    name: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    grammar: str = ""
    queries: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    optional_fields: tuple[str, ...] = ("value", "default_value", "default")
    grouped_parameters: bool = False
    """One parameter node may declare several names (Go)."""
    self_names: frozenset[str] = frozenset()
    """Names of a method's first parameter that calls do not pass."""
    constructors: frozenset[str] = frozenset()
    constructor_is_class_name: bool = False
    annotations_inside: bool = False
    """Annotations are a part of the definition's node; a signature leaves them out."""
    clauses: bool = False
    """Definitions of one function that follow one another are its clauses."""
    recovery: str = ""
    """First line of a function, for functions that the grammar loses in an error."""
    recover_always: bool = False
    """Functions are lost without an error too: inside macros that are only tokens to the grammar."""
    macros: bool = False
    """A preprocessor expands macros before the grammar counts; unexpanded, they make declarations look like calls."""
    transparent: frozenset[str] = frozenset()
    """Generic types that are replaced by their first argument."""
    builtin: frozenset[str] = frozenset()
    """Types of the language itself: neither referred to nor bound."""
    known_types: frozenset[str] = frozenset()
    """Those of them that are bound anyway: calls on their objects are known to be outside."""

    @cached_property
    def parsed(self) -> bool:
        """Whether a grammar reads it."""
        return bool(self.grammar)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JS: dict[str, Any] = {
    "annotations_inside": True,
    "parameters": {
        "optional_parameter": "optional", "assignment_pattern": "optional", "rest_pattern": "variadic",
    },
    "constructors": _words("constructor"),
    "transparent": _words("Promise Readonly Partial Required NonNullable Awaited"),
    "builtin": _words(
        "string number boolean any void null undefined never unknown object symbol bigint this true false Array Record "
        "ReadonlyArray Set Map Date RegExp Function Object String Number Boolean Error const"
    ),
}  # fmt: skip
_C_TYPES = _words(
    "void int char short long float double signed unsigned bool _Bool size_t ssize_t auto wchar_t int8_t int16_t int32_t "
    "int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t ptrdiff_t FILE va_list off_t"
)
_C_PARAMETERS = {"variadic_parameter": "variadic", "optional_parameter_declaration": "optional",
                 "variadic_parameter_declaration": "variadic", "...": "variadic"}  # fmt: skip

_CSHARP: dict[str, Any] = {
    "grammar": "csharp", "queries": ("csharp",),
    # `params T[] rest` is no node of its own: its type and name are in the list.
    "parameters": {"=": "optional", "equals_value_clause": "optional", ">array_type": "variadic", ">identifier": "skip"},
    "self_names": _words("this"), "constructor_is_class_name": True, "annotations_inside": True,
    "transparent": _words("Task ValueTask Nullable Lazy"),
    "builtin": _words(
        "void int long short byte char float double decimal bool string object var dynamic uint ulong ushort sbyte nint nuint "
        "String Object Int32 Int64 Boolean"
    ),
}  # fmt: skip

_ALL = (
    Language(
        "python", (".py", ".pyi", ".pyw", ".pyx"), ("SConstruct", "SConscript", "wscript"), ("python", "pypy"),
        grammar="python", queries=("python",),
        parameters={
            "default_parameter": "optional", "typed_default_parameter": "optional", "list_splat_pattern": "variadic",
            "dictionary_splat_pattern": "variadic", "keyword_separator": "skip", "positional_separator": "skip",
        },
        optional_fields=(),
        self_names=_words("self cls mcs mcls metacls"), constructors=_words("__init__"),
        transparent=_words("Optional Union Annotated ClassVar Final Type type Required NotRequired ReadOnly InitVar"),
        builtin=_words("str int float bool bytes bytearray complex object None list dict set frozenset tuple type Any "
                       "True False Ellipsis Optional Union Literal"),
    ),
    Language("typescript", (".ts", ".mts", ".cts"), (), ("deno", "ts-node", "tsx", "bun"),
             grammar="typescript", queries=("ecma", "typescript"), **_JS),
    Language("tsx", (".tsx",), grammar="tsx", queries=("ecma", "typescript", "jsx"), **_JS),
    Language("javascript", (".js", ".jsx", ".mjs", ".cjs", ".es6"), ("Jakefile",), ("node", "nodejs"),
             grammar="javascript", queries=("ecma", "javascript", "jsx"), **_JS),
    Language(
        "go", (".go",), grammar="go", queries=("go",), grouped_parameters=True,
        parameters={"variadic_parameter_declaration": "variadic"},
        builtin=_words("string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64 "
                       "complex64 complex128 bool error any comparable"),
    ),
    Language(
        "rust", (".rs",), grammar="rust", queries=("rust",), recover_always=True,
        recovery=r'\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern\s+"C")\s+)*fn\s+(?P<name>[A-Za-z_]\w*)\b.*$',
        parameters={"self_parameter": "skip", "attribute_item": "skip", "variadic_parameter": "variadic"},
        # Calls are made on the result of `?`, `.await` or `unwrap`.
        transparent=_words("Box Rc Arc RefCell Cell Mutex RwLock Cow Pin Ref RefMut Option Result"),
        builtin=_words("i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char str String Vec Option Result "
                       "self"),
        known_types=_words("str String Vec"),
    ),
    Language(
        "java", (".java",), annotations_inside=True, grammar="java", queries=("java",),
        parameters={"spread_parameter": "variadic", "receiver_parameter": "skip"}, constructors=_words("<init>"),
        builtin=_words("void int long short byte char float double boolean String Object Integer Long Short Byte Character "
                       "Float Double Boolean var"),
        known_types=_words("String Object Integer Long Short Byte Character Float Double Boolean"),
    ),
    Language("c", (".c", ".h"), grammar="c", queries=("c",), macros=True, parameters=_C_PARAMETERS, builtin=_C_TYPES),
    Language(
        "cpp", (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".cu", ".cuh", ".ino"),
        grammar="cpp", queries=("c", "cpp"), macros=True, parameters=_C_PARAMETERS, constructor_is_class_name=True,
        transparent=_words("unique_ptr shared_ptr weak_ptr optional reference_wrapper"), builtin=_C_TYPES,
    ),
    Language("csharp", (".cs", ".csx"), **_CSHARP),
    Language("razor", (".razor", ".cshtml"), **_CSHARP),
    Language(
        "ruby", (".rb", ".rake", ".gemspec", ".ru", ".podspec"),
        ("Rakefile", "Gemfile", "Guardfile", "Vagrantfile", "Capfile", "Podfile", "Brewfile", "Fastfile"), ("ruby", "jruby"),
        grammar="ruby", queries=("ruby",), constructors=_words("initialize"),
        parameters={"optional_parameter": "optional", "splat_parameter": "variadic", "hash_splat_parameter": "variadic",
                    "block_parameter": "skip", "keyword_parameter": "optional", "forward_parameter": "variadic"},
    ),
    Language(
        "php", (".php", ".phtml", ".php5", ".inc"), (), ("php",), grammar="php", queries=("php",),
        parameters={"variadic_parameter": "variadic"}, constructors=_words("__construct"),
        builtin=_words("string int float bool array mixed void null iterable callable object self static never false true"),
    ),
    Language(
        "kotlin", (".kt", ".kts"), grammar="kotlin", queries=("kotlin",), constructors=_words("constructor"),
        # A default value and `vararg` are next to their parameter; `*`: all other types.
        parameters={"parameter": "required", "class_parameter": "inside", "=": "optional",
                    "parameter_modifiers": "spread", "*": "default"},
        builtin=_words("Int Long Short Byte Char Float Double Boolean String Any Unit Nothing"),
    ),
    Language(
        "swift", (".swift",), (), ("swift",), grammar="swift", queries=("swift",), constructors=_words("init"),
        parameters={"=": "optional", "...": "variadic"},
        builtin=_words("Int Int8 Int16 Int32 Int64 UInt UInt8 Float Double Bool String Character Any AnyObject Void Self"),
    ),
    Language(
        "scala", (".scala", ".sc", ".sbt"), (), ("scala",), grammar="scala", queries=("scala",),
        constructors=_words("this"), parameters={"repeated_parameter_type": "variadic"},
        builtin=_words("Int Long Short Byte Char Float Double Boolean String Any AnyRef AnyVal Unit Nothing Null"),
    ),
    Language("lua", (".lua", ".rockspec"), (), ("lua", "luajit"), grammar="lua", queries=("lua",),
             parameters={"identifier": "optional", "vararg_expression": "variadic"}, self_names=_words("self")),
    Language("bash", (".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
             (".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD", "configure"), ("bash", "sh", "zsh", "dash", "ksh"),
             grammar="bash", queries=("bash",),
             recovery=r"\s*(?:function\s+|(?=[\w:.@-]+\s*\(\s*\)))(?P<name>[\w:.@-]+)\s*(?:\(\s*\))?\s*(?:[({].*)?$"),
    Language("elixir", (".ex", ".exs"), ("mix.lock",), ("elixir",), grammar="elixir", queries=("elixir",),
             parameters={"\\\\": "optional"}, optional_fields=(), clauses=True),
    Language(
        "dart", (".dart",), (), ("dart",), grammar="dart", queries=("dart",),
        parameters={"optional_formal_parameters": "variadic"}, transparent=_words("Future FutureOr"),
        builtin=_words("int double num bool String void dynamic Object Null var"),
    ),
    Language(
        "zig", (".zig", ".zon"), grammar="zig", queries=("zig",), self_names=_words("self"),
        builtin=_words("u8 u16 u32 u64 i8 i16 i32 i64 usize isize f32 f64 bool void anytype type anyerror noreturn"),
    ),
    Language("haskell", (".hs", ".lhs", ".hsc"), (), ("runhaskell", "runghc", "stack"), grammar="haskell", queries=("haskell",),
             clauses=True, builtin=_words("Int Integer Bool Char String Double Float IO Maybe Either")),
    Language("fsharp", (".fs", ".fsx", ".fsi"), (), ("dotnet",), grammar="fsharp", queries=("fsharp",),
             constructors=_words("new"),
             builtin=_words("int string bool float unit obj char byte int64 decimal list option seq array")),
    Language("markdown", (".md", ".markdown", ".mdx", ".mdown", ".qmd", ".rmd"), grammar="markdown", queries=("markdown",)),
    Language("vbnet", (".vb", ".vbs", ".bas")),
    Language("json", (".json", ".jsonc", ".json5", ".jsonl", ".ndjson", ".geojson", ".ipynb"),
             (".babelrc", ".eslintrc", ".prettierrc")),
    Language("yaml", (".yaml", ".yml"), (".clang-format",)),
    Language("toml", (".toml",), ("Pipfile", "poetry.lock", "Cargo.lock", "uv.lock")),
    Language("ini", (".ini", ".cfg", ".conf", ".properties", ".env", ".editorconfig"),
             (".editorconfig", ".gitconfig", ".npmrc", ".env")),
    Language("html", (".html", ".htm", ".xhtml", ".jinja", ".jinja2", ".j2", ".hbs", ".ejs")),
    Language("xml", (".xml", ".xsd", ".xsl", ".xslt", ".svg", ".csproj", ".vbproj", ".fsproj", ".props", ".targets", ".plist")),
    Language("css", (".css", ".tcss")),
    Language("scss", (".scss", ".sass", ".less")),
    Language("sql", (".sql", ".ddl", ".psql")),
    Language("graphql", (".graphql", ".gql")),
    Language("protobuf", (".proto",)),
    Language("vue", (".vue",)),
    Language("svelte", (".svelte",)),
    Language("dockerfile", (".dockerfile",), ("Dockerfile", "Containerfile")),
    Language("make", (".mk", ".mak"), ("Makefile", "makefile", "GNUmakefile", "justfile", "Justfile")),
    Language("cmake", (".cmake",), ("CMakeLists.txt",)),
    Language("terraform", (".tf", ".tfvars", ".hcl")),
    Language("nix", (".nix",)),
    Language("r", (".r",), (".Rprofile",), ("Rscript",)),
    Language("julia", (".jl",), (), ("julia",)),
    Language("perl", (".pl", ".pm", ".t"), (), ("perl",)),
    Language("objc", (".m", ".mm")),
    Language("groovy", (".groovy", ".gradle"), ("Jenkinsfile",), ("groovy",)),
    Language("clojure", (".clj", ".cljs", ".cljc", ".edn"), (), ("bb",)),
    Language("ocaml", (".ml", ".mli")),
    Language("erlang", (".erl", ".hrl"), ("rebar.config",), ("escript",)),
    Language("elm", (".elm",)),
    Language("nim", (".nim", ".nims")),
    Language("crystal", (".cr",), (), ("crystal",)),
    Language("fish", (".fish",), (), ("fish",)),
    Language("powershell", (".ps1", ".psm1", ".psd1"), (), ("pwsh",)),
    Language("batch", (".bat", ".cmd")),
    Language("vim", (".vim",), (".vimrc",)),
    Language("solidity", (".sol",)),
    Language("latex", (".tex", ".sty", ".bib")),
    Language("rst", (".rst",)),
    Language("asciidoc", (".adoc", ".asciidoc")),
    Language("org", (".org",)),
    Language("csv", (".csv", ".tsv")),
    Language("text", (".txt", ".text", ".log")),
)  # fmt: skip

LANGUAGES: Mapping[str, Language] = {language.name: language for language in _ALL}
"""By name."""

_ALSO_CALLED = {
    "c#": "csharp", "docker": "dockerfile", "f#": "fsharp", "golang": "go", "objective-c": "objc",
    "shell": "bash", "vb": "vbnet", "visualbasic": "vbnet",
}  # fmt: skip
_WITHIN = {"typescript": ("tsx",)}
"""Languages implied by another."""

_BY_EXTENSION = {extension: language.name for language in _ALL for extension in language.extensions}
_BY_FILENAME = {name: language.name for language in _ALL for name in language.filenames}
_BY_INTERPRETER = {name: language.name for language in _ALL for name in language.interpreters}
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?env\s+(?:-\S+\s+|\w+=\S+\s+)*(?:\S*/)?([^\s/]+)|#!\s*(?:\S*/)?([^\s/]+)")
_CPP_HEADER = re.compile(
    rb"^\s*(?:class\s+\w|namespace\s|template\s*<|using\s|public:|private:|protected:|virtual\s)|\bstd::", re.MULTILINE
)
_SHOWN_HEAD = 4096
_CPP_FURTHER_DOWN = re.compile(
    rb"^[ \t]*(?:class\s+(?:[A-Z_]+\s+)?\w+\s*(?:final\s*)?[:{]|namespace\s+[\w:]+\s*\{|template\s*<|using\s+[\w:]+\s*[=;]"
    rb"|using\s+namespace\s)",
    re.MULTILINE,
)
"""Lines that no comment of a C header contains by chance, for headers that begin with a long one."""


HEAD_BYTES = 65_536
"""Bytes of a file to check when its name does not determine its language."""


def called() -> dict[str, tuple[str, ...]]:
    """Return the languages by every name for them: their own, an extension, another name.

    The language of that name comes first, then the implied ones.
    """
    names = {
        **{extension[1:]: name for extension, name in _BY_EXTENSION.items()},
        **_ALSO_CALLED,
        **{name: name for name in LANGUAGES},
    }
    return {word: (name, *_WITHIN.get(name, ())) for word, name in names.items()}


def language_of(path: str, head: bytes = b"") -> str:
    """Name the language of a file.

    `path`: its path; only the name counts. `head`: the first bytes of its content, for scripts without an extension and
    for C++ headers called `.h`. Returns a key of `LANGUAGES`; `text` for any other text.
    """
    name = path.rpartition("/")[2]
    if name in _BY_FILENAME:
        return _BY_FILENAME[name]
    if b"\0" in head and (text := wide_text(head[: len(head) // 4 * 4])) is not None:
        head = text.encode()
    if name.startswith(("Dockerfile.", "Containerfile.")):
        return "dockerfile"
    stem, dot, extension = name.rpartition(".")
    language = _BY_EXTENSION.get(f".{extension}".lower()) if dot and stem else None
    if extension == "h" and stem and (_CPP_HEADER.search(head[:_SHOWN_HEAD]) or _CPP_FURTHER_DOWN.search(head)):
        return "cpp"
    if language is not None:
        return language
    if head.startswith(b"#!") and (match := _SHEBANG.match(head)):
        interpreter = (match[1] or match[2]).decode("ascii", "replace").lower()
        return _BY_INTERPRETER.get(interpreter) or _BY_INTERPRETER.get(interpreter.rstrip("0123456789.")) or "text"
    return "text"
