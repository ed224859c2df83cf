-- The classes whose constructors are in `wanted`, where a constructor bears the class's name.
INSERT INTO wanted
SELECT c.canon FROM wanted w JOIN graph.def d ON d.id = w.id JOIN graph.def c ON c.id = d.parent AND c.name = d.name
WHERE d.kind = 'constructor' AND c.canon NOT IN (SELECT id FROM wanted);
