-- What people with SQL read: jobs and job_history. Read only, since each joins tables. Payloads and
-- results are in neither, for they may hold secrets: a role that may read only the views sees none.

-- The schema's name is a setting now. The function finds tables in the schema that it is called in, so
-- that the schema can be renamed.
CREATE OR REPLACE FUNCTION add_window(week bigint, is_first boolean DEFAULT false) RETURNS void
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
        CONTINUE WHEN to_regclass(format('%I.%I', current_schema(), name)) IS NOT NULL;
        EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING ALL)', current_schema(), name,
                       parent);
        EXECUTE format('ALTER TABLE %1$I.%3$I ATTACH PARTITION %1$I.%2$I FOR VALUES FROM (%4$s) TO (%5$s)',
                       current_schema(), name, parent, first_id, end_id);
    END LOOP;
END $$;

CREATE TYPE job_status AS ENUM ('pending', 'running', 'succeeded', 'failed', 'canceled', 'timed_out');

-- A job's id as the API writes it, and back: 8 hex digits of seconds, 4 of milliseconds, 4 of the
-- node, 8 of a sequence. The primary keys are the number.
CREATE FUNCTION job_id(number bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT lpad(to_hex(((number >> 22) + 1577836800000) / 1000), 8, '0')
        || lpad(to_hex(((number >> 22) + 1577836800000) % 1000), 4, '0')
        || lpad(to_hex((number >> 12) & 1023), 4, '0') || lpad(to_hex(number & 4095), 8, '0')
$$;
CREATE FUNCTION job_number(id text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT ((('x' || substr(id, 1, 8))::bit(32)::bigint * 1000
             + ('x' || substr(id, 9, 4))::bit(16)::integer - 1577836800000) << 22)
        | (('x' || substr(id, 13, 4))::bit(16)::bigint << 12) | ('x' || substr(id, 17, 8))::bit(32)::bigint
$$;
-- The least number of a job that is submitted from this moment on.
CREATE FUNCTION job_number_at(moment timestamptz) RETURNS bigint
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT (floor(extract(epoch FROM moment) * 1000)::bigint - 1577836800000) << 22
$$;

CREATE VIEW jobs AS
SELECT job_id(j.id) AS id,
    j.id AS number,
    j.tenant, j.queue, j.type,
    (CASE WHEN d.state IS NULL THEN CASE WHEN l.id IS NULL THEN 'pending' ELSE 'running' END
        WHEN d.state = 2 THEN 'succeeded' WHEN d.state = 3 THEN 'failed' WHEN d.state = 4 THEN 'canceled'
        WHEN d.state = 5 THEN 'timed_out' END)::job_status AS status,
    CASE WHEN d.state IS NULL THEN CASE WHEN l.id IS NULL THEN 'queued' ELSE 'running' END
        WHEN d.state = 2 THEN 'succeeded' WHEN d.state IN (3, 5) THEN 'failed'
        WHEN d.state = 4 THEN 'cancelled' END AS state,
    j.priority,
    coalesce(d.attempt, l.attempt, r.attempt, 0) AS attempt,
    j.max_attempts,
    'epoch'::timestamptz + j.created_at * interval '1 microsecond' AS created_at,
    'epoch'::timestamptz + coalesce(CASE WHEN d.id IS NOT NULL THEN d.run_after
            WHEN l.id IS NOT NULL THEN l.run_after ELSE r.run_after END, j.run_after, j.created_at)
        * interval '1 microsecond' AS run_after,
    'epoch'::timestamptz + CASE WHEN d.id IS NOT NULL THEN d.started_at WHEN l.id IS NOT NULL THEN l.since
            ELSE r.started_at END
        * interval '1 microsecond' AS started_at,
    'epoch'::timestamptz + d.completed_at * interval '1 microsecond' AS completed_at,
    CASE WHEN d.id IS NOT NULL THEN d.progress WHEN l.id IS NOT NULL THEN l.progress ELSE r.progress END
        AS progress,
    CASE WHEN d.id IS NOT NULL THEN d.message WHEN l.id IS NOT NULL THEN l.message ELSE r.message END
        AS message,
    CASE WHEN d.id IS NOT NULL THEN d.error_code WHEN l.id IS NOT NULL THEN l.error_code ELSE r.error_code END
        AS error_code,
    CASE WHEN d.id IS NOT NULL THEN d.error_message WHEN l.id IS NOT NULL THEN l.error_message
        ELSE r.error_message END AS error_message,
    l.worker_id AS locked_by,
    'epoch'::timestamptz + l.since * interval '1 microsecond' AS locked_at,
    job_id(l.id) || '-' || lpad(to_hex(l.token), 16, '0') AS lease_id,
    'epoch'::timestamptz + l.until * interval '1 microsecond' AS lease_until,
    j.timeout * interval '1 microsecond' AS timeout,
    j.backoff, j.retry_on_timeout,
    (SELECT string_agg(job_id(dependency::bigint), ',')
     FROM unnest(string_to_array(j.depends_on, ',')) dependency) AS depends_on,
    j.site_id, j.node_id, j.project, j.entity_type, j.entity_id, j.source, j.correlation_id,
    job_id(j.replay_of) AS replay_of,
    j.idempotency_key,
    encode(j.payload_digest, 'hex') AS payload_digest
FROM job j
LEFT JOIN done d ON d.id = j.id
LEFT JOIN lease l ON l.id = j.id
LEFT JOIN requeued r ON r.id = j.id;

CREATE VIEW job_history AS
SELECT job_id(e.job_id) AS job_id,
    e.job_id AS number,
    e.seq,
    'epoch'::timestamptz + e.at * interval '1 microsecond' AS at,
    j.tenant, j.queue, j.type,
    (ARRAY['submitted', 'claimed', 'succeeded', 'failed', 'retried', 'lease_expired', 'handed_back',
        'canceled', 'timed_out', 'lease_closed'])[e.step + 1] AS event,
    (ARRAY['pending', 'running', 'succeeded', 'failed', 'canceled', 'timed_out']::job_status[])
        [e.from_state + 1] AS from_status,
    (ARRAY['pending', 'running', 'succeeded', 'failed', 'canceled', 'timed_out']::job_status[])
        [e.to_state + 1] AS to_status,
    e.attempt, e.actor,
    job_id(e.job_id) || '-' || lpad(to_hex(e.lease), 16, '0') AS lease_id,
    e.detail,
    encode(e.hash, 'hex') AS hash
FROM event e JOIN job j ON j.id = e.job_id;
