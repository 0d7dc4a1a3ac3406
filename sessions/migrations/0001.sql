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
  head     INTEGER NOT NULL, -- the turn that the conversation goes on from; 0: its beginning
  tip      INTEGER NOT NULL, -- the turn that the visible line ends with
  base     INTEGER NOT NULL, -- states.id; 0: the zero state
  adapter  TEXT    NOT NULL, -- fingerprint; '': none
  mix      TEXT    NOT NULL, -- JSON; '': none
  pinned   INTEGER NOT NULL,
  archived INTEGER NOT NULL,
  deleted  INTEGER NOT NULL, -- when; 0: it was not
  copy_of  INTEGER NOT NULL, -- the conversation that it is still no more than a copy of; 0: it has something of its own
  form     TEXT    NOT NULL  -- JSON of what the answers are held to; '': nothing
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
  usage        TEXT    NOT NULL, -- JSON
  base         TEXT    NOT NULL, -- names, for people
  adapter      TEXT    NOT NULL,
  adapter_id   TEXT    NOT NULL, -- fingerprint
  mix          TEXT    NOT NULL, -- JSON; '': none
  history      TEXT    NOT NULL, -- JSON: what the state after the turn has read; '': not known
  label        TEXT    NOT NULL,
  pinned       INTEGER NOT NULL,
  edited       INTEGER NOT NULL,
  sum          INTEGER NOT NULL  -- checksum of what the turn says (sums.go)
) STRICT;
CREATE INDEX turns_by_conversation ON turns (conversation, id);

-- States, each stored once: what has the same bytes has one row. The data comes
-- last, so that the rest is read without it.
CREATE TABLE contents (
  id    INTEGER PRIMARY KEY,
  sum   BLOB    NOT NULL UNIQUE, -- SHA-256 of data
  bytes INTEGER NOT NULL,
  data  BLOB    NOT NULL -- infer.Snapshot in its binary form, with its own checksum
) STRICT;

-- The state after a turn. It has read what the turn's history says.
CREATE TABLE snapshots (
  turn         INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
  conversation INTEGER NOT NULL,
  content      INTEGER NOT NULL REFERENCES contents (id),
  bytes        INTEGER NOT NULL, -- of the content
  prefix       BLOB,             -- names what was read (infer.Prefix); NULL: it has no name
  used         INTEGER NOT NULL  -- when it was last written or read
) STRICT;
CREATE INDEX snapshots_by_conversation ON snapshots (conversation, bytes, used);
CREATE INDEX snapshots_by_content ON snapshots (content, bytes);
CREATE INDEX snapshots_by_prefix ON snapshots (prefix) WHERE prefix IS NOT NULL;

-- Answers that are being generated: what a crash leaves of them.
CREATE TABLE journals (
  turn         INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  parent       INTEGER NOT NULL,
  role         INTEGER NOT NULL,
  sampling     TEXT    NOT NULL,
  model        TEXT    NOT NULL,
  model_name   TEXT    NOT NULL,
  created      INTEGER NOT NULL,
  base         TEXT    NOT NULL,
  adapter      TEXT    NOT NULL,
  adapter_id   TEXT    NOT NULL,
  mix          TEXT    NOT NULL,
  history      TEXT    NOT NULL, -- as of a turn; its last run goes on
  edited       INTEGER NOT NULL
) STRICT;
CREATE INDEX journals_by_conversation ON journals (conversation);

CREATE TABLE journal_parts (
  turn   INTEGER NOT NULL REFERENCES journals (turn) ON DELETE CASCADE,
  seq    INTEGER NOT NULL,
  tokens BLOB    NOT NULL,
  text   TEXT    NOT NULL,
  PRIMARY KEY (turn, seq)
) STRICT, WITHOUT ROWID;

-- Prompts that were sent, for the composer.
CREATE TABLE history (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  prompt TEXT NOT NULL
) STRICT;

