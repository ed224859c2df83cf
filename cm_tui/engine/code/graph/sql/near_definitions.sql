-- The definitions that the sites in `near_site` may mean.
SELECT t.id, t.qualname, tf.path, t.kind, t.overload, t.start_line, t.canon
FROM graph.def t JOIN graph.file tf ON tf.id = t.file WHERE t.id IN (SELECT node FROM near_edge);
