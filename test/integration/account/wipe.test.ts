/** The wipe of an account on the real schema: bounded steps, killed anywhere, and what stays. Console A48, A49. */
import { randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { createAccountEntity } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import { WIPE_DELAY_MS } from '../../../actors/wipe/decide.ts';
import { wipeRound, type WipeParts } from '../../../actors/wipe/rounds.ts';
import type { AccountCommand, AccountEvent } from '../../../model/account/capabilities.ts';
import type { Accounts } from '../../../model/ports/accounts.ts';
import { constraintOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { InstructionRecord, KeySetRecord, LocalKeyRecord } from '../../../protocol/frames.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import { pushedPool } from '../../support/account.ts';
import { newEvmKey } from '../../support/gateway.ts';
import { invoiceRow, linkRow, paymentRow } from '../../support/payment-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  depositWrites,
  newOrganization,
  NOW_MS,
  openStores,
  webhookRow,
  withdrawalRow,
  write,
} from '../../support/store-rows.ts';
import { askedAt, withoutPause } from '../../support/wipes.ts';

let database: TestDatabase;
let stores: Stores;
let waiting: Awaited<ReturnType<typeof withoutPause>>;
let dated: Awaited<ReturnType<typeof askedAt>>;

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  waiting = await withoutPause(database);
  dated = await askedAt(database, NOW_MS);
});
test.after.always(() => database.close());

const DUE_MS = NOW_MS + WIPE_DELAY_MS;
const STEP_ROWS = 3;
/** Gas tanks and treasuries of the five EVM networks. */
const OWN = 10;
const NEVER = new AbortController().signal;
const entity = createAccountEntity({ book: createChainBook([]) });

/** The account's actor without its shell: loads, decides, appends. */
const accountsAt = (nowMs: number): Pick<Accounts, 'ask'> => ({
  async ask(accountId, command) {
    const { state, version, ownerEpoch } = (await stores.accounts.load(accountId))!;
    const decision = entity.decide(state, command as AccountCommand, nowMs);
    if (decision.ok !== true) return decision as never;
    const { events, rows, reply } = decision;
    const outcome = await stores.accounts.append({
      ...{ entityId: accountId, ownerEpoch, expectedVersion: version, events, rows },
      state: events.reduce((before, event: AccountEvent) => entity.evolve(before, event), state),
    });
    if (outcome.kind === 'refused') return outcome.refusal as never;
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
    return { ok: true, reply } as never;
  },
});

const must = async (accountId: AccountId, command: AccountCommand, nowMs = NOW_MS): Promise<void> => {
  const answer = await accountsAt(nowMs).ask(accountId, command);
  if (answer.ok !== true) throw new Error(`${command.type}: ${JSON.stringify(answer)}`);
};
const partsAt = (nowMs: number, more: Partial<WipeParts> = {}): WipeParts => ({
  ...{ stores, accounts: accountsAt(nowMs), nowMs: () => nowMs, stepRows: STEP_ROWS },
  ...more,
});

const PRIVATE = 'customer-of-theirs';

