-- One row a site that bears one of some names (by name and family) and of which nothing is known: neither what it means, nor
-- what it may mean, nor that it comes from outside.
WITH named AS MATERIALIZED (
    SELECT s.* FROM {sites} s JOIN (SELECT unnest(?::VARCHAR[]) AS name, unnest(?::VARCHAR[]) AS family) n
    ON n.name = s.name AND n.family = s.family WHERE s.kind IN ({kinds})
)
SELECT sf.path, coalesce(c.qualname, '<module>'), coalesce(c.kind, 'module'), s.line, s.kind, s.name, s.family, coalesce(c.start_line, 0)
FROM named s JOIN graph.file sf ON sf.id = s.file
LEFT JOIN graph.def c ON c.id = s.holder
WHERE s.id NOT IN (SELECT site FROM {edges} WHERE site IN (SELECT id FROM named))
ORDER BY sf.path, s.line, s.id;
