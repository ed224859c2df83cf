"""Charts are well-formed, keep their lines within the axes, and their labels apart."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.chart import _BOTTOM, _LEFT, _RIGHT, _TOP, HEIGHT, WIDTH, Chart

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(0, 1e7, allow_nan=False)
SERIES = st.dictionaries(
    st.text("ab<&\"'é ", min_size=1), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=5), max_size=4
)


@given(series=SERIES, target=st.none() | NUMBERS)
def test_any_figures_are_drawn_within_the_axes(series, target):
    root = ET.fromstring(Chart("A <title> & more", "commits", "ms", series, target).svg())
    lines = [line.get("points") for line in root.iter(f"{SVG}polyline")]
    assert len(lines) == sum(bool(points) for points in series.values())
    for point in " ".join(lines).split():
        x, y = map(float, point.split(","))
        assert _LEFT <= x <= WIDTH - _RIGHT
        assert _TOP - 0.1 <= y <= HEIGHT - _BOTTOM
    labels = [float(text.get("y")) for text in root.iter(f"{SVG}text") if text.get("x") == str(WIDTH - _RIGHT + 8)]
    assert all(below - above > 13 for above, below in zip(sorted(labels), sorted(labels)[1:], strict=False))


def test_a_chart_can_be_read_in_light_dark_and_grey():
    text = Chart("Speed", "commits", "ms", {"one": [(0, 1), (10, 40)], "two": [(0, 2), (10, 41)]}, 50).svg()
    assert "prefers-color-scheme: dark" in text
    for label in ("one: 40", "two: 41", "target: 50", "Speed", "commits"):
        assert f">{label}</text>" in text
    dashes = {line.get("stroke-dasharray") for line in ET.fromstring(text).iter(f"{SVG}polyline")}
    assert len(dashes) == 2


@pytest.mark.parametrize("highest", [0.003, 0.9, 7, 49, 50, 6454, 123_456])
def test_ticks_are_few_and_round(highest):
    root = ET.fromstring(Chart("t", "x", "y", {"a": [(0, 0), (highest, highest)]}).svg())
    assert 3 <= len(list(root.iter(f"{SVG}line"))) <= 12
