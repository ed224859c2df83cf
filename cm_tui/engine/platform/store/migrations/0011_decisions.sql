-- Decisions on proposals of the narrator, and proposals of agents: events of the journal, unchanged. They are removed
-- when it is read again, and erased ones at once.
CREATE TABLE narrator_event (
    event   BIGINT NOT NULL,   -- its number, as in the other tables
    id      VARCHAR NOT NULL,  -- of the event
    change  VARCHAR NOT NULL,  -- that it is a part of
    kind    VARCHAR NOT NULL,
    time    DOUBLE NOT NULL,
    data    VARCHAR NOT NULL,  -- JSON
    undone  BOOLEAN NOT NULL   -- by a later event
);
