-- Which class stands on which, in the order in which members are looked for: depth first, a shared base after all that
-- share it (what C3 gives for every hierarchy that Python accepts without reordering).
CREATE OR REPLACE TABLE graph.inherits AS
WITH RECURSIVE
base AS (
    SELECT coalesce(o.id, s.scope) AS class, d.node AS base, s.id AS place
    FROM done d JOIN site s ON s.id = d.expr JOIN graph.def b ON b.id = d.node AND b.is_class
    -- (A namespace stands on nothing: the class within it that does may be none that is known.)
    JOIN graph.def c ON c.id = s.scope AND c.kind <> 'namespace'
    -- What one part of a class stands on, all of them do.
    LEFT JOIN graph.part p ON p.id = c.id LEFT JOIN graph.part o ON o.whole = p.whole
    WHERE len(d.rest) = 0
),
up AS (
    SELECT class AS node, base AS anc, [place] AS path FROM base
    UNION ALL
    SELECT up.node, b.base, list_append(up.path, b.place) FROM up JOIN base b ON b.class = up.anc
    WHERE len(up.path) < 12 AND b.base <> up.node
)
SELECT node, anc, row_number() OVER (PARTITION BY node ORDER BY path) AS rank
FROM (SELECT node, anc, max(path) AS path FROM up WHERE node <> anc GROUP BY ALL);

INSERT INTO graph.mro FROM graph.inherits;
INSERT INTO graph.lookup
SELECT c.id * 2, s.anc, c.depth * 1000 + s.rank FROM graph.chain c JOIN graph.inherits s ON s.node = c.scope
UNION ALL
SELECT node * 2 + 1, anc, rank FROM graph.inherits;

-- Members by the class that holds them.
CREATE OR REPLACE TABLE graph.member AS
SELECT d.id, d.parent AS class FROM graph.def d JOIN graph.def c ON c.id = d.parent AND c.is_class
UNION
SELECT id, class FROM graph.outer_member;

-- Classes with a base outside the project: their definitions may implement an outside interface, so that a name which
-- is unique here is not unique in the program.
CREATE OR REPLACE TABLE graph.foreign_class AS
SELECT DISTINCT m.node AS class
FROM site s JOIN graph.mro m ON m.anc = s.scope
WHERE s.id NOT IN (SELECT expr FROM done WHERE node > 0 AND len(rest) = 0)
  AND s.name NOT IN ('object', 'Generic', 'Protocol', 'ABC', 'ABCMeta', 'Enum', 'IntEnum', 'StrEnum', 'Flag', 'NamedTuple',
                     'TypedDict', 'Exception', 'BaseException', 'RuntimeError', 'ValueError', 'TypeError', 'KeyError');
