-- What the narrator saw in episodes. It is made from the episodes as the tables of episodes number them, beside index
-- runs, is removed when those are read again, and can be recreated. Quotes stay in the journal.
CREATE TABLE narrator_turn (           -- episodes that were looked at and may be seen
    seq      INTEGER NOT NULL,         -- of the episode
    earlier  INTEGER NOT NULL,         -- of the one before it in its session, which it was looked at with; 0: none
    session  BIGINT NOT NULL,          -- digest of agent and session
    time     DOUBLE NOT NULL,
    prompt   BIGINT NOT NULL           -- digest of a long prompt, which says a thing once however often it is sent; 0: it is short
);
CREATE TABLE narrator_fact (           -- each wording of each fact
    fact     BIGINT NOT NULL,          -- digest of what follows up to the scope
    kind     VARCHAR NOT NULL,
    subject  VARCHAR NOT NULL,
    claim    VARCHAR NOT NULL,
    text     VARCHAR NOT NULL,
    terms    VARCHAR NOT NULL,         -- with blanks between
    scope    VARCHAR NOT NULL,
    grp      BIGINT NOT NULL,          -- the fact that it is a wording of; 0: not settled yet
    topic    BIGINT NOT NULL DEFAULT 0, -- what it is about, where other facts say otherwise of that; 0: none do
    since    DOUBLE NOT NULL DEFAULT 0, -- when it was said first, as of when it was put to its fact
    sense    DOUBLE NOT NULL DEFAULT 0 -- what its vector adds to how lasting it sounds
);
CREATE TABLE narrator_seen (           -- who said or showed what
    fact     BIGINT NOT NULL,
    seq      INTEGER NOT NULL,
    weight   FLOAT NOT NULL,
    opposes  BOOLEAN NOT NULL,
    speaker  VARCHAR NOT NULL
);
CREATE TABLE narrator_group (          -- facts, and what all that was seen of each comes to
    grp           BIGINT NOT NULL,     -- digest of kind, subject and claim of the wording that came first
    kind          VARCHAR NOT NULL,
    subject       VARCHAR NOT NULL,
    claim         VARCHAR NOT NULL,
    support       INTEGER NOT NULL,
    sessions      INTEGER NOT NULL,
    occasions     INTEGER NOT NULL,    -- sessions, of which those with the same long prompt count once
    opposed       INTEGER NOT NULL,
    first         DOUBLE NOT NULL,
    last          DOUBLE NOT NULL,
    last_opposed  DOUBLE NOT NULL,
    weight        FLOAT NOT NULL,
    speakers      VARCHAR NOT NULL,    -- their names, each on a line of its own
    confidence    DOUBLE NOT NULL,     -- when it was rated last: it can only have become less since then
    rated         BOOLEAN NOT NULL     -- nothing changed since then that it depends on
);
-- Vectors of what is said in several wordings.
CREATE TABLE narrator_vector (fact BIGINT NOT NULL, vector FLOAT[] NOT NULL);
-- Facts that may mean the same, both ways; one said only once and similar to another one is held back.
CREATE TABLE narrator_near (one BIGINT NOT NULL, other BIGINT NOT NULL);
CREATE TABLE narrator_touched (grp BIGINT NOT NULL);   -- to be weighed again
-- How far the episodes were looked at, in one row.
CREATE TABLE narrator_position (
    reading  VARCHAR NOT NULL,         -- names this reading of the journal
    miners   INTEGER NOT NULL,         -- version of what looks
    state    VARCHAR NOT NULL,         -- of the tables of episodes when all of them were looked at; empty: not all are
    pass     INTEGER NOT NULL          -- counts what was weighed
);
-- What was proposed when a pass ended last, by which the next one tells what is new.
CREATE TABLE narrator_told (id VARCHAR NOT NULL, digest VARCHAR NOT NULL);
-- What a language model answered, by a digest of what it was asked.
CREATE TABLE narrator_phrasing (digest VARCHAR NOT NULL, answer VARCHAR NOT NULL);
-- Sentences of notes and entries, for finding what is known already.
CREATE TABLE narrator_note (
    note  VARCHAR NOT NULL,            -- id of a note, entry/ID, or nothing: what all of them were like
    stamp VARCHAR NOT NULL
);
CREATE TABLE narrator_line (
    number INTEGER NOT NULL,
    note   VARCHAR NOT NULL,
    line   INTEGER NOT NULL,
    text   VARCHAR NOT NULL
);
CREATE TABLE narrator_line_term (
    number INTEGER NOT NULL,           -- of the sentence
    term   BIGINT NOT NULL             -- digest of a word of it
);
