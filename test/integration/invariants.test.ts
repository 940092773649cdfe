/**
 * The schema refuses what must never be (reliability 2). Every invariant is attacked twice: as the application, by the
 * only way it has to write (a broken actor's append), and as the owner of the tables, by plain SQL. Each refusal is
 * held to its constraint's name, because an attack that fails for another reason proves nothing.
 */
import test, { type ExecutionContext } from 'ava';
import type { PendingQuery, Row } from 'postgres';
import { AppendRefused } from '../../persistence/postgres/grouped-append.ts';
import { constraintOf, sqlstateOf } from '../../persistence/postgres/sql.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import type { RowWrite } from '../../model/account/capabilities.ts';
import { newId } from '../../protocol/node/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  addressRow,
  adopt,
  appendOf,
  depositRow,
  depositWrites,
  entryRow,
  linksAfter,
  newOrganization,
  NOW_MS,
  openStores,
  publicationRow,
  recordOf,
  transferTo,
  webhookRow,
  withdrawalRow,
  write,
  type TestOrganization,
} from '../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
let ours: TestOrganization;
let theirs: TestOrganization;
let address: AddressRow;
let foreign: AddressRow;
let credited: DepositRow;

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  [ours, theirs] = [await newOrganization(stores), await newOrganization(stores)];
  [address, foreign] = [addressRow(ours.live), addressRow(theirs.live)];
  const written = depositWrites(address, 'confirmed');
  credited = written.deposit;
  await write(stores, ours.live, [{ table: 'address', row: address }, ...written.rows], [{ type: 'sandbox_reset' }]);
  await write(stores, theirs.live, [{ table: 'address', row: foreign }]);
});
test.after.always(() => database.close());

/** The owner's statement is refused by a constraint. */
async function refusedOwner(
  t: ExecutionContext,
  constraint: string,
  attack: () => PendingQuery<Row[]>,
  sqlstate = '23514',
): Promise<void> {
  const error = await attack().then(
    () => null,
    (reason: unknown) => reason,
  );
  t.deepEqual([sqlstateOf(error), constraintOf(error)], [sqlstate, constraint], String(error));
}

/** The application's append is refused by a constraint, and wrote nothing. */
async function refusedApp(
  t: ExecutionContext,
  constraint: string,
  rows: RowWrite[],
  accountId = ours.live,
): Promise<void> {
  const before = (await stores.accounts.load(accountId))!.version;
  const append = await appendOf(stores, accountId, rows, [{ type: 'sandbox_reset' }]);
  const error = await stores.accounts.append(append).then(
    (outcome) => outcome,
    (reason: unknown) => reason,
  );
  t.is(error instanceof AppendRefused ? error.constraint : error, constraint);
  t.is((await stores.accounts.load(accountId))!.version, before);
}

/** What the tables of the application role are for reading only. */
const MONEY = [
  'account',
  'audit_entry',
  'audit_head',
  'event',
  'idempotency',
  'pinned_identity',
  'address',
  'address_registry',
  'account_key',
  'pool_address',
  'address_peak',
  'address_gap',
  'deposit',
  'ledger_entry',
  'withdrawal',
  'billable',
  'billable_change',
  'statement',
  'collection',
  'collection_request',
  'webhook',
  'publication',
  'delivery',
  'attempt',
  'fact',
  'inbox',
  'chain_start',
  'chain_cursor',
  'chain_head',
  'block_link',
  'unresolved_height',
  'shard',
  'organization',
  'discrepancy',
  'sandbox_block',
  'sandbox_transaction',
  'sandbox_balance',
  'import_silent',
];

test.serial('the application role cannot write money but by the posting functions', async (t) => {
  for (const table of MONEY) {
    for (const attack of [
      'insert into %s default values',
      'update %s set ctid = ctid',
      'delete from %s',
      'truncate %s',
    ]) {
      const statement = attack.replace('%s', table).replace('set ctid = ctid', 'set account_id = account_id');
      const error = await database.sql.unsafe(statement).then(
        () => null,
        (reason: unknown) => reason,
      );
      // A table without the column fails at the column; the catalogue below decides for all of them.
      t.true(['42501', '42703'].includes(sqlstateOf(error) ?? ''), `${statement}: ${String(error)}`);
    }
  }
  const rights = await database.owner<{ name: string; privilege: string }[]>`
    select c.relname as name, p.privilege from pg_class c join pg_namespace n on n.oid = c.relnamespace,
           unnest(array['insert', 'update', 'delete', 'truncate', 'trigger', 'references']) p(privilege)
     where n.nspname = 'flock' and c.relkind in ('r', 'p', 'v') and has_table_privilege('flock_app', c.oid, p.privilege) order by 1, 2`;
  const writable = [...new Set(rights.map(({ name }) => name))];
  t.deepEqual(writable, [
    'api_key',
    'console_user',
    'device_login',
    'edge_instruction',
    'edge_nonce',
    'edge_session',
    'factor_reset',
    'import_batch',
    'import_catch_up',
    'invitation',
    'key_source_pass',
    'letter',
    'local_key',
    'local_key_set',
    'login',
    'mail',
    'mail_token',
    'membership',
    'migration_project',
    'passkey',
    'passkey_challenge',
    'provider_payer',
    'recovery_code',
    'refresh_token',
    'registry_proposal',
    'sandbox_ledger',
    'sandbox_task',
    'sandbox_token',
    'scan',
    'scan_pace',
    'scan_reference',
    'scan_row',
    'signing_key',
    'simulated_claim',
    'sso_assertion',
    'sso_connection',
    'sso_domain',
    'sso_flow',
    'sso_identity',
    'support_access',
    'support_session',
    'token_code',
    'token_rate',
    'token_request',
    'token_review',
    'upload',
    'upload_chunk',
  ]);
  t.deepEqual(
    rights.filter(({ privilege }) => ['truncate', 'trigger', 'references'].includes(privilege)),
    [],
  );
});

