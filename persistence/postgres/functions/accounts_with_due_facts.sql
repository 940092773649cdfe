-- Accounts after one, in the order of their ids, that have facts nobody decided: at most `most` accounts, however many
-- facts each has. A fact behind one of its subject that was set aside is not due; of an account with very many that is
-- not looked up.
create or replace function accounts_with_due_facts(after_account text, older_than timestamptz, most int)
returns setof text
language plpgsql stable security definer set search_path = flock, pg_temp as $$
declare
  looked_at text := after_account;
  found_count int := 0;
  -- A caller whose clock is behind finds them a little later, not when it is right again.
  before timestamptz := greatest(older_than, clock_timestamp() - interval '10 seconds');
begin
  while found_count < most loop
    looked_at := (select i.account_id from inbox i where i.account_id > looked_at order by i.account_id, i.id limit 1);
    exit when looked_at is null;
    if exists (select from inbox i where i.account_id = looked_at and i.retry_at <= clock_timestamp())
       or (select count(*) = 200 or bool_or(not exists (
             select from inbox b where b.subject = d.subject and b.account_id = looked_at and b.id < d.id
                 and b.retry_at > clock_timestamp()))
             from (select i.id, i.subject from inbox i where i.account_id = looked_at and i.retry_at is null
                 and i.created_at < before
                    order by i.id limit 200) d) then
      found_count := found_count + 1;
      return next looked_at;
    end if;
  end loop;
end $$;
grant execute on function accounts_with_due_facts to flock_app;
