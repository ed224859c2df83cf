SELECT d.canon
FROM graph.def d JOIN graph.file f ON f.id = d.file
JOIN (SELECT unnest(?::VARCHAR[]) AS path, unnest(?::VARCHAR[]) AS qualname, unnest(?::VARCHAR[]) AS kind,
             unnest(?::INTEGER[]) AS overload) k
  ON k.path = f.path AND k.qualname = d.qualname AND k.kind = d.kind AND k.overload = d.overload;
