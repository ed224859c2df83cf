"""The steps of retrieval definitions, one file each."""