/** An enrolled account in use, whose wipe is scheduled; all accounts of the file have the same. */
async function used() {
  const { live, organizationId, userId } = await newOrganization(stores);
  await database.owner`delete from account_key where account_id = ${live}`;
  const sync = {
    type: 'enrol' as const,
    publicKey: randomBytes(32).toString('hex'),
    keys: [newEvmKey()],
    pools: [],
    rotationId: 'rot_1',
    addressIds: Array.from({ length: OWN }, (_, n) => newId('adr', NOW_MS + n)),
  };
  await must(live, sync);
  await write(stores, live, [{ table: 'webhook', row: webhookRow(live) }]);
  const rows = Array.from({ length: 2 * STEP_ROWS + 1 }, (_, n) =>
    addressRow(live, { userRef: `${PRIVATE}-${n}`, tag: n % 2 === 0 ? PRIVATE : null, label: PRIVATE }),
  );
  for (const row of rows) await write(stores, live, [{ table: 'address', row }]);
  for (const row of rows)
    await write(stores, live, depositWrites(row, 'confirmed', { amount: 5n, userRef: row.userRef, tag: row.tag }).rows);
  const sent = withdrawalRow(rows[0]!, { amount: 2n, userRef: PRIVATE, status: 'expired' });
  await write(stores, live, [{ table: 'withdrawal', row: sent }]);
  for (const { index, address, path } of pushedPool('sol', 2 * STEP_ROWS).addresses)
    await write(stores, live, [
      {
        table: 'pool_address',
        row: { chain: 'sol', index, address: `${address}${live}`, path, addressKey: rows[0]!.addressKey },
      },
    ]);
  await database.owner`insert into api_key (id, account_id, organization_id, environment, label, hash, masked_prefix, created_at)
    values (${newId('key', NOW_MS)}, ${live}, ${organizationId}, 'live', ${PRIVATE}, ${live}, 'flk', now())`;
  await database.owner`insert into local_key (account_id, id, environment, hash, label, prefix, created_at, signature)
    values (${live}, 'ek_1', 'live', 'h', ${PRIVATE}, 'loc', now(), 's')`;
  await paid(live, rows[0]!);
  await scanned(live);
  await must(live, { type: 'schedule_wipe', id: newId('wip', NOW_MS), byUser: userId });
  return { live, organizationId, userId, rows, sync };
}

/** Payments of payers who left their names, one with an invoice. */
async function paid(accountId: AccountId, address: AddressRow): Promise<void> {
  const link = linkRow(accountId, { collectEmail: true });
  const payer = {
    customerEmail: `${PRIVATE}@example.com`,
    customerName: PRIVATE,
    clientKey: PRIVATE,
  };
  await write(stores, accountId, [{ table: 'payment_link', row: link }]);
  for (let n = 0; n <= STEP_ROWS; n += 1) {
    const invoiceId = n === 0 ? newId('inv', NOW_MS) : null;
    const numbered = { invoiceId, invoiceNumber: invoiceId === null ? null : 'INV-2026-000001' };
    const row = paymentRow(link, address, { ...payer, payerKey: `${PRIVATE}-${n}`, ...numbered });
    await write(stores, accountId, [{ table: 'payment', row }]);
    if (invoiceId === null) continue;
    const invoice = { ...invoiceRow(link, row), customerEmail: payer.customerEmail, customerName: PRIVATE };
    await write(stores, accountId, [{ table: 'invoice', row: invoice }]);
  }
}

/** A scan below an extended key, under way. */
async function scanned(accountId: AccountId): Promise<void> {
  const projectId = newId('mig', NOW_MS),
    id = newId('scn', NOW_MS);
  await stores.uploads.createProject(accountId, { id: projectId, name: 'old', createdAtMs: NOW_MS }, 10);
  const lane = { keys: [{ xpub: `xpub-${accountId}`, path: "m/44'/60'/0'" }], branch: 0, script: null } as const;
  const lanes = [{ ...lane, next: 0, gap: 0, lastUsed: null, largestGap: 0, done: null }];
  const limits = { gapLimit: 20, maxScan: 100, requestedMaxScan: null, review: null, tokens: [], mappedTo: 1 };
  const mapping = [{ index: 1, userRef: PRIVATE }];
  const of = { accountId, projectId, keySourceId: 'ks_x', chain: 'eth' } as const;
  await stores.scans.begin({ ...of, ...limits, id, lanes, mapping, createdAtMs: NOW_MS }, 4);
  const rows = Array.from({ length: STEP_ROWS + 1 }, (_, index) => ({
    lane: 0,
    index,
    address: `0x${index}`,
    used: true,
  }));
  const more = { unread: 0, tries: 0, reason: null, pauseMs: 1e9 } as const;
  const now = [{ ...lanes[0]!, next: rows.length, lastUsed: STEP_ROWS }];
  const of_ = { accountId, id, chain: 'eth', version: 0 } as const;
  await stores.scans.advance(of_, { ...more, state: 'running', lanes: now }, rows);
}

