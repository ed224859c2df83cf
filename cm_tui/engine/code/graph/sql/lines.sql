-- The passages of files with call sites. `{paths}`: a placeholder for each file, by which DuckDB skips blocks.
SELECT p.path, p.id, p.start_line, p.end_line
FROM passage p JOIN graph.file f ON f.path = p.path AND f.blob = p.blob
WHERE p.path IN ({paths});
