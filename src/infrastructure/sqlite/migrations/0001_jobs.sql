-- A job's wide row is written once. What changes lives in narrow tables: at any moment a job is
--   queued    no row in lease or done; a row in requeued only when it ran before
--   running   a row in lease
--   ended     a row in done, and in lease for as long as its worker has not stopped
-- Times and durations are integer microseconds (UTC). A column that is NULL was not given.

CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    -- What the ready queue needs comes first: the scan at the start reads no further.
    tenant TEXT NOT NULL,
    queue TEXT NOT NULL,
    type TEXT NOT NULL,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    run_after INTEGER,               -- NULL: created_at
    labels TEXT,                     -- lists are netstrings: 3:abc2:de
    site_id TEXT,
    node_id TEXT,
    exclusive_keys TEXT,
    dependencies INTEGER NOT NULL,   -- how many rows this job has in dependency
    max_attempts INTEGER NOT NULL,
    timeout INTEGER NOT NULL,
    backoff TEXT,                    -- NULL: none; l1,2,3: list of delays; e1,2: base and cap
    retry_on_timeout INTEGER NOT NULL,
    run_despite_failure INTEGER NOT NULL,
    project TEXT,
    entity_type TEXT,
    entity_id TEXT,
    source TEXT,
    correlation_id TEXT,
    replay_of INTEGER,
    payload_digest BLOB NOT NULL,
    head_hash BLOB NOT NULL,         -- of the job's first event
    payload TEXT NOT NULL
);

-- Partial, so that jobs which do not use a field pay nothing for it.
CREATE INDEX job_by_tenant ON job(tenant) WHERE tenant <> 'default';
CREATE INDEX job_by_entity ON job(entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX job_by_site ON job(site_id) WHERE site_id IS NOT NULL;
CREATE INDEX job_by_correlation ON job(correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX job_by_replay ON job(replay_of) WHERE replay_of IS NOT NULL;

CREATE TABLE dependency (
    job_id INTEGER NOT NULL,
    depends_on INTEGER NOT NULL,
    PRIMARY KEY (job_id, depends_on)
) WITHOUT ROWID;

-- requeued, lease and done end with the same columns, from attempt on: how the job stands.
CREATE TABLE requeued (
    id INTEGER PRIMARY KEY,
    started_at INTEGER,
    attempt INTEGER NOT NULL,
    run_after INTEGER,               -- NULL: as the job was submitted with
    progress INTEGER,
    message TEXT,
    error_code TEXT,
    error_message TEXT,
    result TEXT,
    log_seq INTEGER NOT NULL,
    event_seq INTEGER NOT NULL,
    head_hash BLOB NOT NULL
);

CREATE TABLE lease (
    id INTEGER PRIMARY KEY,
    token INTEGER NOT NULL,
    worker_id TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    term INTEGER NOT NULL,
    stop_requested INTEGER NOT NULL,
    client_seq INTEGER NOT NULL,
    batch_mark INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    run_after INTEGER,
    progress INTEGER,
    message TEXT,
    error_code TEXT,
    error_message TEXT,
    result TEXT,
    log_seq INTEGER NOT NULL,
    event_seq INTEGER NOT NULL,
    head_hash BLOB NOT NULL
);

CREATE TABLE done (
    id INTEGER PRIMARY KEY,
    state INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    run_after INTEGER,
    progress INTEGER,
    message TEXT,
    error_code TEXT,
    error_message TEXT,
    result TEXT,
    log_seq INTEGER NOT NULL,
    event_seq INTEGER NOT NULL,
    head_hash BLOB NOT NULL
);

-- 2 is succeeded. Listing what went wrong is quick, and successes pay nothing for it.
CREATE INDEX done_unsuccessful ON done(id, state) WHERE state <> 2;

-- History has rowids, so that it is appended densely, and only its narrow indexes are touched in many
-- places. Measured: clustered by (job_id, seq) instead, a whole cycle of a job costs 20 % more.
CREATE TABLE event (
    job_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    step INTEGER NOT NULL,
    from_state INTEGER,
    to_state INTEGER,
    attempt INTEGER NOT NULL,
    lease INTEGER,
    at INTEGER NOT NULL,
    log_seq INTEGER NOT NULL,
    actor TEXT NOT NULL,
    detail TEXT,
    hash BLOB NOT NULL
);
CREATE UNIQUE INDEX event_by_job ON event(job_id, seq);

CREATE TABLE log (
    job_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    level INTEGER NOT NULL,
    at INTEGER NOT NULL,
    event_seq INTEGER NOT NULL,
    message TEXT NOT NULL,
    data TEXT
);
CREATE UNIQUE INDEX log_by_job ON log(job_id, seq);

CREATE TABLE idempotency (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    body_digest BLOB NOT NULL,
    jobs TEXT NOT NULL,              -- ids, parted by commas
    PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency(at);

-- low_water: every job with a smaller id has ended. last_id: no number above it was ever given.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('low_water', 0), ('last_id', 0);