/** What is left of an account, with nothing in it that another account has otherwise. */
async function leftOf(accountId: AccountId): Promise<string> {
  const [row] = await database.owner<{ text: string }[]>`select jsonb_build_object(
    'state', (select state - 'accountId' - 'organizationId' - 'retired' - 'version' from account where account_id = ${accountId}),
    'events', (select jsonb_agg(jsonb_build_object('type', type, 'keys', body -> 'enrolment' -> 'keys') order by version) from event where account_id = ${accountId}),
    'addresses', (select jsonb_agg(jsonb_build_array(user_ref, tag, label, status, wiped)) from address where account_id = ${accountId}),
    'deposits', (select jsonb_agg(jsonb_build_array(user_ref, tag, amount, status)) from deposit where account_id = ${accountId}),
    'withdrawals', (select jsonb_agg(jsonb_build_array(user_ref, tag, amount, status)) from withdrawal where account_id = ${accountId}),
    'payments', (select jsonb_agg(jsonb_build_array(customer_email, customer_name, payer_key, client_key, due, status)) from payment where account_id = ${accountId}),
    'invoices', (select jsonb_agg(jsonb_build_array(customer_email, customer_name, number, paid, seller_name)) from invoice where account_id = ${accountId}),
    'entries', (select count(*) from ledger_entry where account_id = ${accountId}),
    'publications', (select count(*) from publication where account_id = ${accountId}),
    'registry', (select count(*) from address_registry where account_id = ${accountId}),
    'scans', (select jsonb_agg(jsonb_build_array(state, lanes)) from scan where account_id = ${accountId}),
    'scanned', (select count(*) from scan_row where account_id = ${accountId})
      + (select count(*) from scan_reference where account_id = ${accountId}),
    'webhooks', (select jsonb_agg(jsonb_build_array(url, sealed_secrets, secret_preview, status)) from webhook where account_id = ${accountId}),
    'gone', (select count(*) from api_key where account_id = ${accountId})
      + (select count(*) from pinned_identity where account_id = ${accountId})
      + (select count(*) from account_key where account_id = ${accountId})
      + (select count(*) from pool_address where account_id = ${accountId})
      + (select count(*) from local_key where account_id = ${accountId})
      + (select count(*) from idempotency where account_id = ${accountId}),
    'wipe', (select jsonb_agg(jsonb_build_array(status, step, addresses, holdings)) from wipe where account_id = ${accountId}),
    'letters', (select jsonb_agg(l.kind order by l.kind) from letter l join wipe w on w.account_id = ${accountId} and starts_with(l.id, w.id))
  )::text as text`;
  return row!.text;
}

async function watched({ environment, rows }: { environment: string; rows: readonly { addressKey: string }[] }) {
  const keys = rows.map(({ addressKey }) => addressKey);
  return database.sql`select * from watched_addresses(${environment}, ${keys}::uuid[])`;
}

/** What the audit holds against the chain. */
async function audited(rows: readonly { addressKey: string }[]) {
  const keys = rows.map(({ addressKey }) => addressKey);
  return database.sql`
    select * from balances_of_facts('eth', 'live', null, 'evm', null, ${keys}::uuid[], 1000000, 50, 50, 50)`;
}

