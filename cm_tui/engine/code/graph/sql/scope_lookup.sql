-- Where a name is looked for, in order of rank: from a scope (key = 2 * scope), the scopes around it with all that they
-- stand on; in a thing (key = 2 * node + 1), itself and what it stands on.
CREATE OR REPLACE TABLE graph.lookup AS
SELECT key, anc, min(rank) AS rank FROM (
    SELECT c.id * 2 AS key, m.anc, c.depth * 1000 + m.rank AS rank FROM graph.chain c JOIN graph.mro m ON m.node = c.scope
    UNION ALL
    SELECT node * 2 + 1, anc, rank FROM graph.mro
) GROUP BY key, anc ORDER BY key;
