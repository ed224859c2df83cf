"""From files to symbols, edges and their history."""