test.serial(
  'console A49: it deletes what names people and keys, keeps the books, and nothing is watched any more',
  async (t) => {
    const { live, rows } = await used();
    t.is((await watched({ environment: 'live', rows })).length, rows.length);
    t.is((await audited(rows)).length, rows.length);
    await wipeRound(partsAt(NOW_MS), { signal: NEVER });
    t.is((await watched({ environment: 'live', rows })).length, rows.length, 'nothing before its time');
    t.like(await stores.wipes.newest(live), {
      status: 'scheduled',
      holdings: [{ chain: 'eth', token: null, amount: String(5 * rows.length) }],
    });
    await wipeRound(partsAt(DUE_MS - 1), { signal: NEVER });
    t.like(await stores.wipes.newest(live), { status: 'scheduled' });
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    t.like(await stores.wipes.newest(live), { status: 'done', addresses: rows.length + 2, step: null });
    t.deepEqual([...(await watched({ environment: 'live', rows }))], []);
    t.deepEqual([...(await audited(rows))], [], 'what comes there unseen is no finding');
    const left = JSON.parse(await leftOf(live)) as Record<string, unknown>;
    t.like(left, { gone: 0, publications: 2 * rows.length, entries: 2 * rows.length, registry: rows.length + 2 });
    t.false(JSON.stringify(left).includes(PRIVATE));
    t.false(JSON.stringify(left).includes('xpub'));
    t.is(await stores.identity.apiKeyByHash(live), null, 'its edges are answered 401');
    t.deepEqual([left['scans'], left['scanned']], [[['cancelled', []]], 0]);
    t.deepEqual(left['webhooks'], [['', [], '', 'deleted']]);
    t.deepEqual(left['payments'], Array(STEP_ROWS + 1).fill([null, null, null, null, 1_000, 'expired']));
    t.deepEqual(left['invoices'], [['', null, 1, 1_000, 'Ada & Co']], 'number, sum and seller are the books’');
    t.deepEqual(left['letters'], ['wipe_done', 'wipe_scheduled', 'wipe_soon']);
    const { state } = (await stores.accounts.load(live))!;
    t.like(state, { enrolment: null, activeAddresses: 0, wipe: null });
    const refused = await accountsAt(DUE_MS).ask(live, {
      ...{ type: 'set_address_status', known: { ...rows[0]!, status: 'archived' }, status: 'active', alone: true },
    });
    t.like(refused, { code: 'CONFLICT', details: { reason: 'wiped' } });
  },
);

test.serial(
  'console A49: after a wipe the same phrase is enrolled again: its own addresses are watched, those of before are not',
  async (t) => {
    const { live, rows, sync } = await used();
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    await must(live, sync, DUE_MS);
    const own = await database.owner<{ addressKey: string; status: string }[]>`
    select address_key, status from address where account_id = ${live} and purpose <> 'deposit'`;
    t.deepEqual(
      own.map(({ status }) => status),
      ['active', 'active'],
    );
    t.is((await watched({ environment: 'live', rows: own })).length, 2);
    t.is((await watched({ environment: 'live', rows })).length, 0);
  },
);

/** Dies at the k-th call of a store or actor: before it was done, or after, so that nobody heard of it. */
async function dyingAt(at: number, when: 'before' | 'after', nowMs: number): Promise<boolean> {
  let calls = 0;
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls === at && when === 'before') throw new Error('killed');
    const answer = await work();
    if (calls === at) throw new Error('killed');
    return answer;
  };
  const { wipes } = stores,
    { ask } = accountsAt(nowMs);
  const parts = partsAt(nowMs, {
    accounts: { ask: (accountId, command) => counted(() => ask(accountId, command)) },
    stores: {
      wipes: {
        newest: wipes.newest,
        due: (...args) => counted(() => wipes.due(...args)),
        step: (...args) => counted(() => wipes.step(...args)),
        writeLetters: (...args) => counted(() => wipes.writeLetters(...args)),
      },
    },
  });
  try {
    await wipeRound(parts, { signal: NEVER });
    return false;
  } catch (error) {
    if ((error as Error).message !== 'killed') throw error;
    return true;
  }
}

const killedAnywhere = test.macro({
  title: (_, when: 'before' | 'after') => `console A49: killed ${when} any of its statements, it ends the same`,
  async exec(t: ExecutionContext, when: 'before' | 'after') {
    t.timeout(300_000);
    const undisturbed = await used();
    await wipeRound(partsAt(DUE_MS - 1), { signal: NEVER });
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    const expected = await leftOf(undisturbed.live);
    const { live } = await used();
    let deaths = 0;
    for (const nowMs of [DUE_MS - 1, DUE_MS]) for (let at = 1; await dyingAt(at, when, nowMs); at += 1) deaths += 1;
    t.true(deaths > 10, `${deaths}`);
    t.is(await leftOf(live), expected);
  },
});
test.serial(killedAnywhere, 'before');
test.serial(killedAnywhere, 'after');

