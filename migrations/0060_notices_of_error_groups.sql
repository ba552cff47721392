-- The inbox shows the failures of one error group as one entry. Notices of earlier versions stay entries of their own.
ALTER TABLE notices ADD COLUMN error_group_id uuid;
CREATE INDEX notices_by_error_group ON notices (error_group_id, notice_id DESC) INCLUDE (time)
  WHERE error_group_id IS NOT NULL;
