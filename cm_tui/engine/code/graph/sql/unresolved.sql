-- One row a site that bears the name of a symbol in `wanted` and of which nothing is known: neither what it means, nor what it
-- may mean, nor that it comes from outside.
WITH name AS (
    SELECT DISTINCT d.name, d.family FROM wanted w JOIN graph.def d ON d.canon = w.id
    WHERE d.name NOT IN (SELECT unnest(?::VARCHAR[]))
)
SELECT sf.path, coalesce(c.qualname, '<module>'), coalesce(c.kind, 'module'), s.line, s.kind, s.name, s.family, coalesce(c.start_line, 0)
FROM {sites} s JOIN name n ON n.name = s.name AND n.family = s.family JOIN graph.file sf ON sf.id = s.file
LEFT JOIN graph.def c ON c.id = s.holder
WHERE s.kind IN ({kinds}) AND NOT EXISTS (SELECT 1 FROM {edges} e WHERE e.site = s.id)
ORDER BY sf.path, s.line, s.id;
