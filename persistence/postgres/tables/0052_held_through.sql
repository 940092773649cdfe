-- What waited when an endpoint was stopped, up to this `seq`, and is more than one page: it is held also when the
-- endpoint is enabled again before its last page, and nothing leaves meanwhile. Written by stop_endpoint, ended by
-- work_backlog.
alter table webhook add column held_through bigint;
