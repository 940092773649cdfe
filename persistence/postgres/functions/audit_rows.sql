-- What the audit counts of one side of an address, in (`above`, `upto`]: the first `most` rows in the order of their
-- heights. A withdrawal that failed moved nothing and paid its fee. A displaced fact counts: until it is orphaned its
-- account is credited with it. Without settings of its own, so that it is planned within what asks.
create or replace function audit_rows(of_ledger text, of_side text, of_subject text, above bigint, upto bigint,
                                      most int)
returns table (height bigint, token text, amount numeric, fee numeric) language sql stable as $$
  (select f.height, coalesce(f.transfer ->> 'tokenContract', ''), (f.transfer ->> 'amount')::numeric, 0::numeric
     from fact f
    where of_side = 'received' and f.ledger = of_ledger
      and f.address_key = case when of_side = 'received' then of_subject::uuid end
      and f.status <> 'orphaned' and f.height > above and f.height <= upto
    order by f.height limit most)
  union all
  (select w.height, coalesce(w.token_contract, ''),
          case w.status when 'failed' then 0 else left_by(w.versions, w.txid, w.amount) end,
          fee_of_sender(w.unsigned, w.from_address, w.fee)
     from withdrawal w
    where of_side = 'sent' and w.ledger = of_ledger and w.from_address = of_subject
      and w.status in ('confirming', 'confirmed', 'failed') and w.height > above and w.height <= upto
    order by w.height limit most)
  union all
  (select d.height, coalesce(d.token_contract, ''), d.amount, 0::numeric from discrepancy d
    where of_side = 'unattributed' and d.ledger = of_ledger and d.address_id = of_subject and d.kind = 'unattributed'
      and d.height > above and d.height <= upto
    order by d.height limit most);
$$;
