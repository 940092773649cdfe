/** What an account has on its way is in its rows: the snapshot does not grow with it, and a load finds it again. */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { createAccountEntity, type AccountReply } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import type {
  AccountCommand,
  AccountEvent,
  AccountReplies,
  AccountState,
  RowWrite,
} from '../../../model/account/capabilities.ts';
import { ask, createSystem, futility, systemClock, type Outcome } from '../../../actors/kernel/index.ts';
import { evm } from '../../../chains/evm/index.ts';
import type { ChainModule, ReplayKey } from '../../../chains/chain.ts';
import { BUILD_TTL_MS } from '../../../persistence/postgres/account-store.ts';
import { createStores, type Stores } from '../../../persistence/postgres/stores.ts';
import { migrate } from '../../../persistence/postgres/migrate.ts';
import { initialAccount } from '../../../model/account/state.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { Fact } from '../../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { accountIdOf, type AccountId } from '../../../protocol/ids.ts';
import { newId, SHARD_COUNT, shardOf } from '../../../protocol/node/ids.ts';
import { restartPolicy } from '../../../actors/kernel/restart-policy.ts';
import { expireBuilds } from '../../../actors/outgoing/rounds.ts';
import { RESTARTS } from '../../actors/kernel/node.ts';
import { commands, pushedKey, txn } from '../../support/account.ts';
import { inputsOf, RECIPIENT } from '../../support/evm-inputs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { migrateFormer } from '../../support/release-of-0048.ts';
import { Sender } from '../../support/sender.ts';
import { addressRow, newOrganization, PLAN, withdrawalRow, write } from '../../support/store-rows.ts';
import { ALL_ACTS, tell, type Step } from '../../support/withdrawal-story.ts';

let database: TestDatabase;
let stores: Stores;
/** What the stores take for now. */
let nowMs = Date.now();
test.before(async () => {
  database = await createTestDatabase();
  stores = await storesOf(database);
});
test.after.always(() => database.close());

async function storesOf({ sql }: TestDatabase): Promise<Stores> {
  let epochs = new Map<number, number>();
  const made = createStores({ sql, nowMs: () => nowMs, epochOf: (shard) => epochs.get(shard), initialAccount });
  epochs = await made.ownership.claimShards(
    'in-flight',
    Array.from({ length: SHARD_COUNT }, (_, shard) => shard),
  );
  return made;
}

const storedBytes = async (accountId: AccountId): Promise<number> => {
  const [row] = await database.admin<
    { bytes: number }[]
  >`select octet_length(state::text) as bytes from flock.account where account_id = ${accountId}`;
  return row!.bytes;
};

/** A withdrawal with its counter value or coins, changed now. */
function withdrawalOf(
  accountId: AccountId,
  replayKey: ReplayKey,
  more: Partial<WithdrawalRow> = {},
  from: AddressRow = addressRow(accountId),
): WithdrawalRow {
  const row = withdrawalRow(from, { createdAtMs: nowMs, updatedAtMs: nowMs, ...more });
  return {
    ...row,
    unsigned: { ...row.unsigned, replayKey },
    versions:
      row.status === 'built' ? [] : [{ txid: `0x${row.id}`, signedPayload: '0x1', payload: '0x2', taken: true }],
  };
}

const bound = (row: WithdrawalRow): WithdrawalRow => ({
  ...row,
  unsigned: { ...row.unsigned, boundAtMs: row.updatedAtMs },
});
const writes = (rows: readonly WithdrawalRow[]): RowWrite[] => rows.map((row) => ({ table: 'withdrawal', row }));
const NOTED: AccountEvent = { type: 'edge_liveness_changed', liveness: 'live' };
const BILLABLE = (row: WithdrawalRow): RowWrite => ({
  table: 'billable',
  withdrawalId: row.id,
  kind: 'withdrawal',
  period: '2026-06',
});

/** Rows of one account, written by its appends, a thousand at a time. */
async function fill(accountId: AccountId, rows: readonly WithdrawalRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += 1_000)
    await write(stores, accountId, writes(rows.slice(from, from + 1_000)), [NOTED]);
}

