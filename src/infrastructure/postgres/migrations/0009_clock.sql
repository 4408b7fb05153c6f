-- What nodes agree on the time by. Cluster time is the server's clock and `ahead`; nodes carry it on by
-- the time since their machines have started, and correct `ahead` when the server's clock was set.
CREATE TABLE clock (
    is_row boolean PRIMARY KEY DEFAULT true CHECK (is_row),  -- there is one
    ahead bigint NOT NULL DEFAULT 0,        -- microseconds; negative: cluster time is behind
    latest bigint NOT NULL DEFAULT 0,       -- the latest cluster time that a node went by; none is earlier
    corrections bigint NOT NULL DEFAULT 0,  -- how often `ahead` was corrected, all nodes together
    agreements bigint NOT NULL DEFAULT 0    -- how often nodes found the server's clock as they expected it
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50);
INSERT INTO clock DEFAULT VALUES;
