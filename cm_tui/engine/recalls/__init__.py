"""How often what is remembered was recalled, when and by whom: kept outside the index."""
