-- What became of what is asked of a provider; false where another node opened something meanwhile. A ring that came
-- since the look began (`what.began`) stays due. Console B18.
create or replace function write_collection_request(
  of_account text, of_statement text, round_before int, what jsonb, next_look timestamptz
) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  began timestamptz := coalesce((what ->> 'began')::timestamptz, 'infinity');
begin
  update collection_request
     set status = what ->> 'status', provider = what ->> 'provider', reference = what ->> 'reference',
         page = what ->> 'page', round = (what ->> 'round')::int,
         next_at = least(next_look, nullif(greatest(next_at, began), began))
   where account_id = of_account and statement_id = of_statement and round = round_before and status <> 'closed';
  return found;
end $$;
grant execute on function write_collection_request to flock_app;