test.serial(
  'found F83: the snapshot of an append is as large with 5,000 withdrawals in flight as it is idle',
  async (t) => {
    t.timeout(600_000);
    const { live } = await newOrganization(stores);
    await write(stores, live, [], [NOTED]);
    const idle = await storedBytes(live);
    await fill(
      live,
      Array.from({ length: 5_000 }, (_, n) =>
        withdrawalOf(live, { kind: 'nonce', value: n }, { status: n % 2 === 0 ? 'broadcast' : 'confirming' }),
      ),
    );
    const { state } = (await stores.accounts.load(live))!;
    t.is(Object.keys(state.withdrawals).length, 5_000);
    t.is(Object.values(state.counters).length, 5_000, 'the actor knows all of them');
    await write(stores, live, [], [NOTED]);
    t.true((await storedBytes(live)) <= idle + 8, 'the version has a few more digits');
  },
);

test.serial(
  'found F58: 6,000 builds that nobody signed are in no snapshot, are not loaded a day later, and expire',
  async (t) => {
    t.timeout(600_000);
    const { live } = await newOrganization(stores);
    await write(stores, live, [], [NOTED]);
    const idle = await storedBytes(live);
    await fill(
      live,
      Array.from({ length: 6_000 }, (_, n) => withdrawalOf(live, { kind: 'expiry', value: String(n) })),
    );
    await write(stores, live, [], [NOTED]);
    t.true((await storedBytes(live)) <= idle + 8);
    t.is(
      Object.keys((await stores.accounts.load(live))!.state.withdrawals).length,
      6_000,
      'younger than a day they may still be signed',
    );
    const before = nowMs;
    t.teardown(() => {
      nowMs = before;
    });
    nowMs += BUILD_TTL_MS;
    t.deepEqual((await stores.accounts.load(live))!.state.withdrawals, {});
    const { accounts, stop } = openActors();
    const round = () =>
      expireBuilds({ stores, accounts, nowMs: () => nowMs, buildTtlMs: BUILD_TTL_MS, isMine: () => true });
    // A page that a busy database refuses is one of the next round.
    const first = await round();
    t.is(first + (first < 6_000 ? await round() : 0), 6_000);
    t.is(await round(), 0, 'once');
    await stop();
    const statuses =
      await database.admin`select status, count(*)::int as count from flock.withdrawal where account_id = ${live} group by 1`;
    t.deepEqual(
      statuses.map((row) => ({ ...row })),
      [{ status: 'expired', count: 6_000 }],
    );
  },
);

test.serial(
  'found F58: dead builds of an account of another node are passed by, those of an own one behind them are not',
  async (t) => {
    const [{ live: theirs }, { live: own }] = [await newOrganization(stores), await newOrganization(stores)];
    const old = { createdAtMs: nowMs - 2, updatedAtMs: nowMs - 2 };
    await write(stores, theirs, writes([withdrawalOf(theirs, { kind: 'expiry', value: '1' }, old)]), [NOTED]);
    await write(
      stores,
      own,
      writes([withdrawalOf(own, { kind: 'expiry', value: '1' }, { ...old, updatedAtMs: nowMs - 1 })]),
      [NOTED],
    );
    const epochs = await stores.ownership.claimShards(
      'in-flight',
      Array.from({ length: SHARD_COUNT }, (_, shard) => shard),
    );
    const here = createStores({
      sql: database.sql,
      nowMs: () => nowMs,
      initialAccount,
      epochOf: (shard) => (shard === shardOf(theirs) && shard !== shardOf(own) ? undefined : epochs.get(shard)),
    });
    const { accounts, stop } = openActors(here);
    const parts = {
      stores: here,
      accounts,
      nowMs: () => nowMs + BUILD_TTL_MS,
      buildTtlMs: BUILD_TTL_MS,
      isMine: () => true,
    };
    t.is(await expireBuilds(parts), shardOf(theirs) === shardOf(own) ? 2 : 1);
    await stop();
    stores = await storesOf(database);
    const { accounts: theirActors, stop: stopTheirs } = openActors();
    t.is(
      await expireBuilds({ ...parts, stores, accounts: theirActors }),
      shardOf(theirs) === shardOf(own) ? 0 : 1,
      'their node does it',
    );
    await stopTheirs();
  },
);

