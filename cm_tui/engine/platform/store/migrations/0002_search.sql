-- The keyword index, in the layout of DuckDB's full-text extension 1.5 (`PRAGMA create_fts_index` over `passage`),
-- so that its `match_bm25` reads it too. Terms are split before they come here; rows are kept up by SQL in the same
-- transaction as the passages.
CREATE SCHEMA fts_main_passage;
CREATE TABLE fts_main_passage.docs (docid BIGINT, name INTEGER, len BIGINT);          -- docid and name: passage.id
CREATE TABLE fts_main_passage.terms (docid BIGINT, fieldid BIGINT, termid BIGINT);    -- one row an occurrence
CREATE TABLE fts_main_passage.dict (termid BIGINT, term VARCHAR, df BIGINT);
CREATE TABLE fts_main_passage.stats (num_docs BIGINT, avgdl DOUBLE);
CREATE TABLE fts_main_passage.fields (fieldid BIGINT, field VARCHAR);
CREATE TABLE fts_main_passage.stopwords (sw VARCHAR);
INSERT INTO fts_main_passage.fields VALUES (0, 'path'), (1, 'title'), (2, 'body');
INSERT INTO fts_main_passage.stats VALUES (0, 0);
