-- What a caller claims of its batch: each account once, every row of one of these accounts, and a version that moves by
-- its events, one by one. The fence of one account lets nothing of another through.
create or replace function check_batch(batch jsonb, asked text[]) returns void language plpgsql as $$
declare
  members jsonb := (select jsonb_object_agg(a, true) from unnest(asked) a);
begin
  if members is null or (select count(*) from jsonb_object_keys(members)) < cardinality(asked) then
    raise exception 'a batch names each of its accounts once'
      using errcode = 'check_violation', constraint = 'batch_account_once', table = 'account';
  end if;
  if exists (select from jsonb_each(batch) t cross join lateral jsonb_array_elements(t.value) r(value)
              where not coalesce(members ? (r.value ->> 'account_id'), false)) then
    raise exception 'a row of a batch is of an account that the batch does not fence'
      using errcode = 'check_violation', constraint = 'batch_row_of_account', table = 'account';
  end if;
  if array(select (r.value ->> 'account_id') || '/' || v
             from jsonb_array_elements(batch -> 'accounts') with ordinality r(value, n)
            cross join lateral generate_series((r.value ->> 'version')::bigint + 1,
                (r.value ->> 'version')::bigint + (r.value ->> 'events')::int) v
            order by n, v)
     is distinct from
     array(select (r.value ->> 'account_id') || '/' || (r.value ->> 'version')
             from jsonb_array_elements(coalesce(batch -> 'events', '[]')) with ordinality r(value, n) order by n) then
    raise exception 'the version of an account moves by its events'
      using errcode = 'check_violation', constraint = 'account_version_by_events', table = 'account';
  end if;
end $$;
