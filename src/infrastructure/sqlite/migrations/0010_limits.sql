-- Rules about what may run are entities of the tenant "@sluice". These tables have what rules count, but for what is
-- active: that is counted from the leases.

-- The buckets of rules with a rate. Written once for each transaction that starts jobs, never without such rules.
CREATE TABLE meter (
    id INTEGER PRIMARY KEY,          -- a hash of the rule's id and the values by which it counts apart
    rule TEXT NOT NULL,
    name TEXT NOT NULL,
    full_at_ns INTEGER NOT NULL,     -- when the bucket is full again, in nanoseconds since 1970
    owed_until_ns INTEGER NOT NULL,  -- the same of a larger bucket that it had, if that is later; else 0
    starts TEXT                      -- of the last hour, by slots of 30 seconds (StartsOfHour::text); NULL: none are counted
);

-- The sources that jobs ever had, and what each did in the last hours.
CREATE TABLE source (
    tenant TEXT NOT NULL,
    source TEXT NOT NULL,
    last_job_at INTEGER,
    PRIMARY KEY (tenant, source)
) WITHOUT ROWID;

CREATE TABLE source_hour (
    tenant TEXT NOT NULL,
    source TEXT NOT NULL,
    hour INTEGER NOT NULL,           -- since 1970
    submitted INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (tenant, source, hour)
) WITHOUT ROWID;

-- Sources of jobs that have not ended can be seen and paused at once; all jobs below the mark have ended.
INSERT INTO source (tenant, source, last_job_at)
SELECT j.tenant, j.source, max(j.created_at) FROM job j LEFT JOIN done d ON d.id = j.id
WHERE j.id >= (SELECT value FROM meta WHERE key = 'low_water') AND j.source IS NOT NULL AND d.id IS NULL
GROUP BY j.tenant, j.source;
