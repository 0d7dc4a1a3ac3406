-- The visible line goes on behind the head (tip), begins from a state of the
-- library (base), and conversations are pinned, archived and thrown away.
ALTER TABLE conversations ADD COLUMN tip      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN base     INTEGER NOT NULL DEFAULT 0; -- states.id; 0: the zero state
ALTER TABLE conversations ADD COLUMN pinned   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN deleted  INTEGER NOT NULL DEFAULT 0; -- when; 0: it was not
UPDATE conversations SET tip = head;

ALTER TABLE turns ADD COLUMN base    TEXT    NOT NULL DEFAULT ''; -- names, for people
ALTER TABLE turns ADD COLUMN adapter TEXT    NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN label   TEXT    NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN pinned  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN edited  INTEGER NOT NULL DEFAULT 0;

CREATE TABLE states (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  kind       TEXT    NOT NULL, -- tuned, baked or saved
  source     TEXT    NOT NULL, -- the file or conversation it came from
  model      TEXT    NOT NULL, -- fingerprint; '': any of the shape
  model_name TEXT    NOT NULL,
  shape      TEXT    NOT NULL, -- JSON
  tokens     BLOB    NOT NULL, -- what it has read
  created    INTEGER NOT NULL,
  data       BLOB    NOT NULL  -- infer.Snapshot in its binary form
) STRICT;
