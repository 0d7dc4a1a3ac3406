-- Times are microseconds since 1970 in UTC. Tokens are little-endian int32.
CREATE TABLE conversations (
  id       INTEGER PRIMARY KEY,
  title    TEXT    NOT NULL,
  named    INTEGER NOT NULL, -- 1: a person chose the title
  system   TEXT    NOT NULL,
  think    TEXT    NOT NULL,
  preset   TEXT    NOT NULL,
  sampling TEXT    NOT NULL, -- JSON
  created  INTEGER NOT NULL,
  updated  INTEGER NOT NULL,
  head     INTEGER NOT NULL  -- the turn that the visible line ends with; 0: empty
) STRICT;
CREATE INDEX conversations_by_update ON conversations (updated);

CREATE TABLE turns (
  id           INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  parent       INTEGER NOT NULL, -- 0: the first
  role         INTEGER NOT NULL,
  text         TEXT    NOT NULL,
  tokens       BLOB    NOT NULL,
  recall       BLOB,             -- what later turns have read in place of tokens; NULL: the tokens
  open         INTEGER NOT NULL, -- 1: an interrupted answer
  reason       INTEGER NOT NULL,
  sampling     TEXT    NOT NULL, -- JSON
  model        TEXT    NOT NULL, -- fingerprint
  model_name   TEXT    NOT NULL,
  created      INTEGER NOT NULL,
  usage        TEXT    NOT NULL  -- JSON
) STRICT;
CREATE INDEX turns_by_conversation ON turns (conversation, id);

CREATE TABLE snapshots (
  turn INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
  data BLOB NOT NULL -- infer.Snapshot in its binary form, with its own checksum
) STRICT;

CREATE TABLE journals (
  turn         INTEGER PRIMARY KEY, -- of an answer that is being generated
  conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  parent       INTEGER NOT NULL,
  role         INTEGER NOT NULL,
  sampling     TEXT    NOT NULL,
  model        TEXT    NOT NULL,
  model_name   TEXT    NOT NULL,
  created      INTEGER NOT NULL
) STRICT;
CREATE INDEX journals_by_conversation ON journals (conversation);

CREATE TABLE journal_parts (
  turn   INTEGER NOT NULL REFERENCES journals (turn) ON DELETE CASCADE,
  seq    INTEGER NOT NULL,
  tokens BLOB    NOT NULL,
  text   TEXT    NOT NULL,
  PRIMARY KEY (turn, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE history (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  prompt TEXT NOT NULL
) STRICT;

CREATE TABLE layout (
  position     INTEGER PRIMARY KEY, -- of the tab, from the left
  conversation INTEGER NOT NULL, -- may not be stored yet: a new one is stored with its first turn
  active       INTEGER NOT NULL
) STRICT;
