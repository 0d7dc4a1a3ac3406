-- A checksum of what a turn says: a flipped byte in a text or in tokens is
-- found (sums.go). NULL: written before there was one, and not checked.
ALTER TABLE turns ADD COLUMN sum INTEGER;
