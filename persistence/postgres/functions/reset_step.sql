-- A bounded part of a sandbox reset, and how far it is, in one statement, so that whoever comes next goes on there:
-- some `most` rows of what the account issued, saw, sent and delivered. False where nothing is left, null where
-- somebody else is at it. Without the mark that an append sets (append_resets) there is nothing to do; what came behind
-- a step meanwhile is little, since the account takes nothing new, and the append that ends the reset deletes it.
--   cut (ledgers lose their heads, so that nobody follows them) ▶ each table below, those that point first ▶ done
create or replace function reset_step(of_account text, most int) returns boolean
language plpgsql security definer set search_path = flock, pg_temp set enable_seqscan = off as $$
declare
  steps constant text[] := '{cut,sandbox_task,simulated_claim,sweep_operation,sweep_job,inbox,delivery,deposit,'
    'invoice_link,invoice,resting_address,checkout_address,payment,payment_link,publication,withdrawal,sweepable,'
    'scan_row,scan_reference,import_hit,import_issue,import_row,upload_chunk,address_origin,address,address_gap,'
    'audit_total,discrepancy,fact,unresolved_height,block_link,sandbox_pool,sandbox_balance,sandbox_transaction,'
    'sandbox_block,done}';
  ledgers text[] := array(select chain || '@' || of_account
                            from unnest('{btc,eth,bsc,polygon,avax,base,tron,sol,xrp,xlm}'::text[]) chain);
  at text;
  room int := most;
  piece int;
  gone bigint;
  ids text[];
  keys uuid[];
