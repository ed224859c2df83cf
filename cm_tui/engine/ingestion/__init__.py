"""Ingestion: what pipelines write into the memory when something happens; indexing is something else."""
