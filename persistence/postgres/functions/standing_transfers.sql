-- Transfers without those that pay an adopted address whose batch is not open: it was taken back after the block was
-- matched. Batches of the others are locked, so that a block or a rollback is first and never both (M-R2).
create or replace function standing_transfers(transfers jsonb) returns jsonb
language plpgsql set search_path = flock, pg_temp as $$
declare
  batches text[];
begin
  batches := array(
    select distinct a.account_id || '/' || a.batch_id
      from jsonb_array_elements(transfers) t(value) cross join lateral (
        select o.account_id, o.batch_id from address o
         where o.account_id = t.value ->> 'accountId' and o.id = t.value ->> 'addressId' offset 0) a
     where a.batch_id is not null order by 1);
  if cardinality(batches) = 0 then return transfers; end if;
  perform 1 from unnest(batches) i(id) join import_batch b
      on b.account_id = split_part(i.id, '/', 1) and b.id = split_part(i.id, '/', 2) order by i.id for share of b;
  return (
    select coalesce(jsonb_agg(t.value order by n), '[]')
      from jsonb_array_elements(transfers) with ordinality t(value, n)
     where coalesce((
             select b.state from address a join import_batch b on b.account_id = a.account_id and b.id = a.batch_id
              where a.account_id = t.value ->> 'accountId' and a.id = t.value ->> 'addressId'), 'committed')
         = 'committed');
end $$;
