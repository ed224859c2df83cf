-- One row a site that means a symbol in `wanted`; ambiguous ones with all that they may mean.
SELECT sf.path, coalesce(c.qualname, '<module>'), coalesce(c.kind, 'module'), s.line, sf.path, s.kind,
       CASE WHEN e.choices > 1 THEN 'ambiguous' ELSE e.tier END, any_value(t.qualname), any_value(tf.path),
       coalesce(c.start_line, 0),
       list(a.qualname ORDER BY a.id), list(af.path ORDER BY a.id), list(a.kind ORDER BY a.id), list(a.overload ORDER BY a.id),
       coalesce(c.canon, -s.file)
FROM {edges} e JOIN wanted w ON w.id = e.node JOIN {sites} s ON s.id = e.site JOIN graph.file sf ON sf.id = s.file
JOIN graph.def t ON t.id = e.node JOIN graph.file tf ON tf.id = t.file
LEFT JOIN graph.def c ON c.id = s.holder
JOIN {edges} o ON o.site = e.site JOIN graph.def a ON a.id = o.node JOIN graph.file af ON af.id = a.file
WHERE s.kind IN ({kinds})
GROUP BY s.id, sf.path, c.qualname, c.kind, s.line, s.kind, e.choices, e.tier, c.start_line, c.canon, s.file
ORDER BY sf.path, s.line, s.id;
