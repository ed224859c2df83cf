-- The references to be resolved: those that bear one of the names in `want`.
CREATE OR REPLACE TEMP TABLE site AS
SELECT row_number() OVER (ORDER BY r.rowid, f.id) AS id, f.id AS file, f.family, f.implicit, coalesce(f.id * 1000000 + r.symbol, -f.id) AS scope,
       h.holder, r.kind, r.name, r.receiver, r.arity, r.line
FROM reference r JOIN graph.file f ON f.blob = r.blob
LEFT JOIN graph.holder h ON h.id = f.id * 1000000 + r.symbol
WHERE {wanted} AND NOT EXISTS (SELECT 1 FROM graph.keyword k WHERE k.family = f.family AND k.name = r.name);

CREATE OR REPLACE TEMP TABLE seed AS
SELECT id AS expr, kind = 'call' AS calls, NULL::BIGINT AS node, false AS inst, false AS sup, NULL::BIGINT AS own, {scope} AS scope,
       CASE WHEN coalesce(receiver, '') = '' THEN [name] ELSE list_append(graph.segments(receiver), name) END AS rest,
       line, false AS typed, false AS imported, 0 AS hops
FROM site;
