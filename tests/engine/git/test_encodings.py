"""Encodings of sources and commits: every way to declare one, and what happens without."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.platform.git.encodings import (
    _CODECS,
    UNDECLARED,
    codec_of,
    decode,
    decode_message,
    to_utf8,
    wide_text,
)
from cm_tui.engine.platform.git.repository import Repository
from tests.gitrepo import Repo

GERMAN, RUSSIAN, JAPANESE, KOREAN, CHINESE = (
    "größe_berechnen",
    "вычислить",
    "合計金額を計算する",
    "계산하다",
    "计算总额",
)
DECLARED = [
    ("# -*- coding: latin-1 -*-", GERMAN, "latin-1"),
    ("#!/usr/bin/python\n# -*- coding: iso-8859-15 -*-", GERMAN + "€", "iso-8859-15"),
    ("# coding=cp1251", RUSSIAN, "cp1251"),
    ("# encoding: koi8-r", RUSSIAN, "koi8-r"),
    ("# This Python file uses the following encoding: windows-1252", GERMAN + "€", "cp1252"),
    ("// -*- mode: c++; coding: latin-1-unix; -*-", GERMAN, "latin-1"),
    (";; -*- coding: euc-jp -*-", JAPANESE, "euc_jp"),
    ("# vim: set fileencoding=shift_jis :", JAPANESE, "shift_jis"),
    ("/* vim: fenc=sjis */", JAPANESE + "①", "cp932"),
    ('<?xml version="1.0" encoding="GB2312"?>', CHINESE, "gbk"),
    ("<?xml version='1.0' encoding='windows-31j'?>", JAPANESE, "cp932"),
    ('<!doctype html>\n<meta charset="euc-kr">', KOREAN, "euc_kr"),
    ('<html><head><META content="text/html; charset=Big5">', "計算總額", "big5"),
    ('@charset "iso-8859-2";', "wyliczyć", "iso8859-2"),
    ("# coding: iso-2022-jp", JAPANESE, "iso2022_jp"),
    ("# coding: hz", CHINESE, "hz"),
]


def test_codecs_have_the_names_that_python_gives_them():
    assert {name for name in _CODECS if codecs.lookup(name).name != name} == set()


@pytest.mark.parametrize(("line", "word", "codec"), DECLARED)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_declared_encoding_is_used(line, word, codec, end):
    text = f"{line}\nx = 1\n{word}\n"
    found = decode(text.replace("\n", end).encode(codec))
    assert found == (text, "")


def test_vim_looks_at_the_end_too():
    text = f"{RUSSIAN}\n" + "x\n" * 40 + "-- vim: fileencoding=cp1251\n"
    assert decode(text.encode("cp1251")) == (text, "")


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("word", [GERMAN, JAPANESE, "😀"])
def test_a_byte_order_mark_decides(codec, word):
    text = f"# coding: latin-1\nclass {word}:\n"
    mark = "\ufeff" if codec[-2:] in {"le", "be"} else ""
    data = (mark + text).encode(codec)
    assert decode(data) == (text, "")
    assert codec == "utf-8-sig" or wide_text(data) == text


@pytest.mark.parametrize(("line", "word", "codec"), DECLARED)
def test_what_is_declared_elsewhere_comes_second(line, word, codec):
    data = f"{line}\n{word}\n".encode(codec)
    assert decode(data, "cp437").text == f"{line}\n{word}\n"
    assert decode(f"{word}\n".encode(codec), codec) == (f"{word}\n", "")


def test_valid_utf8_is_read_so_whatever_it_says_it_is():
    for line, word, codec in DECLARED:
        text = f"{line}\n{word}\n"
        assert decode(text.encode()) == (text, "")
        assert decode(text.encode(), codec) == (text, "")


@pytest.mark.parametrize("line", ["", "# coding: no-such-thing\n", "# coding: utf-8\n", "# coding: unicode_escape\n"])
def test_without_a_known_encoding_no_letter_of_a_name_is_lost(line):
    text, problem = decode(f"{line}def {GERMAN}():\n".encode("latin-1"))
    assert text == f"{line}def {GERMAN}():\n"
    assert problem == UNDECLARED
    # Only the bytes that are not UTF-8 are read as something else.
    mixed = decode(f"def {JAPANESE}(): # ".encode() + "Größe\n".encode("cp1252"))
    assert mixed == (f"def {JAPANESE}(): # Größe\n", UNDECLARED)


def test_a_cut_file_with_a_mark_says_so():
    assert decode("\ufeffab".encode("utf-16-le")[:-1]) == ("a�", "some bytes are not valid UTF-16-LE")
    assert decode(b"\xef\xbb\xbfgr\xf6\xdfe") == ("größe", "some bytes are not valid UTF-8")


@pytest.mark.parametrize(
    "name",
    ["", "rot13", "hex", "zlib", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs",
     "utf-7", "../x", "a\0b", "x" * 9000, "é"],
)  # fmt: skip
def test_a_codec_that_decodes_no_text_is_none(name):
    assert codec_of(name) == ""


@given(st.binary(max_size=300), st.sampled_from(["", "latin-1", "utf-16", "shift_jis", "nonsense"]))
def test_any_bytes_become_text(data, encoding):
    text, _ = decode(data, encoding)
    assert text.encode().decode() == text
    assert "\r\n" not in text
    decode_message(data, encoding)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), max_size=40))
def test_conversion_to_utf8_gives_the_text(text):
    for encoding in ("utf-16", "UTF-16LE", "UTF-16BE-BOM", "utf-32", "UTF-8", "gb18030"):
        codec = encoding.removesuffix("-BOM")
        mark = "\ufeff" if encoding.endswith("BOM") else ""
        assert to_utf8((mark + text).encode(codec), encoding) == text.encode()
    assert to_utf8(b"\xff", "no-such-thing") is None


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("ISO-8859-1", "Menü"), ("ISO-8859-15", "€uro ü"), ("CP1251", RUSSIAN), ("Shift_JIS", JAPANESE),
     ("EUC-JP", JAPANESE), ("ISO-2022-JP", JAPANESE), ("UTF-8", JAPANESE), ("", "Menü gefixt"), ("", JAPANESE)],
)  # fmt: skip
@pytest.mark.parametrize("author", ["{} <a@example.org>", "{}"])
def test_commits_are_read_by_their_header(tmp_path, encoding, word, author):
    repo = Repo(tmp_path / "app")
    repo.commit()
    tree = repo.git("rev-parse", "HEAD^{tree}")
    header = f"encoding {encoding}\n" if encoding else ""
    who = author.format(word)
    text = f"tree {tree}\nauthor {who} 1 +0000\ncommitter {who} 1 +0000\n{header}\n{word} subject\n\nbody {word}\n"
    codec = encoding or ("latin-1" if word.isascii() or max(word) < "\u0100" else "utf-8")
    raw = repo.write("raw", text.encode(codec))
    sha = repo.git("hash-object", "-t", "commit", "-w", "--literally", str(raw))
    info = Repository(repo.root, tmp_path / "shadow").commit(sha)
    assert info.subject == f"{word} subject"
    assert info.author.startswith(word)