// What it may call, and how each is attacked, is claims.test.ts.
test.serial('the application role is no superuser and passes by no policy', async (t) => {
  const [role] =
    await database.owner`select rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname = 'flock_app'`;
  t.deepEqual({ ...role }, { rolsuper: false, rolbypassrls: false, rolcreaterole: false });
});

test.serial('every SECURITY DEFINER function pins its search path', async (t) => {
  const loose = await database.owner`
    select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = 'flock' and p.prosecdef and not coalesce(p.proconfig::text like '%search_path=flock, pg_temp%', false)`;
  t.deepEqual([...loose], []);
});

test.serial('I1 one deposit per (ledger, txid, output index)', async (t) => {
  await refusedApp(t, 'deposit_credit_key', [
    { table: 'deposit', row: depositRow(address, { txid: credited.txid, outputIndex: credited.outputIndex }) },
  ]);
  await refusedOwner(
    t,
    'deposit_credit_key',
    () => database.owner`
    insert into deposit select account_id, 'dep_copy', ledger, chain, txid, output_index, address_id, address, amount, decimals, token_contract,
      token_symbol, user_ref, tag, chain_tag, status, incarnation, height, block_hash, threshold, created_at, updated_at
      from deposit where id = ${credited.id}`,
    '23505',
  );
  // Another account's may stand under the same key while a reorg moves the payment, but one movement is credited once.
  const elsewhere = depositRow(foreign, {
    ledger: credited.ledger,
    txid: credited.txid,
    outputIndex: credited.outputIndex,
    status: 'confirmed',
  });
  await refusedApp(t, 'deposit_credited_once', [{ table: 'deposit', row: elsewhere }], theirs.live);
});

test.serial('I2 amounts are positive whole numbers and nowhere a float', async (t) => {
  await refusedApp(t, 'deposit_amount_positive', [{ table: 'deposit', row: depositRow(address, { amount: 0n }) }]);
  await refusedApp(t, 'deposit_amount_positive', [{ table: 'deposit', row: depositRow(address, { amount: -1n }) }]);
  await refusedApp(t, 'withdrawal_amount_not_negative', [
    { table: 'withdrawal', row: withdrawalRow(address, { amount: -1n }) },
  ]);
  const floats = await database.owner`
    select table_name, column_name from information_schema.columns
     where table_schema = 'flock' and data_type in ('double precision', 'real', 'money')`;
  t.deepEqual([...floats], []);
  const loose = await database.owner`
    select table_name, column_name from information_schema.columns
     where table_schema = 'flock' and data_type = 'numeric' and (numeric_precision, numeric_scale) is distinct from (78, 0)
       and table_name not in ('ledger_balances')`;
  t.deepEqual([...loose], []);
  const big = 10n ** 77n;
  const huge = depositWrites(address, 'detected', { amount: big });
  await write(stores, ours.live, huge.rows);
  t.is((await stores.read.transaction(ours.live, huge.deposit.id))?.amount, big, '256-bit amounts stay exact');
});

test.serial('I3 the ledger only grows', async (t) => {
  await refusedOwner(
    t,
    'ledger_entry_append_only',
    () => database.owner`update ledger_entry set amount = 1 where deposit_id = ${credited.id}`,
  );
  await refusedOwner(
    t,
    'ledger_entry_append_only',
    () => database.owner`delete from ledger_entry where deposit_id = ${credited.id}`,
  );
  await refusedOwner(t, 'ledger_entry_append_only', () => database.owner`truncate ledger_entry cascade`);
  for (const table of ['event', 'deposit', 'withdrawal', 'publication']) {
    const error = await database.owner.unsafe(`truncate ${table} cascade`).then(
      () => null,
      (reason: unknown) => reason,
    );
    t.regex(constraintOf(error) ?? '', /_append_only$/, table);
  }
  await refusedOwner(t, 'event_append_only', () => database.owner`delete from event`);
  await refusedOwner(t, 'event_append_only', () => database.owner`update event set body = '{}'`);
  await refusedOwner(
    t,
    'deposit_append_only',
    () => database.owner`delete from deposit where id = ${credited.id}`,
    '23514',
  );
});

test.serial('I3 the setting of a sandbox reset opens nothing of a live account', async (t) => {
  await refusedOwner(
    t,
    'event_append_only',
    () => database.owner`
    with s as materialized (select set_config('flock.sandbox_reset', ${ours.live}, true)) delete from event using s where account_id = ${ours.live}`,
  );
});

test.serial('I4 at most one entry of each kind per deposit and incarnation', async (t) => {
  const told = publicationRow(ours.live);
  await refusedApp(t, 'ledger_entry_once', [
    { table: 'publication', row: told },
    { table: 'ledger_entry', row: entryRow(credited, 'credit', told.eventId) },
  ]);
  await refusedOwner(
    t,
    'ledger_entry_once',
    () => database.owner`
    insert into ledger_entry (deposit_id, account_id, incarnation, kind, amount, event_id)
      select deposit_id, account_id, incarnation, kind, amount, event_id from ledger_entry where deposit_id = ${credited.id} and kind = 'credit'`,
    '23505',
  );
});

