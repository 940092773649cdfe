-- I2 of payments: an invoice has the number after the last of its year, the first of a year is 1, a year does not come
-- back, and its payment says the same number. Runs as the owner, so that row security hides neither.
create or replace function invoice_in_turn() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  newest record;
  said text := 'INV-' || new.year || '-' || lpad(new.number::text, greatest(6, length(new.number::text)), '0');
begin
  select i.year, i.number into newest from invoice i where i.account_id = new.account_id
   order by i.account_id desc, i.year desc, i.number desc limit 1;
  if (new.year, new.number) is distinct from (
       case when newest.year = new.year then newest.year else greatest(new.year, newest.year + 1) end,
       case when newest.year = new.year then newest.number + 1 else 1 end) then
    raise exception 'invoice % of % follows %', new.number, new.year, coalesce(newest.number, 0)
      using errcode = 'check_violation', constraint = 'invoice_in_turn', table = 'invoice';
  end if;
  if not exists (select from payment p where p.account_id = new.account_id and p.id = new.payment_id
       and p.invoice_id = new.id and p.invoice_number = said) then
    raise exception 'payment % does not say invoice %', new.payment_id, new.number
      using errcode = 'check_violation', constraint = 'invoice_of_its_payment', table = 'invoice';
  end if;
  return new;
end $$;
