-- Known sentences are compared in memory; vectors are bytes. Both are derived: they are made again where needed.
DROP TABLE narrator_line_term;
DROP TABLE narrator_line;
DROP TABLE narrator_note;
DROP TABLE narrator_vector;
CREATE TABLE narrator_vector (fact BIGINT NOT NULL, vector BLOB NOT NULL);
