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
       -- (A field may bear the name of the method that reads it; the two are no overloads.)
       min(f.id * 1000000 + s.idx) OVER (
           PARTITION BY f.id, s.parent, s.qualname, s.kind IN ('variable', 'constant', 'field')) AS canon,
       f.family = 'c' AND s.kind IN ('function', 'method', 'constructor')
       AND graph.is_misread(s.name, s.signature, CASE WHEN p.kind IN ('class', 'struct') THEN p.name END) AS misread,
       -- A method that stands outside of the body of its type, which only its qualified name says.
       f.family IN ('c', 'go', 'rust') AND s.kind IN ('function', 'method', 'constructor')
       AND s.qualname <> coalesce(p.qualname || '.', '') || s.name AS outer_def
FROM graph.file f
JOIN symbol s ON s.blob = f.blob
LEFT JOIN symbol p ON p.blob = s.blob AND p.idx = s.parent
WHERE s.kind <> 'section';

-- A member of a class that the grammar has lost stands beside the class: its definition elsewhere names the class.
UPDATE graph.def d SET misread = true
FROM (SELECT DISTINCT name, min_args, max_args, regexp_replace(qualname, '[^.]+\.[^.]+$', '') AS around
      FROM graph.def WHERE family = 'c' AND outer_def) o
WHERE d.family = 'c' AND d.kind = 'function' AND NOT d.outer_def AND d.name = o.name AND d.min_args IS NOT DISTINCT FROM o.min_args
  AND d.max_args IS NOT DISTINCT FROM o.max_args AND regexp_replace(d.qualname, '[^.]+$', '') = o.around;

-- A use of a macro may have been taken for a function's definition.
UPDATE graph.def d SET misread = true
FROM (SELECT DISTINCT name FROM graph.def WHERE family = 'c' AND kind = 'macro') m
WHERE d.family = 'c' AND d.is_function AND d.kind <> 'macro' AND d.name = m.name;

-- Methods that stand outside the body of their type (Go, Rust, C++, Kotlin and Swift extensions): the qualified name
-- says whose they are. The type stands in the same file, in the same folder, or, in C++, bears that very name in a header.
CREATE OR REPLACE TABLE graph.outer_member AS
SELECT d.id, arg_min(t.id, CASE WHEN t.file = d.file THEN 0 WHEN d.folder = t.folder THEN 1 ELSE 2 END * 1000000000000000 + t.id) AS class
FROM (SELECT d.*, regexp_extract(d.qualname, '([^.:#/]+)(?:\.|::|#|/)[^.:#/]+$', 1) AS owner,
             regexp_extract(d.qualname, '^(.+)(?:\.|::|#|/)[^.:#/]+$', 1) AS whole, regexp_replace(f.path, '[^/]*$', '') AS folder
      FROM graph.def d JOIN graph.file f ON f.id = d.file) d
JOIN (SELECT t.*, regexp_replace(f.path, '[^/]*$', '') AS folder FROM graph.def t JOIN graph.file f ON f.id = t.file) t
  ON t.family = d.family AND t.is_class AND t.name = d.owner
LEFT JOIN graph.def p ON p.id = d.parent
WHERE d.is_function AND NOT d.misread AND NOT coalesce(p.is_class, false)
  AND (t.file = d.file OR d.folder = t.folder OR (d.family = 'c' AND t.qualname = d.whole))
GROUP BY d.id;

-- In C++ such a method is declared in its class as well: the two are one.
UPDATE graph.def d SET canon = o.canon
FROM (SELECT m.class, d.name, min(d.canon) AS canon FROM graph.outer_member m JOIN graph.def d ON d.id = m.id
      WHERE d.family = 'c' GROUP BY ALL) o
WHERE d.family = 'c' AND d.is_function AND d.name = o.name
  AND (d.parent = o.class OR d.id IN (SELECT x.id FROM graph.outer_member x WHERE x.class = o.class));

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
FROM graph.def d
-- (A constructor that bears its class's name must not hide the class from the class's own methods.)
WHERE (is_class OR is_function OR kind IN ('namespace', 'module', 'property')) AND NOT misread AND NOT outer_def
  AND NOT (kind = 'constructor' AND EXISTS (SELECT 1 FROM graph.def c WHERE c.id = d.parent AND c.name = d.name))
-- (Nor may a namespace without a block hide an import that bears its last name.)
  AND NOT (kind = 'namespace' AND parent < 0 AND family IN (SELECT family FROM graph.family WHERE by_namespace)
           AND NOT EXISTS (SELECT 1 FROM graph.def c WHERE c.parent = d.id));

-- The package of which a file is a part without saying so at each name: its folder, what it declares, or the project.
-- (`namespace A;` of C# and PHP has no block: it holds for the whole file, as a package does; without one, the root.)
CREATE OR REPLACE TABLE graph.home AS
SELECT f.id AS file, f.family, CASE y.shares WHEN 'project' THEN ''
       WHEN 'package' THEN coalesce(replace(n.package, '::', '.'), regexp_replace(f.path, '/?[^/]*$', ''))
       WHEN 'namespace' THEN coalesce(replace(n.package, '\', '.'), '')
       ELSE regexp_replace(f.path, '/?[^/]*$', '') END AS key
FROM graph.file f JOIN graph.family y ON y.family = f.family
LEFT JOIN (
    SELECT d.file, arg_min(d.qualname, d.id) AS package, count(DISTINCT d.id) = 1 AND count(inner_def.id) = 0 AS has_no_block
    FROM graph.def d LEFT JOIN graph.def inner_def ON inner_def.parent = d.id
    WHERE d.kind = 'namespace' AND d.parent < 0 GROUP BY d.file
) n ON n.file = f.id
WHERE y.shares IN ('folder', 'package', 'project') OR (y.by_namespace AND coalesce(n.has_no_block, true));

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
WITH bound AS (
    -- (What a CommonJS module is, `module.exports = a`, is its default, also where `a` is written there.)
    SELECT file, b.type, b.line, CASE WHEN is_default THEN NULL ELSE b.scope END AS scope,
           CASE WHEN is_default THEN 'var' ELSE b.kind END AS kind, CASE WHEN is_default THEN 'default' ELSE b.name END AS name
    FROM (SELECT b.*, f.id AS file, coalesce(b.name = nullif(y.exports, ''), false) AS is_default
          FROM graph.file f JOIN binding b ON b.blob = f.blob LEFT JOIN graph.family y ON y.family = f.family) b
),
typed AS (
    SELECT CASE WHEN b.scope IS NULL THEN -b.file ELSE b.file * 1000000 + b.scope END AS scope, b.kind, b.name, b.line, s.segs, s.meant
    FROM bound b JOIN graph.type_steps s ON s.type = b.type
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
