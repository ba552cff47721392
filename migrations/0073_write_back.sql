-- Scripts of one repository, for the changes that become commits.
CREATE INDEX scripts_by_repository ON scripts ((source ->> 'repositoryId')) WHERE source IS NOT NULL;
