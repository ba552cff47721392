-- Alarms are notices of the platform itself: of no script, and of no group, for those who see all groups.
ALTER TABLE notices ALTER COLUMN script_id DROP NOT NULL;
ALTER TABLE notices ALTER COLUMN group_id DROP NOT NULL;
