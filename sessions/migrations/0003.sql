-- What is known of a snapshot without reading it. It is a table of its own
-- because a column behind the data would be reached through all of its pages.
CREATE TABLE snapshot_facts (
  turn         INTEGER PRIMARY KEY REFERENCES snapshots (turn) ON DELETE CASCADE,
  conversation INTEGER NOT NULL,
  bytes        INTEGER NOT NULL,
  width        TEXT    NOT NULL, -- of the stored state: exact, 16 or 8
  position     INTEGER NOT NULL, -- tokens read; 0 with an unknown prefix
  prefix       BLOB,             -- names what was read (infer.Prefix); NULL: unknown
  used         INTEGER NOT NULL  -- when it was last written or read
) STRICT;
CREATE INDEX snapshot_facts_by_conversation ON snapshot_facts (conversation, bytes, used);
CREATE INDEX snapshot_facts_by_prefix ON snapshot_facts (prefix) WHERE prefix IS NOT NULL;
INSERT INTO snapshot_facts
  SELECT s.turn, t.conversation, length(s.data), 'exact', 0, NULL, c.updated
  FROM snapshots s JOIN turns t ON t.id = s.turn JOIN conversations c ON c.id = t.conversation;

-- The index of every three characters: of turns under their id, of titles
-- under the negative of their conversation's. The text comes folded and padded
-- (index.go) and is not kept a second time. Turns that are missing here, all of
-- them at first, are added in the background.
CREATE VIRTUAL TABLE search USING fts5 (
  text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1');
CREATE VIRTUAL TABLE search_terms USING fts5vocab (search, instance);
CREATE TRIGGER turns_leave_search AFTER DELETE ON turns BEGIN
  DELETE FROM search WHERE rowid = old.id;
END;
CREATE TRIGGER titles_leave_search AFTER DELETE ON conversations BEGIN
  DELETE FROM search WHERE rowid = -old.id;
END;
