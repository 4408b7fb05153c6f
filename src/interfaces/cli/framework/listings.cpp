#include "interfaces/cli/framework/listing.hpp"

// The fields of each list. docs/cli.md names the fields; scripts depend on them and on their order.
namespace sluice::cli {

const Listing& job_listing() {
    static const Listing listing{
        .name = "jobs",
        .id_field = "id",
        .fields = {"id",
                   "tenant",
                   "project",
                   "queue",
                   "type",
                   "state",
                   "entity_type",
                   "entity_id",
                   "site_id",
                   "node_id",
                   "exclusive_keys",
                   "labels",
                   "depends_on",
                   "on_dependency_failure",
                   "priority",
                   "payload",
                   "payload_digest",
                   "result",
                   "error_code",
                   "error_message",
                   "attempt",
                   "max_attempts",
                   "backoff",
                   "timeout_ms",
                   "run_after",
                   "next_eligible_at",
                   "progress",
                   "message",
                   "locked_by",
                   "locked_at",
                   "lease_until",
                   "replay_of",
                   "source",
                   "correlation_id",
                   "created_at",
                   "started_at",
                   "completed_at",
                   "revision",
                   "damaged"},
        .table = {{"state", "STATE"},
                  {"id", "ID"},
                  {"type", "TYPE"},
                  {"queue", "QUEUE"},
                  {"attempt", "TRY"},
                  {"created_at", "AGE"},
                  {"error_code", "ERROR"},
                  {"locked_by", "WORKER"}},
        .wide = {{"progress", "DONE"},
                 {"next_eligible_at", "ELIGIBLE"},
                 {"message", "MESSAGE"},
                 {"priority", "PRIO"},
                 {"entity_type", "ENTITY"},
                 {"labels", "LABELS"},
                 {"source", "SOURCE"},
                 {"correlation_id", "CORRELATION"},
                 {"completed_at", "ENDED"}},
        .plain = {"id", "state", "type", "queue", "attempt", "max_attempts", "created_at",
                  "started_at", "completed_at", "locked_by", "error_code", "error_message"},
    };
    return listing;
}

const Listing& event_listing() {
    static const Listing listing{
        .name = "events",
        .id_field = "seq",
        .fields = {"seq", "type", "from", "to", "attempt", "lease_id", "actor", "at", "detail",
                   "hash"},
        .table = {{"seq", "SEQ"},
                  {"at", "AT"},
                  {"type", "STEP"},
                  {"to", "STATE"},
                  {"attempt", "TRY"},
                  {"actor", "ACTOR"},
                  {"detail", "DETAIL"}},
        .wide = {{"lease_id", "LEASE"}, {"hash", "HASH"}},
        .plain = {"seq", "at", "type", "from", "to", "attempt", "actor", "detail"},
    };
    return listing;
}

const Listing& log_listing() {
    static const Listing listing{
        .name = "logs",
        .id_field = "seq",
        .fields = {"seq", "attempt", "level", "message", "data", "timestamp"},
        .table = {{"timestamp", "AT"},
                  {"attempt", "TRY"},
                  {"level", "LEVEL"},
                  {"message", "MESSAGE"},
                  {"data", "DATA"}},
        .wide = {},
        .plain = {"seq", "timestamp", "attempt", "level", "message", "data"},
    };
    return listing;
}

const Listing& worker_listing() {
    static const Listing listing{
        .name = "workers",
        .id_field = "worker_id",
        .fields = {"worker_id", "tenant", "queues", "types", "labels", "waiting", "last_claim",
                   "jobs"},
        .table = {{"worker_id", "WORKER"},
                  {"waiting", "WAITS"},
                  {"queues", "QUEUES"},
                  {"types", "TYPES"},
                  {"labels", "LABELS"},
                  {"jobs", "JOBS"},
                  {"last_claim", "LAST CLAIM"}},
        .wide = {{"tenant", "TENANT"}},
        .plain = {"worker_id", "tenant", "queues", "types", "labels", "waiting", "last_claim",
                  "jobs"},
    };
    return listing;
}

const Listing& entity_listing() {
    static const Listing listing{
        .name = "entities",
        .id_field = "id",
        .fields = {"kind", "id", "tenant", "parent", "state", "attributes", "revision",
                   "created_at", "updated_at", "jobs"},
        .table = {{"state", "STATE"},
                  {"kind", "KIND"},
                  {"id", "ID"},
                  {"parent", "PARENT"},
                  {"created_at", "AGE"}},
        .wide = {{"revision", "CHANGES"}, {"attributes", "ATTRIBUTES"}},
        .plain = {"kind", "id", "parent", "state", "revision", "created_at", "updated_at"},
    };
    return listing;
}

const Listing& token_listing() {
    static const Listing listing{
        .name = "tokens",
        .id_field = "id",
        .fields = {"id", "name", "kind", "tenant", "all_tenants", "scopes", "job_types",
                   "expires_at", "state", "created_at", "created_by", "revoked_at", "token"},
        .table = {{"id", "ID"},
                  {"name", "NAME"},
                  {"kind", "KIND"},
                  {"tenant", "TENANT"},
                  {"scopes", "SCOPES"},
                  {"job_types", "TYPES"},
                  {"state", "STATE"},
                  {"expires_at", "EXPIRES"},
                  {"created_by", "CREATED BY"}},
        .wide = {{"all_tenants", "ALL TENANTS"}, {"created_at", "AGE"}, {"revoked_at", "REVOKED"}},
        .plain = {"id", "name", "kind", "tenant", "scopes", "job_types", "state", "expires_at",
                  "created_by", "created_at"},
    };
    return listing;
}

const Listing& caller_listing() {
    static const Listing listing{
        .name = "callers",
        .id_field = "name",
        .fields = {"name", "kind", "tenant", "all_tenants", "scopes", "job_types", "expires_at",
                   "credential"},
    };
    return listing;
}

}  // namespace sluice::cli