test.serial(
  'console A49: no statement of it goes through more rows than a step has, whatever the account has',
  async (t) => {
    const { live, rows } = await used();
    await must(live, { type: 'close_for_wipe' }, DUE_MS);
    await must(live, { type: 'wipe_account' }, DUE_MS);
    const wipedNow = async () =>
      (
        await database.owner<
          { n: number }[]
        >`select count(*)::int as n from address where account_id = ${live} and wiped`
      )[0]!.n;
    const seen: number[] = [];
    while (await stores.wipes.step(live, STEP_ROWS)) {
      const now = await wipedNow();
      if (now !== seen.at(-1)) seen.push(now);
    }
    t.deepEqual(seen, [0, STEP_ROWS, 2 * STEP_ROWS, 3 * STEP_ROWS]);
    t.is(seen.at(-1), rows.length + 2);
  },
);

test.serial('console A48: an import or a sweep under way refuses it, and holds it up at its time', async (t) => {
  const { live, userId } = await newOrganization(stores);
  await database.owner`insert into migration_project (account_id, id, name, state, created_at) values (${live}, 'mig_1', 'old', 'draft', now())`;
  await database.owner`insert into import_batch (account_id, id, project_id, created_at) values (${live}, 'imp_1', 'mig_1', now())`;
  await database.owner`update import_batch set state = 'validating' where account_id = ${live}`;
  const schedule = { type: 'schedule_wipe', id: newId('wip', NOW_MS), byUser: userId } as const;
  const waits = { code: 'CONFLICT', details: { reason: 'work_under_way' } };
  t.like(await accountsAt(NOW_MS).ask(live, schedule), waits);
  await database.owner`update import_batch set state = 'valid' where account_id = ${live}`;
  t.like(await accountsAt(NOW_MS).ask(live, schedule), { ok: true });
  await database.owner`update import_batch set state = 'validating' where account_id = ${live}`;
  await wipeRound(partsAt(DUE_MS), { signal: NEVER });
  t.like(await stores.wipes.newest(live), { status: 'closing' });
  await database.owner`update import_batch set state = 'valid' where account_id = ${live}`;
  await wipeRound(partsAt(DUE_MS), { signal: NEVER });
  t.like(await stores.wipes.newest(live), { status: 'done' });
});

test.serial(
  'console A48: the schema knows no wipe within 72 hours, none that goes back, and no row that forgets without one',
  async (t) => {
    const { live, rows } = await used();
    const refusedAs = async (constraint: string, work: () => PromiseLike<unknown>) =>
      t.is(constraintOf(await t.throwsAsync(async () => work())), constraint);
    const { owner } = database;
    await dated.honestly(() =>
      refusedAs(
        'wipe_in_three_days',
        () =>
          owner`insert into wipe (account_id, id, status, user_id, asked_at, scheduled_for)
      values (${live}, 'wip_x', 'done', 'u', now(), now() + interval '71 hours')`,
      ),
    );
    await refusedAs('wipe_moves', () => owner`update wipe set status = 'running' where account_id = ${live}`);
    await refusedAs(
      'wipe_immutable',
      () => owner`update wipe set scheduled_for = scheduled_for + interval '1 hour' where account_id = ${live}`,
    );
    await refusedAs(
      'address_immutable',
      () => owner`update address set user_ref = null, tag = null where id = ${rows[0]!.id}`,
    );
    await refusedAs(
      'invoice_append_only',
      () => owner`update invoice set customer_email = '', customer_name = null where account_id = ${live}`,
    );
    await refusedAs('event_append_only', () => owner`update event set body = '{}' where account_id = ${live}`);
    t.is(await stores.wipes.step(live, 1_000), false);
    t.like(
      await stores.wipes.newest(live),
      { status: 'scheduled', addresses: 0 },
      'before its time nothing is deleted',
    );
    t.is((await watched({ environment: 'live', rows })).length, rows.length);
  },
);

test.serial('found F56: a node whose clock is days ahead begins no wipe before its owners’ time is over', async (t) => {
  const { live, userId } = await newOrganization(stores),
    askedMs = Date.now(),
    aheadMs = askedMs + 2 * WIPE_DELAY_MS;
  await dated.honestly(() => must(live, { type: 'schedule_wipe', id: newId('wip', askedMs), byUser: userId }, askedMs));
  const early = await accountsAt(aheadMs).ask(live, { type: 'close_for_wipe' });
  t.like(early, { code: 'CONFLICT', details: { reason: 'work_under_way' } });
  await wipeRound(partsAt(aheadMs), { signal: NEVER });
  t.like(await stores.wipes.newest(live), { status: 'scheduled' });
  await must(live, { type: 'cancel_wipe' }, askedMs);
});

