-- Whether an open job depends on an ended one is asked before the ended one is removed. Jobs that
-- depend on nothing pay nothing.
CREATE INDEX dependency_by_target ON dependency(depends_on);
