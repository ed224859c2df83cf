-- Everything that stands within symbols, they included.
SELECT DISTINCT d.id, d.file, CAST(d.id - d.file * 1000000 AS INTEGER) AS idx
FROM graph.def o JOIN graph.def d ON d.file = o.file AND d.start_line >= o.start_line AND d.end_line <= o.end_line
WHERE o.canon IN ({ids});
