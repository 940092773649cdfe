-- Transfers under the keys that their movements have. A payment from inside a contract (output below -1) of a
-- transaction with a fact under a former key takes the key of the fact with the same payee and amount, in order; one
-- that has no such fact takes its own key, or a free one where another movement has that. Everything else is unchanged.
-- F21.
create or replace function keep_keys(of_ledger text, transfers jsonb) returns jsonb
language plpgsql set search_path = flock, pg_temp as $$
declare
  one jsonb;
  key bigint;
  kept jsonb := '[]';
  taken text[] := '{}';
  inside jsonb;
begin
  select coalesce(jsonb_agg(distinct t.value ->> 'txid'), '[]') into inside from jsonb_array_elements(transfers) t
   where (t.value ->> 'outputIndex')::bigint < -1 and t.value ->> 'tokenContract' is null;
  if inside = '[]' then return transfers; end if;
  select coalesce(jsonb_agg(i.txid), '[]') into inside from jsonb_array_elements_text(inside) i(txid)
   where exists (select 1 from fact f where f.ledger = of_ledger and f.txid = i.txid and f.output_index < -1
       and f.former_key);
  if inside = '[]' then return transfers; end if;
  for one in select t.value from jsonb_array_elements(transfers) with ordinality t(value, n) order by n loop
    if (one ->> 'outputIndex')::bigint < -1 and one ->> 'tokenContract' is null and inside ? (one ->> 'txid') then
      select f.output_index into key from fact f
       where f.ledger = of_ledger and f.txid = one ->> 'txid' and f.output_index < -1
         and f.account_id = one ->> 'accountId' and f.transfer ->> 'addressId' = one ->> 'addressId'
         and f.transfer ->> 'amount' = one ->> 'amount' and f.transfer ->> 'tokenContract' is null
         and (f.txid || ' ' || f.output_index) <> all (taken)
       order by f.status = 'orphaned', f.output_index desc limit 1;
      if key is null then
        key := (one ->> 'outputIndex')::bigint;
        while (one ->> 'txid') || ' ' || key = any (taken) or exists (
          select 1 from fact f where f.ledger = of_ledger and f.txid = one ->> 'txid' and f.output_index = key) loop
          key := key - 1;
        end loop;
      end if;
      taken := taken || ((one ->> 'txid') || ' ' || key);
      one := jsonb_set(one, '{outputIndex}', to_jsonb(key));
      key := null;
    end if;
    kept := kept || jsonb_build_array(one);
  end loop;
  return kept;
end $$;
