"""Context assembly for a prompt: mentions, rules and definitions, within a budget, with a trace."""
