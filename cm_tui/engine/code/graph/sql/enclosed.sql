-- Everything that stands within the symbols in `wanted`, they included.
CREATE OR REPLACE TEMP TABLE inside AS
SELECT DISTINCT d.id, d.file, CAST(d.id - d.file * 1000000 AS INTEGER) AS idx
FROM wanted w JOIN graph.def o ON o.canon = w.id JOIN graph.def d ON d.file = o.file
 AND d.start_line >= o.start_line AND d.end_line <= o.end_line;
