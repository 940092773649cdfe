/** The edge's tables, forward only: entry n brings a file of version n to n + 1. Amounts are decimal text. */
export const SCHEMA_VERSIONS: readonly string[] = [
  `
  create table settings (name text primary key, value text not null) strict;

  -- Writes to the cloud, taken in the order of seq.
  create table outbox (
    seq integer primary key autoincrement,
    kind text not null check (kind in ('attempt', 'signed')),
    subject text not null,
    body text not null,
    tries integer not null default 0,
    last_code text,
    created_at_ms integer not null,
    unique (kind, subject)
  ) strict;

  -- What was counted against a cap, before the signature was made. Never deleted, never lowered.
  create table spend (
    subject text primary key,
    chain text not null,
    purpose text not null check (purpose in ('cloud', 'withdrawal')),
    amount text not null,
    counted_at_ms integer not null
  ) strict;
  create index spend_window on spend (chain, purpose, counted_at_ms);

  -- What this edge's own callers asked for, with the payload that was checked against it last.
  create table instructions (
    transaction_id text primary key,
    instruction text not null,
    unsigned text not null,
    recorded_at_ms integer not null
  ) strict;

  -- Every payload that may have been signed; written before the signature is made.
  create table signatures (
    transaction_id text not null,
    payload text not null,
    chain text not null,
    signed_payload text,
    txid text,
    outcome text not null default 'open' check (outcome in ('open', 'taken', 'refused')),
    outcome_code text,
    signed_at_ms integer not null,
    primary key (transaction_id, payload)
  ) strict;

  -- What each signed payload uses up: one counter, or every outpoint that it spends.
  create table replay_keys (
    chain text not null,
    sender text not null,
    replay_key text not null,
    transaction_id text not null,
    payload text not null,
    primary key (chain, sender, replay_key, transaction_id, payload),
    foreign key (transaction_id, payload) references signatures (transaction_id, payload)
  ) strict, without rowid;

  create table local_keys (
    id text primary key,
    environment text not null check (environment in ('live', 'sandbox')),
    hash text not null unique,
    label text not null,
    prefix text not null,
    created_at_ms integer not null,
    revoked_at_ms integer,
    -- Null until the running edge has signed it (a key minted by the command line).
    signature text,
    -- 1 when the cloud has taken this version of the record.
    shared integer not null default 0
  ) strict;
`,
  `
  -- 1 when the cloud has taken this version, for the other replicas.
  alter table instructions add column shared integer not null default 0;
  create index instructions_unshared on instructions (recorded_at_ms) where shared = 0;

  -- Writes that an operator took out of the queue, to be put back or looked at; nothing is lost.
  create table outbox_aside (
    seq integer primary key,
    kind text not null,
    subject text not null,
    body text not null,
    tries integer not null,
    last_code text,
    created_at_ms integer not null,
    set_aside_at_ms integer not null
  ) strict;
`,
  `
  -- JSON list: two signatures for one subject must share one of these keys.
  alter table spend add column exclusive text;
`,
  `
  -- When a holder of a local key broadcast any version of it last, and SHA-256 of the version that it was. Without them no frame signs.
  alter table instructions add column broadcast_at_ms integer;
  alter table instructions add column broadcast_unsigned text;

  -- An Idempotency-Key belongs to one body and one id. Both are kept as SHA-256.
  create table request_keys (
    request_key text primary key,
    body text not null,
    transaction_id text not null,
    bound_at_ms integer not null
  ) strict;

  create index signatures_txid on signatures (txid) where txid is not null;
`,
  `
  -- subject: SHA-256 of the instruction; rows of an edge of before have the transaction's id there, until it is counted again.
  alter table spend add column transaction_id text;
  alter table spend add column sender text;
  -- SHA-256 of what makes two instructions one payment; null for what pays nobody.
  alter table spend add column payment text;
  alter table spend add column counter integer;
  -- After both no version can land: by the wall clock, and by the time of this ledger. Null: no time kills it.
  alter table spend add column dead_wall_ms integer;
  alter table spend add column dead_ledger_ms integer;
  alter table spend add column told text not null default 'nothing' check (told in ('nothing', 'confirmed', 'failed', 'doubted'));
  alter table spend add column settled text check (settled in ('dead', 'landed', 'by_operator', 'forgotten'));
  update spend set transaction_id = subject;
  create unique index spend_transaction on spend (transaction_id);
  create index spend_payment on spend (payment) where settled is null;
  create index spend_counter on spend (chain, sender, counter) where settled is null;
`,
  `
  -- Null: the command line minted it, or an edge of before, which did not know.
  alter table local_keys add column minted_by text;
  alter table local_keys add column expires_at_ms integer;
  -- 1 when it was minted in this directory: good here whatever other replicas say, until it is revoked.
  alter table local_keys add column minted_here integer not null default 0;
  -- 1 when this replica, while it leads, may vouch for it to others.
  alter table local_keys add column may_vouch integer not null default 0;
  -- A key of another replica is good until then; -1: known before there were key sets, counted from the next start.
  alter table local_keys add column vouched_until_ms integer;
  update local_keys set may_vouch = 1, vouched_until_ms = -1;
  create index local_keys_minted_by on local_keys (minted_by) where minted_by is not null;

  -- The newest key set of each replica; the text of this one's own is kept to be sent again.
  create table key_sets (
    environment text not null,
    replica text not null,
    version integer not null,
    issued_at_ms integer not null,
    -- SHA-256 of what was signed, and of what the replica knew by it.
    digest text not null,
    state text not null,
    record text,
    shared integer not null default 0,
    primary key (environment, replica)
  ) strict, without rowid;
`,
  `
  -- The output index under which a movement that has a former one too was relayed; deposit-check.ts.
  create table deposit_keys (
    movement text primary key,
    output_index integer not null
  ) strict, without rowid;
`,
  `
  -- 1 when it was built at this replica, which alone may bind its counter where the replicas share no ledger.
  alter table instructions add column built_here integer not null default 0;
  -- 1 when somebody beside this replica may have the version whose counter is bound, and may sign it.
  alter table instructions add column handed_out integer not null default 0;
`,
  `
  -- SHA-256 of the ids that the document says are revoked; null as of an edge of before.
  alter table key_sets add column revoked text;
`,
  `
  -- JSON list: SHA-256 of each payload that was counted for it, by whatever replica; null: an edge of before counted one of them.
  alter table spend add column versions text;

  -- What is looked up for each signature costs the same after a million of them.
  create index spend_newest on spend (counted_at_ms);
  drop index spend_payment;
  create index spend_payment on spend (payment) where settled is null and told <> 'confirmed';
  drop index spend_counter;
  create index spend_counter on spend (chain, sender, counter);
  create index spend_unfilled on spend (chain, sender, counter) where settled is null and told = 'failed';
  create index replay_keys_nonce on replay_keys (chain, sender, cast(substr(replay_key, 7) as integer)) where replay_key glob 'nonce:*';
  create index replay_keys_sequence on replay_keys (chain, sender, cast(substr(replay_key, 10) as integer)) where replay_key glob 'sequence:*';
  create index request_keys_bound on request_keys (bound_at_ms);
`,
  `
  -- JSON list: SHA-256 of each payload that another replica was told to sign.
  alter table instructions add column elsewhere text not null default '[]';

  -- Writes of one kind and lane leave in the order of seq: signed ones of one sender. Those of an edge of before whose sender is not known share one.
  alter table outbox add column lane text not null default '';
  alter table outbox_aside add column lane text not null default '';
  update outbox set lane = coalesce((select (i.instruction ->> 'chain') || ' ' || (i.instruction ->> 'from') from instructions i
    where i.transaction_id = substr(outbox.subject, 1, instr(outbox.subject, '/') - 1)), '') where kind = 'signed';
  update outbox_aside set lane = coalesce((select (i.instruction ->> 'chain') || ' ' || (i.instruction ->> 'from') from instructions i
    where i.transaction_id = substr(outbox_aside.subject, 1, instr(outbox_aside.subject, '/') - 1)), '') where kind = 'signed';
  create index outbox_lane on outbox (kind, lane, seq);
  create index outbox_kind on outbox (kind, seq);
  create index outbox_refused on outbox (seq) where tries > 0;
`,
  `
  -- Which spend counted a payload, by its SHA-256: one transaction of the chain pays one payment.
  create table spend_versions (version text not null, subject text not null, primary key (version, subject)) strict, without rowid;
  insert into spend_versions select v.value, s.subject from spend s join json_each(s.versions) v where s.versions is not null;
`,
  `
  -- JSON list: amount of each version of a send-all, digits of the smallest unit; null where those of before are not all known.
  alter table instructions add column amounts text;
`,
  `
  -- What the payload pays, digits of the smallest unit; null in records of before.
  alter table signatures add column amount text;
`,
  `
  -- The build that took over the Idempotency-Key of this one, which expired unsigned: this one is never signed here.
  alter table instructions add column superseded_by text;
`,
  `
  -- Sweeps that are not stopped have no row; an empty one is a damaged one.
  delete from settings where name = 'sweeps_stopped_at_ms' and value = '';
`,
  `
  -- Durable writes so far; commit-mark.ts.
  create table commits (n integer not null) strict;
  insert into commits values (0);

  -- Once more in an index, and in columns of signatures, what one bit would make another number, time or key of: the check of the start compares both.
  create index spend_twice on spend (amount, dead_wall_ms, dead_ledger_ms);
  create index instructions_twice on instructions (built_here, handed_out, broadcast_at_ms, recorded_at_ms);
  create index local_keys_twice on local_keys (minted_here, may_vouch, expires_at_ms, revoked_at_ms, vouched_until_ms);
  -- Who signed, and the JSON list of what it uses up; null in records of before.
  alter table signatures add column sender text;
  alter table signatures add column uses text;
`,
];
