-- How a turn was read, and an unfinished answer: with which adapters, and what
-- is not read yet; JSON. '' is not written down.
ALTER TABLE turns    ADD COLUMN reading TEXT NOT NULL DEFAULT '';
ALTER TABLE journals ADD COLUMN reading TEXT NOT NULL DEFAULT '';