/** Real actors over the stores. */
function openActors(over: Stores = stores) {
  const policy = restartPolicy(RESTARTS);
  const quiet = () => {};
  const system = createSystem({
    clock: systemClock,
    random: () => 0,
    policies: { entity: policy, worker: policy },
    log: { warn: quiet, error: quiet },
    hooks: {},
  });
  const entities = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity: createAccountEntity({ book: createChainBook([evm as ChainModule]) }),
    store: over.accounts,
    shardOf,
  });
  const send = ((accountId: AccountId, command: AccountCommand) => ask(entities.address(accountId), command)) as <
    C extends AccountCommand,
  >(
    accountId: AccountId,
    command: C,
  ) => Promise<Outcome<AccountReplies[C['type']]>>;
  return { accounts: { ask: send, wake: async () => {} }, stop: () => system.stop(2_000) };
}

let phrases = 0;
/** An account that builds from one address. */
async function sender(t: ExecutionContext) {
  const userId = newId('usr', nowMs),
    organizationId = newId('org', nowMs),
    live = accountIdOf(organizationId, 'live');
  await stores.identity.insertUser({
    id: userId,
    email: `${userId}@example.com`,
    passwordHash: 'x',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: null,
  });
  await stores.identity.createOrganization({ id: organizationId, name: 'Test', createdAtMs: nowMs }, userId, PLAN);
  const actors = openActors();
  t.teardown(actors.stop);
  const accepted = async <C extends AccountCommand>(command: C): Promise<AccountReplies[C['type']]> => {
    const outcome = await actors.accounts.ask(live, command);
    if (outcome.ok !== true) throw new Error(`${command.type}: ${JSON.stringify(outcome)}`);
    return outcome.reply;
  };
  const ids = () => Array.from({ length: 10 }, () => newId('adr', nowMs));
  await accepted(
    commands.enrol({
      publicKey: newId('key', nowMs).slice(4).padEnd(64, '0'),
      keys: [pushedKey('evm', phrases)],
      addressIds: ids(),
    }),
  );
  phrases += 1;
  const from = await accepted(commands.createAddress({ id: newId('adr', nowMs) }));
  const build = () =>
    accepted({
      type: 'build_withdrawal',
      id: txn(),
      inputs: inputsOf(),
      from,
      tokenSymbol: 'ETH',
      decimals: 18,
      intent: {
        chain: 'eth',
        from: from.address,
        fromPath: from.derivationPath,
        to: RECIPIENT,
        amount: 1_000n,
        token: null,
        tag: null,
      },
    });
  const row = async (id: string) => (await stores.read.withdrawal(live, id))!;
  return { live, accounts: actors.accounts, accepted, build, row };
}

test.serial(
  'found F58: a build expires a day after its last change, what was bound for it is free, and nobody signs it any more',
  async (t) => {
    const { live, accounts, accepted, build, row } = await sender(t);
    const built = await build();
    const expire = (atMs: number) =>
      expireBuilds({ stores, accounts, nowMs: () => atMs, buildTtlMs: BUILD_TTL_MS, isMine: () => true });
    t.is(await expire(built.updatedAtMs + BUILD_TTL_MS - 1), 0);
    const bound = await accepted({
      type: 'bind_withdrawal',
      known: await row(built.id),
      inputs: inputsOf(),
      gaveUp: [],
    });
    const repriced = await accepted({ type: 'reprice_withdrawal', known: bound, inputs: inputsOf() });
    t.true(repriced.updatedAtMs > bound.updatedAtMs && bound.updatedAtMs > built.updatedAtMs);
    t.is(Object.values((await stores.accounts.load(live))!.state.counters).length, 1);
    t.is(await expire(repriced.updatedAtMs + BUILD_TTL_MS), 1);
    t.is((await row(built.id)).status, 'expired');
    t.deepEqual((await accepted({ type: 'inspect' })).counters, {});
    const late = await accounts.ask(live, { type: 'reprice_withdrawal', known: repriced, inputs: inputsOf() });
    t.like(late, { ok: false, code: 'CONFLICT', details: { reason: 'closed', status: 'expired' } });
    t.deepEqual((await build()).unsigned.replayKey, built.unsigned.replayKey);
  },
);

