-- What is remembered names files, symbols, commands and settings: each name, and what became of it by the history that is known.
CREATE TABLE mention_item (
    id       INTEGER NOT NULL,
    source   VARCHAR NOT NULL,     -- as of its passages
    path     VARCHAR NOT NULL,     -- likewise: entry/ID, note/…, episode/ID
    title    VARCHAR NOT NULL,
    time     BIGINT,               -- when it was written; null: not known
    sha      VARCHAR NOT NULL,     -- the commit that it says it was written at; empty: none
    ord      INTEGER NOT NULL,     -- ordinal that it counts as written at; -1: not known
    passages INTEGER NOT NULL,     -- how many it has, and the newest of them: another one when it was changed
    newest   INTEGER NOT NULL
);
CREATE TABLE mention (
    id         INTEGER NOT NULL,
    item       INTEGER NOT NULL,
    line       INTEGER NOT NULL,
    kinds      VARCHAR NOT NULL,   -- what it may be, with blanks between, the likeliest first
    text       VARCHAR NOT NULL,
    word       VARCHAR NOT NULL,   -- last part of the name: what it is looked up by
    plain      BOOLEAN NOT NULL,   -- it reads like a word of English
    kind       VARCHAR NOT NULL,   -- what it is; empty: nothing of this project
    state      VARCHAR NOT NULL,
    path       VARCHAR NOT NULL,   -- where it stands now, or stood last
    start_line INTEGER NOT NULL,
    became     VARCHAR NOT NULL,
    ord        INTEGER NOT NULL    -- of the commit that did it; 0: not known; -1: none, only the files on disk differ; -2: still to be looked up
);
-- The files with which they were compared last: what differs from now has to be looked at again.
CREATE TABLE mention_file (path VARCHAR NOT NULL, blob INTEGER NOT NULL);
-- What a person said is true all the same, from the journal: the item and what was so of its names then.
CREATE TABLE mention_confirmed (path VARCHAR NOT NULL, fate VARCHAR NOT NULL);
