"""Context: what is handed over to an agent for a prompt, from which sources, and why."""
