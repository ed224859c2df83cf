"""The protocol of providers of vectors, and the embedded text of a passage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cm_tui.errors import ModelError
from cm_tui.model.status import NO_MODEL

Matrix = NDArray[np.float32]
_PREPARED = re.compile(r"(/native)?/r[0-9]+[^/]*(/redacted)?$")

INPUT_VERSION = 1
"""Version of the embedded text; part of every fingerprint, so that a change marks all stored vectors stale."""


def passage_text(title: str, text: str) -> str:
    """Return a passage's text for embedding: without the path, so that moved and copied code reuses its vector."""
    return f"{title}\n{text}" if title else text


class NotChosenError(ModelError):
    """The settings do not name this model any more: nothing is wrong with it."""


class Provider(Protocol):
    """A source of vectors. Safe to use from several threads."""

    @property
    def fingerprint(self) -> str:
        """Provider, model, dimensions and input version: vectors of different fingerprints are never compared."""

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0: unknown before the first response."""

    @property
    def batch(self) -> int:
        """Number of texts for one call of `embed`: enough to be fast, few enough to show progress."""

    def check(self) -> None:
        """Check whether the model is usable, without loading or contacting it.

        Raises ModelError if it is missing or damaged.
        """

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed passages.

        Returns unit rows (n, dimensions); zeros for a text without any known token. Raises ModelError if the model is
        missing, damaged or cannot be reached.
        """

    def embed_query(self, text: str) -> Matrix:
        """Embed a question: one unit vector (dimensions,).

        Raises ModelError if the model is missing, damaged or cannot be reached.
        """


SWITCHED_OFF = "Vectors are disabled: `embedding.provider` is none."


class NoProvider:
    """Vectors are switched off by the configuration."""

    fingerprint = NO_MODEL
    dimensions = 0
    batch = 1

    def check(self) -> None:
        """There is no model. Raises ModelError always."""
        self.embed([])

    def embed(self, texts: Sequence[str]) -> Matrix:
        """There is no model. Raises ModelError always."""
        _ = texts
        raise ModelError(
            SWITCHED_OFF,
            hint='Set embedding.provider = "bundled" to search by meaning too.',
        )

    def embed_query(self, text: str) -> Matrix:
        """There is no model. Raises ModelError always."""
        return self.embed([text])


def fingerprint(provider: str, model: str, dimensions: int | None) -> str:
    """Name a kind of vector, such as `bundled/code-static-256.2/256/r1`."""
    return f"{provider}/{model}/{dimensions or 'native'}/r{INPUT_VERSION}"


def model_name(fingerprint: str) -> str:
    """Return provider and model of a fingerprint, without the preparation of texts, for display."""
    return _PREPARED.sub("", fingerprint)


def unit_rows(matrix: Matrix) -> Matrix:
    """Scale rows to unit length; zeros stay zeros."""
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    norms[norms == 0] = 1
    return np.ascontiguousarray(matrix / norms[:, None], dtype=np.float32)


def encodable(text: str) -> str:
    """The text without lone surrogates, which arrive with undecodable arguments and break tokenizers."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
