-- What the project defines by some names.
SELECT d.name, d.family, f.path, d.qualname, d.kind, d.overload
FROM graph.def d JOIN graph.file f ON f.id = d.file
WHERE d.name IN (SELECT unnest(?::VARCHAR[])) AND d.id = d.canon AND (d.is_class OR d.is_function) AND NOT d.misread
ORDER BY d.id;
