-- The words of episodes as rows. The journal is read again from its beginning: no event ends at this place.
DROP TABLE episode_words;
CREATE TABLE episode_word (
    word VARCHAR NOT NULL,
    seqs INTEGER[] NOT NULL         -- the episodes that have it; a word may have several rows
);
UPDATE episode_position SET segment = 1, place = 1, event = '-';
