-- Gates ask for an entity's successes of one type, and for its latest job of that type. Both are found at once, whatever
-- other jobs there are of the entity, and whatever other tenants or kinds have one of the same id. Jobs that are about
-- nothing are in neither index, and pay nothing.

-- What a success was about: tenant, entity_type and entity_id as netstrings.
DROP INDEX done_success;
ALTER TABLE done RENAME COLUMN entity_id TO success_for;
UPDATE done SET success_for = length(CAST(j.tenant AS BLOB)) || ':' || j.tenant
    || coalesce(length(CAST(j.entity_type AS BLOB)) || ':' || j.entity_type, '0:')
    || length(CAST(j.entity_id AS BLOB)) || ':' || j.entity_id
FROM job j WHERE j.id = done.id AND done.success_for IS NOT NULL;
CREATE INDEX done_success ON done(success_for, type, id) WHERE success_for IS NOT NULL;

CREATE INDEX job_of_entity ON job(type, entity_id, entity_type, tenant) WHERE entity_id IS NOT NULL;
