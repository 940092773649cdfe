-- An account's events in the order of their publication: `GET /v1/events`.
create index concurrently if not exists publication_in_order on publication (account_id, seq);
