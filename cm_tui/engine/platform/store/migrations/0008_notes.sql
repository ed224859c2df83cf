-- Notes as they were read last: what lists show of each, and what tells that its file has changed.
CREATE TABLE note (
    id         VARCHAR NOT NULL,
    kind       VARCHAR NOT NULL,
    scope      VARCHAR NOT NULL,
    file       VARCHAR NOT NULL,
    title      VARCHAR NOT NULL,
    time       DOUBLE,            -- the day that it is about: seconds since the epoch; null: undated
    changed_ns BIGINT NOT NULL,   -- with size and inode: what the file was like
    size       BIGINT NOT NULL,
    inode      UBIGINT NOT NULL,
    lines      INTEGER NOT NULL,
    digest     VARCHAR NOT NULL,  -- of its content; empty: it was not read
    tags       VARCHAR NOT NULL,  -- JSON
    writable   BOOLEAN NOT NULL,
    problem    VARCHAR NOT NULL
);
