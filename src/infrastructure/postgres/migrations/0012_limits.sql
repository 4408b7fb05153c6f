-- The source of the jobs of a lane; NULL: none. Limits go by it.
ALTER TABLE lane ADD COLUMN source text;

-- Waiting jobs that have a source leave the lanes that they share with jobs without one. A lane's id is made as in
-- schema/lanes.cpp, of texts before they are escaped as in connection/text_code.cpp.
CREATE FUNCTION bytes_of(kept text) RETURNS bytea LANGUAGE sql AS $$
    SELECT CASE WHEN strpos(kept, chr(1)) = 0 THEN convert_to(kept, 'UTF8')
        ELSE decode(replace(replace(regexp_replace(encode(convert_to(kept, 'UTF8'), 'hex'), '(..)', '\1 ', 'g'),
                                    '01 7a ', '00 '), '01 61 ', '01 '), 'hex') END
$$;
CREATE FUNCTION netstring(kept text) RETURNS bytea LANGUAGE sql AS $$
    SELECT convert_to(octet_length(bytes_of(kept)) || ':', 'UTF8') || bytes_of(kept)
$$;
CREATE TABLE moved AS
SELECT w.lane, w.source, ('x' || encode(substr(sha256(
        netstring(l.tenant) || netstring(l.queue) || netstring(l.type) || bytes_of(coalesce(l.labels, ''))
        || convert_to('source ', 'UTF8') || netstring(w.source)), 1, 8), 'hex'))::bit(64)::bigint AS to_lane
FROM (SELECT DISTINCT x.lane, j.source
      FROM (SELECT lane, id FROM ready UNION ALL SELECT lane, id FROM timed UNION ALL SELECT lane, id FROM parked
            UNION ALL SELECT lane, job_id FROM blocker) x
      JOIN job j ON j.id = x.id WHERE j.source <> '') w
JOIN lane l ON l.id = w.lane;

INSERT INTO lane (id, tenant, queue, type, labels, source)
SELECT m.to_lane, l.tenant, l.queue, l.type, l.labels, m.source FROM moved m JOIN lane l ON l.id = m.lane;
UPDATE ready x SET lane = m.to_lane FROM job j, moved m
WHERE j.id = x.id AND m.lane = x.lane AND m.source = j.source;
UPDATE timed x SET lane = m.to_lane FROM job j, moved m
WHERE j.id = x.id AND m.lane = x.lane AND m.source = j.source;
UPDATE parked x SET lane = m.to_lane FROM job j, moved m
WHERE j.id = x.id AND m.lane = x.lane AND m.source = j.source;
UPDATE blocker x SET lane = m.to_lane FROM job j, moved m
WHERE j.id = x.job_id AND m.lane = x.lane AND m.source = j.source;
DROP TABLE moved;
DROP FUNCTION netstring;
DROP FUNCTION bytes_of;

-- The lane of the job, so that leases are counted by it without a look at their jobs. It stays NULL where the lane that
-- the job would have now is none: there, each job is looked at.
ALTER TABLE lease ADD COLUMN lane bigint;
UPDATE lease x SET lane = l.id FROM job j JOIN lane l ON l.tenant = j.tenant AND l.queue = j.queue AND l.type = j.type
    AND l.labels IS NOT DISTINCT FROM j.labels AND l.source IS NOT DISTINCT FROM nullif(j.source, '')
WHERE j.id = x.id;

-- The version of the rules that the commits of a seat must know: one that goes by older ones fails.
ALTER TABLE seat ADD COLUMN rules bigint NOT NULL DEFAULT 0;

-- An engine of an earlier version that stood still does not count as living, and may go on at any time. Its seats have
-- no owner now, so that its commits fail, and it stops. One that is about to take a seat fails at the former name.
UPDATE seat SET owner = 0, until = 'epoch';
ALTER TABLE seat RENAME COLUMN name TO node;

-- The counters of rules (domain/limits). Active is what was taken, without what permit_return gave back.
-- A row is written by claims alone, which lock it; it has one index, so that updates stay on its page.
CREATE TABLE meter (
    id bigint PRIMARY KEY,             -- a hash of the rule's id and the values by which it counts apart
    rule text NOT NULL,
    name text NOT NULL,                -- for people: the values
    full_at_ns bigint NOT NULL,        -- when the bucket is full again, in nanoseconds since 1970
    owed_until_ns bigint NOT NULL,     -- the same of a larger bucket that it had, if that is later; else 0
    starts text,                       -- in the last hour, by slots of 30 seconds (StartsOfHour::text); NULL: none
    taken bigint NOT NULL              -- permits given out
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- Permits that came back: each committer adds to rows of its own, so that none waits for another.
CREATE TABLE permit_return (
    meter bigint NOT NULL,
    seat integer NOT NULL,
    given bigint NOT NULL,
    PRIMARY KEY (meter, seat)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- The sources that jobs ever had, and what each did in the last hours, by the seat that counted it.
CREATE TABLE source (
    tenant text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    last_job_at bigint,
    seat integer NOT NULL,
    PRIMARY KEY (tenant, source, seat)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
CREATE TABLE source_hour (
    tenant text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    hour bigint NOT NULL,              -- since 1970
    submitted bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    seat integer NOT NULL,
    PRIMARY KEY (tenant, source, hour, seat)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
