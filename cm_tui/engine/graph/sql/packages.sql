-- Names that files share without an import: those of one folder (Go, the JVM), of one namespace (C#, PHP), or of the
-- whole project (Ruby, Swift, Elixir, Bash); `graph.family` says which.
INSERT INTO graph.mro SELECT -id, -id, 0 FROM graph.package;
INSERT INTO graph.chain SELECT -id, -id, 100 FROM graph.package;

CREATE OR REPLACE TABLE graph.shared AS
SELECT d.id AS def, p.id AS package
FROM graph.def d JOIN graph.file f ON f.id = d.file
JOIN graph.family y ON y.family = f.family AND y.shares IN ('folder', 'project')
JOIN graph.package p ON p.family = f.family
 AND p.key = CASE y.shares WHEN 'folder' THEN regexp_replace(f.path, '/?[^/]*$', '') ELSE '' END
UNION ALL
SELECT d.id, p.id
FROM graph.def n JOIN graph.package p ON p.family = n.family AND p.key = replace(replace(n.qualname, '::', '.'), '\', '.')
JOIN graph.def d ON d.file = n.file AND d.start_line BETWEEN n.start_line AND n.end_line AND d.id <> n.id
WHERE n.kind = 'namespace';

INSERT INTO graph.env
SELECT DISTINCT -s.package, d.name, d.canon, NULL::VARCHAR[], NULL::BIGINT, 0, 0, 'def',
       CASE WHEN d.is_class THEN 'class' WHEN d.is_function THEN 'function' ELSE 'module' END
FROM graph.shared s JOIN graph.def d ON d.id = s.def LEFT JOIN graph.def n ON n.id = d.parent
WHERE (d.is_class OR d.is_function OR d.kind IN ('module', 'namespace')) AND (d.parent < 0 OR n.kind = 'namespace');

INSERT INTO graph.chain SELECT def, -package, 150 FROM graph.shared;

INSERT INTO graph.chain
SELECT -f.id, -p.id, 150 FROM graph.file f
JOIN graph.family y ON y.family = f.family AND y.shares IN ('folder', 'project')
JOIN graph.package p ON p.family = f.family
 AND p.key = CASE y.shares WHEN 'folder' THEN regexp_replace(f.path, '/?[^/]*$', '') ELSE '' END;

-- Methods that stand outside the body of their type (Go, Rust, C++, Kotlin and Swift extensions): the qualified name
-- says whose they are.
CREATE OR REPLACE TABLE graph.outer_member AS
SELECT d.id, min(t.id) AS class
FROM graph.def d JOIN graph.def t ON t.family = d.family AND t.is_class
 AND t.name = regexp_extract(d.qualname, '([^.:#/]+)(?:\.|::|#|/)[^.:#/]+$', 1)
JOIN graph.file df ON df.id = d.file JOIN graph.file tf ON tf.id = t.file
LEFT JOIN graph.def p ON p.id = d.parent
WHERE d.is_function AND NOT coalesce(p.is_class, false)
  AND (t.file = d.file OR regexp_replace(df.path, '[^/]*$', '') = regexp_replace(tf.path, '[^/]*$', ''))
GROUP BY d.id;

INSERT INTO graph.env
SELECT DISTINCT o.class, d.name, d.canon, NULL::VARCHAR[], NULL::BIGINT, 0, 0, 'def', 'function'
FROM graph.outer_member o JOIN graph.def d ON d.id = o.id;
INSERT INTO graph.owner
SELECT o.id, o.class, d.family FROM graph.outer_member o JOIN graph.def d ON d.id = o.id;
