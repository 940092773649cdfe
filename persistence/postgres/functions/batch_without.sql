-- The batch without the rows of some accounts: the rare case in which one of a group is refused.
create or replace function batch_without(batch jsonb, rejected text[]) returns jsonb language sql as $$
  select jsonb_object_agg(t.key, coalesce((
           select jsonb_agg(r.value order by n) from jsonb_array_elements(t.value) with ordinality r(value, n)
            where r.value ->> 'account_id' <> all (rejected)), '[]'))
    from jsonb_each(batch) t;
$$;
