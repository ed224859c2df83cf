-- The lines of call sites, from the passages that hold them.
SELECT k.path, k.line, trim(string_split(p.text, chr(10))[k.line - p.start_line + 1])
FROM (SELECT DISTINCT unnest(?::VARCHAR[]) AS path, unnest(?::INTEGER[]) AS line) k
JOIN graph.file f ON f.path = k.path
JOIN passage p ON p.path = k.path AND p.blob = f.blob AND k.line BETWEEN p.start_line AND p.end_line;