test.serial('I5 a reversal is exactly the negative of an existing credit', async (t) => {
  const told = publicationRow(ours.live);
  const reversal = (deposit: DepositRow, amount: bigint): RowWrite[] => [
    { table: 'publication', row: told },
    { table: 'ledger_entry', row: entryRow(deposit, 'reversal', told.eventId, { amount }) },
  ];
  await refusedApp(t, 'ledger_entry_reverses_credit', reversal(credited, -credited.amount + 1n));
  await refusedApp(t, 'ledger_entry_sign', reversal(credited, credited.amount));
  const detected = depositWrites(address, 'detected');
  await write(stores, ours.live, detected.rows);
  await refusedApp(t, 'ledger_entry_reverses_credit', reversal(detected.deposit, -detected.deposit.amount));

  const reversed = depositWrites(address, 'reversed');
  await write(stores, ours.live, reversed.rows);
  await refusedApp(t, 'ledger_entry_once', reversal(reversed.deposit, -reversed.deposit.amount));
});

test.serial('I6 a deposit sums to zero or its amount, whatever came before; it only moves forward', async (t) => {
  const { deposit, rows } = depositWrites(address, 'reversed');
  await write(stores, ours.live, rows);
  const again: DepositRow = { ...deposit, status: 'confirmed', incarnation: 2, height: 120, blockHash: '0xother' };
  const told = publicationRow(ours.live);
  await write(stores, ours.live, [
    { table: 'deposit', row: again },
    { table: 'publication', row: told },
    { table: 'ledger_entry', row: entryRow(again, 'detected', null) },
    { table: 'ledger_entry', row: entryRow(again, 'credit', told.eventId) },
  ]);
  const sums = await database.owner<{ id: string; amount: bigint; sum: bigint }[]>`
    select d.id, d.amount, coalesce(sum(e.amount) filter (where e.kind in ('credit', 'reversal')), 0) as sum
      from deposit d left join ledger_entry e on e.deposit_id = d.id group by d.id, d.amount`;
  t.true(sums.every(({ amount, sum }) => sum === 0n || sum === amount));
  t.is(sums.find(({ id }) => id === deposit.id)!.sum, deposit.amount);

  await refusedApp(t, 'deposit_moves_forward', [{ table: 'deposit', row: { ...again, incarnation: 1 } }]);
  await refusedApp(t, 'deposit_moves_forward', [{ table: 'deposit', row: { ...again, status: 'detected' } }]);
  await refusedApp(t, 'deposit_immutable', [{ table: 'deposit', row: { ...again, amount: 1n } }]);
  await refusedApp(t, 'deposit_immutable', [{ table: 'deposit', row: { ...again, txid: '0xelse' } }]);
  await refusedApp(t, 'deposit_immutable', [{ table: 'deposit', row: { ...again, txid: '0xelse', incarnation: 3 } }]);
  await refusedOwner(
    t,
    'deposit_moves_forward',
    () => database.owner`update deposit set status = 'detected' where id = ${deposit.id}`,
  );
});

/** What an append writes when a deposit is credited in an incarnation. */
function creditedIn(deposit: DepositRow, incarnation: number, amount: bigint): RowWrite[] {
  const detected = publicationRow(ours.live),
    credit = publicationRow(ours.live);
  return [
    { table: 'publication', row: detected },
    { table: 'publication', row: credit },
    { table: 'ledger_entry', row: entryRow(deposit, 'detected', detected.eventId, { incarnation, amount }) },
    { table: 'ledger_entry', row: entryRow(deposit, 'credit', credit.eventId, { incarnation, amount }) },
  ];
}

test.serial(
  'found I6: a deposit has one credit at a time, of its amount: not a second incarnation beside the first, one between or one below',
  async (t) => {
    const { deposit, rows } = depositWrites(address, 'confirmed');
    await write(stores, ours.live, rows);
    const again: DepositRow = { ...deposit, incarnation: 2, amount: 10n ** 30n };
    await refusedApp(t, 'ledger_entry_in_turn', [
      { table: 'deposit', row: again },
      ...creditedIn(again, 2, again.amount),
    ]);
    const far: DepositRow = { ...deposit, incarnation: 9 };
    await refusedApp(t, 'ledger_entry_in_turn', [{ table: 'deposit', row: far }, ...creditedIn(far, 5, 10n ** 40n)]);
    await refusedApp(t, 'ledger_entry_incarnation_positive', creditedIn(deposit, -3, 77n));
    await refusedApp(t, 'ledger_entry_incarnation_positive', creditedIn(deposit, 0, 77n));
    await refusedApp(t, 'deposit_incarnation_positive', [
      { table: 'deposit', row: depositRow(address, { incarnation: 0 }) },
    ]);
    // Several steps in one append are as good as one by one.
    const reversal = publicationRow(ours.live);
    await write(stores, ours.live, [
      { table: 'deposit', row: again },
      { table: 'publication', row: reversal },
      { table: 'ledger_entry', row: entryRow(deposit, 'reversal', reversal.eventId, { amount: -deposit.amount }) },
      ...creditedIn(again, 2, again.amount),
    ]);
  },
);

test.serial('I7 a credit was detected in the same incarnation and has the amount of its deposit', async (t) => {
  const deposit = depositRow(address, { status: 'confirmed' });
  const told = publicationRow(ours.live);
  const base: RowWrite[] = [
    { table: 'deposit', row: deposit },
    { table: 'publication', row: told },
  ];
  await refusedApp(t, 'ledger_entry_credits_detected', [
    ...base,
    { table: 'ledger_entry', row: entryRow(deposit, 'credit', told.eventId) },
  ]);
  await refusedApp(t, 'ledger_entry_fits_deposit', [
    ...base,
    { table: 'ledger_entry', row: entryRow(deposit, 'detected', told.eventId, { amount: deposit.amount + 1n }) },
  ]);
  await refusedApp(t, 'ledger_entry_fits_deposit', [
    ...base,
    { table: 'ledger_entry', row: entryRow(deposit, 'detected', told.eventId, { incarnation: 2 }) },
  ]);
  // An earlier incarnation may have been another movement; its credit is what was detected then.
  const later: RowWrite[] = [
    { table: 'deposit', row: { ...deposit, incarnation: 2 } },
    { table: 'publication', row: told },
  ];
  await refusedApp(t, 'ledger_entry_credits_detected', [
    ...later,
    { table: 'ledger_entry', row: entryRow(deposit, 'detected', told.eventId, { amount: 5n }) },
    { table: 'ledger_entry', row: entryRow(deposit, 'credit', told.eventId, { amount: 6n }) },
  ]);
});

