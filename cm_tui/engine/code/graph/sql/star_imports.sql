-- Modules whose every name a module takes over (star imports, barrels, includes), and theirs.
INSERT INTO graph.mro
WITH RECURSIVE taken AS (
    SELECT scope AS node, target AS anc, 1 AS depth FROM graph.star
    UNION
    SELECT t.node, s.target, t.depth + 1 FROM taken t JOIN graph.star s ON s.scope = t.anc WHERE t.depth < 5
)
SELECT node, anc, min(depth) FROM taken WHERE node <> anc GROUP BY ALL;
