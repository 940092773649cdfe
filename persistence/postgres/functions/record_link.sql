-- A block of the branch that is followed now. One that was orphaned and is in the branch again loses its mark.
create or replace function record_link(of_ledger text, link jsonb) returns void
language sql set search_path = flock, pg_temp as $$
  insert into block_link (ledger, height, hash, parent_hash, parent_height, time)
    values (of_ledger, (link ->> 'height')::bigint, link ->> 'hash', link ->> 'parentHash',
            (link ->> 'parentHeight')::bigint, (link ->> 'time')::timestamptz)
  on conflict (ledger, height, hash) do update set orphaned = false;
$$;
