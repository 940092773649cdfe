-- What is removed is found by an index that has only that, oldest first: what stays longer (a delivery that is still tried, an answer of
-- the last day) is not read again by each page and each run.
create index delivery_done on delivery (id) where status in ('delivered', 'dead_lettered', 'held');

-- Block ranges said little once young answers took the places of removed ones. Inserts go to the end of this one.
create index idempotency_by_age on idempotency (created_at);
drop index idempotency_age;

-- A body stays while a delivery of it is there, which no index says: a run goes over those in pages, each once.
create index publication_by_age on publication (created_at, seq) where body is not null;
drop index publication_with_body;
drop function if exists purge_publications(timestamptz, int);
