-- The classes whose constructors are among symbols, where a constructor bears the class's name.
SELECT c.canon FROM graph.def d JOIN graph.def c ON c.id = d.parent AND c.name = d.name
WHERE d.id IN ({ids}) AND d.kind = 'constructor';
