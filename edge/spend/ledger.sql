-- Tables and function of the shared spend ledger in a database of the customer's (edge/spend/postgres-spend.ts). One call counts a
-- spend or refuses it: it takes a row lock first and reads after it, so that two replicas that count at one moment see each other.
-- Replicas that start together make all of it once. A newer edge replaces the function of an older one, and an older edge leaves a
-- newer one's.
do $ddl$
begin
  perform pg_advisory_xact_lock(7305820);
  if coalesce(obj_description(to_regclass('flock_spend'), 'pg_class'), '0')::int >= 5 then
    return;
  end if;
  create table if not exists flock_spend (
    scope         text           not null,
    subject       text           not null,
    chain         text           not null,
    purpose       text           not null,
    amount        numeric(78, 0) not null check (amount >= 0),
    exclusive     jsonb          not null,
    counted_at_ms bigint         not null,
    primary key (scope, subject)
  );
  create index if not exists flock_spend_window on flock_spend (scope, chain, purpose, counted_at_ms);
  -- subject: SHA-256 of the instruction. In rows of an older edge it is the transaction's id, until that is counted again.
  alter table flock_spend add column if not exists transaction_id text;
  alter table flock_spend add column if not exists sender text;
  alter table flock_spend add column if not exists payment text;
  alter table flock_spend add column if not exists counter numeric(39, 0);
  -- After both no version can land: by the wall clock, and by the time of this ledger. Null: no time kills it.
  alter table flock_spend add column if not exists dead_wall_ms bigint;
  alter table flock_spend add column if not exists dead_ledger_ms bigint;
  alter table flock_spend add column if not exists told text not null default 'nothing' check (told in ('nothing', 'confirmed', 'failed', 'doubted'));
  alter table flock_spend add column if not exists settled text check (settled in ('dead', 'landed', 'by_operator', 'forgotten'));
  -- SHA-256 of each payload that was counted; null: an older edge counted one of them. Then those that are known are `later_versions`.
  alter table flock_spend add column if not exists versions jsonb;
  alter table flock_spend add column if not exists later_versions jsonb;
  create unique index if not exists flock_spend_transaction on flock_spend (scope, coalesce(transaction_id, subject));
  -- What is looked up for each signature costs the same after a million of them.
  drop index if exists flock_spend_payment;
  drop index if exists flock_spend_counter;
  create index if not exists flock_spend_standing on flock_spend (scope, payment) where settled is null and told <> 'confirmed';
  create index if not exists flock_spend_unfilled on flock_spend (scope, chain, sender, counter) where settled is null and told = 'failed';
  create index if not exists flock_spend_versions on flock_spend using gin (versions) with (fastupdate = off);
  create index if not exists flock_spend_later_versions on flock_spend using gin (later_versions) with (fastupdate = off);
  create index if not exists flock_spend_counters on flock_spend (scope, chain, sender, counter);
  -- The time of a scope. It goes on by what each replica's own clock says has passed since that replica's last count.
  create table if not exists flock_spend_clock (scope text primary key, at_ms bigint not null);
  create table if not exists flock_spend_replica (
    scope text not null, replica text not null, own_ms bigint not null, at_ms bigint not null, primary key (scope, replica));
  comment on table flock_spend is '5';
end $ddl$;

-- Local keys as each replica signed them last (edge/local-keys/key-shelf.ts).
do $ddl$
begin
  perform pg_advisory_xact_lock(7305820);
  create table if not exists flock_key_set (scope text not null, replica text not null, version bigint not null,
    issued_at_ms bigint not null, record text not null, primary key (scope, replica));
end $ddl$;

