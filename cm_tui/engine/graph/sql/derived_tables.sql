-- Files and definitions, in ids that every later step joins on. `{snapshot}` is any relation of (path, blob): now_file, or the
-- spans that cover a past ordinal. A symbol's id is file * 1000000 + idx; a module's scope is -file.
CREATE OR REPLACE TABLE graph.file AS
SELECT CAST(row_number() OVER (ORDER BY a.path) AS BIGINT) AS id, a.path, a.blob, b.language,
       coalesce(l.family, b.language) AS family, coalesce(l.implicit, false) AS implicit
FROM {snapshot} a
JOIN blob b ON b.id = a.blob
LEFT JOIN graph.language l ON l.language = b.language;

CREATE OR REPLACE TABLE graph.def AS
SELECT f.id * 1000000 + s.idx AS id, f.id AS file, f.family, f.implicit,
       CASE WHEN s.parent IS NULL THEN -f.id ELSE f.id * 1000000 + s.parent END AS parent,
       s.kind, s.name, s.qualname, s.overload, s.start_line, s.end_line, s.min_args, s.max_args,
       s.kind IN ('class', 'struct', 'interface', 'trait', 'enum', 'type') AS is_class,
       s.kind IN ('function', 'method', 'constructor', 'macro') AS is_function,
       min(f.id * 1000000 + s.idx) OVER (PARTITION BY f.id, s.parent, s.name) AS canon
FROM graph.file f
JOIN symbol s ON s.blob = f.blob
WHERE s.kind <> 'section';

-- Which scopes a name is looked up in, nearest first. Class scopes are skipped from within methods, except in
-- languages where a bare name may mean a member.
CREATE OR REPLACE TABLE graph.chain AS
WITH RECURSIVE up AS (
    SELECT d.id, d.id AS scope, 0::DOUBLE AS depth, d.parent AS next FROM graph.def d WHERE d.is_function OR d.is_class
       OR d.kind IN ('namespace', 'module', 'property', 'variable', 'constant', 'field')
    UNION ALL
    SELECT up.id, d.id, up.depth + 1, d.parent FROM up JOIN graph.def d ON d.id = up.next
)
SELECT up.id, up.scope, up.depth FROM up JOIN graph.def d ON d.id = up.scope
WHERE up.depth = 0 OR d.implicit OR NOT d.is_class
UNION ALL SELECT d.id, -d.file, 100 FROM graph.def d
UNION ALL SELECT -f.id, -f.id, 100 FROM graph.file f;
-- Names that the language itself brings, last of all.
INSERT INTO graph.chain
SELECT DISTINCT c.id, b.scope, 300 FROM graph.chain c JOIN graph.file f ON f.id = CASE WHEN c.id < 0 THEN -c.id ELSE c.id // 1000000 END
JOIN (SELECT DISTINCT family, scope FROM graph.builtin) b ON b.family = f.family WHERE c.depth = 100;

-- The class that `self` stands for.
CREATE OR REPLACE TABLE graph.owner AS
WITH RECURSIVE up AS (
    SELECT d.id, d.id AS scope, 0 AS depth, d.parent AS next, d.is_class FROM graph.def d
    UNION ALL
    SELECT up.id, d.id, up.depth + 1, d.parent, d.is_class FROM up JOIN graph.def d ON d.id = up.next
    WHERE NOT up.is_class
)
SELECT up.id, up.scope AS class, d.family FROM up JOIN graph.def d ON d.id = up.scope WHERE up.is_class;

-- The function or class that a symbol stands in: a variable calls nothing, what holds it does.
CREATE OR REPLACE TABLE graph.holder AS
WITH RECURSIVE up AS (
    SELECT d.id, d.id AS place, d.parent AS next, d.kind FROM graph.def d
    UNION ALL
    SELECT up.id, d.id, d.parent, d.kind FROM up JOIN graph.def d ON d.id = up.next
    WHERE up.kind IN ('variable', 'constant', 'field')
)
SELECT id, CASE WHEN kind IN ('variable', 'constant', 'field') THEN next ELSE place END AS holder
FROM up WHERE kind NOT IN ('variable', 'constant', 'field') OR next < 0;

-- What a name stands for in a scope: a definition (node), a module (-file), something from outside (0), or an
-- expression to be read on in another scope (segs, there). Lower prio wins: definition, import, variable, submodule.
CREATE OR REPLACE TABLE graph.env (
    scope BIGINT, name VARCHAR, node BIGINT, segs VARCHAR[], there BIGINT, prio TINYINT, line INTEGER, via VARCHAR, kind VARCHAR
);
INSERT INTO graph.env
SELECT DISTINCT parent, name, canon, NULL::VARCHAR[], NULL::BIGINT, 0, 0, 'def',
       CASE WHEN is_class THEN 'class' WHEN kind IN ('namespace', 'module') THEN 'module' ELSE 'function' END
FROM graph.def
WHERE is_class OR is_function OR kind IN ('namespace', 'module', 'property');

-- What is said of a name's type, cut into steps: once for each way of saying it, and kept from state to state.
CREATE TABLE IF NOT EXISTS graph.type_steps (type VARCHAR, segs VARCHAR[], meant UBIGINT);
INSERT INTO graph.type_steps
SELECT *, CASE WHEN segs IS NOT NULL THEN hash(segs) END FROM (SELECT type, CASE WHEN type = '' THEN NULL
                  WHEN type LIKE 'call:%' THEN list_concat(graph.segments(substr(type, 6)), ['()'])
                  WHEN type LIKE 'alias:%' THEN graph.segments(substr(type, 7))
                  ELSE list_concat(graph.segments(type), ['!']) END AS segs
FROM (SELECT DISTINCT b.type FROM graph.file f JOIN binding b ON b.blob = f.blob)
WHERE type NOT IN (SELECT type FROM graph.type_steps));

-- What an attribute or a module's variable is said to be in terms of itself says nothing; one that is said to be
-- many things is not known. Both would multiply what has to be read.
INSERT INTO graph.env
WITH typed AS (
    SELECT CASE WHEN b.scope IS NULL THEN -f.id ELSE f.id * 1000000 + b.scope END AS scope, b.kind, b.name, b.line, s.segs, s.meant
    FROM graph.file f JOIN binding b ON b.blob = f.blob JOIN graph.type_steps s ON s.type = b.type
    WHERE NOT (b.kind = 'attr' AND len(s.segs) > 1 AND s.segs[1] IN ('self', 'this', 'cls') AND s.segs[2] = b.name)
      AND NOT (b.scope IS NULL AND s.segs[1] IS NOT DISTINCT FROM b.name)
),
vague AS (
    SELECT scope, kind, name FROM typed WHERE scope < 0 OR kind = 'attr' GROUP BY ALL HAVING count(DISTINCT meant) > 4
)
SELECT scope, CASE WHEN kind = 'return' THEN '()' ELSE name END, NULL, segs, scope, 2, line, 'type', NULL
FROM typed ANTI JOIN vague USING (scope, kind, name);

-- Where a name of a scope is looked for: the scope itself, then its bases or the modules it takes everything from.
CREATE OR REPLACE TABLE graph.mro AS
SELECT id AS node, id AS anc, 0::BIGINT AS rank FROM graph.def
UNION ALL SELECT -id, -id, 0 FROM graph.file
UNION ALL SELECT DISTINCT scope, scope, 0 FROM graph.builtin;
