"""The owner process and the doors that lead to it: remote door, MCP, hooks, agents."""
