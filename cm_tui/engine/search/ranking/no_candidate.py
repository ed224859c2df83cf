"""Why a passage is not a candidate: its value on each side, compared with the last candidate's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking.candidate_table import Column
from cm_tui.engine.search.ranking.rank import Ranking
from cm_tui.model import Mode


def reasons(ranking: Ranking, row: int, mode: Mode) -> list[str]:
    """Return sentences on why neither side selected a passage.

    Args:
        ranking: of the candidates including the passage.
        row: of the passage.
        mode: active sides.
    """
    table, pool = ranking.table, ranking.profile.pool
    found = []
    if mode != "vector":
        own, worst = float(table.bm25_by_term[row].sum()), _worst(table.bm25_by_term.sum(axis=1), table.keyword_ranks)
        if not table.terms:
            found.append("No word of the query is anywhere in the project.")
        elif not own:
            found.append("It contains no word of the query.")
        else:
            found.append(f"Its words are worth {own:.2f} by BM25, the last of the {pool} best {worst:.2f}.")
    if mode != "keyword":
        cosine, worst = float(table.cosines[row]), _worst(table.cosines, table.vector_ranks)
        if np.isnan(cosine):
            found.append("It has no vector yet.")
        else:
            found.append(f"Its cosine is {cosine:.3f}, that of the last of the {pool} nearest {worst:.3f}.")
    else:
        found.append("Meaning is not compared in the mode keyword.")
    return found


def _worst(values: Column, ranks: NDArray[np.int64]) -> float:
    inside = values[ranks > 0]
    return float(inside.min()) if len(inside) else 0.0
