-- The form in which the job's history is hashed (domain/history.hpp); NULL: the first one.
ALTER TABLE job ADD COLUMN history_form smallint;
-- The digest of the job's log lines so far; NULL: it has none, or its history covers none.
ALTER TABLE lease ADD COLUMN log_hash bytea;
ALTER TABLE requeued ADD COLUMN log_hash bytea;
ALTER TABLE done ADD COLUMN log_hash bytea;
-- The chain of an entity's events, the hash of the last one, and the seal of the entity's row
-- (domain/entity_history.hpp); NULL: written before there were any.
ALTER TABLE entity_event ADD COLUMN hash bytea;
ALTER TABLE entity ADD COLUMN head_hash bytea;
ALTER TABLE entity ADD COLUMN seal bytea;