test.serial('I8 the cursor moves from a block to its child only', async (t) => {
  const ledger = `eth@${ours.sandbox}` as const;
  const [first, second] = linksAfter({ height: 9, hash: 'a9' }, 2, 'a');
  await stores.watch.recordBlock(ledger, recordOf(first!, [], { previous: null }));
  await t.throwsAsync(
    stores.watch.recordBlock(ledger, {
      ...recordOf({ ...second!, parentHash: 'elsewhere' }),
      previous: { height: 10, hash: 'a10' },
    }),
    { message: /does not follow/ },
  );
  await refusedOwner(
    t,
    'cursor_follows_parent',
    () => database.owner`update chain_cursor set height = 50, hash = 'x' where ledger = ${ledger}`,
  );
  await refusedOwner(
    t,
    'cursor_follows_parent',
    () => database.owner`update chain_cursor set height = 9, hash = 'a9' where ledger = ${ledger}`,
  );
  await refusedOwner(
    t,
    'chain_cursor_pkey',
    () => database.owner`insert into chain_cursor values (${ledger}, 1, 'x')`,
    '23505',
  );
  t.deepEqual(await stores.watch.cursor(ledger), { height: 10, hash: 'a10' });
});

test.serial('I9 an address belongs to one account for ever', async (t) => {
  await refusedOwner(
    t,
    'address_registry_append_only',
    () =>
      database.owner`update address_registry set account_id = ${theirs.live} where address_key = ${address.addressKey}`,
  );
  await refusedOwner(
    t,
    'address_registry_append_only',
    () => database.owner`delete from address_registry where address_key = ${address.addressKey}`,
  );
  await refusedOwner(
    t,
    'address_immutable',
    () => database.owner`update address set account_id = ${theirs.live} where id = ${address.id}`,
  );
  await refusedOwner(
    t,
    'address_immutable',
    () => database.owner`update address set address = '0xelse' where id = ${address.id}`,
  );
  await refusedOwner(t, 'address_append_only', () => database.owner`delete from address where id = ${foreign.id}`);
  await refusedOwner(
    t,
    'address_registry_key',
    () => database.owner`
    insert into address_registry values (${address.addressKey}, ${theirs.live}, ${foreign.id})`,
    '23505',
  );
});

test.serial('I10 a derivation index is used once, and nothing of a sandbox is live', async (t) => {
  await refusedApp(t, 'address_index_once', [
    { table: 'address', row: addressRow(ours.live, { index: address.index }) },
  ]);
  await refusedOwner(
    t,
    'address_environment',
    () => database.owner`
    insert into address select account_id, 'adr_x', 'sandbox', chain, family, address, gen_random_uuid(), derivation_path, purpose, 999999, user_ref, tag, label, status, created_at
      from address where id = ${address.id}`,
  );
  await refusedApp(t, 'reset_only_sandbox', [{ table: 'sandbox_reset' }]);
  await refusedApp(t, 'reset_only_sandbox', [{ table: 'sandbox_resets_begun', row: {}, key: '' }]);
  await t.throwsAsync(Promise.resolve(database.sql`select reset_sandbox_ledgers(${ours.live})`), {
    message: /no sandbox/,
  });
});

test.serial(
  'I11 no ledger entry without its event, but for an archived address and a deposit that is detected again',
  async (t) => {
    const deposit = depositRow(address);
    const row: RowWrite = { table: 'deposit', row: deposit };
    await refusedApp(t, 'ledger_entry_has_event', [
      row,
      { table: 'ledger_entry', row: entryRow(deposit, 'detected', 'evt_nowhere') },
    ]);
    await refusedApp(t, 'ledger_entry_silence_allowed', [
      row,
      { table: 'ledger_entry', row: entryRow(deposit, 'detected', null) },
    ]);
    const quiet = addressRow(ours.live, { status: 'archived' });
    const silent = depositRow(quiet);
    await write(stores, ours.live, [
      { table: 'address', row: quiet },
      { table: 'deposit', row: silent },
      { table: 'ledger_entry', row: entryRow(silent, 'detected', null) },
    ]);
  },
);

