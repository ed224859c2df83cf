-- The sites within the symbols in `wanted`, with what they mean: into `near_site` and `near_edge`.
CREATE OR REPLACE TEMP TABLE near_site AS
FROM {sites} WHERE scope IN (SELECT id FROM inside) AND kind IN ({kinds});
CREATE OR REPLACE TEMP TABLE near_edge AS
FROM {edges} WHERE site IN (SELECT id FROM near_site);
