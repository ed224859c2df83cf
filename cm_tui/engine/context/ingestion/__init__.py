"""Ingestion: pipelines that write into the memory on events; independent of indexing."""