test.serial('I11, migration M-X2 silence is of an adopted address, is decided once, and has no event', async (t) => {
  const adopted = await adopt(database, ours.live);
  const silent = depositRow(adopted, { silence: 'observed', announced: false, status: 'confirmed' });
  const [told, again] = [publicationRow(ours.live), publicationRow(ours.live)];
  const row: RowWrite = { table: 'deposit', row: silent };
  await refusedApp(t, 'ledger_entry_silent', [
    row,
    { table: 'publication', row: told },
    { table: 'ledger_entry', row: entryRow(silent, 'detected', told.eventId) },
  ]);
  await refusedApp(t, 'deposit_silence', [{ table: 'deposit', row: { ...silent, announced: true } }]);
  const issued = depositRow(address, { silence: 'observed', announced: false });
  await refusedApp(t, 'ledger_entry_silence_allowed', [
    { table: 'deposit', row: issued },
    { table: 'ledger_entry', row: entryRow(issued, 'detected', null) },
  ]);
  await write(stores, ours.live, [
    row,
    { table: 'ledger_entry', row: entryRow(silent, 'detected', null) },
    { table: 'ledger_entry', row: entryRow(silent, 'credit', null) },
  ]);
  // An actor that forgot it, or a node of an earlier release: the row keeps it.
  await write(stores, ours.live, [{ table: 'deposit', row: { ...silent, silence: null } }]);
  await write(stores, ours.live, [{ table: 'deposit', row: { ...silent, silence: 'historical' } }]);
  const kept = await database.owner`select silence, announced from deposit where id = ${silent.id}`;
  t.deepEqual({ ...kept[0] }, { silence: 'observed', announced: false });
  for (const silence of [null, 'historical'])
    await refusedOwner(
      t,
      'deposit_silence_stays',
      () => database.owner`update deposit set silence = ${silence} where id = ${silent.id}`,
    );
  // Its key pays another address: the silent credit is taken back silently, the new movement is told.
  const elsewhere: DepositRow = {
    ...silent,
    ...{ addressId: address.id, address: address.address, incarnation: 2, silence: null, announced: true },
  };
  await write(stores, ours.live, [
    { table: 'deposit', row: elsewhere },
    { table: 'ledger_entry', row: entryRow(silent, 'reversal', null) },
    { table: 'publication', row: again },
    { table: 'ledger_entry', row: entryRow(elsewhere, 'detected', again.eventId) },
    { table: 'ledger_entry', row: entryRow(elsewhere, 'credit', again.eventId) },
  ]);
  // What was told is taken back with an event.
  await refusedApp(t, 'ledger_entry_silence_allowed', [
    { table: 'deposit', row: { ...elsewhere, status: 'reversed' } },
    { table: 'ledger_entry', row: entryRow(elsewhere, 'reversal', null) },
  ]);
});

test.serial(
  'migration M-X1, M-X4 an adopted address needs no key, and has a path only if one was derived',
  async (t) => {
    const organization = await newOrganization(stores);
    await database.owner`update account_key set status = 'retired' where account_id = ${organization.live}`;
    await refusedApp(
      t,
      'address_has_active_key',
      [{ table: 'address', row: addressRow(organization.live) }],
      organization.live,
    );
    for (const chain of ['btc', 'tron', 'xrp'] as const)
      await adopt(database, organization.live, { chain, family: chain });
    const adopted = await adopt(database, organization.live);
    await adopt(database, organization.live, { derivationPath: `[${'a'.repeat(16)}/44'/60'/0'/0/3]` });
    for (const derivationPath of ['', 'm', "44'/60'/0'/0/0", '[m/0]', `[${'a'.repeat(16)}/x]`]) {
      const error = await adopt(database, organization.live, { derivationPath }).then(
        () => null,
        (reason: unknown) => reason,
      );
      t.is(constraintOf(error), 'address_adopted', derivationPath);
    }
    await refusedOwner(
      t,
      'address_immutable',
      () => database.owner`update address set batch_id = null where id = ${adopted.id}`,
    );
  },
);

test.serial('I12 an event id is published once, and what was published never changes', async (t) => {
  const row = publicationRow(ours.live);
  await write(stores, ours.live, [{ table: 'publication', row }]);
  await refusedApp(t, 'publication_once', [{ table: 'publication', row: { ...row, body: 'another' } }]);
  await refusedOwner(
    t,
    'publication_immutable',
    () => database.owner`update publication set body = 'x' where event_id = ${row.eventId}`,
  );
  await refusedOwner(
    t,
    'publication_append_only',
    () => database.owner`delete from publication where event_id = ${row.eventId}`,
  );
});

test.serial('I14 incomplete publications are counted by a query', async (t) => {
  t.is(await stores.deliveries.incompletePublications(), 0);
  await database.owner`insert into publication (account_id, event_id, event, body, order_key, to_all, created_at) values (${theirs.live}, 'evt_half', 'pool_low', '{}', '', false, now())`;
  t.is(await stores.deliveries.incompletePublications(), 1);
  await database.owner`update publication set completed_at = now() where event_id = 'evt_half'`;
  t.is(await stores.deliveries.incompletePublications(), 0);
});

test.serial('I15 an attempt has one number, and only an attempted delivery is dead', async (t) => {
  const hook = webhookRow(ours.live);
  const row = publicationRow(ours.live);
  await write(stores, ours.live, [
    { table: 'webhook', row: hook },
    { table: 'publication', row },
  ]);
  const [delivery] = await database.owner<{ id: string }[]>`select id from delivery where event_id = ${row.eventId}`;
  await database.owner`insert into attempt values (${ours.live}, ${delivery!.id}, 1, 200, 5, null, now())`;
  const error =
    await database.owner`insert into attempt values (${ours.live}, ${delivery!.id}, 1, 500, 5, null, now())`.then(
      () => null,
      (reason: unknown) => reason,
    );
  t.is(sqlstateOf(error), '23505');
  t.regex(constraintOf(error) ?? '', /^attempt_[a-z0-9]+_pkey$/);
  await refusedOwner(
    t,
    'attempt_range',
    () => database.owner`insert into attempt values (${ours.live}, ${delivery!.id}, 0, 500, 5, null, now())`,
  );
  await refusedOwner(
    t,
    'attempt_append_only',
    () => database.owner`update attempt set status_code = 500 where delivery_id = ${delivery!.id}`,
  );
  await refusedOwner(
    t,
    'delivery_dead_after_attempt',
    () =>
      database.owner`update delivery set status = 'dead_lettered', next_attempt_at = null where id = ${delivery!.id}`,
  );
  await refusedOwner(
    t,
    'delivery_due_when_waiting',
    () => database.owner`update delivery set next_attempt_at = null where id = ${delivery!.id}`,
  );
  await refusedOwner(
    t,
    'delivery_once',
    () => database.owner`
    insert into delivery select ${newId('dlv', NOW_MS)}, account_id, event_id, webhook_id, replay, seq, order_key, status, attempts, next_attempt_at, claimed_until, created_at, null, event
      from delivery where id = ${delivery!.id}`,
    '23505',
  );
});

