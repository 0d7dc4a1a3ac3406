-- An unfinished answer of which a person wrote a part.
ALTER TABLE journals ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
