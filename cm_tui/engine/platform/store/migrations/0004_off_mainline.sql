-- Requested commits off the mainline. Their files are those of a commit of the mainline, the base, but
-- for the paths in side_file; without a base, side_file lists them all.
CREATE TABLE side_commit (
    id    INTEGER NOT NULL,       -- of one reading; never given twice
    sha   VARCHAR NOT NULL,
    base  VARCHAR NOT NULL,       -- sha; empty: none
    rules VARCHAR NOT NULL,       -- digest of the rules by which files were chosen
    whole BOOLEAN NOT NULL,       -- false while it is being read
    used  BIGINT NOT NULL         -- counts up with each use: what was used longest ago goes first
);
CREATE TABLE side_file (side INTEGER NOT NULL, path VARCHAR NOT NULL, blob INTEGER);  -- null blob: not there

-- Commits that were on the mainline, as branches come and go: what is known of them need not be read again.
CREATE TABLE former_commit (
    sha     VARCHAR NOT NULL,
    parent  VARCHAR NOT NULL,     -- its first parent; empty: none in this clone
    time    BIGINT NOT NULL,
    author  VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    known   BOOLEAN NOT NULL,     -- former_change has what it changed
    turn    BIGINT NOT NULL       -- counts up with each leave: what left first goes first
);
CREATE TABLE former_change (sha VARCHAR NOT NULL, path VARCHAR NOT NULL, before INTEGER, after INTEGER);  -- blobs; null: none
