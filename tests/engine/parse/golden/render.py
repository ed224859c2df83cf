"""Write what the extractor says about each sample as text: `python tests/engine/parse/golden/render.py` renews the files.

Read the difference before committing it: the files are what a person checked against the samples.
"""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedBlob
from cm_tui.engine.code.scan.languages import language_of

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples"


def parse_sample(name: str) -> ParsedBlob:
    data = (SAMPLES / name).read_bytes()
    return parse_blob("0" * 40, language_of(name, data), data)


def render(blob: ParsedBlob) -> str:
    def where(index: int | None) -> str:
        return "-" if index is None else blob.symbols[index].qualname

    lines = [f"{blob.language}, {blob.lines} lines", "", "symbols"]
    for s in blob.symbols:
        arguments = "" if s.min_args is None else f" ({s.min_args}..{'' if s.max_args is None else s.max_args})"
        number = f" #{s.overload}" if s.overload else ""
        lines.append(f"  {s.start_line}-{s.end_line} {s.kind} {s.qualname}{number}{arguments} in {where(s.parent)}")
        lines.append(f"      {s.signature}")
        lines.extend(f"      | {line}" for line in s.doc.splitlines())
    lines += ["", "references"]
    for r in blob.references:
        receiver = f"{r.receiver} . " if r.receiver else ""
        arity = "" if r.arity is None else f"/{r.arity}"
        lines.append(f"  {r.line} {r.kind} {receiver}{r.name}{arity} in {where(r.symbol)}")
    lines += ["", "imports"]
    for i in blob.imports:
        parts = [i.module, i.name and f"name {i.name}", i.alias and f"as {i.alias}", i.reexport and "again exported"]
        lines.append(f"  {i.line} " + ", ".join(str(part) for part in parts if part) + f" in {where(i.symbol)}")
    lines += ["", "bindings"]
    lines.extend(f"  {b.line} {b.kind} {b.name or '()'}: {b.type} in {where(b.scope)}" for b in blob.bindings)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for sample in sorted(SAMPLES.iterdir()):
        (HERE / f"{sample.name}.txt").write_text(render(parse_sample(sample.name)), encoding="utf-8")
