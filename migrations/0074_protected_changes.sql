-- Requested changes of protected scripts are approvals, too. A notice can refer to a change instead of a run.

ALTER TABLE approvals ADD COLUMN change jsonb;
ALTER TABLE notices ADD COLUMN change_id uuid;
