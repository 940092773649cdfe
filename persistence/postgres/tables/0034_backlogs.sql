-- Work that is left behind one change of status of an endpoint: its deliveries are held, or released, in pages.
alter table webhook add column backlog boolean not null default false;
create index webhook_with_backlog on webhook (account_id, id) where backlog;

-- Claims go endpoint by endpoint, so that the backlog of one is not read for another; the first index does for both.
-- Its condition is not one of status, so that it is not taken for a look that has its own (delivery_first_attempts).
create index delivery_due_of_webhook on delivery (webhook_id, next_attempt_at, seq) where next_attempt_at is not null;
drop index delivery_due;
drop index delivery_open_of_webhook;

-- Lost pushes are looked for account by account.
create index inbox_new on inbox (account_id, id) where retry_at is null;
create index inbox_again on inbox (account_id, retry_at) where retry_at is not null;

-- A publication stays for the books; its body goes when nothing will be delivered of it any more.
alter table publication alter column body drop not null;
create index publication_with_body on publication (created_at) where body is not null;
drop trigger publication_immutable on publication;
create trigger publication_immutable before update on publication for each row
  when ((new.account_id, new.event_id, new.seq, new.event, new.order_key, new.to_all, new.created_at)
        is distinct from (old.account_id, old.event_id, old.seq, old.event, old.order_key, old.to_all, old.created_at)
        or new.body is not null and new.body is distinct from old.body
        or new.body is null and old.created_at > clock_timestamp() - interval '30 days'
        or new.completed_at is distinct from old.completed_at and old.completed_at is not null)
  execute function refuse('publication_immutable');

-- Replaced by accounts_with_due_facts.
drop function accounts_with_inbox(timestamptz, int);
