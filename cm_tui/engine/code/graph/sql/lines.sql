-- The passages that hold the lines of call sites.
SELECT k.path, k.line, p.id, p.start_line
FROM (SELECT DISTINCT unnest(?::VARCHAR[]) AS path, unnest(?::INTEGER[]) AS line) k
JOIN graph.file f ON f.path = k.path
JOIN passage p ON p.path = k.path AND p.blob = f.blob AND k.line BETWEEN p.start_line AND p.end_line;