do $ddl$
begin
  perform pg_advisory_xact_lock(7305820);
  if coalesce(obj_description(to_regprocedure('flock_count_spend(text, text, text, bigint, jsonb)'), 'pg_proc'), '0')::int >= 7 then
    return;
  end if;
  create or replace function flock_count_spend(of_scope text, of_replica text, heir_of text, own_now_ms bigint, asked jsonb)
  returns table (outcome text, spent numeric, earlier jsonb) language plpgsql set enable_seqscan = off as $fn$
  declare
    known   flock_spend%rowtype;
    now_ms  bigint;
    so_far  numeric;
    dearest numeric;
    tokens  numeric;
    found_  jsonb;
    s_      record;
  begin
    select * into s_ from jsonb_to_record(asked) a(subject text, "transactionId" text, chain text, purpose text, amount numeric, exclusive jsonb, version text, sender text,
      payment text, counter numeric, "deadAtMs" bigint, "wallMs" bigint, cap numeric, "windowMs" bigint,
      "tokenSubject" text, "tokenUnit" text, "tokenAmount" numeric, "tokenCap" numeric);
    insert into flock_spend_clock values (of_scope, floor(extract(epoch from clock_timestamp()) * 1000)) on conflict do nothing;
    select c.at_ms into now_ms from flock_spend_clock c where c.scope = of_scope for update;
    -- From here on each statement sees what was committed before. Of the processes on copies of a directory one is the heir.
    if not exists (select from flock_spend_replica r where r.scope = of_scope and r.replica = of_replica) then
      update flock_spend_replica r set replica = of_replica where r.scope = of_scope and r.replica = heir_of;
    end if;
    now_ms := greatest(now_ms, coalesce(
      (select r.at_ms + (own_now_ms - r.own_ms) from flock_spend_replica r where r.scope = of_scope and r.replica = of_replica), 0));
    update flock_spend_clock c set at_ms = now_ms where c.scope = of_scope;
    insert into flock_spend_replica values (of_scope, of_replica, own_now_ms, now_ms)
      on conflict (scope, replica) do update set own_ms = excluded.own_ms, at_ms = excluded.at_ms;
    delete from flock_spend_replica r where r.scope = of_scope and r.at_ms < now_ms - 10 * s_."windowMs";
    -- A row of an edge of before is named by the id alone, and its keys have neither chain nor sender.
    if s_.subject <> s_."transactionId" then
      update flock_spend s set subject = s_.subject, transaction_id = s_."transactionId",
        exclusive = (select coalesce(jsonb_agg(s_.chain || '|' || s_.sender || '|' || k), '[]') from jsonb_array_elements_text(s.exclusive) k)
       where s.scope = of_scope and s.subject = s_."transactionId";
    end if;
    if exists (select from flock_spend s where s.scope = of_scope and coalesce(s.transaction_id, s.subject) = s_."transactionId" and s.subject <> s_.subject) then
      return query select 'other_instruction', 0::numeric, null::jsonb;
      return;
    end if;
    -- One transaction of the chain pays one payment. The same bytes of another sender are another transaction.
    -- Looked up by the version alone, and first: an `exists` over all conditions is planned as a walk through the scope, which would
    -- end at the first hit, and there is none.
    if exists (
      with counted as materialized (
        select s.* from flock_spend s where s.versions ? s_.version
        union all select s.* from flock_spend s where s.later_versions ? s_.version)
      select from counted s where s.scope = of_scope and s.chain = s_.chain and s.sender is not distinct from s_.sender
         and s.payment is distinct from s_.payment) then
      return query select 'other_payment', 0::numeric, null::jsonb;
      return;
    end if;
    select * into known from flock_spend s where s.scope = of_scope and s.subject = s_.subject;
    if found and not exists (select from jsonb_array_elements_text(known.exclusive) k where s_.exclusive ? k) then
      return query select 'other_key', 0::numeric, null::jsonb;
      return;
    end if;
    -- What was counted long ago and is signed only now is spent now.
    dearest := greatest(s_.amount, known.amount);
    select coalesce(sum(s.amount), 0) into so_far from flock_spend s
     where s.scope = of_scope and s.chain = s_.chain and s.purpose = s_.purpose and s.subject <> s_.subject
       and s.counted_at_ms > now_ms - s_."windowMs";
    if so_far + dearest > s_.cap then
      return query select 'over_cap', so_far, null::jsonb;
      return;
    end if;
    -- The token that it moves has a row of its own, which is a sum and nothing else: no payment, no counter, no keys.
    if s_."tokenSubject" is not null then
      declare token_so_far numeric;
      begin
        tokens := greatest(s_."tokenAmount", (select s.amount from flock_spend s where s.scope = of_scope and s.subject = s_."tokenSubject"));
        select coalesce(sum(s.amount), 0) into token_so_far from flock_spend s
         where s.scope = of_scope and s.chain = s_."tokenUnit" and s.purpose = s_.purpose and s.subject <> s_."tokenSubject"
           and s.counted_at_ms > now_ms - s_."windowMs";
        if token_so_far + tokens > s_."tokenCap" then
          return query select 'over_token_cap', token_so_far, null::jsonb;
          return;
        end if;
      end;
    end if;
    select jsonb_agg(e.id) into found_ from (
      select coalesce(s.transaction_id, s.subject) as id from flock_spend s
       where s.scope = of_scope and s.payment = s_.payment and s.subject <> s_.subject and s.settled is null and s.told <> 'confirmed'
         and not coalesce(s.dead_wall_ms < s_."wallMs" and s.dead_ledger_ms < now_ms, false)
         and not exists (select from jsonb_array_elements_text(s.exclusive) k where s_.exclusive ? k)
       order by s.counted_at_ms limit 16) e;
    if found_ is not null then
      return query select 'equal_payment', 0::numeric, found_;
      return;
    end if;
    select jsonb_agg(e.id) into found_ from (
      select coalesce(s.transaction_id, s.subject) as id from flock_spend s
       where s.scope = of_scope and s.chain = s_.chain and s.sender = s_.sender and s.counter < s_.counter and s.subject <> s_.subject
         and s.settled is null and s.told = 'failed' and not coalesce(s.dead_wall_ms < s_."wallMs" and s.dead_ledger_ms < now_ms, false)
         and not exists (select from flock_spend f where f.scope = of_scope and f.chain = s.chain and f.sender = s.sender and f.counter = s.counter
           and f.told <> 'failed')
       order by s.counter limit 16) e;
    if found_ is not null then
      return query select 'counter_not_filled', 0::numeric, found_;
      return;
    end if;
    insert into flock_spend (scope, subject, chain, purpose, amount, exclusive, counted_at_ms, transaction_id, sender, payment, counter, dead_wall_ms,
        dead_ledger_ms, versions)
      values (of_scope, s_.subject, s_.chain, s_.purpose, dearest, s_.exclusive, now_ms, s_."transactionId", s_.sender, s_.payment,
        s_.counter, s_."deadAtMs", now_ms + greatest(0, s_."deadAtMs" - s_."wallMs"), case when s_.version is not null then jsonb_build_array(s_.version) end)
      -- Every version shares what is kept, so that any two of them exclude each other.
      on conflict (scope, subject) do update set amount = excluded.amount, counted_at_ms = excluded.counted_at_ms, sender = excluded.sender,
        payment = excluded.payment, counter = excluded.counter, settled = null, told = case when flock_spend.told = 'failed' then 'doubted' else flock_spend.told end,
        dead_wall_ms = greatest(flock_spend.dead_wall_ms, excluded.dead_wall_ms), dead_ledger_ms = greatest(flock_spend.dead_ledger_ms, excluded.dead_ledger_ms),
        versions = case when flock_spend.versions ? s_.version then flock_spend.versions else flock_spend.versions || excluded.versions end,
        later_versions = case when flock_spend.versions is null and s_.version is not null and not coalesce(flock_spend.later_versions ? s_.version, false)
          then coalesce(flock_spend.later_versions, '[]') || excluded.versions else flock_spend.later_versions end,
        exclusive = (select coalesce(jsonb_agg(k), '[]') from jsonb_array_elements_text(known.exclusive) k where s_.exclusive ? k);
    if tokens is not null then
      insert into flock_spend (scope, subject, chain, purpose, amount, exclusive, counted_at_ms)
      values (of_scope, s_."tokenSubject", s_."tokenUnit", s_.purpose, tokens, '[]', now_ms)
        on conflict (scope, subject) do update set amount = excluded.amount, counted_at_ms = excluded.counted_at_ms;
    end if;
    return query select 'counted', so_far + dearest, null::jsonb;
  end $fn$;
  -- The version of this text: raise both numbers with each change.
  comment on function flock_count_spend(text, text, text, bigint, jsonb) is '7';
