-- One bounded step of a wipe, and how far it is, in one statement, so that whoever comes next goes on there. Before its
-- time it counts what lies on the addresses; while it runs it deletes. False where nothing is left, null where somebody
-- else is at it, or it is too early. Nothing that it goes through grows meanwhile, but deposits, whose ids rise.
-- Console A49.
--   holding ▶ (counted)      pool_address ▶ edge_instruction ▶ local_key ▶ local_key_set ▶ edge_session ▶ idempotency
--   ▶ upload_chunk ▶ scan_row ▶ scan_reference ▶ import_issue ▶ import_row ▶ address_gap ▶ address ▶ withdrawal
--   ▶ deposit ▶ payment ▶ invoice ▶ event ▶ holding, once more: what came since ▶ done
create or replace function wipe_step(of_account text, most int) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  steps constant text[] := '{pool_address,edge_instruction,local_key,local_key_set,edge_session,idempotency,'
    'upload_chunk,scan_row,scan_reference,import_issue,import_row,address_gap,address,withdrawal,deposit,payment,'
    'invoice,event,holding,done}';
  w wipe;
  last text;
  gone bigint;
  sums jsonb;
begin
  select * into w from wipe o where o.account_id = of_account
      and (o.status = 'scheduled' and not o.counted or o.status = 'running' and o.step <> 'done')
     for update skip locked;
  if not found then
    perform 1 from wipe o where o.account_id = of_account
        and (o.status = 'scheduled' and not o.counted or o.status = 'running' and o.step <> 'done');
    return case when found then null else false end;
  end if;
  -- Nodes know a key for 15 s after it is gone (gateway/http/auth/api-keys.ts), and what was asked before goes on:
  -- until they have forgotten it nothing is deleted that an edge would bring again, nor does the wipe end.
  if w.status = 'running' and w.step = 'pool_address' then
    -- A validation that began at the last instant ends with its next thousand rows, before the rows' turn comes.
    update import_batch b set state = 'invalid' where b.account_id = of_account and b.state = 'validating';
  end if;
  if w.status = 'running' and clock_timestamp() < w.began_at + interval '30 seconds' then return null; end if;
  perform set_config('flock.wipe', of_account, true);
  case w.step
    when 'holding' then
      with piece as materialized (
        select s.chain, s.token_contract, s.address, s.amount from sweepable s
         where s.account_id = of_account and (s.chain, s.token_contract, s.address) > (
           split_part(w.after, ' ', 1), split_part(w.after, ' ', 2), split_part(w.after, ' ', 3))
         order by s.chain, s.token_contract, s.address limit most
      ), asset as (
        select p.chain || ' ' || p.token_contract as name, sum(p.amount) as amount from piece p group by 1
      )
      select (select concat_ws(' ', p.chain, p.token_contract, p.address) from piece p
                order by p.chain desc, p.token_contract desc, p.address desc limit 1),
             (select count(*) from piece),
             (select jsonb_object_agg(a.name, (a.amount + coalesce((w.holdings ->> a.name)::numeric, 0))::text)
                from asset a)
        into last, gone, sums;
      update wipe o set after = coalesce(last, o.after), counted = gone < most,
             holdings = o.holdings || coalesce(sums, '{}'),
             step = case when o.status = 'running' and gone < most then 'done' else o.step end
       where o.account_id = of_account and o.id = w.id;
      return gone = most;
    when 'pool_address' then
      delete from pool_address t where t.ctid = any (array(
        select p.ctid from pool_address p where p.account_id = of_account limit most));
    when 'edge_instruction' then
      delete from edge_instruction t where t.ctid = any (array(
        select p.ctid from edge_instruction p where p.account_id = of_account limit most));
    when 'local_key' then
      delete from local_key t where t.ctid = any (array(
        select p.ctid from local_key p where p.account_id = of_account limit most));
    when 'local_key_set' then
      delete from local_key_set t where t.ctid = any (array(
        select p.ctid from local_key_set p where p.account_id = of_account limit most));
    when 'edge_session' then
      delete from edge_session t where t.ctid = any (array(
        select p.ctid from edge_session p where p.account_id = of_account limit most));
    when 'idempotency' then
      delete from idempotency t where t.ctid = any (array(
        select p.ctid from idempotency p where p.account_id = of_account limit most));
    when 'upload_chunk' then
      update upload u set state = 'erased' where u.account_id = of_account and u.state <> 'erased';
      -- Of 256 KiB each.
      delete from upload_chunk t where t.ctid = any (array(
        select c.ctid from upload u join upload_chunk c on c.upload_id = u.id
         where u.account_id = of_account limit greatest(most / 32, 1)));
      get diagnostics gone = row_count;
      if gone > 0 then return true; end if;
    when 'scan_row' then
      -- Batches name their scans; the keys that these went through are what is deleted of them.
      update scan s set lanes = '[]', unread = 0, version = s.version + 1,
          state = case when s.ended_at is null then 'cancelled' else s.state end,
          ended_at = coalesce(s.ended_at, clock_timestamp())
       where s.account_id = of_account and s.lanes <> '[]';
      delete from scan_row t where t.ctid = any (array(
        select p.ctid from scan_row p where p.account_id = of_account limit most));
    when 'scan_reference' then
      delete from scan_reference t where t.ctid = any (array(
        select p.ctid from scan_reference p where p.account_id = of_account limit most));
    when 'import_issue' then
      -- They quote the file.
      delete from import_issue t where t.ctid = any (array(
        select p.ctid from import_issue p where p.account_id = of_account limit most));
    when 'import_row' then
      with piece as materialized (
        select r.batch_id, r.n from import_row r
         where r.account_id = of_account and (r.batch_id, r.n) > (split_part(w.after, ' ', 1),
           coalesce(nullif(split_part(w.after, ' ', 2), ''), '-1')::int)
         order by r.batch_id, r.n limit most
      ), forgotten as (
        update import_row r set user_ref = null, tag = null, label = null from piece p
         where r.account_id = of_account and r.batch_id = p.batch_id and r.n = p.n
      )
      select (select p.batch_id || ' ' || p.n from piece p order by p.batch_id desc, p.n desc limit 1), count(*)
        into last, gone from piece;
    when 'address_gap' then
      delete from address_gap t where t.ctid = any (array(
        select p.ctid from address_gap p where p.account_id = of_account limit most));
    when 'address' then
      with piece as materialized (
        select a.id from address a where a.account_id = of_account and a.id > w.after order by a.id limit most
      ), forgotten as (
        update address a set user_ref = null, tag = null, label = null, status = 'archived', wiped = true from piece p
         where a.account_id = of_account and a.id = p.id and not a.wiped returning 1
      )
      select (select max(p.id) from piece p), (select count(*) from piece),
             w.addresses + (select count(*) from forgotten)
        into last, gone, w.addresses;
    when 'withdrawal' then
      with piece as materialized (
        select t.id from withdrawal t where t.account_id = of_account and t.id > w.after order by t.id limit most
      ), forgotten as (
        update withdrawal t set user_ref = null, tag = null from piece p
         where t.account_id = of_account and t.id = p.id and (t.user_ref is not null or t.tag is not null)
      )
      select max(p.id), count(*) into last, gone from piece p;
    when 'deposit' then
      with piece as materialized (
        select d.id from deposit d where d.account_id = of_account and d.id > w.after order by d.id limit most
      ), forgotten as (
        update deposit d set user_ref = null, tag = null from piece p
         where d.account_id = of_account and d.id = p.id and (d.user_ref is not null or d.tag is not null)
      )
      select max(p.id), count(*) into last, gone from piece p;
    when 'payment' then
      -- Payers. A later version: a decision that read them before is made again, on what is left.
      with piece as materialized (
        select p.id from payment p where p.account_id = of_account and p.id > w.after order by p.id limit most
      ), forgotten as (
        update payment t set customer_email = null, customer_name = null, payer_key = null, client_key = null,
            version = t.version + 1 from piece p
         where t.account_id = of_account and t.id = p.id
           and num_nonnulls(t.customer_email, t.customer_name, t.payer_key, t.client_key) > 0
      )
      select max(p.id), count(*) into last, gone from piece p;
    when 'invoice' then
      -- Number, amounts and seller are the books'; nobody is written to any more (write_invoice_letter).
      with piece as materialized (
        select i.id from invoice i where i.account_id = of_account and i.id > w.after order by i.id limit most
      ), forgotten as (
        update invoice i set customer_email = '', customer_name = null from piece p
         where i.account_id = of_account and i.id = p.id and (i.customer_email <> '' or i.customer_name is not null)
      )
      select max(p.id), count(*) into last, gone from piece p;
    when 'event' then
      with piece as materialized (
        select e.version, e.type from event e
         where e.account_id = of_account and e.version > coalesce(nullif(w.after, ''), '0')::bigint
         order by e.version limit most
      ), forgotten as (
        update event e set body = wiped_event(e.type, e.body) from piece p
         where e.account_id = of_account and e.version = p.version and p.type in ('edge_enrolled', 'keys_added',
           'rotation_detected', 'key_source_registered', 'treasury_wallet_created', 'funding_wallet_created')
      )
      select max(p.version)::text, count(*) into last, gone from piece p;
  end case;
  if last is null and gone is null then get diagnostics gone = row_count; end if;
  if gone < most then
    update wipe o set step = steps[array_position(steps, w.step) + 1], after = '', addresses = w.addresses,
           counted = o.counted and w.step <> 'event',
           holdings = case w.step when 'event' then '{}' else o.holdings end
     where o.account_id = of_account and o.id = w.id;
  else
    update wipe o set after = coalesce(last, ''), addresses = w.addresses
     where o.account_id = of_account and o.id = w.id;
  end if;
  perform set_config('flock.wipe', '', true);
  return true;
end $$;
grant execute on function wipe_step to flock_app;
