-- Gates ask for the successes of one entity and one type, whatever number of others there is.

-- The entity that a success was about. Jobs that have not succeeded, or are about nothing, have none, and pay
-- nothing. done.type is known of these, too.
ALTER TABLE done ADD COLUMN entity_id TEXT;
UPDATE done SET entity_id = j.entity_id, type = j.type
FROM job j WHERE j.id = done.id AND done.state = 2 AND j.entity_id IS NOT NULL;
CREATE INDEX done_success ON done(entity_id, type, id) WHERE entity_id IS NOT NULL;
