-- Keeps statements of an edge about addresses of one family, in place of those of before, and forgets a thousand that
-- ended. What they say was verified by the caller. payments E5.
create or replace function keep_attestations(
  of_account text, of_family text, of_key text, from_at timestamptz, until_at timestamptz,
  indexes int[], addresses text[], signatures text[]
) returns void
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into address_attestation as k
      (account_id, family, index, address, public_key, issued_at, valid_until, signature)
    select of_account, of_family, n.index, n.address, of_key, from_at, until_at, n.signature
      from unnest(indexes, addresses, signatures) n(index, address, signature) order by n.index
    on conflict on constraint address_attestation_once do update
       set address = excluded.address, public_key = excluded.public_key, issued_at = excluded.issued_at,
           valid_until = excluded.valid_until, signature = excluded.signature
     where k.public_key <> excluded.public_key or k.issued_at <= excluded.issued_at;
  delete from address_attestation k using (
    select o.account_id, o.family, o.index from address_attestation o
     where o.account_id = of_account and o.valid_until < now() order by o.valid_until limit 1000) ended
   where k.account_id = ended.account_id and k.family = ended.family and k.index = ended.index;
end $$;
grant execute on function keep_attestations to flock_app;
