-- Content-addressed code: what a blob holds is parsed once and has neither path nor commit.
CREATE TABLE meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL);

CREATE TABLE blob (
    id        INTEGER NOT NULL,  -- short for (oid, language) in this store
    oid       VARCHAR NOT NULL,  -- git object id of the content
    language  VARCHAR NOT NULL,  -- one content can be parsed as two languages
    bytes     INTEGER NOT NULL,
    lines     INTEGER NOT NULL,
    generated BOOLEAN NOT NULL,  -- by its content; by its name is a matter of the path
    parsed_by VARCHAR NOT NULL,  -- version of the extractor
    error     VARCHAR            -- why it is searched by lines only
);

CREATE TABLE symbol (
    blob       INTEGER NOT NULL,
    idx        INTEGER NOT NULL,  -- in order of appearance within the blob
    parent     INTEGER,           -- idx of the enclosing symbol
    kind       VARCHAR NOT NULL,
    name       VARCHAR NOT NULL,
    qualname   VARCHAR NOT NULL,
    overload   INTEGER NOT NULL,
    signature  VARCHAR NOT NULL,
    doc        VARCHAR NOT NULL,
    start_line INTEGER NOT NULL,
    end_line   INTEGER NOT NULL,
    min_args   INTEGER,           -- arguments a call must give, without the receiver
    max_args   INTEGER            -- null with min_args set: any number
);

CREATE TABLE reference (
    blob     INTEGER NOT NULL,
    symbol   INTEGER,             -- idx of the enclosing symbol; null: module level
    kind     VARCHAR NOT NULL,    -- call, type, inherit, decorate, inject
    name     VARCHAR NOT NULL,
    receiver VARCHAR,             -- the text before the last dot
    arity    INTEGER,
    line     INTEGER NOT NULL
);

CREATE TABLE import (
    blob     INTEGER NOT NULL,
    symbol   INTEGER,             -- idx of the enclosing symbol, for imports inside functions
    module   VARCHAR NOT NULL,    -- as written: 'a.b', '..x', './y', 'crate::z'
    name     VARCHAR,             -- null: the module itself; '*': everything
    alias    VARCHAR,
    reexport BOOLEAN NOT NULL,
    line     INTEGER NOT NULL
);

-- What a name stands for inside a symbol: annotated or constructed variables, parameters, attributes, return types.
CREATE TABLE binding (
    blob   INTEGER NOT NULL,
    scope  INTEGER,               -- idx of the symbol in which it holds; null: module level
    kind   VARCHAR NOT NULL,      -- var, param, attr (of the class that is the scope), return (of the function that is the scope)
    name   VARCHAR NOT NULL,      -- '' for return
    type   VARCHAR NOT NULL,      -- as written, without brackets; 'call:f.g' when it is what that call gives
    line   INTEGER NOT NULL
);

-- Pieces of a blob that become passages.
CREATE TABLE chunk (
    blob       INTEGER NOT NULL,
    idx        INTEGER NOT NULL,
    symbol     INTEGER,
    start_line INTEGER NOT NULL,
    end_line   INTEGER NOT NULL
);

CREATE TABLE line_commit (
    ord     INTEGER NOT NULL,     -- first-parent count from the root, starting at 1
    sha     VARCHAR NOT NULL,
    time    BIGINT NOT NULL,      -- seconds since the epoch
    author  VARCHAR NOT NULL,
    subject VARCHAR NOT NULL
);

CREATE TABLE file_span (
    path     VARCHAR NOT NULL,
    blob     INTEGER NOT NULL,
    from_ord INTEGER NOT NULL,
    to_ord   INTEGER              -- null: still there
);

CREATE TABLE worktree (path VARCHAR NOT NULL, blob INTEGER);  -- null blob: deleted

CREATE TABLE skipped (path VARCHAR NOT NULL, reason VARCHAR NOT NULL);

CREATE TABLE passage (
    id         INTEGER NOT NULL,
    source     VARCHAR NOT NULL,  -- code, note, entry, episode, transcript
    path       VARCHAR NOT NULL,
    blob       INTEGER,
    symbol     INTEGER,
    start_line INTEGER NOT NULL,
    end_line   INTEGER NOT NULL,
    title      VARCHAR NOT NULL,  -- qualified name and signature
    text       VARCHAR NOT NULL,
    hash       VARCHAR NOT NULL,  -- of what is embedded: title and text, without the path
    time       BIGINT             -- when it was written; null: undated, never decays
);

CREATE TABLE embedding (
    hash        VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    vector      BLOB NOT NULL,    -- int8 codes; the vector is their direction
    last_used   BIGINT NOT NULL   -- seconds since the epoch; the largest BIGINT while a passage uses it
);

-- "Now": the newest spans under the overlay of the working tree.
CREATE VIEW now_file AS
SELECT path, blob FROM worktree WHERE blob IS NOT NULL
UNION ALL
SELECT s.path, s.blob
FROM file_span s
WHERE s.to_ord IS NULL AND NOT EXISTS (SELECT 1 FROM worktree w WHERE w.path = s.path);

-- Excluded content, so that it is not read again; the verdict depends on the path's suffix only.
CREATE TABLE rejected (oid VARCHAR NOT NULL, suffix VARCHAR NOT NULL, included BOOLEAN NOT NULL, reason VARCHAR NOT NULL);
