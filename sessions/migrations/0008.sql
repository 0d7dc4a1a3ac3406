-- Which adapter an answer, an unfinished one and a state of the library were
-- made with, by its fingerprint; '' is none, or not known of what is older. An
-- unfinished answer also says what else it is made with.
ALTER TABLE turns    ADD COLUMN adapter_id   TEXT NOT NULL DEFAULT '';
ALTER TABLE states   ADD COLUMN adapter      TEXT NOT NULL DEFAULT '';
ALTER TABLE states   ADD COLUMN adapter_name TEXT NOT NULL DEFAULT '';
ALTER TABLE journals ADD COLUMN base         TEXT NOT NULL DEFAULT '';
ALTER TABLE journals ADD COLUMN adapter      TEXT NOT NULL DEFAULT '';
ALTER TABLE journals ADD COLUMN adapter_id   TEXT NOT NULL DEFAULT '';
ALTER TABLE journals ADD COLUMN mix          TEXT NOT NULL DEFAULT '';

-- The checksum of a turn is now of these, too; that of a turn that has any of
-- them was made without.
UPDATE turns SET sum = NULL WHERE base != '' OR adapter != '' OR mix != '';
