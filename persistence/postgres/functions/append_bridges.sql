-- The part of an append that is about bridges. A transfer is written over the version that its decision read: one that
-- moved meanwhile refuses the append, and is read and decided again (treasury H5, S17).
create or replace function append_bridges(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if not batch ? 'bridge_transfers' then return; end if;
  insert into bridge_transfer as o (account_id, id, version, policy_id, from_chain, to_chain, token_contract, source,
      recipient, recipient_path, amount, max_fee, state, reason, stalled_reason, stalled_at, blocked, approve_id,
      burn_id, mint_id, message, attested, attestation, mint_from, attesting_at, look_at, received, created_at,
      updated_at, ended_at)
    select account_id, id, version, policy_id, from_chain, to_chain, token_contract, source, recipient, recipient_path,
           amount, max_fee, state, reason, stalled_reason, stalled_at, blocked, approve_id, burn_id, mint_id, message,
           attested, attestation, mint_from, attesting_at,
           -- No pause is as long: a node whose clock was ahead makes what is burnt wait no longer.
           least(look_at, clock_timestamp() + interval '1 hour'), received, created_at, updated_at, ended_at
      from jsonb_to_recordset(batch -> 'bridge_transfers')
        r(account_id text, id text, version bigint, policy_id text, from_chain text, to_chain text,
          token_contract text, source text, recipient text, recipient_path text, amount amount, max_fee amount,
          state text, reason text, stalled_reason text, stalled_at timestamptz, blocked text, approve_id text,
          burn_id text, mint_id text, message text, attested text, attestation text, mint_from bigint,
          attesting_at timestamptz, look_at timestamptz, received amount, created_at timestamptz,
          updated_at timestamptz, ended_at timestamptz)
     where version = 1 or exists (select from bridge_transfer k where k.account_id = r.account_id and k.id = r.id)
  on conflict (account_id, id) do update set
    version = excluded.version, state = excluded.state, reason = excluded.reason, max_fee = excluded.max_fee,
    stalled_reason = excluded.stalled_reason, stalled_at = excluded.stalled_at, blocked = excluded.blocked,
    mint_id = excluded.mint_id, message = excluded.message, attested = excluded.attested,
    attestation = excluded.attestation, mint_from = excluded.mint_from, attesting_at = excluded.attesting_at,
    look_at = excluded.look_at, received = excluded.received, updated_at = excluded.updated_at,
    ended_at = excluded.ended_at
    where o.version = excluded.version - 1;
  get diagnostics written = row_count;
  -- H5: no failure while its burn can land, which the decision may have read before it did.
  if written < jsonb_array_length(batch -> 'bridge_transfers') or exists (
      select from jsonb_to_recordset(batch -> 'bridge_transfers') r(account_id text, burn_id text, state text)
        join withdrawal w on w.account_id = r.account_id and w.id = r.burn_id
       where r.state = 'FAILED' and (w.status not in ('built', 'failed', 'expired')
           -- Refused by every node, and not proven dead: it may land.
           or (w.status = 'failed' and w.height is null and w.versions @> '[{"watched": true}]'))) then
    raise exception 'a bridge transfer moved after a decision had read it'
      using errcode = 'check_violation', constraint = 'bridge_rows_moved', table = 'bridge_transfer';
  end if;
end $$;
