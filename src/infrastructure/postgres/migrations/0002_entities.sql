-- What jobs are about. A column that is NULL was not given.
-- Whoever changes an entity holds the lock of its row.
CREATE TABLE sluice.entity (
    tenant text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    number bigint NOT NULL,          -- time-ordered, as the ids of jobs are
    parent text,
    state text NOT NULL,
    revision bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    attributes text NOT NULL,        -- a JSON object
    PRIMARY KEY (tenant, kind, id)
);
CREATE UNIQUE INDEX entity_by_number ON sluice.entity (number);
CREATE INDEX entity_by_kind ON sluice.entity (tenant, kind, number);
CREATE INDEX entity_by_parent ON sluice.entity (tenant, kind, parent, number);

CREATE TABLE sluice.entity_event (
    tenant text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    seq bigint NOT NULL,             -- the entity's revision after it
    at bigint NOT NULL,
    action text NOT NULL,
    from_state text NOT NULL,        -- empty before the entity was created
    to_state text NOT NULL,
    actor text NOT NULL,
    job bigint,                      -- whose start or end it followed
    detail text,                     -- JSON
    PRIMARY KEY (tenant, kind, id, seq)
);

CREATE INDEX job_by_project ON sluice.job (project, id) WHERE project IS NOT NULL;
