"""Assembly: what is handed over for a prompt, from mentions, rules and definitions, within a budget, with its trace."""
