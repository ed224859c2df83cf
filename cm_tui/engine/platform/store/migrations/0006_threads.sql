-- Passages that follow each other, such as the turns of a session: which thread they belong to, and where in it they stand.
ALTER TABLE passage ADD COLUMN thread VARCHAR;  -- null: it stands alone
ALTER TABLE passage ADD COLUMN place BIGINT;    -- in order; equal ones by time, then by path
