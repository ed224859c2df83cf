"""Providers of vectors: the bundled model, any fastembed model, any OpenAI-compatible endpoint, or none."""