test.serial('I17 epochs and versions only rise', async (t) => {
  const { owner } = database;
  await refusedOwner(t, 'shard_epoch_rises', () => owner`update shard set epoch = 0 where id = 1`);
  await refusedOwner(t, 'shard_epoch_rises', () => owner`update shard set owner = 'thief' where id = 1`);
  await refusedOwner(
    t,
    'account_owner_epoch_rises',
    () => owner`update account set owner_epoch = 0 where account_id = ${ours.live}`,
  );
  await refusedOwner(
    t,
    'account_version_rises',
    () => owner`update account set version = version - 1 where account_id = ${ours.live} and version > 0`,
  );
  await refusedOwner(
    t,
    'account_immutable',
    () => owner`update account set shard_id = (shard_id + 1) % 1024 where account_id = ${ours.live}`,
  );
  const append = await appendOf(stores, theirs.live, [], [{ type: 'sandbox_reset' }]);
  t.deepEqual(
    await stores.accounts.append({ ...append, state: { ...append.state, lease: { epoch: 5, holder: 'ses_a' } } }),
    { kind: 'appended' },
  );
  const lower = await appendOf(stores, theirs.live, [], [{ type: 'sandbox_reset' }]);
  const error = await stores.accounts
    .append({ ...lower, state: { ...lower.state, lease: { epoch: 4, holder: 'ses_b' } } })
    .then(
      () => null,
      (reason: unknown) => reason,
    );
  t.is((error as AppendRefused).constraint, 'account_lease_epoch_rises', 'I18');
});

test.serial('I20 one pinned identity per account, another one in each environment', async (t) => {
  await write(stores, ours.live, [{ table: 'identities', row: { publicKey: 'pin' }, key: '' }]);
  await refusedOwner(
    t,
    'pinned_identity_once',
    () => database.owner`insert into pinned_identity values (${ours.sandbox}, ${ours.organizationId}, 'pin')`,
    '23505',
  );
  await refusedOwner(
    t,
    'pinned_identity_pkey',
    () => database.owner`insert into pinned_identity values (${ours.live}, ${ours.organizationId}, 'second')`,
    '23505',
  );
});

test.serial('I21 an address is never derived from a key that is held back', async (t) => {
  const { accounts } = stores;
  const organization = await newOrganization({ ...stores, accounts });
  const retire: RowWrite = {
    table: 'account_keys',
    row: {
      family: 'evm',
      xpub: `xpub-evm-${organization.live}`,
      accountPath: "m/44'/60'/0'",
      fingerprint: 'evm00',
      status: 'retired',
    },
    key: 'evm/evm00',
  };
  const hold: RowWrite = {
    table: 'account_keys',
    row: { family: 'evm', xpub: 'xpub-new', accountPath: "m/44'/60'/0'", fingerprint: 'evm01', status: 'held' },
    key: 'evm/evm01',
  };
  await write(stores, organization.live, [retire, hold]);
  await refusedApp(
    t,
    'address_has_active_key',
    [{ table: 'address', row: addressRow(organization.live) }],
    organization.live,
  );
  await write(stores, organization.live, [
    { table: 'address', row: addressRow(organization.live, { chain: 'sol', family: 'sol' }) },
  ]);
  await write(stores, organization.live, [
    { ...hold, row: { ...hold.row, status: 'active' } } as RowWrite,
    { table: 'address', row: addressRow(organization.live) },
  ]);
  const second = { ...hold, row: { ...hold.row, fingerprint: 'evm02', status: 'active' } } as RowWrite;
  await refusedApp(t, 'account_key_one_active', [second], organization.live);
});

test.serial('I22 a TOTP step is spent once', async (t) => {
  t.true(await stores.identity.spendTotpStep(ours.userId, 100, Date.now()));
  t.false(await stores.identity.spendTotpStep(ours.userId, 100, Date.now()));
  t.false(await stores.identity.spendTotpStep(ours.userId, 99, Date.now()));
  const error = await database.sql`update console_user set totp_last_step = 1 where id = ${ours.userId}`.then(
    () => null,
    (reason: unknown) => reason,
  );
  t.is(constraintOf(error), 'totp_step_rises');
});

