-- Puts facts into inboxes, in order. A fact that is the last one waiting about its subject already is not repeated.
-- Returns the accounts touched.
create or replace function post_facts(entries jsonb) returns text[]
language plpgsql set search_path = flock, pg_temp as $$
begin
  with word as (
    select n, e.value ->> 'accountId' as account_id, e.value -> 'fact' as fact,
        concat_ws('|', e.value -> 'fact' ->> 'withdrawalId',
             e.value -> 'fact' -> 'deposit' ->> 'ledger', e.value -> 'fact' -> 'deposit' ->> 'txid',
                 e.value -> 'fact' -> 'deposit' ->> 'outputIndex') as subject,
           concat_ws('|', e.value -> 'fact' ->> 'kind', e.value -> 'fact' ->> 'txid', e.value -> 'fact' ->> 'blockHash',
             e.value -> 'fact' -> 'deposit' ->> 'blockHash') as fact_key
      from jsonb_array_elements(entries) with ordinality e(value, n)
  ), ordered as (
    select w.*, lag(fact_key) over (partition by account_id, subject order by n) as before from word w
  )
  insert into inbox (account_id, subject, fact_key, fact)
    select account_id, subject, fact_key, fact from ordered o
     -- An aggregate and not ORDER BY … LIMIT 1, which could be answered by reading the whole inbox backwards.
     where fact_key is distinct from coalesce(before, (
       select (array_agg(i.fact_key order by i.id desc))[1] from inbox i
           where i.subject = o.subject and i.account_id = o.account_id))
     order by n;
  return array(select distinct e.value ->> 'accountId' from jsonb_array_elements(entries) e(value));
end $$;
