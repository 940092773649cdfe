/** What a day and a month bring, on the real store and with a clock that a test turns. Spec §3.8, §6, §8.1. */
import test from 'ava';
import { createAccountEntity, type AccountReply } from '../../actors/account/account.ts';
import { createChainBook } from '../../actors/account/chain-book.ts';
import type { AccountCommand, AccountEvent, AccountState, RowWrite } from '../../model/account/capabilities.ts';
import { ask, createSystem, systemClock, type ActorSystem } from '../../actors/kernel/index.ts';
import { usageOf } from '../../gateway/http/billing/billing.ts';
import type { Accounts, Answer } from '../../model/ports/accounts.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import { accountIdOf, type AccountId } from '../../protocol/ids.ts';
import { newId, shardOf } from '../../protocol/node/ids.ts';
import { restartPolicy } from '../../actors/kernel/restart-policy.ts';
import { notePeaks } from '../../actors/address/rounds.ts';
import { closePeriods } from '../../actors/billing/rounds.ts';
import { settleBands } from '../../actors/plan/rounds.ts';
import { jobsOf, retentionRound } from '../../supervision/schedules.ts';
import { RESTARTS } from '../actors/kernel/node.ts';
import { commands, pushedKey } from '../support/account.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { newOrganization, openStores, PLAN, publicationRow, webhookRow, write } from '../support/store-rows.ts';

const DAY_MS = 86_400_000;
const JULY_20_MS = Date.UTC(2026, 6, 20, 12);
let nowMs = JULY_20_MS;
let database: TestDatabase;
let stores: Stores;
let system: ActorSystem;
let accounts: Pick<Accounts, 'ask'>;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  const policy = restartPolicy(RESTARTS);
  system = createSystem({
    clock: { ...systemClock, nowMs: () => nowMs },
    random: () => 0,
    policies: { entity: policy, worker: policy },
    log: { warn: () => undefined, error: () => undefined },
    hooks: {},
  });
  const entities = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity: createAccountEntity({ book: createChainBook([]) }),
    store: stores.accounts,
    shardOf,
  });
  accounts = { ask: (async (accountId, command) => ask(entities.address(accountId), command)) as Accounts['ask'] };
});
test.after.always(async () => {
  await system.stop(2_000);
  await database.close();
});

async function must<C extends AccountCommand>(accountId: AccountId, command: C) {
  const answer: Answer<C> = await accounts.ask(accountId, command);
  if (answer.ok !== true) throw new Error(`${command.type}: ${JSON.stringify(answer)}`);
  return answer.reply;
}
/** A live account that nothing is registered for. */
async function bareAccount(): Promise<AccountId> {
  const userId = newId('usr', nowMs),
    id = newId('org', nowMs);
  await stores.identity.insertUser({
    id: userId,
    email: `${userId}@example.com`,
    passwordHash: 'x',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: null,
  });
  await stores.identity.createOrganization({ id, name: 'Test', createdAtMs: nowMs }, userId, PLAN);
  return accountIdOf(id, 'live');
}
async function daily(): Promise<void> {
  const parts = { stores, accounts: accounts as Accounts };
  const run = { periodMs: Math.floor(nowMs / DAY_MS) * DAY_MS, signal: new AbortController().signal };
  await notePeaks(parts, run);
  await settleBands(parts, nowMs, run);
}
const usage = async (accountId: AccountId) =>
  usageOf(
    await must(accountId, { type: 'inspect' }),
    nowMs,
    await stores.read.addressPeaks(accountId, new Date(nowMs).toISOString().slice(0, 7)),
  );

test.serial(
  '§3.8 the first round of a month puts a smaller band into force, also for an account without addresses; none before does',
  async (t) => {
    nowMs = JULY_20_MS;
    const { live } = await newOrganization(stores);
    await must(live, { type: 'change_plan', plan: { tier: 'premium', band: 'scale' } });
    t.like(await must(live, { type: 'change_plan', plan: { band: 'launch' } }), {
      band: 'scale',
      pendingBand: { band: 'launch', atMs: Date.UTC(2026, 7, 1) },
    });
    nowMs = Date.UTC(2026, 7, 1) - 1;
    await daily();
    t.like((await usage(live)).plan, {
      band: 'scale',
      pendingBand: { band: 'launch', effectiveAt: '2026-08-01T00:00:00.000Z' },
    });
    nowMs = Date.UTC(2026, 7, 1);
    await daily();
    t.like((await usage(live)).plan, { band: 'launch', pendingBand: null });
    await daily();
    const events = await database.owner<
      { type: string }[]
    >`select type from event where account_id = ${live} and type like 'band%' order by version`;
    t.deepEqual(
      events.map(({ type }) => type),
      ['band_change_scheduled', 'band_change_ended'],
    );
  },
);

test.serial(
  'console B10: the look of each hour makes the bill of a month that is over, once, with what was agreed in it',
  async (t) => {
    nowMs = JULY_20_MS;
    const { live } = await newOrganization(stores);
    await must(live, { type: 'change_plan', plan: { tier: 'premium', band: 'launch' } });
    const look = () =>
      closePeriods({ stores, accounts: accounts as Accounts }, nowMs, { signal: new AbortController().signal });
    nowMs += 1_000;
    await must(live, { type: 'buy_plan', band: 'growth' });
    await look();
    t.deepEqual(await stores.billing.statements(live), [], 'its month is running');
    nowMs = Date.UTC(2026, 8, 2);
    await look();
    await look();
    const bills = await stores.billing.statements(live);
    t.deepEqual(
      bills.map(({ period, lines }) => [period, lines.map(({ kind }) => kind)]),
      [
        ['2026-08', ['base']],
        ['2026-07', ['base', 'proration']],
      ],
    );
    t.is(bills[0]!.totalCents, '49900');
    t.like(await usage(live), { plan: { band: 'growth' }, overage: { amount: '0.000' } });
  },
);