test.serial('I24 a sweep can never be billed, honestly or under another name', async (t) => {
  const row = withdrawalRow(address);
  await write(stores, ours.live, [{ table: 'withdrawal', row }]);
  await refusedApp(t, 'billable_never_sweep', [
    { table: 'billable', withdrawalId: row.id, kind: 'sweep', period: '2026-06' },
  ]);
  const sweep = withdrawalRow(address);
  await database.owner`
    insert into withdrawal (account_id, id, kind, ledger, chain, from_address, to_address, amount, decimals, token_symbol, status, unsigned, versions, created_at, updated_at)
      values (${ours.live}, ${sweep.id}, 'sweep', 'eth', 'eth', ${sweep.from}, ${sweep.to}, 1, 18, 'ETH', 'built', '{}', '[]', now(), now())`;
  await refusedApp(t, 'billable_of_withdrawal', [
    { table: 'billable', withdrawalId: sweep.id, kind: 'withdrawal', period: '2026-06' },
  ]);
  await refusedOwner(
    t,
    'withdrawal_immutable',
    () => database.owner`update withdrawal set kind = 'withdrawal' where id = ${sweep.id}`,
  );
  await write(stores, ours.live, [{ table: 'billable', withdrawalId: row.id, kind: 'withdrawal', period: '2026-06' }]);
  await refusedApp(t, 'billable_once', [
    { table: 'billable', withdrawalId: row.id, kind: 'withdrawal', period: '2026-07' },
  ]);
  await refusedApp(t, 'billable_period', [
    { table: 'billable', withdrawalId: row.id, kind: 'withdrawal', period: 'June' },
  ]);
  await refusedApp(t, 'billable_change_turns', [
    { table: 'billable_change', withdrawalId: row.id, period: '2026-07', change: 1 },
  ]);
  await write(stores, ours.live, [{ table: 'billable_change', withdrawalId: row.id, period: '2026-07', change: -1 }]);
  await refusedApp(t, 'billable_change_turns', [
    { table: 'billable_change', withdrawalId: row.id, period: '2026-08', change: -1 },
  ]);
  await refusedApp(t, 'billable_change_of_billable', [
    { table: 'billable_change', withdrawalId: sweep.id, period: '2026-07', change: -1 },
  ]);
  const settled =
    await database.owner`select period, settled from settled_transactions where account_id = ${ours.live} order by period`;
  t.deepEqual(
    settled.map((one) => ({ ...one })),
    [
      { period: '2026-06', settled: 1 },
      { period: '2026-07', settled: 0 },
    ],
    'I25: the counter is a view',
  );
});

test.serial(
  'found G25: what was signed stays signed: no version is lost, none becomes a build or pays more, and what is confirmed stays so',
  async (t) => {
    const version = (txid: string) => ({ txid, signedPayload: '0x', payload: '0x' });
    const block = { height: 50, blockHash: 'b50', fee: 10n };
    const confirmed = withdrawalRow(address, {
      status: 'confirmed',
      versions: [version('0xaa')],
      txid: '0xaa',
      ...block,
    });
    const other = withdrawalRow(address).unsigned;
    const signed = withdrawalRow(address, {
      status: 'broadcast',
      versions: [version('0xba'), version('0xbb')],
      unsigned: { ...other, replayKey: { kind: 'nonce', value: 4_711 } },
    });
    await write(
      stores,
      ours.live,
      [confirmed, signed].map((row): RowWrite => ({ table: 'withdrawal', row })),
    );
    const none = { txid: null, height: null, blockHash: null, fee: null } as const;
    for (const row of [
      { ...confirmed, ...none, status: 'built' as const, versions: [] },
      { ...confirmed, amount: 1n },
      { ...confirmed, ...none, status: 'failed' as const },
      { ...confirmed, status: 'confirming' as const },
      { ...signed, status: 'built' as const },
      { ...signed, versions: [version('0xbb')] },
      { ...signed, versions: [version('0xba'), version('0xcc')] },
      { ...signed, amount: signed.amount + 1n },
    ])
      await refusedApp(t, 'withdrawal_moves_forward', [{ table: 'withdrawal', row }]);
    await write(stores, ours.live, [
      { table: 'withdrawal', row: { ...confirmed, ...none, txid: '0xaa', status: 'broadcast' } },
      { table: 'withdrawal', row: { ...signed, versions: [...signed.versions, version('0xcc')] } },
    ]);
  },
);

test.serial(
  'found F70: what is in a block pays what its version was signed for, and a signed amount becomes no other',
  async (t) => {
    const version = (txid: string, amount: string) => ({ txid, signedPayload: '0x', payload: '0x', amount });
    const row = withdrawalRow(address, {
      status: 'broadcast',
      amount: 70n,
      versions: [version('0xfa', '90'), version('0xfb', '70')],
      txid: '0xfb',
      unsigned: { ...withdrawalRow(address).unsigned, amount: 70n, replayKey: { kind: 'nonce', value: 4_712 } },
    });
    const unsigned = { ...row.unsigned, amount: 60n },
      block = { height: 50, blockHash: 'b50', fee: 10n };
    await write(stores, ours.live, [{ table: 'withdrawal', row }]);
    const landed = { ...row, ...block, txid: '0xfa', status: 'confirming' as const };
    for (const lie of [
      { ...row, amount: 89n },
      { ...row, amount: 91n },
      { ...row, amount: 60n },
      { ...row, unsigned, amount: 61n },
      { ...landed, amount: 70n },
      { ...landed, amount: 80n },
      { ...landed, amount: 91n, versions: [version('0xfa', '91'), version('0xfb', '70')] },
      { ...landed, amount: 60n, unsigned },
      { ...row, amount: 95n, versions: [...row.versions, version('0xfc', '95')] },
      { ...landed, txid: '0xfb', amount: 90n },
    ])
      await refusedApp(t, 'withdrawal_moves_forward', [{ table: 'withdrawal', row: lie }]);
    for (const right of [
      { ...landed, amount: 90n },
      { ...row, amount: 90n },
      { ...landed, txid: '0xfb' },
      { ...row, unsigned, amount: 60n },
      { ...landed, unsigned, amount: 90n, status: 'confirmed' as const },
    ])
      await write(stores, ours.live, [{ table: 'withdrawal', row: right }]);
    await refusedApp(t, 'withdrawal_moves_forward', [
      { table: 'withdrawal', row: { ...landed, unsigned, amount: 70n, txid: '0xfb', status: 'confirmed' } },
    ]);
  },
);

