-- Gates ask for the successes of one entity and one type, whatever number of others there is.

-- The entity that a success was about. Jobs that have not succeeded, or are about nothing, have none, and pay
-- nothing. done.type is known of these, too. What nodes of an older version end while they still run
-- is filled in by the housekeeper.
ALTER TABLE done ADD COLUMN entity_id text;
UPDATE done d SET entity_id = j.entity_id, type = j.type
FROM job j WHERE j.id = d.id AND d.state = 2 AND j.entity_id IS NOT NULL;
CREATE INDEX done_success ON done (entity_id, type, id) WHERE entity_id IS NOT NULL;
