-- An event without the extended keys and labels that a wipe deletes; what the stream folds to after it stays.
create or replace function wiped_event(type text, body jsonb) returns jsonb language sql immutable as $$
  select case type
    when 'edge_enrolled' then jsonb_set(body, '{enrolment,keys}', '{}')
    when 'keys_added' then jsonb_set(body, '{keys}', '{}')
    when 'rotation_detected' then jsonb_set(body, '{keys}', '{}')
    when 'key_source_registered' then jsonb_set(jsonb_set(body, '{source,keys}', '[]'), '{source,label}', '""')
    when 'treasury_wallet_created' then jsonb_set(body, '{wallet,label}', 'null')
    when 'funding_wallet_created' then jsonb_set(body, '{wallet,label}', 'null')
    else body end;
$$;
