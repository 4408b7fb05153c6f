-- Lists of a project's jobs by type and state, answered from an index. What waits or runs is found
-- in the queue's tables. Jobs without a project are in none of these indexes, and pay nothing.

-- Of a job that has a project, done knows both; of others neither. What nodes of an older version
-- end while they still run is filled in by the housekeeper.
ALTER TABLE sluice.done ADD COLUMN project text, ADD COLUMN type text;
UPDATE sluice.done d SET project = j.project, type = j.type
FROM sluice.job j WHERE j.id = d.id AND j.project IS NOT NULL;
CREATE INDEX done_by_type ON sluice.done (project, type, state, id) WHERE project IS NOT NULL;

CREATE INDEX job_by_type ON sluice.job (project, type, id) WHERE project IS NOT NULL;
