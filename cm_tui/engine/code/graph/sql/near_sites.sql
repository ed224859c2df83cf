-- One row a site and definition that it may mean; no definition where it was not resolved.
SELECT s.id, e.node, sf.path, s.line, s.kind, s.name, s.receiver, coalesce(e.choices, 1), coalesce(e.tier, 'unresolved'),
       coalesce(c.qualname, '<module>'), coalesce(c.kind, 'module'), coalesce(c.start_line, 0), coalesce(c.canon, -s.file)
FROM near_site s JOIN graph.file sf ON sf.id = s.file
LEFT JOIN near_edge e ON e.site = s.id
LEFT JOIN graph.def c ON c.id = s.holder
ORDER BY sf.path, s.line, s.id, e.node;
