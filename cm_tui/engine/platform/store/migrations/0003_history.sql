-- The past: which path held which blob along HEAD's first-parent line. HEAD's own files stand apart, so that an index
-- run never waits for history.
CREATE TABLE head_file (path VARCHAR NOT NULL, blob INTEGER NOT NULL);
INSERT INTO head_file SELECT path, blob FROM file_span WHERE to_ord IS NULL;

-- Alive at an ordinal: from_ord <= ordinal and (to_ord is null or ordinal < to_ord).
-- from_ord: ordinal of the commit that brought it; 0: it was there already where what is known begins.
-- to_ord: ordinal of the commit that took it away; null: still there at the newest ordinal that is known.
DELETE FROM file_span;

-- The whole line from now on, written again when first needed.
DELETE FROM line_commit;

CREATE OR REPLACE VIEW now_file AS
SELECT path, blob FROM worktree WHERE blob IS NOT NULL
UNION ALL
SELECT h.path, h.blob FROM head_file h WHERE NOT EXISTS (SELECT 1 FROM worktree w WHERE w.path = h.path);

-- What a symbol's own lines say, without those of the symbols within it: equal where its body is the same.
ALTER TABLE symbol ADD COLUMN body BIGINT;