test.serial(
  "§2.9 §8.1 billed is the highest daily snapshot of the month, not the last one and not another month's",
  async (t) => {
    nowMs = JULY_20_MS;
    const live = await bareAccount();
    await must(
      live,
      commands.enrol({
        keys: [pushedKey('btc')],
        publicKey: 'c'.repeat(64),
        addressIds: Array.from({ length: 10 }, () => newId('adr', nowMs)),
      }),
    );
    const made = [];
    for (let n = 0; n < 3; n += 1)
      made.push(await must(live, commands.createAddress({ id: newId('adr', nowMs), chain: 'btc' })));
    await daily();
    nowMs += DAY_MS;
    for (const known of made.slice(1))
      await must(live, { type: 'set_address_status', known, status: 'archived', alone: true });
    await daily();
    t.like((await usage(live)).activeAddresses, {
      ...{ current: 1, billed: 3 },
      days: [
        { day: '2026-07-20', highest: 3 },
        { day: '2026-07-21', highest: 3 },
      ],
    });
    nowMs = Date.UTC(2026, 7, 2);
    t.like((await usage(live)).activeAddresses, { current: 1, billed: 1 }, 'August begins anew');
  },
);

test.serial(
  '§6 the retention round removes what is done after 7 days, mail that was sent after 30, and sign-ins whose time is over',
  async (t) => {
    nowMs = JULY_20_MS;
    const { live, userId, organizationId } = await newOrganization(stores);
    const login = { id: 'lgn_old', userId, method: 'password', client: '', ip: '', createdAtMs: JULY_20_MS } as const;
    await stores.logins.begin(
      { ...login, endsAtMs: JULY_20_MS + 30 * DAY_MS },
      { family: 'old', hash: 'old' },
      organizationId,
    );
    const hook = webhookRow(live, { status: 'disabled' });
    await write(stores, live, [
      { table: 'webhook', row: hook },
      {
        table: 'publication',
        row: publicationRow(live, { event: 'identity_rotation_detected', toAll: true, body: '{}' }),
      },
    ]);
    const [mail] = await stores.mail.claimDue(9, nowMs, 1);
    await stores.mail.record(mail!, { atMs: nowMs, againAtMs: null, error: null });
    const counts = async () => {
      const [row] = await database.owner<{ deliveries: number; mails: number; tokens: number }[]>`
      select (select count(*) from delivery where account_id = ${live}) as deliveries, (select count(*) from mail where account_id = ${live}) as mails,
             (select count(*) from refresh_token where user_id = ${userId}) as tokens`;
      return { ...row! };
    };
    const [born] = await database.owner<
      { atMs: number }[]
    >`select floor(extract(epoch from created_at) * 1000)::bigint as at_ms from delivery where account_id = ${live}`;
    const round = async (atMs: number) => {
      nowMs = atMs;
      await retentionRound({ stores, nowMs: () => nowMs, log: { info: () => undefined } as never });
      return counts();
    };
    t.deepEqual(await round(born!.atMs + 7 * DAY_MS), { deliveries: 1, mails: 1, tokens: 1 });
    t.deepEqual(await round(born!.atMs + 8 * DAY_MS), { deliveries: 0, mails: 1, tokens: 1 });
    t.deepEqual(await round(JULY_20_MS + 30 * DAY_MS), { deliveries: 0, mails: 1, tokens: 0 });
    t.deepEqual(await round(JULY_20_MS + 30 * DAY_MS + 1), { deliveries: 0, mails: 0, tokens: 0 });
  },
);

test.serial('§2.8 each minute: sessions that ended an hour ago go, and instructions after seven days', async (t) => {
  nowMs = JULY_20_MS;
  const { live } = await newOrganization(stores);
  const session = (id: string, endedAtMs: number | null) => ({
    id,
    accountId: live,
    role: 'follower' as const,
    edgeVersion: '1.0.0',
    liveness: 'down' as const,
    leaseEpoch: 1,
    outboxMode: 'durable' as const,
    outboxDepth: 0,
    outboxPoisoned: false,
    podHint: null,
    lastHeartbeatAtMs: nowMs,
    startedAtMs: nowMs,
    endedAtMs,
  });
  const [open, ended, old] = [newId('ses', nowMs), newId('ses', nowMs), newId('ses', nowMs)];
  await stores.edge.saveSessions([
    session(open, null),
    session(ended, nowMs - 3_600_000),
    session(old, nowMs - 3_600_001),
  ]);
  const log = { debug: () => undefined, info: () => undefined } as never;
  const { work } = jobsOf({
    background: stores,
    accounts: accounts as Accounts,
    chains: {} as never,
    nowMs: () => nowMs,
    log,
    collector: null,
    dnsServers: [],
  }).find(({ job }) => job === 'purge')!;
  await work({ periodMs: nowMs, signal: new AbortController().signal });
  const left = await database.owner<{ id: string }[]>`select id from flock.edge_session where account_id = ${live}`;
  t.deepEqual(left.map(({ id }) => id).sort(), [open, ended].sort());
});
