-- What jobs are about. A column that is NULL was not given.
CREATE TABLE entity (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,         -- time-ordered, as the ids of jobs are
    parent TEXT,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    attributes TEXT NOT NULL,        -- a JSON object
    PRIMARY KEY (tenant, kind, id)
);
CREATE UNIQUE INDEX entity_by_number ON entity(number);
CREATE INDEX entity_by_kind ON entity(tenant, kind, number);
CREATE INDEX entity_by_parent ON entity(tenant, kind, parent, number);

CREATE TABLE entity_event (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,            -- the entity's revision after it
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    from_state TEXT NOT NULL,        -- empty before the entity was created
    to_state TEXT NOT NULL,
    actor TEXT NOT NULL,
    job INTEGER,                     -- whose start or end it followed
    detail TEXT,                     -- JSON
    PRIMARY KEY (tenant, kind, id, seq)
) WITHOUT ROWID;

CREATE INDEX job_by_project ON job(project) WHERE project IS NOT NULL;
