-- What was decided on proposals of the narrator, and what agents propose: events of the journal, as it has them. They go when
-- it is read anew, and what was erased goes at once.
CREATE TABLE narrator_event (
    event   BIGINT NOT NULL,   -- its number, as in the other tables
    id      VARCHAR NOT NULL,  -- of the event
    change  VARCHAR NOT NULL,  -- that it is a part of
    kind    VARCHAR NOT NULL,
    time    DOUBLE NOT NULL,
    data    VARCHAR NOT NULL,  -- JSON
    undone  BOOLEAN NOT NULL   -- by a later event
);
