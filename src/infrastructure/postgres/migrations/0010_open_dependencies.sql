-- A number of a job in a list that is kept as text; NULL where a damaged row holds something else.
CREATE FUNCTION job_number_in(number text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN number ~ '^[0-9]{1,18}$'
            OR (number ~ '^[0-9]{19}$' AND number COLLATE "C" <= '9223372036854775807')
        THEN number::bigint END
$$;

-- What jobs that have not ended depend on, whether that has ended or not: asked for before an ended job
-- is removed, and before a window is dropped. Jobs that depend on nothing are not in it, and pay nothing.
CREATE TABLE open_dependency (
    depends_on bigint NOT NULL,
    job_id bigint NOT NULL,
    PRIMARY KEY (depends_on, job_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
INSERT INTO open_dependency
SELECT DISTINCT job_number_in(needed), j.id
FROM job j, unnest(string_to_array(j.depends_on, ',')) needed
WHERE j.depends_on IS NOT NULL AND job_number_in(needed) IS NOT NULL
    AND NOT EXISTS (SELECT FROM done d WHERE d.id = j.id);
-- An index of this kind serves bitmap scans only, which committers do not use.
DROP INDEX job_by_dependency;

-- As before, but for depends_on: one damaged row does not make the view fail.
CREATE OR REPLACE VIEW jobs AS
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
    (SELECT string_agg(job_id(job_number_in(dependency)), ',')
     FROM unnest(string_to_array(j.depends_on, ',')) dependency) AS depends_on,
    j.site_id, j.node_id, j.project, j.entity_type, j.entity_id, j.source, j.correlation_id,
    job_id(j.replay_of) AS replay_of,
    j.idempotency_key,
    encode(j.payload_digest, 'hex') AS payload_digest
FROM job j
LEFT JOIN done d ON d.id = j.id
LEFT JOIN lease l ON l.id = j.id
LEFT JOIN requeued r ON r.id = j.id;
