#pragma once

// The columns of rows, in the order in which infrastructure/job_rows.hpp reads and writes them,
// under the names that statements give to the tables: j for job, r for requeued, d for done, l for
// lease. Macros, since literals are joined by the compiler.

// How a job stands beside what was asked for; requeued, done and lease end with it.
#define SLUICE_STANDING_COLUMNS(t)                                                \
    t "attempt, " t "run_after, " t "progress, " t "message, " t "error_code, " t \
      "error_message, " t "result, " t "log_seq, " t "event_seq, " t "head_hash"
#define SLUICE_JOB_COLUMNS                                                                  \
    "j.id, j.tenant, j.queue, j.type, j.priority, j.created_at, j.run_after, j.labels, "    \
    "j.site_id, j.node_id, j.exclusive_keys, j.depends_on, j.max_attempts, j.timeout, "     \
    "j.backoff, j.retry_on_timeout, j.run_despite_failure, j.project, j.entity_type, "      \
    "j.entity_id, j.source, j.correlation_id, j.replay_of, j.payload_digest, j.head_hash, " \
    "j.payload, j.idempotency_key"
#define SLUICE_REQUEUED_COLUMNS "r.id, r.started_at, " SLUICE_STANDING_COLUMNS("r.")
#define SLUICE_DONE_COLUMNS "d.state, d.started_at, d.completed_at, " SLUICE_STANDING_COLUMNS("d.")
#define SLUICE_LEASE_COLUMNS                                                           \
    "l.token, l.worker_id, l.since, l.until, l.term, l.stop_requested, l.client_seq, " \
    "l.batch_mark, " SLUICE_STANDING_COLUMNS("l.")
