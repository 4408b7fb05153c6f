-- The form in which the job's history is hashed (domain/history.hpp); NULL: the first one.
ALTER TABLE job ADD COLUMN history_form INTEGER;
-- The digest of the job's log lines so far; NULL: it has none, or its history covers none.
ALTER TABLE lease ADD COLUMN log_hash BLOB;
ALTER TABLE requeued ADD COLUMN log_hash BLOB;
ALTER TABLE done ADD COLUMN log_hash BLOB;
-- The chain of an entity's events, the hash of the last one, and the seal of the entity's row
-- (domain/entity_history.hpp); NULL: written before there were any.
ALTER TABLE entity_event ADD COLUMN hash BLOB;
ALTER TABLE entity ADD COLUMN head_hash BLOB;
ALTER TABLE entity ADD COLUMN seal BLOB;