-- What was written in a tab and not sent. The conversation may not be stored.
CREATE TABLE drafts (
  conversation INTEGER PRIMARY KEY,
  text         TEXT    NOT NULL,
  editing      INTEGER NOT NULL, -- 1: it is to take the place of a turn's text
  turn         INTEGER NOT NULL, -- which one; 0: the last prompt
  answer       INTEGER NOT NULL  -- 1: that turn is an answer
) STRICT;
CREATE TRIGGER drafts_leave AFTER DELETE ON conversations BEGIN
  DELETE FROM drafts WHERE conversation = old.id;
END;

CREATE TABLE layout (
  position     INTEGER PRIMARY KEY, -- of the tab, from the left
  conversation INTEGER NOT NULL, -- may not be stored yet: a new one is stored with its first turn
  active       INTEGER NOT NULL
) STRICT;

CREATE TABLE states (
  id           INTEGER PRIMARY KEY,
  name         TEXT    NOT NULL UNIQUE,
  kind         TEXT    NOT NULL, -- tuned, baked or saved
  source       TEXT    NOT NULL, -- the file or conversation it came from
  model        TEXT    NOT NULL, -- fingerprint; '': any of the shape
  model_name   TEXT    NOT NULL,
  shape        TEXT    NOT NULL, -- JSON
  adapter      TEXT    NOT NULL, -- fingerprint of the one it was made with; '': none
  adapter_name TEXT    NOT NULL,
  tokens       BLOB    NOT NULL, -- what it has read
  created      INTEGER NOT NULL,
  content      INTEGER NOT NULL REFERENCES contents (id)
) STRICT;
CREATE INDEX states_by_content ON states (content);

-- A content goes with the last that has it.
CREATE TRIGGER snapshots_leave_contents AFTER DELETE ON snapshots BEGIN
  DELETE FROM contents WHERE id = old.content
    AND NOT EXISTS (SELECT 1 FROM snapshots WHERE content = old.content)
    AND NOT EXISTS (SELECT 1 FROM states WHERE content = old.content);
END;
CREATE TRIGGER states_leave_contents AFTER DELETE ON states BEGIN
  DELETE FROM contents WHERE id = old.content
    AND NOT EXISTS (SELECT 1 FROM snapshots WHERE content = old.content)
    AND NOT EXISTS (SELECT 1 FROM states WHERE content = old.content);
END;

CREATE TABLE adapters (
  fingerprint TEXT    PRIMARY KEY,
  name        TEXT    NOT NULL,
  path        TEXT    NOT NULL, -- '': it comes with the program
  options     TEXT    NOT NULL, -- JSON: what the file does not say
  used        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Mixes of states that were saved under a name.
CREATE TABLE mixes (
  name TEXT    PRIMARY KEY,
  mix  TEXT    NOT NULL, -- JSON, as that of a conversation
  used INTEGER NOT NULL  -- saved or taken last
) STRICT, WITHOUT ROWID;

-- What people thought of answers that they compared. A vote outlives the
-- conversation, and has none of its text.
CREATE TABLE votes (
  id       INTEGER PRIMARY KEY,
  created  INTEGER NOT NULL,
  prompt   TEXT    NOT NULL, -- SHA-256 of the prompt's text
  variants TEXT    NOT NULL, -- JSON: their descriptions
  winner   INTEGER NOT NULL  -- place in variants; -1: a tie
) STRICT;

-- The index of every three characters: of turns under their id, of titles
-- under the negative of their conversation's. The text comes folded and padded
-- (index.go) and is not kept a second time. Turns that are missing here are
-- added in the background.
CREATE VIRTUAL TABLE search USING fts5 (
  text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1');
CREATE VIRTUAL TABLE search_terms USING fts5vocab (search, instance);
CREATE TRIGGER turns_leave_search AFTER DELETE ON turns BEGIN
  DELETE FROM search WHERE rowid = old.id;
END;
CREATE TRIGGER titles_leave_search AFTER DELETE ON conversations BEGIN
  DELETE FROM search WHERE rowid = -old.id;
END;
