-- Names that files share without an import: those of one folder (Go), of the package that a file declares (the JVM), of one
-- namespace (C++, C#, PHP), or of the whole project (Ruby, Swift, Elixir, Bash); `graph.family` says which.
INSERT INTO graph.mro SELECT -id, -id, 0 FROM graph.package;
INSERT INTO graph.chain SELECT -id, -id, 100 FROM graph.package;
-- The names of the namespaces around it are visible in one of C# and C++.
INSERT INTO graph.mro
SELECT -i.id, -o.id, 1 + len(i.parts) - i.size
FROM (
    SELECT p.id, p.family, string_split(p.key, '.') AS parts, unnest(range(len(string_split(p.key, '.')))) AS size
    FROM graph.package p JOIN graph.family y ON y.family = p.family AND y.enclosing_visible WHERE p.key <> ''
) i JOIN graph.package o ON o.family = i.family AND o.key = array_to_string(i.parts[1:i.size], '.');
-- What a namespace holds stands in all of its blocks, in whatever file; below a module of Elixir there are others.
INSERT INTO graph.mro
SELECT n.id, -p.id, 1 FROM graph.def n
JOIN graph.package p ON p.family = n.family AND p.key = replace(replace(n.qualname, '::', '.'), '\', '.')
WHERE (n.kind = 'namespace' AND n.family IN (SELECT family FROM graph.family WHERE shares = 'namespace'))
   OR (n.is_class AND n.family IN (SELECT family FROM graph.family WHERE module_classes));

-- A module that is a class, such as those of Elixir, is found by its whole name, in whatever file.
INSERT INTO graph.star
SELECT -p.id, d.canon FROM graph.def d JOIN graph.package p ON p.family = d.family AND p.key = d.qualname
JOIN graph.family y ON y.family = d.family AND y.module_classes WHERE d.is_class;

CREATE OR REPLACE TABLE graph.shared AS
SELECT d.id AS def, p.id AS package
FROM graph.def d JOIN graph.home h ON h.file = d.file
JOIN graph.package p ON p.family = h.family AND p.key = h.key
UNION ALL
SELECT d.id, p.id
FROM graph.def n JOIN graph.package p ON p.family = n.family AND p.key = replace(replace(n.qualname, '::', '.'), '\', '.')
JOIN graph.def d ON d.file = n.file AND d.start_line BETWEEN n.start_line AND n.end_line AND d.id <> n.id
WHERE n.kind = 'namespace' AND n.family NOT IN (SELECT family FROM graph.family WHERE shares <> 'namespace');

-- What is written in parts is one: partial classes of C#, modules of Ruby, and what Kotlin expects in one place and has in
-- others. Each part of a class has what the others hold. (Not where there is a class of that name with type parameters and
-- another without: a call does not show which of them it means.)
CREATE OR REPLACE TABLE graph.part AS
WITH written AS (
    SELECT d.id, d.family, k.marked, NOT d.is_function AS is_container, coalesce(s.package, 0) AS package, d.qualname,
           strpos(y.signature, d.name || '<') > 0 AS is_generic, regexp_matches(y.signature, '\b' || k.mark || '\b') AS is_marked
    FROM graph.def d JOIN graph.file f ON f.id = d.file JOIN symbol y ON y.blob = f.blob AND y.idx = d.id % 1000000
    JOIN graph.part_kind k ON k.language = f.language
     AND CASE k.kind WHEN 'class' THEN d.is_class WHEN 'function' THEN d.is_function ELSE d.kind = k.kind END
    LEFT JOIN graph.shared s ON s.def = d.id
)
SELECT id, is_container, min(id) OVER whole AS whole FROM written
WINDOW whole AS (PARTITION BY family, package, qualname, is_container)
QUALIFY count(*) OVER whole > 1 AND CASE marked
    WHEN 'all' THEN bool_and(is_marked) OVER whole AND bool_and(is_generic) OVER whole = bool_or(is_generic) OVER whole
    ELSE bool_or(is_marked) OVER whole END;
UPDATE graph.def d SET canon = p.whole FROM graph.part p WHERE d.canon = p.id;
UPDATE graph.env e SET node = p.whole FROM graph.part p WHERE e.node = p.id;
INSERT INTO graph.mro
SELECT a.id, b.id, 1 FROM graph.part a JOIN graph.part b ON b.whole = a.whole AND b.id <> a.id WHERE a.is_container;

INSERT INTO graph.env
SELECT DISTINCT -s.package, d.name, d.canon, NULL::VARCHAR[], NULL::BIGINT, 0, 0, 'def',
       CASE WHEN d.is_class THEN 'class' WHEN d.is_function THEN 'function' ELSE 'module' END
FROM graph.shared s JOIN graph.def d ON d.id = s.def LEFT JOIN graph.def n ON n.id = d.parent
LEFT JOIN graph.family y ON y.family = d.family
WHERE (d.is_class OR d.is_function OR d.kind IN ('module', 'namespace')) AND NOT d.misread AND NOT d.outer_def
  -- (What a module of Ruby contains has no bare name outside of it.)
  AND (d.parent < 0 OR (n.kind = 'namespace' AND NOT coalesce(y.qualified_members, false)));

INSERT INTO graph.chain SELECT def, -package, 150 FROM graph.shared;

INSERT INTO graph.chain
SELECT -h.file, -p.id, 150 FROM graph.home h
JOIN graph.package p ON p.family = h.family AND p.key = h.key;

-- Methods that stand outside the body of their type are found in it.
-- (In two steps, or the planner may compare the names of all definitions with those of all others first.)
INSERT INTO graph.env
WITH member AS MATERIALIZED (
    SELECT o.class, d.name, d.canon FROM graph.outer_member o JOIN graph.def d ON d.id = o.id
)
SELECT DISTINCT m.class, m.name, m.canon, NULL::VARCHAR[], NULL::BIGINT, 0, 0, 'def', 'function'
FROM member m JOIN graph.def c ON c.id = m.class AND m.name <> c.name;
INSERT INTO graph.owner
SELECT o.id, o.class, d.family FROM graph.outer_member o JOIN graph.def d ON d.id = o.id;
-- Within such a method the members of its type have bare names, where the language allows that.
INSERT INTO graph.chain
SELECT h.id, o.class, h.depth + 0.5 FROM graph.chain h JOIN graph.outer_member o ON o.id = h.scope
JOIN graph.def d ON d.id = o.id WHERE d.implicit AND d.outer_def;
-- Functions of a namespace that are defined outside of its blocks.
INSERT INTO graph.env
SELECT DISTINCT -p.id, d.name, d.canon, NULL::VARCHAR[], NULL::BIGINT, 0, 0, 'def', 'function'
FROM graph.def d JOIN graph.package p ON p.family = d.family AND p.key = regexp_extract(d.qualname, '^(.+)\.[^.]+$', 1)
WHERE d.outer_def AND NOT d.misread AND d.id NOT IN (SELECT id FROM graph.outer_member);
