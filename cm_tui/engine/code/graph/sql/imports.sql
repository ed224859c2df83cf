SELECT f.path, i.line, i.module, i.name, i.alias, coalesce(t.path, CASE p.key WHEN '' THEN '.' ELSE p.key END), i.reexport,
       CASE WHEN i.target IS NULL THEN 'external' ELSE 'import' END,
       CASE WHEN i.name IS NULL THEN i.module WHEN right(i.module, 1) = '.' THEN i.module || i.name
            ELSE i.module || '.' || i.name END,
       'import', coalesce(t.path, o.path)
FROM graph.import_target i JOIN graph.file f ON f.id = i.file
LEFT JOIN graph.file t ON t.id = i.target LEFT JOIN graph.package p ON p.id = i.target
LEFT JOIN (
    SELECT p.id, min(f.path) AS path FROM graph.package p JOIN graph.home h ON h.family = p.family AND h.key = p.key
    JOIN graph.file f ON f.id = h.file GROUP BY p.id
) o ON o.id = i.target
WHERE {where}
ORDER BY f.path, i.line, i.module, i.name;
