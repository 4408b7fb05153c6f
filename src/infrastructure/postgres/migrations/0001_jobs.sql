-- A job's wide row is written once. What changes lives in narrow tables: at any moment a job is
--   queued    in one of ready, timed, parked or blocker; a row in requeued only when it ran before
--   running   a row in lease
--   ended     a row in done, and in lease for as long as its worker has not stopped
-- Times and durations are integer microseconds (UTC). A column that is NULL was not given.
-- Whoever moves a job holds a row lock: that in lease while it runs, that in ready when it is claimed
-- (or steps aside for a key), and that in job otherwise.

-- Ids are time-ordered (milliseconds since 2020, shifted by 22), so that all that belongs to the jobs
-- of one week is in one window: a partition of each of job, done, event and log. Nothing is moved to an
-- archive; the windows of past weeks are the archive, and are dropped whole.
CREATE TABLE sluice.job (
    id bigint NOT NULL,
    tenant text NOT NULL,
    queue text NOT NULL,
    type text NOT NULL,
    priority integer NOT NULL,
    created_at bigint NOT NULL,
    run_after bigint,                -- NULL: created_at
    labels text,                     -- lists are netstrings: 3:abc2:de
    site_id text,
    node_id text,
    exclusive_keys text,
    depends_on text,                 -- ids, parted by commas
    max_attempts integer NOT NULL,
    timeout bigint NOT NULL,
    backoff text,                    -- NULL: none; l1,2,3: list of delays; e1,2: base and cap
    retry_on_timeout boolean NOT NULL,
    run_despite_failure boolean NOT NULL,
    project text,
    entity_type text,
    entity_id text,
    source text,
    correlation_id text,
    replay_of bigint,
    payload_digest bytea NOT NULL,
    head_hash bytea NOT NULL,        -- of the job's first event
    payload text NOT NULL,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

-- Partial, so that jobs which do not use a field pay nothing for it.
CREATE INDEX job_by_tenant ON sluice.job (tenant, id) WHERE tenant <> 'default';
CREATE INDEX job_by_entity ON sluice.job (entity_id, id) WHERE entity_id IS NOT NULL;
CREATE INDEX job_by_site ON sluice.job (site_id, id) WHERE site_id IS NOT NULL;
CREATE INDEX job_by_correlation ON sluice.job (correlation_id, id) WHERE correlation_id IS NOT NULL;
CREATE INDEX job_by_replay ON sluice.job (replay_of, id) WHERE replay_of IS NOT NULL;

-- requeued, lease and done end with the same columns, from attempt on: how the job stands.
CREATE TABLE sluice.done (
    id bigint NOT NULL,
    state smallint NOT NULL,
    started_at bigint,
    completed_at bigint NOT NULL,
    attempt integer NOT NULL,
    run_after bigint,
    progress integer,
    message text,
    error_code text,
    error_message text,
    result text,
    log_seq bigint NOT NULL,
    event_seq bigint NOT NULL,
    head_hash bytea NOT NULL,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

-- 2 is succeeded. Listing what went wrong is quick, and successes pay nothing for it.
CREATE INDEX done_unsuccessful ON sluice.done (id, state) WHERE state <> 2;

CREATE TABLE sluice.event (
    job_id bigint NOT NULL,
    seq bigint NOT NULL,
    step smallint NOT NULL,
    from_state smallint,
    to_state smallint,
    attempt integer NOT NULL,
    lease bigint,
    at bigint NOT NULL,
    log_seq bigint NOT NULL,
    actor text NOT NULL,
    detail text,
    hash bytea NOT NULL,
    PRIMARY KEY (job_id, seq)
) PARTITION BY RANGE (job_id);

CREATE TABLE sluice.log (
    job_id bigint NOT NULL,
    seq bigint NOT NULL,
    attempt integer NOT NULL,
    level smallint NOT NULL,
    at bigint NOT NULL,
    event_seq bigint NOT NULL,
    message text NOT NULL,
    data text,
    PRIMARY KEY (job_id, seq)
) PARTITION BY RANGE (job_id);

-- The partitions of one week, counted from 2020; the first window also takes all that is older.
-- CREATE TABLE … PARTITION OF would lock the parent against everybody, and wait for everybody. A table
-- that is made apart and attached stops neither writers nor readers.
CREATE FUNCTION sluice.add_window(week bigint, is_first boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    first_id text := CASE WHEN is_first THEN 'MINVALUE' ELSE ((week * 604800000) << 22)::text END;
    -- The last week that an id can name would end beyond what fits.
    end_id text := CASE WHEN week >= 3635 THEN 'MAXVALUE' ELSE (((week + 1) * 604800000) << 22)::text END;
    parent text;
    name text;
BEGIN
    FOREACH parent IN ARRAY ARRAY['job', 'done', 'event', 'log'] LOOP
        name := parent || '_' || week;
        CONTINUE WHEN to_regclass(format('sluice.%I', name)) IS NOT NULL;
        EXECUTE format('CREATE TABLE sluice.%I (LIKE sluice.%I INCLUDING ALL)', name, parent);
        EXECUTE format('ALTER TABLE sluice.%I ATTACH PARTITION sluice.%I FOR VALUES FROM (%s) TO (%s)',
                       parent, name, first_id, end_id);
    END LOOP;
END $$;

CREATE TABLE sluice.requeued (
    id bigint PRIMARY KEY,
    started_at bigint,
    attempt integer NOT NULL,
    run_after bigint,                -- NULL: as the job was submitted with
    progress integer,
    message text,
    error_code text,
    error_message text,
    result text,
    log_seq bigint NOT NULL,
    event_seq bigint NOT NULL,
    head_hash bytea NOT NULL,
    token bigint NOT NULL            -- of its last lease
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

-- Nothing but the id is indexed, so that a heartbeat's update stays within its page (HOT).
CREATE TABLE sluice.lease (
    id bigint PRIMARY KEY,
    token bigint NOT NULL,
    worker_id text NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    term bigint NOT NULL,
    stop_requested boolean NOT NULL,
    client_seq bigint NOT NULL,
    batch_mark bigint NOT NULL,
    attempt integer NOT NULL,
    run_after bigint,
    progress integer,
    message text,
    error_code text,
    error_message text,
    result text,
    log_seq bigint NOT NULL,
    event_seq bigint NOT NULL,
    head_hash bytea NOT NULL,
    deadline bigint,                 -- NULL: none, or it has come
    has_ended boolean NOT NULL       -- the job has a row in done
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

-- ── the queue ──

-- What claims can tell jobs apart by. Never changed and few.
CREATE TABLE sluice.lane (
    id bigint PRIMARY KEY,           -- the first eight bytes of the SHA-256 of the rest
    number bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    queue text NOT NULL,
    type text NOT NULL,
    labels text
);
CREATE INDEX lane_by_number ON sluice.lane (number);

-- What may be claimed. The order of its one index is the order of claims.
CREATE TABLE sluice.ready (
    lane bigint NOT NULL,
    priority integer NOT NULL,
    id bigint NOT NULL,
    keys text                        -- what it holds while it runs; NULL: nothing
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX ready_in_order ON sluice.ready (lane, priority DESC, id);

-- Jobs whose run_after has not come.
CREATE TABLE sluice.timed (
    run_after bigint NOT NULL,
    id bigint NOT NULL,
    lane bigint NOT NULL,
    priority integer NOT NULL,
    keys text,
    PRIMARY KEY (run_after, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

-- Jobs that wait for others: one row for each of those.
CREATE TABLE sluice.blocker (
    depends_on bigint NOT NULL,
    job_id bigint NOT NULL,
    lane bigint NOT NULL,
    nth integer NOT NULL,            -- 0, 1, 2… of the job
    PRIMARY KEY (depends_on, job_id)
);
CREATE INDEX blocker_by_job ON sluice.blocker (job_id);

-- Who holds a key, until its lease is closed.
CREATE TABLE sluice.held (
    tenant text NOT NULL,
    key text NOT NULL,
    job_id bigint NOT NULL,
    PRIMARY KEY (tenant, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX held_by_job ON sluice.held (job_id);

-- Jobs that wait at a key which another one held when they were to be claimed. For each free key and
-- each lane with jobs parked at it, one of them is in ready.
CREATE TABLE sluice.parked (
    tenant text NOT NULL,
    key text NOT NULL,
    lane bigint NOT NULL,
    priority integer NOT NULL,
    id bigint NOT NULL,
    keys text NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX parked_in_order ON sluice.parked (tenant, key, lane, priority DESC, id);

-- ── the rest ──

CREATE TABLE sluice.idempotency (
    tenant text NOT NULL,
    key text NOT NULL,
    at bigint NOT NULL,
    body_digest bytea NOT NULL,
    jobs text NOT NULL,              -- ids, parted by commas
    PRIMARY KEY (tenant, key)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX idempotency_by_age ON sluice.idempotency (at);

-- Each committer of each node sits on one; the number makes its ids its own. What a commit writes here
-- tells, after a lost connection, whether it happened.
CREATE TABLE sluice.seat (
    number integer PRIMARY KEY,
    owner bigint NOT NULL,           -- a random number of the node's process
    name text NOT NULL,              -- of the node, for people
    until timestamptz NOT NULL,
    commits bigint NOT NULL,         -- of this owner on this seat
    last_id bigint NOT NULL          -- the largest number that was ever given from this seat
-- Each commit updates one row within its page. Now and then somebody else has the page in use and it
-- cannot be tidied; what is left behind then is little, and vacuum is to come for little.
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50,
        autovacuum_vacuum_cost_delay = 0);

-- What one node does for all: it may while `until` has not come.
CREATE TABLE sluice.duty (
    name text PRIMARY KEY,
    owner bigint NOT NULL,
    until timestamptz NOT NULL
) WITH (fillfactor = 50);
INSERT INTO sluice.duty VALUES ('watch', 0, '-infinity');

-- Everything so far, and room for a few weeks.
DO $$
DECLARE
    this_week bigint := floor((extract(epoch FROM now()) - 1577836800) / 604800);
BEGIN
    PERFORM sluice.add_window(this_week, true);
    PERFORM sluice.add_window(this_week + 1);
    PERFORM sluice.add_window(this_week + 2);
END $$;