end $ddl$;

-- An instruction that is signed by nobody from now on (edge/signing/superseding.ts): its row has a key that no payload has, so that
-- flock_count_spend refuses each of its versions. False where it was counted. It takes the lock of a count first, and reads after it.
do $ddl$
begin
  perform pg_advisory_xact_lock(7305820);
  if coalesce(obj_description(to_regprocedure('flock_retire_spend(text, text, text, text, jsonb)'), 'pg_proc'), '0')::int >= 1 then
    return;
  end if;
  create or replace function flock_retire_spend(of_scope text, of_subject text, of_transaction text, of_chain text, keys jsonb)
  returns boolean language plpgsql as $fn$
  declare
    now_ms bigint;
  begin
    insert into flock_spend_clock values (of_scope, floor(extract(epoch from clock_timestamp()) * 1000)) on conflict do nothing;
    select c.at_ms into now_ms from flock_spend_clock c where c.scope = of_scope for update;
    insert into flock_spend (scope, subject, chain, purpose, amount, exclusive, counted_at_ms, transaction_id)
      values (of_scope, of_subject, of_chain, 'withdrawal', 0, keys, now_ms, of_transaction)
      on conflict do nothing;
    return exists (select from flock_spend s
                    where s.scope = of_scope and s.subject = of_subject and s.transaction_id = of_transaction and s.exclusive = keys);
  end $fn$;
  comment on function flock_retire_spend(text, text, text, text, jsonb) is '1';
end $ddl$;
