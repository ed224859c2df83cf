SELECT sf.path, s.line, coalesce(c.qualname, ''), s.name, s.receiver, s.kind, e.tier, e.choices, tf.path, t.qualname,
       t.start_line, c.start_line
FROM site s JOIN graph.file sf ON sf.id = s.file
LEFT JOIN graph.def c ON c.id = s.holder
LEFT JOIN edge e ON e.site = s.id
LEFT JOIN graph.def t ON t.id = e.node LEFT JOIN graph.file tf ON tf.id = t.file
ORDER BY s.id;
