-- Gates ask for an entity's successes of one type, and for its latest job of that type. Both are found at once, whatever
-- other jobs there are of the entity, and whatever other tenants or kinds have one of the same id. Jobs that are about
-- nothing are in neither index, and pay nothing.

-- Both are in the order of -id. By id, the planner may take the newest jobs of all in turn, for as long as none of them
-- is of the entity.

-- What a success was about: tenant, entity_type and entity_id as netstrings.
DROP INDEX done_success;
ALTER TABLE done RENAME COLUMN entity_id TO success_for;
UPDATE done d SET success_for = octet_length(j.tenant) || ':' || j.tenant
    || coalesce(octet_length(j.entity_type) || ':' || j.entity_type, '0:')
    || octet_length(j.entity_id) || ':' || j.entity_id
FROM job j WHERE j.id = d.id AND d.success_for IS NOT NULL;
CREATE INDEX done_success ON done (success_for, type, (-id)) WHERE success_for IS NOT NULL;

CREATE INDEX job_of_entity ON job (type, entity_id, entity_type, tenant, (-id)) WHERE entity_id IS NOT NULL;
