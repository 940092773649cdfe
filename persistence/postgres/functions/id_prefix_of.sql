-- The first 10 characters of a sortable id of an instant: 48 bits of milliseconds are 9.6 characters of 5 bits.
create or replace function id_prefix_of(instant timestamptz) returns text language sql immutable as $$
  select string_agg(substr('234567abcdefghijklmnopqrstuvwxyz',
      1 + ((floor(extract(epoch from instant) * 1000)::bigint * 4 >> (5 * (9 - place))) & 31)::int, 1),
      '' order by place)
    from generate_series(0, 9) place;
$$;
