"""Passages, keywords, fusion, adjustments, reranking, explanation."""