test.serial(
  'console A49: a wipe whose step another node is at, or that has steps left, does not end; who comes later ends it',
  async (t) => {
    const { live } = await used();
    await must(live, { type: 'close_for_wipe' }, DUE_MS);
    await must(live, { type: 'wipe_account' }, DUE_MS);
    const other = await database.owner.reserve();
    await other`begin`;
    await other`select from wipe where account_id = ${live} for update`;
    const { wipes } = stores;
    const asked = accountsAt(DUE_MS),
      ended: string[] = [];
    const accounts: Pick<Accounts, 'ask'> = {
      ask: (accountId, command) => {
        if (command.type === 'end_wipe') ended.push(accountId);
        return asked.ask(accountId, command);
      },
    };
    await wipeRound(partsAt(DUE_MS, { accounts }), { signal: NEVER });
    t.false(ended.includes(live), 'it is not asked for');
    await other`rollback`;
    other.release();
    t.like(await asked.ask(live, { type: 'end_wipe' }), { code: 'CONFLICT', details: { reason: 'work_under_way' } });
    t.like(await wipes.newest(live), { status: 'running' });
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    t.like(await wipes.newest(live), { status: 'done' });
    t.false((await leftOf(live)).includes(PRIVATE));
  },
);

test.serial(
  'console A49: what lies on the addresses is counted again when all is deleted: also what came in the 72 hours',
  async (t) => {
    const { live, rows } = await used();
    await wipeRound(partsAt(NOW_MS), { signal: NEVER });
    const late = depositWrites(rows[0]!, 'confirmed', { amount: 1_000n, userRef: rows[0]!.userRef, tag: null });
    await write(stores, live, late.rows);
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    t.like(await stores.wipes.newest(live), {
      status: 'done',
      holdings: [{ chain: 'eth', token: null, amount: String(5 * rows.length + 1_000) }],
    });
  },
);

test.serial(
  'console A49: a deposit whose address was read before it was wiped, and that is written after, names nobody; nor do reasons of imports',
  async (t) => {
    const { live, rows } = await used();
    await database.owner`insert into migration_project (account_id, id, name, state, created_at)
      values (${live}, 'mig_i', 'old', 'draft', now())`;
    await database.owner`insert into import_batch (account_id, id, project_id, created_at)
      values (${live}, 'imp_i', 'mig_i', now())`;
    await database.owner`insert into import_issue (account_id, batch_id, n, phase, severity, code, message)
      select ${live}, 'imp_i', n, 'schema', 'error', 'bad_index', ${`no path: ${PRIVATE}`} from generate_series(1, ${STEP_ROWS + 1}) n`;
    await must(live, { type: 'close_for_wipe' }, DUE_MS);
    await must(live, { type: 'wipe_account' }, DUE_MS);
    while ((await stores.wipes.step(live, STEP_ROWS)) === true);
    const slow = depositWrites(rows[0]!, 'confirmed', { userRef: rows[0]!.userRef, tag: PRIVATE });
    await write(stores, live, slow.rows);
    const named = () => database.owner<{ userRef: string | null; tag: string | null }[]>`
      select user_ref, tag from deposit where account_id = ${live} and (user_ref is not null or tag is not null)`;
    t.deepEqual([...(await named())], []);
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    const later = depositWrites(rows[1]!, 'confirmed', { userRef: rows[1]!.userRef, tag: PRIVATE });
    await write(stores, live, later.rows);
    t.deepEqual([...(await named())], []);
    const [left] = await database.owner<{ n: number }[]>`
      select count(*)::int as n from import_issue where account_id = ${live} and message <> ''`;
    t.is(left!.n, 0);
  },
);

