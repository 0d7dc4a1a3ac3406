-- Answers are made with adapters and from mixes of states.
ALTER TABLE conversations ADD COLUMN adapter TEXT NOT NULL DEFAULT ''; -- fingerprint
ALTER TABLE conversations ADD COLUMN mix     TEXT NOT NULL DEFAULT ''; -- JSON; '': none
ALTER TABLE turns         ADD COLUMN mix     TEXT NOT NULL DEFAULT '';

CREATE TABLE adapters (
  fingerprint TEXT    PRIMARY KEY,
  name        TEXT    NOT NULL,
  path        TEXT    NOT NULL, -- '': it comes with the program
  options     TEXT    NOT NULL, -- JSON: what the file does not say
  used        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
