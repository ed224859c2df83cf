"""DuckDB's full-text extension, which can read the keyword index, too, as that uses its layout."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import duckdb

from cm_tui.errors import StoreError


def extension_file() -> Path | None:
    """Return the bundled extension for this version of DuckDB."""
    try:
        folder = resources.files("duckdb_extension_fts") / "extensions"
    except ModuleNotFoundError:
        return None
    file = Path(str(folder)) / f"v{duckdb.__version__}" / "fts.duckdb_extension"
    return file if file.is_file() else None


def load_fts(connection: duckdb.DuckDBPyConnection) -> str:
    """Load the extension: the bundled one, else one that DuckDB has installed before.

    Returns its origin. Raises StoreError if neither exists. Keyword search does not need it; `match_bm25` in the user's
    own SQL does.
    """
    file = extension_file()
    try:
        if file is not None:
            quoted = str(file).replace("'", "''")
            connection.execute(f"LOAD '{quoted}'")
            return f"fts {duckdb.__version__}, from the installation"
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute("LOAD fts")
    except duckdb.Error as error:
        raise StoreError(
            f"DuckDB's full-text extension for {duckdb.__version__} cannot be loaded: {error}",
            hint="pip install duckdb-extension-fts, in the same version as duckdb.",
        ) from error
    return f"fts {duckdb.__version__}, installed before"