test.serial(
  'console A49: an edge whose key a node still remembers brings nothing back: nothing is deleted, and it does not end, before all nodes have forgotten it',
  async (t) => {
    const { live, sync } = await used();
    await must(live, { type: 'close_for_wipe' }, DUE_MS);
    await waiting.pause();
    await must(live, { type: 'wipe_account' }, DUE_MS);
    await waiting.skip();
    t.is(await stores.wipes.step(live, STEP_ROWS), null, 'whatever the clock of the node says that decided');
    const begun = (ago: string) =>
      database.owner`update wipe set began_at = clock_timestamp() - ${ago}::interval where account_id = ${live}`;
    await begun('29 seconds');
    await database.owner`insert into migration_project (account_id, id, name, state, created_at)
      values (${live}, 'mig_v', 'old', 'draft', now())`;
    await database.owner`insert into import_batch (account_id, id, project_id, created_at)
      values (${live}, 'imp_v', 'mig_v', now())`;
    await database.owner`update import_batch set state = 'validating' where account_id = ${live}`;
    t.is(await stores.wipes.step(live, STEP_ROWS), null);
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    t.like(await stores.wipes.newest(live), { status: 'running', step: 'pool_address' });
    t.like(await stores.imports.batch(live, 'imp_v'), { state: 'invalid' }, 'a validation that began since');
    t.like(await accountsAt(DUE_MS).ask(live, sync), { code: 'ACCOUNT_SUSPENDED', details: { reason: 'wipe' } });
    await begun('31 seconds');
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    t.like(await stores.wipes.newest(live), { status: 'done' });
  },
);

test.serial(
  'console A49, §5.7: what an edge whose identity is not the pinned one sends is not kept: of a former identity, and of an account that was wiped',
  async (t) => {
    const { live, rows, sync } = await used();
    const { edge } = stores;
    const sent = withdrawalRow(rows[1]!, { amount: 2n, status: 'expired' });
    await write(stores, live, [{ table: 'withdrawal', row: sent }]);
    const key = (): LocalKeyRecord => ({
      ...{ id: newId('ek', NOW_MS), environment: 'live' as const, hash: 'a'.repeat(64), label: 'app', prefix: 'loc' },
      ...{ createdAtMs: NOW_MS, revokedAtMs: null, signature: 'b'.repeat(128) },
    });
    const set = { replica: `rep_${'a'.repeat(26)}`, version: 1, covers: [] } as unknown as KeySetRecord;
    const record = { transactionId: sent.id, askedAtMs: NOW_MS } as InstructionRecord;
    const session = {
      ...{ id: newId('ses', NOW_MS), accountId: live, role: 'leader' as const, edgeVersion: '1.0.0', podHint: 'pod' },
      ...{ liveness: 'live' as const, leaseEpoch: 1, outboxMode: 'durable', outboxDepth: 0, outboxPoisoned: false },
      ...{ lastHeartbeatAtMs: NOW_MS, startedAtMs: NOW_MS, endedAtMs: null },
    };
    const sentBy = async (identity: string) => {
      await edge.saveSessions([{ ...session, identity }]);
      return [
        await edge.saveLocalKeys(live, [key()], identity),
        await edge.saveKeySet(live, set, identity),
        await edge.saveInstructions(live, [record], identity),
        (await edge.sessions(live)).length,
        (await edge.localKeys(live)).length,
        (await edge.keySets(live)).length,
        (await edge.instruction(live, sent.id)) !== null,
      ];
    };
    const none = ['not_pinned', 'not_pinned', 'not_pinned', 0];
    t.deepEqual(await sentBy('f'.repeat(64)), [...none, 1, 0, false], 'another identity');
    t.deepEqual(await sentBy(sync.publicKey), [[], 'kept', [], 1, 2, 1, true]);
    await wipeRound(partsAt(DUE_MS), { signal: NEVER });
    t.like(await stores.wipes.newest(live), { status: 'done' });
    t.deepEqual(await sentBy(sync.publicKey), [...none, 0, 0, false], 'a stream that closed late');
    await edge.saveSessions([{ ...session, identity: sync.publicKey, endedAtMs: NOW_MS + 1 }]);
    t.deepEqual(await edge.sessions(live), [], 'its end');
  },
);
