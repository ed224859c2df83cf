-- The sites that mean a symbol in `wanted`, with all that they may mean: into `near_site` and `near_edge`.
CREATE OR REPLACE TEMP TABLE near_edge AS
FROM {edges} WHERE site IN (SELECT site FROM {edges} WHERE node IN (SELECT id FROM wanted));
CREATE OR REPLACE TEMP TABLE near_site AS
FROM {sites} WHERE id IN (SELECT site FROM near_edge) AND kind IN ({kinds});
