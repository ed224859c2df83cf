"""The HTTP transport alone, for suites from elsewhere: `python -m tests.mcp.serve PROJECT PORT`."""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn

from cm_tui.mcp import http_app
from cm_tui.mcp.engine_pool import EnginePool

if __name__ == "__main__":
    uvicorn.run(http_app(EnginePool(Path(sys.argv[1]))), host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
