-- What was judged on a row that another transaction was just changing, and how much an account may leave with the cloud.

-- Holds deliveries whose secrets did not open, each with the secrets that its claimer saw. One whose endpoint has others
-- by now is given back instead. The endpoint is locked first: secrets that are being replaced are waited for, and those
-- that come later find what is held here. Answers the ids that are held.
create or replace function hold_unreadable(rows jsonb) returns text[]
language sql security definer set search_path = flock, pg_temp as $$
  with seen as (
    select r.id, array(select jsonb_array_elements_text(r.sealed)) as sealed from jsonb_to_recordset(rows) r(id text, sealed jsonb)
  ), endpoint as materialized (
    select w.account_id, w.id, w.sealed_secrets from webhook w
     where exists (select from seen s join delivery d on d.id = s.id where d.account_id = w.account_id and d.webhook_id = w.id)
     order by w.account_id, w.id for share
  ), mine as materialized (
    select d.id, e.sealed_secrets = s.sealed as unreadable
      from endpoint e join delivery d on d.account_id = e.account_id and d.webhook_id = e.id join seen s on s.id = d.id
     where d.status in ('pending', 'failed')
     order by d.id for update of d
  ), judged as (
    update delivery d set claimed_until = null,
           status = case when m.unreadable then 'held' else d.status end,
           next_attempt_at = case when m.unreadable then null else d.next_attempt_at end,
           held_reason = case when m.unreadable then 'secret_unreadable' end
      from mine m where d.id = m.id
    returning d.id, d.status
  )
  select coalesce(array_agg(id), '{}') from judged where status = 'held';
$$;

-- Partitions of months that ended before, once they are empty. Looked at under the lock that dropping takes, so that no
-- attempt comes between; where somebody writes attempts just now it is the next run's.
create or replace function drop_attempt_partitions(older_than timestamptz) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  name text; used boolean; dropped int := 0;
begin
  perform set_config('lock_timeout', '1s', true);
  for name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'attempt'::regclass and c.relname ~ '^attempt_[0-9]{6}$'
       and right(c.relname, 6) < to_char(older_than at time zone 'UTC', 'YYYYMM')
     order by 1
  loop
    begin
      execute format('select exists (select from %I)', name) into used;
      if not used then
        lock table only attempt in access exclusive mode;
        execute format('lock table %I in access exclusive mode', name);
        execute format('select exists (select from %I)', name) into used;
      end if;
      if not used then
        execute format('drop table %I', name);
        dropped := dropped + 1;
      end if;
    exception when lock_not_available or deadlock_detected then
      null;
    end;
  end loop;
  return dropped;
end $$;

-- Larger records than a payment's: transactions with very many inputs. They are counted apart.
create index edge_instruction_large on edge_instruction (account_id) where octet_length(record) > 65536;

-- Keeps the newest record of each instruction: of a transaction that this account built, and of large ones no more than
-- `large_most`. Answers the ids that were not taken, with the reason.
create function save_instructions(of_account text, records jsonb, large_most int) returns table (id text, reason text)
language sql security definer set search_path = flock, pg_temp as $$
  with asked as (
    select r.id, r.asked_at, r.record,
           case when not exists (select from withdrawal w where w.account_id = of_account and w.id = r.id) then 'unknown'
                when octet_length(r.record) > 65536
                 and not exists (select from edge_instruction i where i.account_id = of_account and i.transaction_id = r.id
                                    and octet_length(i.record) > 65536)
                 and row_number() over (partition by octet_length(r.record) > 65536 order by r.id)
                   + (select count(*) from edge_instruction i where i.account_id = of_account and octet_length(i.record) > 65536)
                   > large_most then 'quota' end as reason
      from jsonb_to_recordset(records) r(id text, asked_at timestamptz, record text)
  ), taken as (
    insert into edge_instruction as i (account_id, transaction_id, asked_at, record)
      select of_account, a.id, a.asked_at, a.record from asked a where a.reason is null order by a.id
    on conflict (account_id, transaction_id) do update set asked_at = excluded.asked_at, record = excluded.record
      where i.asked_at < excluded.asked_at
  )
  select a.id, a.reason from asked a where a.reason is not null;
$$;
revoke insert, update on edge_instruction from flock_app;
grant execute on function save_instructions to flock_app;
