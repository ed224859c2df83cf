-- What lists show of an episode, in one text: a page is some rows from all over, and each column of each row has to be
-- unpacked by itself. The journal is read again from its beginning.
DROP TABLE episode;
DELETE FROM episode_file;
DELETE FROM episode_tool;
DELETE FROM episode_tag;
DELETE FROM episode_text;
DELETE FROM episode_words;
DELETE FROM episode_edit;
DELETE FROM change;
DELETE FROM episode_position;
CREATE TABLE episode (
    seq      INTEGER NOT NULL,  -- of one reading of the journal, from 1
    id       VARCHAR NOT NULL,
    time     DOUBLE NOT NULL,   -- when it ended: seconds since the epoch
    segment  INTEGER NOT NULL,  -- the event stands behind this place in the journal; 0 and below: in the archive
    place    BIGINT NOT NULL,   -- in that file; in the archive: its line
    type     VARCHAR NOT NULL,
    actor    VARCHAR NOT NULL,
    agent    VARCHAR NOT NULL,
    session  VARCHAR NOT NULL,
    parent   VARCHAR NOT NULL,  -- session that started its session
    title    VARCHAR NOT NULL,
    prompt   VARCHAR NOT NULL,  -- first line of what was asked
    root     VARCHAR NOT NULL,
    sha      VARCHAR NOT NULL,  -- the commit that it saw; empty: none
    outcome  VARCHAR NOT NULL,
    tokens   BIGINT NOT NULL,
    origin   VARCHAR NOT NULL,  -- digest of the turn in the transcript that it was read from
    bytes    BIGINT NOT NULL,   -- of its line in the journal
    own_tags VARCHAR NOT NULL,  -- those that it was recorded with, as JSON
    -- What later events say of it.
    tags     VARCHAR NOT NULL,  -- the current ones, as JSON; the separate table is for filters
    pinned   BOOLEAN NOT NULL,
    rating   INTEGER NOT NULL,
    guarded  BOOLEAN NOT NULL,  -- only a person may change it: see `Standing.guarded`
    settled  BOOLEAN NOT NULL,  -- consolidated
    evidence BOOLEAN NOT NULL,  -- of something that was approved
    state    VARCHAR NOT NULL   -- shown, forgotten, archived
);
CREATE INDEX episode_of_seq ON episode (seq);
CREATE TABLE episode_shown (
    seq INTEGER NOT NULL,
    row VARCHAR NOT NULL        -- JSON: what no later event changes
);
-- Without this, all texts are unpacked to find those of a page.
CREATE INDEX episode_shown_of_seq ON episode_shown (seq);
