-- Ids are found in the rows of episodes, and are no words of them any more: they were almost half of all words. The
-- table is made again, as rows that are deleted from it would still be read.
CREATE TABLE other_word (
    word VARCHAR NOT NULL,
    seqs INTEGER[] NOT NULL         -- the episodes that have it; a word may have several rows
);
INSERT INTO other_word
SELECT w.word, w.seqs FROM episode_word w LEFT JOIN episode e ON e.id = w.word AND w.seqs = [e.seq] WHERE e.id IS NULL;
DROP TABLE episode_word;
ALTER TABLE other_word RENAME TO episode_word;
