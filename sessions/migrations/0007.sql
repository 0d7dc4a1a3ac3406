-- What people thought of answers that they compared. A vote outlives the
-- conversation, and has none of its text.
CREATE TABLE votes (
  id       INTEGER PRIMARY KEY,
  created  INTEGER NOT NULL,
  prompt   TEXT    NOT NULL, -- SHA-256 of the prompt's text
  variants TEXT    NOT NULL, -- JSON: their descriptions
  winner   INTEGER NOT NULL  -- place in variants; -1: a tie
) STRICT;
