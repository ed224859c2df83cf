"""The daemon and the engines that lead to it: remote engine, MCP, hooks, agents."""
