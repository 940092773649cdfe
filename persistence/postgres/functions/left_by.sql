-- What left the sender by the version that landed: more than it pays where the issuer of a token keeps a share.
create or replace function left_by(versions jsonb, landed text, amount numeric) returns numeric
language sql immutable as $$
  select coalesce((select (v.value ->> 'left')::numeric from jsonb_array_elements(versions) v
                    where v.value ->> 'txid' = landed limit 1), amount);
$$;
