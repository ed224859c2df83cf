-- One row a site within the symbols in `wanted`, with what it means; an empty path for what is not in the project.
SELECT coalesce(CASE WHEN e.choices > 1 THEN NULL ELSE any_value(tf.path) END, ''),
       coalesce(CASE WHEN e.choices > 1 THEN NULL ELSE any_value(t.qualname) END,
                CASE WHEN coalesce(s.receiver, '') = '' THEN s.name ELSE s.receiver || '.' || s.name END),
       coalesce(CASE WHEN e.choices > 1 THEN NULL ELSE any_value(t.kind) END, ''),
       s.line, sf.path, s.kind,
       CASE WHEN e.choices > 1 THEN 'ambiguous' ELSE coalesce(e.tier, 'unresolved') END,
       coalesce(c.qualname, '<module>'), sf.path, coalesce(CASE WHEN e.choices > 1 THEN NULL ELSE any_value(t.start_line) END, 0),
       coalesce(list(t.qualname ORDER BY t.id) FILTER (t.id IS NOT NULL), []),
       coalesce(list(tf.path ORDER BY t.id) FILTER (t.id IS NOT NULL), []),
       coalesce(list(t.kind ORDER BY t.id) FILTER (t.id IS NOT NULL), []),
       coalesce(list(t.overload ORDER BY t.id) FILTER (t.id IS NOT NULL), []),
       coalesce(CASE WHEN e.choices > 1 THEN NULL ELSE any_value(t.canon) END, 0)
FROM {sites} s JOIN graph.file sf ON sf.id = s.file
LEFT JOIN {edges} e ON e.site = s.id
LEFT JOIN graph.def t ON t.id = e.node LEFT JOIN graph.file tf ON tf.id = t.file
LEFT JOIN graph.def c ON c.id = s.holder
JOIN inside i ON i.id = s.scope
WHERE s.kind IN ({kinds})
GROUP BY s.id, s.receiver, s.name, s.line, s.kind, sf.path, e.choices, e.tier, c.qualname
ORDER BY s.line, s.id;
