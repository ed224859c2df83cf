-- Names by which symbols may be called: their own, what imports and exports call them, and the words
-- for a class within itself.
WITH RECURSIVE wanted AS (SELECT unnest([{ids}]::BIGINT[]) AS id),
known AS (
    SELECT DISTINCT d.name, 0 AS round FROM wanted w JOIN graph.def d ON d.canon = w.id
    UNION
    SELECT e.name, k.round + 1 FROM known k JOIN graph.env e ON e.segs[-1] = k.name
    WHERE e.name <> k.name AND e.name <> '()' AND k.name <> 'default' AND k.round < 3
),
defaults AS (
    SELECT DISTINCT i.name FROM known k JOIN graph.env e ON e.segs[-1] = k.name AND e.name = 'default'
    JOIN graph.env i ON i.segs[-1] = 'default'
)
-- An object is called by the name of whatever holds it.
SELECT DISTINCT e.name FROM graph.env e
WHERE e.via = 'type' AND e.name <> '()' AND list_has_any(e.segs, (
    SELECT list(DISTINCT c.name) FROM wanted w JOIN graph.def d ON d.id = w.id AND d.name = '__call__'
    JOIN graph.mro m ON m.anc = d.parent JOIN graph.def c ON c.id = m.node))
UNION SELECT name FROM known
UNION SELECT name FROM defaults
UNION SELECT s.word FROM graph.self_word s WHERE s.role <> 'object'
      AND EXISTS (SELECT 1 FROM wanted w JOIN graph.def d ON d.id = w.id WHERE d.is_class AND d.family = s.family)
UNION SELECT '__class__' WHERE EXISTS (SELECT 1 FROM wanted w JOIN graph.def d ON d.id = w.id WHERE d.is_class AND d.family = 'python');