test.serial(
  'found F43: what gave its counter back is written so, and a load finds the counter with the one that is bound now',
  async (t) => {
    const { live, accepted, build, row } = await sender(t);
    const [first, second] = [await build(), await build()];
    const bind = async (id: string, gaveUp: string[]) =>
      accepted({ type: 'bind_withdrawal', known: await row(id), inputs: inputsOf(), gaveUp });
    const held = async () =>
      Object.values((await stores.accounts.load(live))!.state.counters).map(({ inFlight }) => Object.values(inFlight));
    t.deepEqual(await held(), []);
    await bind(first.id, []);
    t.deepEqual(await held(), [[{ id: first.id, stage: 'built' }]]);
    const { unsigned } = await bind(second.id, [first.id]);
    t.deepEqual(await held(), [[{ id: second.id, stage: 'built' }]]);
    t.deepEqual([(await row(first.id)).status, (await row(first.id)).unsigned.boundAtMs], ['built', undefined]);
    t.deepEqual([unsigned.replayKey, (await row(second.id)).unsigned], [first.unsigned.replayKey, unsigned]);
  },
);

test.serial('found F58: what was signed or closed after it was read as a dead build stays what it is', async (t) => {
  const { live, accounts, build, row } = await sender(t);
  const built = await build();
  const [known] = await stores.operators
    .deadBuilds(built.updatedAtMs, null, 1_000)
    .then((found) => found.filter(({ id }) => id === built.id));
  t.deepEqual(known, {
    accountId: live,
    id: built.id,
    chain: 'eth',
    from: built.from,
    replayKey: built.unsigned.replayKey,
    updatedAtMs: built.updatedAtMs,
  });
  for (const status of ['signing', 'failed', 'confirmed'] as const) {
    await database.admin`update flock.withdrawal set status = ${status}, versions = '[{}]' where account_id = ${live} and id = ${built.id}`;
    await accounts.ask(live, { type: 'expire_builds', builds: [known!] });
    t.is((await row(built.id)).status, status);
  }
});

const openOf = ({ counters, withdrawals, signed, reopened }: AccountState) => ({
  counters: Object.fromEntries(Object.entries(counters).map(([key, { inFlight }]) => [key, inFlight])),
  withdrawals,
  signed,
  reopened: reopened.toSorted(),
});

/** Appends what a story decides to an account of the database, step by step; false when a constraint refused a step. */
async function replayed(live: AccountId, teller: Sender, steps: readonly Step[]): Promise<boolean> {
  let { version, ownerEpoch } = (await stores.accounts.load(live))!;
  const { account } = teller;
  for (const step of steps) {
    const [rows, events] = [account.rows.length, account.history.length];
    tell(teller, step);
    if (account.history.length === events) continue;
    const outcome = await stores.accounts
      .append({
        entityId: live,
        ownerEpoch,
        expectedVersion: version,
        events: account.history.slice(events),
        state: { ...account.state, accountId: live },
        rows: account.rows
          .slice(rows)
          .filter(
            ({ table }) => table === 'withdrawal' || table === 'withdrawal_status' || table.startsWith('billable'),
          ),
      })
      .catch((error: { constraint?: string }) => {
        if (error.constraint !== 'withdrawal_counter_once') throw error;
        return null;
      });
    if (outcome === null) return false;
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
    version += account.history.length - events;
  }
  return true;
}

test.serial(
  'found G25: a replacement that every node refuses is set back, and the schema takes it: no signed version is lost',
  async (t) => {
    const { live } = await newOrganization(stores),
      teller = new Sender({}, 'gas_tank');
    const acts = [
      'build',
      'bind',
      'submit',
      'accept',
      'reprice',
      'submit',
      'reject',
      'reprice',
      'submit',
      'reject',
    ] as const;
    t.true(
      await replayed(
        live,
        teller,
        acts.map((act) => ({ act, which: 0, count: 0 })),
      ),
    );
    const [row] = [...teller.rows.values()],
      { versions } = row!;
    t.deepEqual(
      versions.map(({ refused, taken }) => [refused === true, taken]),
      [
        [true, false],
        [true, false],
        [false, true],
      ],
    );
    t.is(row!.txid, versions.at(-1)!.txid);
    const [stored] = await database.admin<
      { txid: string; count: number }[]
    >`select txid, jsonb_array_length(versions) as count from flock.withdrawal where account_id = ${live}`;
    t.deepEqual({ ...stored! }, { txid: row!.txid!, count: 3 });
  },
);

