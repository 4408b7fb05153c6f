-- Lists of a project's jobs by type and state, answered from an index. Jobs without a project have
-- no row in any of these, and pay nothing.

-- Of a job that has a project, done knows both; of others neither.
ALTER TABLE done ADD COLUMN project TEXT;
ALTER TABLE done ADD COLUMN type TEXT;
UPDATE done SET project = j.project, type = j.type
FROM job j WHERE j.id = done.id AND j.project IS NOT NULL;
CREATE INDEX done_by_type ON done(project, type, state, id) WHERE project IS NOT NULL;

-- Jobs with a project that have not ended.
CREATE TABLE unfinished (
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (project, type, id)
) WITHOUT ROWID;
INSERT INTO unfinished SELECT project, type, id FROM job
WHERE project IS NOT NULL AND NOT EXISTS (SELECT 1 FROM done WHERE done.id = job.id);

CREATE INDEX job_by_type ON job(project, type) WHERE project IS NOT NULL;
