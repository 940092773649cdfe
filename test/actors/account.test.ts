/** The account behind its mailbox: many asks at once, one owner, appends that fail. */
import test, { type ExecutionContext } from 'ava';
import { createAccountEntity, type AccountReply } from '../../actors/account/account.ts';
import { createChainBook } from '../../actors/account/chain-book.ts';
import type { AccountCommand, AccountEvent, AccountState, RowWrite } from '../../model/account/capabilities.ts';
import { initialAccount } from '../../model/account/state.ts';
import { summariseAccount } from '../../actors/account/summary.ts';
import { ask, type Outcome } from '../../actors/kernel/index.ts';
import { accountIdOf } from '../../protocol/ids.ts';
import { commands, IDENTITY, keyVector, ORGANIZATION_ID, PLAN, pushedKey, rowsOf } from '../support/account.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { until } from '../support/until.ts';
import { startNode } from './kernel/node.ts';

const ACCOUNT = accountIdOf(ORGANIZATION_ID, 'live');
const entity = createAccountEntity({ book: createChainBook([]) });

async function started(t: ExecutionContext, change: Partial<AccountState> = {}) {
  const node = startNode(t);
  const store = new MemoryStore<AccountState, AccountEvent, RowWrite>({
    initial: () => ({
      ...initialAccount({ accountId: ACCOUNT, organizationId: ORGANIZATION_ID, environment: 'live', plan: PLAN }),
      ...change,
    }),
    keyOf: (row) => (row.table === 'idempotency' ? row.row.key : row.table === 'address' ? row.row.address : null),
  });
  const accounts = node.system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity,
    store: store.ownedBy(1),
    shardOf: () => 7,
    summarise: summariseAccount,
  });
  const send = (command: AccountCommand): Promise<Outcome<AccountReply>> => ask(accounts.address(ACCOUNT), command);
  await send(commands.enrol());
  return { node, store, send, stream: () => store.stream(ACCOUNT)! };
}

const codes = (outcomes: readonly Outcome<AccountReply>[]) =>
  outcomes.map((outcome) => (outcome.ok === true ? 'ok' : outcome.ok === 'duplicate' ? 'duplicate' : outcome.code));
const count = (all: readonly string[], one: string) => all.filter((each) => each === one).length;

test('fault 29: a hundred requests at the last free address: one gets it, the others ADDRESS_LIMIT_EXCEEDED', async (t) => {
  const { send, stream } = await started(t, { activeAddresses: 999 });
  const answers = codes(await Promise.all(Array.from({ length: 100 }, () => send(commands.createAddress()))));
  t.deepEqual([count(answers, 'ok'), count(answers, 'ADDRESS_LIMIT_EXCEEDED')], [1, 99]);
  t.is(stream().state.activeAddresses, 1_000);
});

test('P1 a hundred requests at once: indexes without gap or repetition, few appends, the snapshot is the fold of the events', async (t) => {
  const { node, store, send, stream } = await started(t);
  const before = store.appended.length;
  await Promise.all(Array.from({ length: 100 }, () => send(commands.createAddress())));
  const indexes = rowsOf(stream().rows, 'address').flatMap(({ row }) => (row.purpose === 'deposit' ? [row.index] : []));
  t.deepEqual(
    indexes,
    Array.from({ length: 100 }, (_, index) => index),
  );
  t.true(store.appended.length - before <= 5, `${store.appended.length - before} appends`);
  t.true(node.batches.some((size) => size > 10));
  const initial = initialAccount({
    accountId: ACCOUNT,
    organizationId: ORGANIZATION_ID,
    environment: 'live',
    plan: PLAN,
  });
  t.deepEqual(
    stream().events.reduce((state, event) => entity.evolve(state, event), initial),
    stream().state,
  );
  t.is(stream().state.version, stream().version);
});

test('fault 28: fifty requests under one idempotency key: one effect, the others are told that the key is taken', async (t) => {
  const { send, stream } = await started(t);
  const idempotency = { key: 'k', method: 'POST', path: '/v1/addresses', bodyHash: '00', successStatus: 201 };
  const answers = codes(
    await Promise.all(Array.from({ length: 50 }, () => send({ ...commands.createAddress(), idempotency }))),
  );
  t.deepEqual([count(answers, 'ok'), count(answers, 'duplicate')], [1, 49]);
  t.is(stream().state.activeAddresses, 1);
});

test('I9, I20 what only the store can see is answered to whoever asked for it: the others of its batch go on', async (t) => {
  const { store, send, stream } = await started(t);
  store.hold();
  const first = send({ type: 'note_peak' });
  await until('an append is under way', () => store.attempts === 2);
  const others = [send(commands.createAddress()), send(commands.createAddress())];
  store.failAppends('refused', 'refused');
  store.release();
  t.like(await first, { ok: false, code: 'ADDRESS_CONFLICT' });
  t.deepEqual(codes(await Promise.all(others)), ['ok', 'ok']);
  t.is(stream().state.activeAddresses, 2);
});

test('an append whose outcome is unknown: INTERNAL_ERROR, and the next one goes on from what is durable', async (t) => {
  const { node, store, send, stream } = await started(t);
  store.failAppends('after');
  t.like(await send(commands.createAddress()), { ok: false, code: 'INTERNAL_ERROR' });
  node.clock.advance(200);
  const next = await send(commands.createAddress());
  t.like(next, { ok: true, reply: { index: 1 } });
  t.is(stream().state.activeAddresses, 2);
});

test('another incarnation wrote: the account reads its state again and decides anew', async (t) => {
  const { store, send, stream } = await started(t);
  store.failAppends('stale');
  t.like(await send(commands.createAddress()), { ok: true, reply: { index: 0 } });
  t.is(store.loads, 2);
  t.is(stream().state.activeAddresses, 1);
});

test('§5.10 what inspection shows of an account holds no key and no address', async (t) => {
  const { send, stream } = await started(t);
  await send(commands.createAddress());
  const shown = JSON.stringify(summariseAccount(stream().state));
  t.true(shown.includes('"activeAddresses":1'));
  for (const secret of [pushedKey('evm').xpub, IDENTITY, keyVector('evm').addresses[0]!.address]) {
    t.false(shown.includes(secret));
  }
});
