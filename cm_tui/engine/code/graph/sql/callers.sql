-- The sites that mean a symbol.
SELECT site FROM {edges} WHERE node IN ({ids})