test.serial('G25 nothing is broadcast before its signed bytes are durable', async (t) => {
  await refusedApp(t, 'withdrawal_signed_before_submit', [
    { table: 'withdrawal', row: withdrawalRow(address, { status: 'broadcast' }) },
  ]);
});

test.serial('I26 the peak of a day only rises', async (t) => {
  await write(stores, ours.live, [{ table: 'address_peak', day: '2026-06-01', active: 7 }]);
  await write(stores, ours.live, [{ table: 'address_peak', day: '2026-06-01', active: 5 }]);
  const [peak] = await database.owner<
    { active: number }[]
  >`select active from address_peak where account_id = ${ours.live}`;
  t.is(peak!.active, 7);
  await refusedOwner(
    t,
    'address_peak_rises',
    () => database.owner`update address_peak set active = 6 where account_id = ${ours.live}`,
  );
});

test.serial('I31 gas tank and treasury have their reserved paths', async (t) => {
  const own = (purpose: 'gas_tank' | 'treasury', derivationPath: string): RowWrite => ({
    table: 'address',
    row: addressRow(ours.live, { purpose, derivationPath, index: null }),
  });
  await refusedApp(t, 'address_reserved_paths', [own('treasury', "m/44'/60'/0'/1/0")]);
  await refusedApp(t, 'address_reserved_paths', [own('gas_tank', "m/44'/60'/0'/0/0")]);
});

test.serial('I33 no row points at another tenant', async (t) => {
  await refusedApp(t, 'deposit_of_address', [
    { table: 'deposit', row: { ...depositRow(foreign), accountId: ours.live } },
  ]);
  await refusedApp(
    t,
    'ledger_entry_fits_deposit',
    [{ table: 'ledger_entry', row: entryRow(credited, 'detected', null) }],
    theirs.live,
  );
  await refusedApp(t, 'billable_of_withdrawal', [
    { table: 'billable', withdrawalId: 'txn_foreign', kind: 'withdrawal', period: '2026-06' },
  ]);
  const hook = webhookRow(theirs.live);
  const row = publicationRow(ours.live);
  await write(stores, theirs.live, [{ table: 'webhook', row: hook }]);
  await write(stores, ours.live, [{ table: 'publication', row }]);
  await refusedOwner(
    t,
    'delivery_of_webhook',
    () => database.owner`
    insert into delivery (id, account_id, event_id, webhook_id, event, seq, order_key, status, next_attempt_at, created_at)
      values (${newId('dlv', NOW_MS)}, ${ours.live}, ${row.eventId}, ${hook.id}, 'deposit_detected', 1, '', 'pending', now(), now())`,
    '23503',
  );
  await refusedOwner(
    t,
    'delivery_of_publication',
    () => database.owner`
    insert into delivery (id, account_id, event_id, webhook_id, event, seq, order_key, status, next_attempt_at, created_at)
      values (${newId('dlv', NOW_MS)}, ${theirs.live}, ${row.eventId}, ${hook.id}, 'deposit_detected', 1, '', 'pending', now(), now())`,
    '23503',
  );
  await refusedOwner(
    t,
    'address_registry_of_address',
    () => database.owner`
    insert into address_registry values (gen_random_uuid(), ${theirs.live}, ${address.id})`,
    '23503',
  );
  await refusedOwner(
    t,
    'api_key_account',
    () => database.owner`
    insert into api_key values ('key_x', ${theirs.live}, ${ours.organizationId}, 'live', 'x', 'hash', 'm', now(), null)`,
  );
  // An update through another tenant's account changes nothing.
  await write(stores, theirs.live, [
    { table: 'withdrawal_status', id: credited.id, status: 'expired', updatedAtMs: NOW_MS },
  ]);
});

test.serial(
  'the second net: a read sees the rows of the account that its statement named, and none when it named none',
  async (t) => {
    for (const table of [
      'account',
      'address',
      'deposit',
      'ledger_entry',
      'publication',
      'event',
      'delivery',
      'webhook',
      'withdrawal',
      'inbox',
      'fact',
      'idempotency',
    ]) {
      t.is((await database.sql.unsafe(`select 1 from ${table}`)).length, 0, table);
    }
    t.is(await stores.read.address(theirs.live, address.id), null);
    t.is((await stores.read.address(ours.live, address.id))?.id, address.id);
    const [leak] = await database.sql`
    select count(*) as rows from (select set_config('flock.account', ${theirs.live}, true) as account offset 0) t
      cross join lateral (select 1 from address where account_id = ${ours.live} and t.account is not null) a`;
    t.is(leak!.rows, 0, 'asking for another account than the one that was named');
  },
);

test.serial('facts are recorded once, and only for accounts that exist', async (t) => {
  const ledger = `bsc@${ours.sandbox}` as const;
  const sandboxed = addressRow(ours.sandbox);
  await write(stores, ours.sandbox, [{ table: 'address', row: sandboxed }]);
  const [link] = linksAfter({ height: 0, hash: 'g0' }, 1, 'g');
  const transfer = transferTo(sandboxed, link!, { ledger });
  await stores.watch.recordBlock(ledger, recordOf(link!, [transfer, transfer].slice(0, 1), { previous: null }));
  await refusedOwner(
    t,
    'fact_once',
    () => database.owner`
    insert into fact (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
      select ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer from fact where ledger = ${ledger}`,
    '23505',
  );
  await refusedOwner(
    t,
    'fact_of_account',
    () => database.owner`
    insert into fact (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
      select ledger, 'other', output_index, 'org_none_live', address_key, status, height, block_hash, transfer from fact where ledger = ${ledger}`,
    '23503',
  );
});