test.serial('found F83: under any story a load finds what the actor had in flight', async (t) => {
  t.timeout(600_000);
  let whole = 0;
  const steps = fc.array(
    fc.record({
      act: fc.constantFrom(...ALL_ACTS),
      which: fc.nat({ max: 30 }),
      count: fc.nat({ max: 12 }),
    }) as fc.Arbitrary<Step>,
    { minLength: 5, maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (acts) => {
      const { live } = await newOrganization(stores);
      const teller = new Sender({}, 'gas_tank');
      if (!(await replayed(live, teller, acts))) return;
      whole += 1;
      // The story has a clock of its own, and no build of it is dead.
      const before = nowMs;
      nowMs = teller.account.nowMs;
      const { state } = (await stores.accounts.load(live))!;
      nowMs = before;
      t.deepEqual(openOf(state), openOf(teller.account.state));
    }),
    { numRuns: 60 },
  );
  t.true(whole > 40, `${whole} stories to their end`);
});

test.serial('found F83: a load tells each kind of hold by its stage, and what was billed before a reorg', async (t) => {
  const { live } = await newOrganization(stores);
  const from = addressRow(live),
    btc = { ...addressRow(live), address: 'bc1q' },
    xrp = { ...addressRow(live), address: 'rXRP' };
  const at = (chain: 'btc' | 'xrp' | 'tron', row: WithdrawalRow): WithdrawalRow => ({ ...row, chain, ledger: chain });
  const rows = {
    built: withdrawalOf(live, { kind: 'nonce', value: 9 }, { status: 'built' }, from),
    bound: bound(withdrawalOf(live, { kind: 'nonce', value: 9 }, { status: 'built' }, from)),
    signing: withdrawalOf(live, { kind: 'nonce', value: 8 }, { status: 'signing' }, from),
    included: withdrawalOf(live, { kind: 'nonce', value: 7 }, { status: 'confirming', height: 5 }, from),
    confirmed: withdrawalOf(live, { kind: 'nonce', value: 6 }, { status: 'confirmed', height: 4 }, from),
    coins: at('btc', withdrawalOf(live, { kind: 'outpoints', value: ['a:0', 'b:1'] }, { status: 'broadcast' }, btc)),
    again: at(
      'xrp',
      withdrawalOf(live, { kind: 'sequence', value: '90071992547409931' }, { status: 'broadcast' }, xrp),
    ),
    tron: at('tron', withdrawalOf(live, { kind: 'expiry', value: '1' }, { status: 'broadcast' })),
  };
  await write(stores, live, [...writes(Object.values(rows)), BILLABLE(rows.again), BILLABLE(rows.confirmed)], [NOTED]);
  const { state } = (await stores.accounts.load(live))!;
  const flight = (row: WithdrawalRow, stage: string) => ({ id: row.id, stage });
  t.deepEqual(state.counters, {
    [`eth:${from.address}`]: {
      next: '0',
      free: [],
      inFlight: {
        7: flight(rows.included, 'included'),
        8: flight(rows.signing, 'signed'),
        9: flight(rows.bound, 'built'),
      },
    },
    'btc:bc1q': {
      next: null,
      free: [],
      inFlight: { 'a:0': flight(rows.coins, 'signed'), 'b:1': flight(rows.coins, 'signed') },
    },
    'xrp:rXRP': { next: '0', free: [], inFlight: { '90071992547409931': flight(rows.again, 'signed') } },
  } as AccountState['counters']);
  const open = [rows.built, rows.bound, rows.signing, rows.included, rows.coins, rows.again, rows.tron];
  t.deepEqual(state.withdrawals, Object.fromEntries(open.map((row) => [row.id, row.updatedAtMs])));
  const signed = open.filter(({ status }) => status !== 'built');
  t.deepEqual(state.signed, Object.fromEntries(signed.map(({ id }) => [id, true])));
  t.deepEqual(state.reopened, [rows.again.id]);
  // It reverted after the reorg, which took it off the bill; another reorg opens it once more. Confirmed again it
  // counts again.
  const reopenedAfter = async (change: -1 | 1) => {
    await write(
      stores,
      live,
      [{ table: 'billable_change', withdrawalId: rows.again.id, period: '2026-06', change }],
      [NOTED],
    );
    return (await stores.accounts.load(live))!.state.reopened;
  };
  t.deepEqual(await reopenedAfter(-1), []);
  t.deepEqual(await reopenedAfter(1), [rows.again.id]);
});

