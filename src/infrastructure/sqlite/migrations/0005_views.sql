-- What people with SQL read: jobs and job_history. SQLite writes through no view. Payloads and results
-- are in neither, for they may hold secrets. Times are text, UTC; number is the primary key, id the same
-- as the API writes it: 8 hex digits of seconds, 4 of milliseconds, 4 of the node, 8 of a sequence.

CREATE VIEW jobs AS
SELECT printf('%08x%04x%04x%08x', ((j.id >> 22) + 1577836800000) / 1000,
        ((j.id >> 22) + 1577836800000) % 1000, (j.id >> 12) & 1023, j.id & 4095) AS id,
    j.id AS number,
    j.tenant, j.queue, j.type,
    CASE WHEN d.state IS NULL THEN CASE WHEN l.id IS NULL THEN 'pending' ELSE 'running' END
        WHEN d.state = 2 THEN 'succeeded' WHEN d.state = 3 THEN 'failed' WHEN d.state = 4 THEN 'canceled'
        WHEN d.state = 5 THEN 'timed_out' END AS status,
    CASE WHEN d.state IS NULL THEN CASE WHEN l.id IS NULL THEN 'queued' ELSE 'running' END
        WHEN d.state = 2 THEN 'succeeded' WHEN d.state IN (3, 5) THEN 'failed'
        WHEN d.state = 4 THEN 'cancelled' END AS state,
    j.priority,
    coalesce(d.attempt, l.attempt, r.attempt, 0) AS attempt,
    j.max_attempts,
    strftime('%Y-%m-%dT%H:%M:%S', j.created_at / 1000000, 'unixepoch')
        || printf('.%03dZ', j.created_at / 1000 % 1000) AS created_at,
    (SELECT strftime('%Y-%m-%dT%H:%M:%S', x.run_after / 1000000, 'unixepoch')
        || printf('.%03dZ', x.run_after / 1000 % 1000)
     FROM (SELECT coalesce(CASE WHEN d.id IS NOT NULL THEN d.run_after
            WHEN l.id IS NOT NULL THEN l.run_after ELSE r.run_after END, j.run_after, j.created_at)
            AS run_after) x) AS run_after,
    (SELECT strftime('%Y-%m-%dT%H:%M:%S', x.started_at / 1000000, 'unixepoch')
        || printf('.%03dZ', x.started_at / 1000 % 1000)
     FROM (SELECT CASE WHEN d.id IS NOT NULL THEN d.started_at WHEN l.id IS NOT NULL THEN l.since
            ELSE r.started_at END
            AS started_at) x) AS started_at,
    strftime('%Y-%m-%dT%H:%M:%S', d.completed_at / 1000000, 'unixepoch')
        || printf('.%03dZ', d.completed_at / 1000 % 1000) AS completed_at,
    CASE WHEN d.id IS NOT NULL THEN d.progress WHEN l.id IS NOT NULL THEN l.progress ELSE r.progress END
        AS progress,
    CASE WHEN d.id IS NOT NULL THEN d.message WHEN l.id IS NOT NULL THEN l.message ELSE r.message END
        AS message,
    CASE WHEN d.id IS NOT NULL THEN d.error_code WHEN l.id IS NOT NULL THEN l.error_code ELSE r.error_code END
        AS error_code,
    CASE WHEN d.id IS NOT NULL THEN d.error_message WHEN l.id IS NOT NULL THEN l.error_message
        ELSE r.error_message END AS error_message,
    l.worker_id AS locked_by,
    strftime('%Y-%m-%dT%H:%M:%S', l.since / 1000000, 'unixepoch')
        || printf('.%03dZ', l.since / 1000 % 1000) AS locked_at,
    CASE WHEN l.id IS NOT NULL THEN printf('%08x%04x%04x%08x-%016x',
        ((j.id >> 22) + 1577836800000) / 1000, ((j.id >> 22) + 1577836800000) % 1000,
        (j.id >> 12) & 1023, j.id & 4095, l.token) END AS lease_id,
    strftime('%Y-%m-%dT%H:%M:%S', l.until / 1000000, 'unixepoch')
        || printf('.%03dZ', l.until / 1000 % 1000) AS lease_until,
    j.timeout / 1000000.0 AS timeout_seconds,
    j.backoff, j.retry_on_timeout,
    (SELECT group_concat(printf('%08x%04x%04x%08x', ((x.depends_on >> 22) + 1577836800000) / 1000,
            ((x.depends_on >> 22) + 1577836800000) % 1000, (x.depends_on >> 12) & 1023,
            x.depends_on & 4095))
     FROM dependency x WHERE x.job_id = j.id) AS depends_on,
    j.site_id, j.node_id, j.project, j.entity_type, j.entity_id, j.source, j.correlation_id,
    CASE WHEN j.replay_of IS NOT NULL THEN printf('%08x%04x%04x%08x',
        ((j.replay_of >> 22) + 1577836800000) / 1000, ((j.replay_of >> 22) + 1577836800000) % 1000,
        (j.replay_of >> 12) & 1023, j.replay_of & 4095) END AS replay_of,
    j.idempotency_key,
    lower(hex(j.payload_digest)) AS payload_digest
FROM job j
LEFT JOIN done d ON d.id = j.id
LEFT JOIN lease l ON l.id = j.id
LEFT JOIN requeued r ON r.id = j.id;

CREATE VIEW job_history AS
SELECT printf('%08x%04x%04x%08x', ((e.job_id >> 22) + 1577836800000) / 1000,
        ((e.job_id >> 22) + 1577836800000) % 1000, (e.job_id >> 12) & 1023, e.job_id & 4095) AS job_id,
    e.job_id AS number,
    e.seq,
    strftime('%Y-%m-%dT%H:%M:%S', e.at / 1000000, 'unixepoch') || printf('.%03dZ', e.at / 1000 % 1000)
        AS at,
    j.tenant, j.queue, j.type,
    CASE e.step WHEN 0 THEN 'submitted' WHEN 1 THEN 'claimed' WHEN 2 THEN 'succeeded' WHEN 3 THEN 'failed'
        WHEN 4 THEN 'retried' WHEN 5 THEN 'lease_expired' WHEN 6 THEN 'handed_back' WHEN 7 THEN 'canceled'
        WHEN 8 THEN 'timed_out' WHEN 9 THEN 'lease_closed' END AS event,
    CASE e.from_state WHEN 0 THEN 'pending' WHEN 1 THEN 'running' WHEN 2 THEN 'succeeded'
        WHEN 3 THEN 'failed' WHEN 4 THEN 'canceled' WHEN 5 THEN 'timed_out' END AS from_status,
    CASE e.to_state WHEN 0 THEN 'pending' WHEN 1 THEN 'running' WHEN 2 THEN 'succeeded'
        WHEN 3 THEN 'failed' WHEN 4 THEN 'canceled' WHEN 5 THEN 'timed_out' END AS to_status,
    e.attempt, e.actor,
    CASE WHEN e.lease IS NOT NULL THEN printf('%08x%04x%04x%08x-%016x',
        ((e.job_id >> 22) + 1577836800000) / 1000, ((e.job_id >> 22) + 1577836800000) % 1000,
        (e.job_id >> 12) & 1023, e.job_id & 4095, e.lease) END AS lease_id,
    e.detail,
    lower(hex(e.hash)) AS hash
FROM event e JOIN job j ON j.id = e.job_id;
