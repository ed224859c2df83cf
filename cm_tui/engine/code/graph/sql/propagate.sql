-- Reading the expressions of `seed` to their end, into `done`. A row stands before a name that has to be looked up from a
-- scope (node is null) or at something known (a definition, -file, or 0 for outside); `rest` are the steps to go.
-- Rows that were there before are not walked again, so that circles end.
CREATE OR REPLACE TEMP TABLE done AS
WITH RECURSIVE walk AS (
    SELECT * FROM seed
    UNION
    SELECT * FROM (
    WITH
    live AS MATERIALIZED (
        SELECT row_number() OVER () AS wid, w.*, w.rest[1] AS step, w.rest[2:] AS more,
               CASE WHEN w.node IS NULL THEN w.scope * 2 ELSE w.node * 2 + 1 END AS key
        FROM walk w WHERE len(w.rest) BETWEEN 1 AND 16 AND w.hops < 10
    ),
    -- Where each name is looked for. Said apart from what is found there, or the planner may join by the name first: as
    -- many rows as all scopes know that name, which took eight gigabytes for a project of 2,000 files.
    near AS MATERIALIZED (
        SELECT w.wid, w.step, l.anc, l.rank FROM live w JOIN graph.lookup l ON l.key = w.key WHERE NOT (w.sup AND l.rank = 0)
    ),
    -- The nearest scope or base that has the name; a local variable is what its last assignment above the line says.
    found AS (
        SELECT w.*, e.node AS to_node, e.kind, e.segs, e.there, e.via, e.line AS bound, n.rank AS distance,
               (n.rank::BIGINT * 10 + e.prio) * 100000000 + CASE
               WHEN e.via <> 'type' OR n.rank > 0 OR w.node IS NOT NULL THEN 0
               WHEN e.line < w.line THEN w.line - e.line ELSE 1000000 + e.line - w.line END AS away
        FROM near n JOIN graph.env e ON e.scope = n.anc AND e.name = n.step JOIN live w ON w.wid = n.wid
    ),
    -- (Joined with the smallest: a window costs more than all the rest of a step.)
    hit AS (
        SELECT f.* EXCLUDE (away) FROM found f JOIN (SELECT wid, min(away) AS away FROM found GROUP BY wid) n
        ON n.wid = f.wid AND n.away = f.away
    ),
    -- The object itself, unless a local variable bears that name.
    self AS (
        SELECT w.*, o.class, s.role FROM live w JOIN graph.owner o ON o.id = w.scope
        JOIN graph.self_word s ON s.family = o.family AND s.word = w.step
        WHERE w.node IS NULL AND w.wid NOT IN (SELECT wid FROM hit WHERE distance < 100000 AND segs IS NOT NULL)
    ),
    -- A variable, an attribute, a return type or an import goes on with its own expression, in its own scope.
    moved AS (
        SELECT expr, calls, to_node AS node, kind, false AS inst, false AS sup,
               -- (What a method returns of its own class is of the class that it was found through.)
               coalesce(CASE WHEN node > 0 AND step <> '()' THEN node END, own) AS own,
               CASE WHEN to_node IS NULL THEN there END AS scope,
               CASE WHEN to_node IS NULL THEN list_concat(segs, more) ELSE more END AS more,
               CASE WHEN via = 'type' THEN bound ELSE 0 END AS line,
               typed OR via = 'type' AS typed, imported OR via = 'import' AS imported,
               hops + CASE WHEN via = 'type' AND step <> '()' THEN 1 ELSE 0 END AS hops
        FROM hit WHERE (to_node IS NOT NULL OR segs IS NOT NULL) AND wid NOT IN (SELECT wid FROM self)
        UNION ALL
        SELECT expr, calls, coalesce(own, class), 'class', role <> 'class', role = 'super', own, NULL,
               CASE WHEN role = 'super' AND more[1] = '()' AND len(more) > 1 THEN more[2:] ELSE more END, 0, true, imported, hops
        FROM self
    ),
    -- Calling a class gives its object, reading past a function means what it returns, calling an object its `__call__`.
    called AS (
        SELECT * REPLACE (inst OR coalesce(kind = 'class' AND more[1] IN ('()', '!'), false) AS inst,
            CASE WHEN node = 0 THEN []
                 WHEN kind = 'class' AND NOT inst AND more[1] IN ('()', '!') THEN more[2:]
                 WHEN kind = 'function' AND len(more) > 0 AND more[1] <> '()' THEN list_concat(['()'], more)
                 ELSE more END AS more)
        FROM moved
    )
    SELECT expr, calls, node, inst AND NOT (more[1] IS NOT DISTINCT FROM '__class__' AND more[2] IS DISTINCT FROM '()'), sup,
           own, scope,
           CASE WHEN NOT inst THEN more
                WHEN len(more) = 0 AND calls AND NOT sup THEN ['__call__']
                WHEN more[1] = '()' THEN list_concat(['__call__'], more)
                WHEN more[1] = '!' THEN more[2:]
                WHEN more[1] = '__class__' AND more[2] = '()' THEN more[3:]
                WHEN more[1] = '__class__' THEN more[2:]
                ELSE more END,
           line, typed, imported, hops
    FROM called
    )
)
-- Besides what was read to its end: what got stuck at the last step, at a known thing that has no such member.
SELECT * FROM walk
WHERE node IS NOT NULL AND (len(rest) = 0 OR (len(rest) = 1 AND node <> 0 AND rest[1] NOT IN ('()', '!', '[]')));
