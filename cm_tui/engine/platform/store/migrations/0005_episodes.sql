-- What the journal says of episodes, so that lists need not read it: made from it event by event, and made again from
-- its beginning where it is another one. Whole texts, patches and steps stay in the journal.
CREATE TABLE episode (
    seq         INTEGER NOT NULL,  -- of one reading of the journal, from 1
    id          VARCHAR NOT NULL,
    time        DOUBLE NOT NULL,   -- when it ended: seconds since the epoch
    segment     INTEGER NOT NULL,  -- the event stands behind this place in the journal; 0: in the archive
    place       BIGINT NOT NULL,   -- in that file; in the archive: its line
    type        VARCHAR NOT NULL,
    actor       VARCHAR NOT NULL,
    agent       VARCHAR NOT NULL,
    session     VARCHAR NOT NULL,
    parent      VARCHAR NOT NULL,  -- session that started its session
    turn        BIGINT NOT NULL,
    title       VARCHAR NOT NULL,
    root        VARCHAR NOT NULL,
    sha         VARCHAR NOT NULL,  -- the commit that it saw; empty: none
    head        VARCHAR NOT NULL,
    outcome     VARCHAR NOT NULL,
    tokens      BIGINT NOT NULL,
    steps       BIGINT NOT NULL,
    patch_lines BIGINT NOT NULL,
    patch_cut   BOOLEAN NOT NULL,
    redacted    BIGINT NOT NULL,
    note        VARCHAR NOT NULL,
    prompts     VARCHAR NOT NULL,  -- their beginnings, as JSON
    answer      VARCHAR NOT NULL,  -- its beginning
    verdict     VARCHAR NOT NULL,  -- its beginning
    files       VARCHAR NOT NULL,  -- as JSON, as the two below; the tables beside this one are for filters
    tools       VARCHAR NOT NULL,
    tags        VARCHAR NOT NULL,  -- the current ones
    origin      VARCHAR NOT NULL,  -- digest of the turn in the transcript that it was read from
    bytes       BIGINT NOT NULL,   -- of its line in the journal
    own_tags    VARCHAR NOT NULL,  -- those that it was recorded with, as JSON
    -- What later events say of it.
    pinned      BOOLEAN NOT NULL,
    rating      INTEGER NOT NULL,
    guarded     BOOLEAN NOT NULL,  -- only a person may change it: see `Standing.guarded`
    settled     BOOLEAN NOT NULL,  -- consolidated
    evidence    BOOLEAN NOT NULL,  -- of something that was approved
    state       VARCHAR NOT NULL   -- shown, forgotten, archived
);
-- A page of a list is some rows from all over: without this, all texts are unpacked to find them.
CREATE INDEX episode_by_seq ON episode (seq);
CREATE TABLE episode_file (seq INTEGER NOT NULL, path VARCHAR NOT NULL);
CREATE TABLE episode_tool (seq INTEGER NOT NULL, tool VARCHAR NOT NULL);
CREATE TABLE episode_tag (seq INTEGER NOT NULL, tag VARCHAR NOT NULL);

-- The words that episodes are found by: of the newest as text, of the others in parts, each a small inverted index.
CREATE TABLE episode_text (seq INTEGER NOT NULL, words VARCHAR NOT NULL);
CREATE TABLE episode_words (
    part     INTEGER NOT NULL,
    members  BLOB NOT NULL,         -- seq of each episode in it: 4 bytes each
    words    BLOB NOT NULL,         -- each behind a line feed
    lengths  BLOB NOT NULL,         -- how many episodes have each word: 4 bytes each
    postings BLOB NOT NULL          -- which: places among the members, 2 bytes each
);

-- Events that say something of episodes, in their order: what an episode is now is what those say that were not undone.
CREATE TABLE episode_edit (
    event   INTEGER NOT NULL,       -- counts the events
    change  VARCHAR NOT NULL,
    episode VARCHAR NOT NULL,
    edit    VARCHAR NOT NULL,       -- JSON
    actor   VARCHAR NOT NULL,
    undone  BOOLEAN NOT NULL
);

-- Events that can be undone, of any kind, in their order.
CREATE TABLE change (
    event   INTEGER NOT NULL,
    change  VARCHAR NOT NULL,
    kind    VARCHAR NOT NULL,
    actor   VARCHAR NOT NULL,
    segment INTEGER NOT NULL,       -- the event stands behind this place in the journal
    place   BIGINT NOT NULL,
    undone  BOOLEAN NOT NULL
);

-- How far the journal was read, in one row.
CREATE TABLE episode_position (
    segment INTEGER NOT NULL,
    place   BIGINT NOT NULL,
    event   VARCHAR NOT NULL,       -- id of the event that ends there, which identifies the journal
    events  INTEGER NOT NULL,       -- counts those that said something
    waiting VARCHAR NOT NULL        -- JSON: turns that are not recorded yet
);
