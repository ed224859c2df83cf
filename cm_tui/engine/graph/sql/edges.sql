-- What each site means, by the tier that answered. `edge` holds one row a site and definition; several rows of one
-- site are what it may mean (ambiguous).
CREATE OR REPLACE TEMP TABLE edge AS
WITH
read AS (
    SELECT DISTINCT s.*, d.node, d.typed, d.imported
    FROM (SELECT expr, node, inst AND NOT sup AS inst, sup, typed, imported FROM done WHERE len(rest) = 0) d JOIN site s ON s.id = d.expr
    LEFT JOIN graph.def t ON t.id = d.node
    WHERE d.node >= 0 AND coalesce(t.kind, '') <> 'property' AND NOT d.sup AND NOT (d.inst AND s.kind IN ('call', 'decorate') AND coalesce(t.is_class, false))
),
resolved AS (
    SELECT id, node, CASE WHEN node = 0 THEN 'external' WHEN bool_and(typed) THEN 'receiver' WHEN bool_and(imported OR typed)
                          THEN 'import' ELSE 'same-file' END AS tier
    FROM read
    GROUP BY id, node
    QUALIFY node > 0 OR max(node) OVER (PARTITION BY id) = 0
),
-- The only definition of that name in the project, when nothing nearer was found and nothing speaks against it: a name
-- that any object may bear, a method calling the same method of something else (a delegate), `super()`, a module
-- or a class that is known to lack it (unless the two classes meet in a third one, as mixins do).
unresolved AS (
    SELECT s.*, h.name AS within, split_part(s.receiver, '(', 1) AS head, k.node AS stuck
    FROM site s LEFT JOIN graph.def h ON h.id = s.holder
    LEFT JOIN (SELECT expr, max(node) AS node FROM done WHERE len(rest) = 1 AND rest[1] <> '__call__' GROUP BY expr) k ON k.expr = s.id
    WHERE s.id NOT IN (SELECT id FROM resolved)
      AND NOT EXISTS (SELECT 1 FROM graph.common c WHERE c.name = s.name AND coalesce(s.receiver, '') <> '')
),
named AS (
    SELECT DISTINCT o.id, d.canon AS node,
           (o.arity IS NULL OR o.kind <> 'call' OR d.is_class OR d.min_args IS NULL
            OR o.arity BETWEEN d.min_args AND coalesce(d.max_args, 1000))
           AND CASE
               WHEN coalesce(o.receiver, '') = '' THEN o.family NOT IN ('python', 'js') AND (b.id IS NULL OR o.implicit)
               WHEN o.head = 'super' OR o.within = o.name THEN false
               WHEN o.stuck IS NOT NULL THEN EXISTS (
                   SELECT 1 FROM graph.mro x JOIN graph.mro y ON y.node = x.node WHERE x.anc = o.stuck AND y.anc = b.class)
               WHEN o.family IN ('python', 'js') THEN b.id IS NOT NULL AND b.class NOT IN (SELECT class FROM graph.foreign_class)
               ELSE true END AS fits
    FROM unresolved o JOIN graph.def d ON d.name = o.name AND d.family = o.family AND (d.is_class OR d.is_function)
    LEFT JOIN graph.member b ON b.id = d.id
    WHERE (o.kind IN ('call', 'decorate') OR d.is_class)
)
SELECT id AS site, node, tier, count(*) OVER (PARTITION BY id) AS choices FROM resolved
UNION ALL
SELECT id, node, 'unique', count(*) OVER (PARTITION BY id) FROM named QUALIFY bool_or(fits) OVER (PARTITION BY id);
