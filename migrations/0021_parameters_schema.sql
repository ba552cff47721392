-- What the parameters of a script's runs have to look like; null for anything.

ALTER TABLE scripts ADD COLUMN parameters_schema jsonb;
