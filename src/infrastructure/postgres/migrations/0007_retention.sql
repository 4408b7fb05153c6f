-- Whether an open job depends on an ended one is asked before the ended one is removed. Jobs that
-- depend on nothing are not in this index, and pay nothing.
CREATE INDEX job_by_dependency ON job
    USING gin (string_to_array(depends_on, ',')) WITH (fastupdate = off) WHERE depends_on IS NOT NULL;