begin
  select s.step into at from sandbox_reset s where s.account_id = of_account and s.step <> 'done'
     for update skip locked;
  if not found then
    perform 1 from sandbox_reset s where s.account_id = of_account and s.step <> 'done';
    return case when found then null else false end;
  end if;
  perform set_config('flock.sandbox_reset', of_account, true);
  while room > 0 and at <> 'done' loop
    piece := room;
    gone := null;
    case at
      when 'cut' then
        delete from chain_cursor t where t.ledger = any (ledgers);
        delete from chain_head t where t.ledger = any (ledgers);
        delete from registry_start t where t.ledger = any (ledgers);
        update sandbox_ledger t set height = null, hash = null, behind = false where t.ledger = any (ledgers);
        -- A validation ends with its next rows; a commit fills no more of a marked account (fill_import).
        update import_batch t set state = 'invalid' where t.account_id = of_account and t.state = 'validating';
        gone := 0;
      when 'sandbox_task' then
        delete from sandbox_task t where t.ctid = any (array(
          select p.ctid from sandbox_task p where p.account_id = of_account limit piece));
      when 'simulated_claim' then
        delete from simulated_claim t where t.ctid = any (array(
          select p.ctid from simulated_claim p where p.account_id = of_account limit piece));
      when 'sweep_operation' then
        delete from sweep_operation t where t.ctid = any (array(
          select p.ctid from sweep_operation p where p.account_id = of_account limit piece));
      when 'sweep_job' then
        delete from sweep_job t where t.ctid = any (array(
          select p.ctid from sweep_job p where p.account_id = of_account limit piece));
      when 'inbox' then
        delete from inbox t where t.ctid = any (array(
          select p.ctid from inbox p where p.account_id = of_account limit piece));
      when 'delivery' then
        ids := array(select p.id from delivery p where p.account_id = of_account and p.status is not null limit piece);
        delete from attempt t where t.delivery_id = any (ids);
        delete from delivery t where t.id = any (ids);
        gone := cardinality(ids);
      when 'deposit' then
        -- A reversal points at its credit, a credit at its detection, and what a payment counted at all of them.
        piece := least(piece, 500);
        ids := array(select p.id from deposit p where p.account_id = of_account limit piece);
        delete from payment_entry t where t.deposit_id = any (ids);
        delete from payment_transfer t where t.deposit_id = any (ids);
        delete from ledger_entry t where t.deposit_id = any (ids) and t.kind = 'reversal';
        delete from ledger_entry t where t.deposit_id = any (ids) and t.kind = 'credit';
        delete from ledger_entry t where t.deposit_id = any (ids);
        delete from deposit t where t.account_id = of_account and t.id = any (ids);
        gone := cardinality(ids);
      when 'invoice_link' then
        delete from invoice_link t where t.ctid = any (array(
          select p.ctid from invoice_link p where p.account_id = of_account limit piece));
      when 'invoice' then
        delete from invoice t where t.ctid = any (array(
          select p.ctid from invoice p where p.account_id = of_account limit piece));
      when 'resting_address' then
        delete from resting_address t where t.ctid = any (array(
          select p.ctid from resting_address p where p.account_id = of_account limit piece));
      when 'checkout_address' then
        delete from checkout_address t where t.ctid = any (array(
          select p.ctid from checkout_address p where p.account_id = of_account limit piece));
      when 'payment' then
        delete from payment t where t.ctid = any (array(
          select p.ctid from payment p where p.account_id = of_account limit piece));
      when 'payment_link' then
        -- Slugs stay: none is ever given to another link (payments P6).
        delete from payment_link t where t.ctid = any (array(
          select p.ctid from payment_link p where p.account_id = of_account limit piece));
      when 'publication' then
        delete from publication t where t.ctid = any (array(
          select p.ctid from publication p where p.account_id = of_account limit piece));
      when 'withdrawal' then
        ids := array(select p.id from withdrawal p where p.account_id = of_account limit piece);
        delete from billable_change t where t.account_id = of_account and t.withdrawal_id = any (ids);
        delete from billable t where t.account_id = of_account and t.withdrawal_id = any (ids);
        delete from withdrawal t where t.account_id = of_account and t.id = any (ids);
        gone := cardinality(ids);
      when 'sweepable' then
        delete from sweepable t where t.ctid = any (array(
          select p.ctid from sweepable p where p.account_id = of_account limit piece));
      when 'scan_row' then
        delete from scan_row t where t.ctid = any (array(
          select p.ctid from scan_row p where p.account_id = of_account limit piece));
      when 'scan_reference' then
        delete from scan_reference t where t.ctid = any (array(
          select p.ctid from scan_reference p where p.account_id = of_account limit piece));
      when 'import_hit' then
        delete from import_hit t where t.ctid = any (array(
          select p.ctid from import_hit p where p.account_id = of_account limit piece));
      when 'import_issue' then
        delete from import_issue t where t.ctid = any (array(
          select p.ctid from import_issue p where p.account_id = of_account limit piece));
      when 'import_row' then
        delete from import_row t where t.ctid = any (array(
          select p.ctid from import_row p where p.account_id = of_account limit piece));
      when 'upload_chunk' then
        -- Of 256 KiB each.
        piece := greatest(piece / 32, 1);
        delete from upload_chunk t where t.ctid = any (array(
          select c.ctid from upload u join upload_chunk c on c.upload_id = u.id
           where u.account_id = of_account limit piece));
      when 'address_origin' then
        delete from address_origin t where t.ctid = any (array(
          select p.ctid from address_origin p where p.account_id = of_account limit piece));
      when 'address' then
        -- Own addresses stay.
        select array_agg(p.id), array_agg(p.address_key) into ids, keys from (
          select a.id, a.address_key from address a
           where a.account_id = of_account and a.purpose = 'deposit' limit piece) p;
        delete from address_registry t where t.address_key = any (keys) and t.account_id = of_account;
        delete from address t where t.account_id = of_account and t.id = any (ids);
        gone := coalesce(cardinality(ids), 0);
      when 'address_gap' then
        delete from address_gap t where t.ctid = any (array(
          select p.ctid from address_gap p where p.account_id = of_account limit piece));
      when 'audit_total' then
        delete from audit_total t where t.ctid = any (array(
          select p.ctid from audit_total p where p.ledger = any (ledgers) limit piece));
      when 'discrepancy' then
        delete from discrepancy t where t.ctid = any (array(
          select p.ctid from discrepancy p where p.ledger = any (ledgers) limit piece));
      when 'fact' then
        delete from fact t where t.ctid = any (array(
          select p.ctid from fact p where p.ledger = any (ledgers) limit piece));
      when 'unresolved_height' then
        delete from unresolved_height t where t.ctid = any (array(
          select p.ctid from unresolved_height p where p.ledger = any (ledgers) limit piece));
      when 'block_link' then
        delete from block_link t where t.ctid = any (array(
          select p.ctid from block_link p where p.ledger = any (ledgers) limit piece));
      when 'sandbox_pool' then
        delete from sandbox_pool t where t.ctid = any (array(
          select p.ctid from sandbox_pool p where p.ledger = any (ledgers) limit piece));
      when 'sandbox_balance' then
        delete from sandbox_balance t where t.ctid = any (array(
          select p.ctid from sandbox_balance p where p.ledger = any (ledgers) limit piece));
      when 'sandbox_transaction' then
        delete from sandbox_transaction t where t.ctid = any (array(
          select p.ctid from sandbox_transaction p where p.ledger = any (ledgers) limit piece));
      when 'sandbox_block' then
        delete from sandbox_block t where t.ctid = any (array(
          select p.ctid from sandbox_block p where p.ledger = any (ledgers) limit piece));
    end case;
    if gone is null then get diagnostics gone = row_count; end if;
    if gone < piece then
      at := steps[array_position(steps, at) + 1];
    elsif piece < room then
      exit; -- a page of what is large, or that others hang on
    end if;
    room := room - gone::int;
  end loop;
  update sandbox_reset s set step = at where s.account_id = of_account;
  perform set_config('flock.sandbox_reset', '', true);
  return at <> 'done';
end $$;
grant execute on function reset_step to flock_app;
