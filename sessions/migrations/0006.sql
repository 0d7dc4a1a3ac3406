-- Mixes of states that were saved under a name.
CREATE TABLE mixes (
  name TEXT    PRIMARY KEY,
  mix  TEXT    NOT NULL, -- JSON, as that of a conversation
  used INTEGER NOT NULL  -- saved or taken last
) STRICT, WITHOUT ROWID;
