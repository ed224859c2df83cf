"""The records that the engine and its front ends share."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from cm_tui import model
from cm_tui.daemon.rpc import METHODS


def test_every_name_comes_from_the_module_that_has_it():
    assert set(model._HOME_OF) == set(model.__all__)
    for name in model.__all__:
        assert getattr(model, name) is not None
    assert set(model.__all__) <= set(dir(model))


def test_a_name_that_is_none_is_told_as_any_module_would():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = model.Nothing


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_types_of_every_method_are_known(method):
    assert "return" in get_type_hints(method._function)
