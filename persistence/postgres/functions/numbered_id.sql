-- The n-th of up to 1,024 ids that share a time and a random part: its last two characters count.
create or replace function numbered_id(id text, n bigint) returns text language sql immutable as $$
  select left(id, 28) || substr('234567abcdefghijklmnopqrstuvwxyz', 1 + ((n - 1) / 32)::int, 1)
                      || substr('234567abcdefghijklmnopqrstuvwxyz', 1 + ((n - 1) % 32)::int, 1);
$$;
