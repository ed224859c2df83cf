-- What each site means, by the tier that answered. `edge` holds one row a site and definition; `choices` is how much the
-- site may mean: several definitions, or one and something that is not known. More than one: ambiguous, nothing is claimed.
CREATE OR REPLACE TEMP TABLE edge AS
WITH
read AS (
    SELECT DISTINCT s.*, d.node, d.typed, d.imported, t.is_function AND y.counts_arguments AS counted
    FROM (SELECT expr, node, inst AND NOT sup AS inst, sup, typed, imported FROM done WHERE len(rest) = 0) d JOIN site s ON s.id = d.expr
    LEFT JOIN graph.family y ON y.family = s.family
    LEFT JOIN graph.def t ON t.id = d.node
    WHERE d.node >= 0 AND coalesce(t.kind, '') <> 'property' AND NOT d.sup AND NOT (d.inst AND s.kind IN ('call', 'decorate') AND coalesce(t.is_class, false))
      AND (coalesce(t.kind, '') NOT IN ('namespace', 'module') OR coalesce(y.guesses, false))
),
-- Where a language counts arguments, none of the overloads may be what is found first: something that is not known is.
unfit AS (
    SELECT r.id, r.node FROM read r JOIN graph.def t ON t.canon = r.node
    WHERE r.counted AND r.kind = 'call' AND r.arity IS NOT NULL
    GROUP BY r.id, r.node
    -- (A method may be called through its type, with the object as its first argument.)
    HAVING NOT bool_or(t.min_args IS NULL OR r.arity BETWEEN t.min_args AND coalesce(t.max_args, 1000)
                       OR (r.family = 'rust' AND regexp_matches(coalesce(r.receiver, 'A'), '(^|\.)[A-Z]\w*$') AND r.arity - 1 BETWEEN t.min_args AND coalesce(t.max_args, 1000)))
),
resolved AS (
    SELECT id, node, CASE WHEN node = 0 THEN 'external' WHEN bool_and(typed) THEN 'receiver' WHEN bool_and(imported OR typed)
                          THEN 'import'
                          -- Of one package, namespace or base class, a name is in scope without standing in this file.
                          WHEN node // 1000000 = any_value(file) THEN 'same-file' ELSE 'scope' END AS tier
    FROM read
    GROUP BY id, node
    QUALIFY node > 0 OR max(node) OVER (PARTITION BY id) = 0
),
-- Definitions of that name in the project, when nothing nearer was found and nothing speaks against it: a name
-- that any object may bear, a method calling the same method of something else (a delegate), `super()`, a module
-- or a class that is known to lack it (unless the two classes meet in a third one, as mixins do).
unresolved AS (
    SELECT s.*, h.name AS within, split_part(s.receiver, '(', 1) AS head, k.node AS stuck,
           coalesce(y.guesses, false) AS guesses, coalesce(y.global_names, false) AS global_names
    FROM site s LEFT JOIN graph.def h ON h.id = s.holder LEFT JOIN graph.family y ON y.family = s.family
    LEFT JOIN (SELECT expr, max(node) AS node FROM done WHERE len(rest) = 1 AND rest[1] <> '__call__' GROUP BY expr) k ON k.expr = s.id
    WHERE s.id NOT IN (SELECT id FROM resolved)
      AND NOT EXISTS (SELECT 1 FROM graph.common c WHERE c.name = s.name AND coalesce(s.receiver, '') <> '')
),
named AS (
    SELECT DISTINCT o.id, d.canon AS node,
           (o.arity IS NULL OR o.kind <> 'call' OR d.is_class OR d.min_args IS NULL
            OR o.arity BETWEEN d.min_args AND coalesce(d.max_args, 1000))
           AND CASE
               WHEN coalesce(o.receiver, '') = '' THEN NOT o.guesses AND (b.id IS NULL AND NOT d.outer_def OR o.implicit)
               WHEN o.head = 'super' OR o.within = o.name THEN false
               WHEN o.stuck IS NOT NULL THEN EXISTS (
                   SELECT 1 FROM graph.mro x JOIN graph.mro y ON y.node = x.node WHERE x.anc = o.stuck AND y.anc = b.class)
               WHEN o.guesses THEN b.id IS NOT NULL AND b.class NOT IN (SELECT class FROM graph.foreign_class)
               ELSE true END AS fits,
           -- The only one of that name is meant where it may be called from anywhere by that name alone. What an object
           -- has is known only with the object's type.
           o.guesses OR (coalesce(o.receiver, '') = '' AND o.global_names AND b.id IS NULL
                         AND (d.kind = 'macro' OR (NOT o.implicit AND d.is_function))) AS claimed
    FROM unresolved o JOIN graph.def d ON d.name = o.name AND d.family = o.family AND (d.is_class OR d.is_function)
     AND NOT d.misread
    LEFT JOIN graph.member b ON b.id = d.id
    WHERE (o.kind IN ('call', 'decorate') OR d.is_class)
)
SELECT r.id AS site, r.node, tier, count(*) OVER (PARTITION BY r.id) + CASE WHEN u.id IS NULL THEN 0 ELSE 1 END AS choices
FROM resolved r LEFT JOIN unfit u ON u.id = r.id AND u.node = r.node
UNION ALL
SELECT id, node, 'unique', count(*) OVER (PARTITION BY id) + CASE WHEN bool_or(claimed) OVER (PARTITION BY id) THEN 0 ELSE 1 END
FROM named QUALIFY bool_or(fits) OVER (PARTITION BY id);
