-- One row a site and definition that it may mean; no definition where it was not resolved. `near` are the sites.
WITH near AS MATERIALIZED ({near})
SELECT s.id, sf.path, s.line, s.kind, s.name, s.receiver, coalesce(e.choices, 1), coalesce(e.tier, 'unresolved'),
       coalesce(c.qualname, '<module>'), coalesce(c.kind, 'module'), coalesce(c.start_line, 0), coalesce(c.canon, -s.file),
       t.id, t.qualname, tf.path, t.kind, t.overload, t.start_line, t.canon
FROM {sites} s JOIN graph.file sf ON sf.id = s.file
LEFT JOIN (FROM {edges} WHERE site IN (FROM near)) e ON e.site = s.id
LEFT JOIN graph.def c ON c.id = s.holder
LEFT JOIN graph.def t ON t.id = e.node LEFT JOIN graph.file tf ON tf.id = t.file
WHERE s.id IN (FROM near) AND s.kind IN ({kinds})
ORDER BY sf.path, s.line, s.id, e.node;
