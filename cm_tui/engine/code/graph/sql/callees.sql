-- The sites within symbols.
SELECT id AS site FROM {sites} WHERE scope IN ({inside})