test.serial('found F83: a load that waited for an append has the rows of that append', async (t) => {
  const { live } = await newOrganization(stores);
  const row = withdrawalOf(live, { kind: 'nonce', value: 3 }, { status: 'signing' });
  await write(stores, live, writes([row]), [NOTED]);
  const holder = await database.admin.reserve();
  await holder.unsafe('begin');
  await holder.unsafe(`update flock.account set version = version where account_id = '${live}'`);
  await holder.unsafe(`update flock.withdrawal set status = 'failed' where account_id = '${live}'`);
  const loading = stores.accounts.load(live);
  let waits = 0;
  for (let asked = 0; waits === 0 && asked < 2_000; asked += 1) {
    const [row] = await database.admin<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and query like '%activate_account%' and pid <> pg_backend_pid()`;
    waits = row!.count;
  }
  await holder.unsafe('commit');
  holder.release();
  t.is(waits, 1);
  t.deepEqual(openOf((await loading)!.state), { counters: {}, withdrawals: {}, signed: {}, reopened: [] });
});

test.serial(
  'found F83: an account that the release before stored loads with what its rows say is in flight',
  async (t) => {
    const old = await createTestDatabase({ migrated: false });
    t.teardown(() => old.close());
    await migrateFormer(old.url, 38);
    const key = (value: number) => JSON.stringify({ kind: 'nonce', value });
    const state = {
      ...initialAccount({
        accountId: 'org_old_live' as AccountId,
        organizationId: 'org_old',
        environment: 'live',
        plan: { tier: 'free', band: 'launch', subscription: 'active', paymentsActive: true },
      }),
      counters: {
        'eth:0xa': {
          next: '9',
          free: ['6'],
          inFlight: { 7: { id: 'txn_open', stage: 'signed' }, 8: { id: 'txn_gone', stage: 'built' } },
        },
      },
      withdrawals: { txn_open: 1, txn_gone: 2 },
      reopened: ['txn_gone'],
    };
    await old.admin`insert into flock.organization (id, name, created_at) values ('org_old', 'Old', now())`;
    await old.admin`insert into flock.account (account_id, organization_id, environment, shard_id, state)
    values ('org_old_live', 'org_old', 'live', ${shardOf('org_old_live' as AccountId)}, ${old.admin.json(JSON.parse(JSON.stringify(state)))})`;
    for (const [id, status, value] of [
      ['txn_open', 'broadcast', 7],
      ['txn_gone', 'expired', 8],
    ] as const) {
      await old.admin
        .unsafe(`insert into flock.withdrawal (account_id, id, ledger, chain, from_address, to_address, amount, decimals, token_symbol, status, unsigned, versions, created_at, updated_at)
      values ('org_old_live', '${id}', 'eth', 'eth', '0xa', '0xb', 1, 18, 'ETH', '${status}', '{"replayKey": ${key(value)}}', '[{}]', now(), '2026-01-01T00:00:00.123Z')`);
    }
    await migrateFormer(old.url);
    await migrate({ url: old.url });
    const loaded = (await (await storesOf(old)).accounts.load('org_old_live' as AccountId))!;
    t.deepEqual(openOf(loaded.state), {
      counters: { 'eth:0xa': { 7: { id: 'txn_open', stage: 'signed' } } },
      withdrawals: { txn_open: Date.UTC(2026, 0, 1, 0, 0, 0, 123) },
      signed: { txn_open: true },
      reopened: [],
    });
    t.is(loaded.state.plan.tier, 'free');
    const [before] = await old.sql<
      { accountState: AccountState }[]
    >`select * from load_account('org_old_live', ${loaded.ownerEpoch})`;
    t.deepEqual(before!.accountState, loaded.state, 'a node of that release, beside a newer one, loads the same');
  },
);

test.serial(
  'V39 two signed withdrawals of one sender never share a counter value, and versions of one are one row',
  async (t) => {
    const { live, sandbox } = await newOrganization(stores);
    const from = addressRow(live);
    const first = withdrawalOf(live, { kind: 'nonce', value: 5 }, { status: 'signing' }, from);
    await write(stores, live, writes([first]), [NOTED]);
    const second = withdrawalOf(live, { kind: 'nonce', value: 5 }, { status: 'signing' }, from);
    const error = (await t.throwsAsync(write(stores, live, writes([second]), [NOTED]))) as Error & {
      constraint?: string;
    };
    t.is(error.constraint, 'withdrawal_counter_once');
    await write(
      stores,
      live,
      writes([
        { ...second, status: 'built', versions: [] },
        { ...second, id: newId('txn', nowMs + 1), ledger: 'bsc' as WithdrawalRow['ledger'], chain: 'bsc' },
        withdrawalOf(live, { kind: 'nonce', value: 5 }, { status: 'signing' }),
        withdrawalOf(live, { kind: 'nonce', value: 6 }, { status: 'signing' }, from),
        { ...first, versions: [...first.versions, ...first.versions] },
        withdrawalOf(live, { kind: 'expiry', value: '5' }, { status: 'signing' }, from),
        withdrawalOf(live, { kind: 'expiry', value: '5' }, { status: 'signing' }, from),
      ]),
      [NOTED],
    );
    await write(
      stores,
      sandbox,
      writes([
        withdrawalOf(sandbox, { kind: 'nonce', value: 5 }, { status: 'signing' }, { ...from, accountId: sandbox }),
      ]),
      [NOTED],
    );
    await write(
      stores,
      live,
      writes([{ ...first, status: 'failed', versions: [...first.versions, ...first.versions] }]),
      [NOTED],
    );
    await t.notThrowsAsync(write(stores, live, writes([second]), [NOTED]), 'its value was given back');
  },
);

test.serial(
  'found F83: an orphaned withdrawal whose counter value another one has waits for that one to end',
  async (t) => {
    const { live } = await newOrganization(stores);
    const from = addressRow(live);
    const given = withdrawalOf(live, { kind: 'nonce', value: 5 }, { status: 'confirming', height: 9 }, from);
    const again = withdrawalOf(live, { kind: 'nonce', value: 5 }, { status: 'broadcast' }, from);
    await write(stores, live, writes([given, again].map((row) => ({ ...row, txid: row.versions[0]!.txid }))), [NOTED]);
    const { accounts, stop } = openActors();
    t.teardown(stop);
    const apply = async (kind: 'withdrawal_orphaned' | 'withdrawal_dead', id: string) => {
      const { txid } = (await stores.read.withdrawal(live, id))!;
      const fact: Fact = {
        kind,
        withdrawalId: id,
        txid: txid!,
        height: 9,
        blockHash: '0xb',
        success: true,
        reason: null,
        fee: null,
      };
      await database.owner`delete from flock.inbox where account_id = ${live}`;
      await database.owner`select flock.post_facts(${JSON.stringify([{ accountId: live, fact }])}::text::jsonb)`;
      return accounts.ask(live, { type: 'apply_facts', ...(await stores.inbox.inboxOf(live, 10)), depositIds: [''] });
    };
    const refused = await apply('withdrawal_orphaned', given.id);
    t.is(
      refused.ok === false ? futility(refused) : refused.ok,
      'append refused: 23505 withdrawal_counter_once',
      'the fact is set aside and tried again',
    );
    t.like(await apply('withdrawal_dead', again.id), { ok: true });
    t.like(await apply('withdrawal_orphaned', given.id), { ok: true });
    t.deepEqual(
      [(await stores.read.withdrawal(live, given.id))!.status, (await stores.read.withdrawal(live, again.id))!.status],
      ['broadcast', 'failed'],
    );
    t.deepEqual(
      Object.values((await stores.accounts.load(live))!.state.counters).map(({ inFlight }) => inFlight),
      [{ 5: { id: given.id, stage: 'signed' } }],
    );
  },
);

test.serial('V39 gaps are values above the newest in a block that nothing in flight holds', async (t) => {
  const { live } = await newOrganization(stores);
  const before = await stores.operators.counterGaps();
  const one = addressRow(live),
    two = addressRow(live);
  const of = (from: AddressRow, value: number, more: Partial<WithdrawalRow>) =>
    withdrawalOf(live, { kind: 'nonce', value }, more, from);
  await write(
    stores,
    live,
    writes([
      of(one, 3, { status: 'confirmed', height: 9 }),
      of(one, 5, { status: 'broadcast' }),
      of(one, 6, { status: 'signing' }),
      of(one, 9, { status: 'broadcast' }),
      of(two, 1, { status: 'broadcast' }),
      of(two, 2, { status: 'broadcast' }),
    ]),
    [NOTED],
  );
  t.is((await stores.operators.counterGaps())['eth']! - (before['eth'] ?? 0), 3, '4, 7 and 8');
});
