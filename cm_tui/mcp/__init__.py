"""Agents reach the memory by the Model Context Protocol: over stdio, and over HTTP on the daemon."""

from cm_tui.mcp.server import build, http_app
from cm_tui.mcp.tools import SETS, choose

__all__ = ["SETS", "build", "choose", "http_app"]
