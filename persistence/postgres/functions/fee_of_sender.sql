-- What of a transaction's fee its sender paid: all of it, or nothing where the gas tank paid along, as the fee payer of
-- a Solana message or the fee source of a Stellar bump.
create or replace function fee_of_sender(unsigned jsonb, sender text, fee numeric) returns numeric
language sql immutable as $$
  select case when coalesce(unsigned -> 'fee' ->> 'feePayer', unsigned -> 'fee' ->> 'feeSource', sender) = sender
              then coalesce(fee, 0) else 0 end;
$$;
