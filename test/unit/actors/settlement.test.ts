/** What the facts of a chain mean for a withdrawal. actors/outgoing/settlement.ts */
import test from 'ava';
import type { Fact } from '../../../model/rows/inbox.ts';
import { settledIn } from '../../../actors/billing/charges.ts';
import { rowsOf } from '../../support/account.ts';
import { inputsOf } from '../../support/evm-inputs.ts';
import { Sender } from '../../support/sender.ts';
import { tell } from '../../support/withdrawal-story.ts';

const REVERTED = { success: false, reason: 'execution reverted' } as const;

test('withdrawal_confirmed at the threshold: settled once, counter released, event with fee and block', (t) => {
  const sender = new Sender();
  const { id, txid } = sender.sent();
  sender.fact(id, 'withdrawal_included');
  t.is(sender.status(id), 'confirming');
  const { rows } = sender.fact(id, 'withdrawal_matured');
  t.like(sender.rows.get(id), { status: 'confirmed', txid, height: 200, blockHash: '0xb1', fee: 21_000n });
  t.deepEqual(rowsOf(rows, 'billable'), [
    { table: 'billable', withdrawalId: id, kind: 'withdrawal', period: '2026-07' },
  ]);
  t.deepEqual(sender.account.state.settled, { period: '2026-07', count: 1 });
  t.deepEqual([sender.account.state.counters, sender.account.state.withdrawals], [{}, {}]);
  t.like(sender.account.published().at(-1), {
    event: 'withdrawal_confirmed',
    data: { transactionId: id, txid, amount: '1000', fee: '21000', height: 200, userRef: 'u-9' },
  });
  t.is(sender.fact(id, 'withdrawal_matured').events.length, 0);
  t.is(sender.account.state.settled.count, 1);
});

test('a transaction that the chain ran without success fails when its block is final', (t) => {
  const sender = new Sender();
  const { id } = sender.sent();
  sender.fact(id, 'withdrawal_included', { success: false });
  t.deepEqual(sender.told, ['withdrawal_broadcast']);
  sender.fact(id, 'withdrawal_matured', { success: false, reason: 'execution reverted' });
  t.like(sender.rows.get(id), { status: 'failed', failure: { code: 'CHAIN_REJECTED', reason: 'execution reverted' } });
  t.deepEqual([sender.told.at(-1), sender.account.state.settled.count], ['withdrawal_failed', 0]);
});

test('an orphaned withdrawal is in flight again; a confirmed one that comes back is not billed or told twice', (t) => {
  const sender = new Sender();
  const { id } = sender.sent();
  sender.fact(id, 'withdrawal_included');
  sender.fact(id, 'withdrawal_orphaned');
  t.like(sender.rows.get(id), { status: 'broadcast', height: null, blockHash: null });
  t.is(sender.account.state.counters[`eth:${sender.from.address}`]!.inFlight[7]!.stage, 'signed');
  sender.fact(id, 'withdrawal_included', { blockHash: '0xb2' });
  sender.fact(id, 'withdrawal_matured', { blockHash: '0xb2' });
  sender.fact(id, 'withdrawal_orphaned', { blockHash: '0xb2' });
  t.deepEqual([sender.status(id), sender.account.state.reopened], ['broadcast', [id]]);
  sender.fact(id, 'withdrawal_included', { blockHash: '0xb3' });
  const { rows } = sender.fact(id, 'withdrawal_matured', { blockHash: '0xb3' });
  t.deepEqual(
    [sender.status(id), sender.account.state.reopened, rowsOf(rows, 'billable').length],
    ['confirmed', [], 0],
  );
  t.deepEqual(sender.told, ['withdrawal_broadcast', 'withdrawal_confirmed']);
  t.is(sender.account.state.settled.count, 1);
});

test('found: a confirmed withdrawal that a reorg moved names its new block, without an event, a bill or a change of state', (t) => {
  const sender = new Sender();
  const { id, txid } = sender.sent();
  sender.fact(id, 'withdrawal_included');
  sender.fact(id, 'withdrawal_matured');
  const before = sender.account.state;
  const { events, rows } = sender.fact(id, 'withdrawal_included', { height: 203, blockHash: '0xb7', fee: '20500' });
  t.like(sender.rows.get(id), { status: 'confirmed', txid, height: 203, blockHash: '0xb7', fee: 20_500n });
  t.deepEqual([events.length, rowsOf(rows, 'publication').length, rowsOf(rows, 'billable').length], [0, 0, 0]);
  t.deepEqual(sender.account.state, before);
  t.is(sender.fact(id, 'withdrawal_included', { height: 203, blockHash: '0xb7' }).rows.length, 1, 'told again: taken');
  for (const other of [{ txid: `0x${'cd'.repeat(32)}` }, { success: false, reason: 'reverted' }]) {
    sender.fact(id, 'withdrawal_included', { height: 204, blockHash: '0xb8', ...other });
    t.like(sender.rows.get(id), { txid, height: 203, blockHash: '0xb7' });
  }
});

test('G27 proven dead: failed, its nonce is gone; a newer version that may land is not given up', (t) => {
  const sender = new Sender();
  const { id, txid } = sender.sent();
  sender.do({ type: 'reprice_withdrawal', known: sender.rows.get(id)!, inputs: inputsOf() });
  sender.do(sender.submit(id));
  t.is(sender.fact(id, 'withdrawal_dead', { txid: txid!, success: false, reason: 'nonce used' }).events.length, 0);
  sender.fact(id, 'withdrawal_dead', { success: false, reason: 'nonce used by another transaction' });
  t.deepEqual(
    [sender.status(id), sender.told.at(-1), sender.account.state.counters],
    ['failed', 'withdrawal_failed', {}],
  );
});

test('G27 the nonce of one that is dead or reverted is used up: nobody gets it again while others wait above it', (t) => {
  const ends: readonly ((sender: Sender, id: string) => void)[] = [
    (sender, id) => sender.fact(id, 'withdrawal_dead', { success: false, reason: 'nonce used by another transaction' }),
    (sender, id) => {
      sender.fact(id, 'withdrawal_included', REVERTED);
      sender.fact(id, 'withdrawal_matured', REVERTED);
    },
  ];
  for (const end of ends) {
    const sender = new Sender();
    const [first] = [sender.sent(), sender.sent()];
    end(sender, first.id);
    t.like(sender.account.state.counters[`eth:${sender.from.address}`], { free: [], next: '9' });
  }
});

test('found: what comes behind the orphaned fact of a confirmed one waits, even in one batch: that it left its block is written before where it is', (t) => {
  const sender = new Sender();
  const { id, txid } = sender.sent();
  sender.fact(id, 'withdrawal_included');
  sender.fact(id, 'withdrawal_matured');
  const row = sender.rows.get(id)!;
  const said = { withdrawalId: id, txid: txid!, height: 200, success: true, reason: null, fee: null };
  const facts: Fact[] = [
    { ...said, kind: 'withdrawal_orphaned', blockHash: '0xb1' },
    { ...said, kind: 'withdrawal_included', blockHash: '0xb2' },
  ];
  const { reply, rows } = sender.do({
    type: 'apply_facts',
    inbox: facts.map((fact, index) => ({ id: String(index), accountId: row.accountId, fact })),
    deposits: [],
    withdrawals: [row],
    addresses: [],
    depositIds: ['', ''],
  });
  t.deepEqual([reply.applied, reply.deferred], [1, 1]);
  t.like(rowsOf(rows, 'withdrawal'), [{ row: { status: 'broadcast', height: null, blockHash: null } }]);
});

test('a transaction that was given up and landed all the same is confirmed: the chain is right', (t) => {
  const sender = new Sender();
  const { id } = sender.sent();
  sender.fact(id, 'withdrawal_dead', { success: false, reason: 'nonce used' });
  sender.fact(id, 'withdrawal_included');
  sender.fact(id, 'withdrawal_matured');
  t.is(sender.status(id), 'confirmed');
  t.is(sender.account.state.settled.count, 1);
});

test('a fact about a row that changed after it was read waits, and later ones of that row too', (t) => {
  const sender = new Sender();
  const { id } = sender.sent();
  const old = sender.rows.get(id)!;
  sender.do({ type: 'reprice_withdrawal', known: old, inputs: inputsOf() });
  const fact = (kind: 'withdrawal_included' | 'withdrawal_matured'): Fact => ({
    kind,
    withdrawalId: id,
    txid: old.txid!,
    height: 200,
    blockHash: '0xb1',
    success: true,
    reason: null,
    fee: null,
  });
  const inbox = [fact('withdrawal_included'), fact('withdrawal_matured')].map((each, index) => ({
    id: String(index),
    accountId: old.accountId,
    fact: each,
  }));
  const { reply, rows } = sender.do({
    type: 'apply_facts',
    inbox,
    deposits: [],
    withdrawals: [old],
    addresses: [],
    depositIds: ['', ''],
  });
  t.deepEqual([reply.applied, reply.deferred, rows.length], [0, 2, 0]);
});

test('found: a withdrawal that failed and is moved by a reorg fails once: withdrawal_failed is not sent again', (t) => {
  const sender = new Sender();
  const { id } = sender.sent();
  for (const blockHash of ['0xb1', '0xb2', '0xb3']) {
    sender.fact(id, 'withdrawal_included', { ...REVERTED, blockHash });
    sender.fact(id, 'withdrawal_matured', { ...REVERTED, blockHash });
    t.is(sender.status(id), 'failed');
    t.is(sender.fact(id, 'withdrawal_matured', { ...REVERTED, blockHash }).events.length, 0);
    sender.fact(id, 'withdrawal_orphaned', { blockHash });
    t.is(sender.status(id), 'broadcast');
  }
  sender.fact(id, 'withdrawal_dead', { success: false, reason: 'nonce used' });
  sender.fact(id, 'withdrawal_included', REVERTED);
  sender.fact(id, 'withdrawal_matured', REVERTED);
  t.is(sender.status(id), 'failed');
  t.deepEqual(sender.told, ['withdrawal_broadcast', 'withdrawal_failed']);
});

test('console B4: what failed and succeeds after a reorg is confirmed, and each change of the last word is said and counted', (t) => {
  const sender = new Sender();
  const { id } = sender.sent();
  const ends = ['failed', 'confirmed', 'confirmed', 'failed', 'failed', 'confirmed'] as const;
  const bills = ends.map((end, n) => {
    const at = { blockHash: `0xb${n}`, ...(end === 'failed' ? REVERTED : {}) };
    sender.fact(id, 'withdrawal_included', at);
    const { rows } = sender.fact(id, 'withdrawal_matured', at);
    t.is(sender.status(id), end);
    sender.fact(id, 'withdrawal_orphaned', { blockHash: at.blockHash });
    const billed = rowsOf(rows, 'billable').length;
    return [
      billed,
      ...rowsOf(rows, 'billable_change').map(({ change }) => change),
      settledIn(sender.account.state, '2026-07'),
    ];
  });
  t.deepEqual(bills, [
    [0, 0],
    [1, 1],
    [0, 1],
    [0, -1, 0],
    [0, 0],
    [0, 1, 1],
  ]);
  t.is(sender.account.state.settled.count, 1, 'as a node of the release before counts it');
  t.deepEqual(sender.told, [
    'withdrawal_broadcast',
    'withdrawal_failed',
    'withdrawal_confirmed',
    'withdrawal_failed',
    'withdrawal_confirmed',
  ]);
});

test('R28 what left the sender beside what arrives is kept with the version that landed, until another block says otherwise', (t) => {
  const sender = new Sender();
  const { id, txid } = sender.sent();
  const left = () => sender.rows.get(id)!.versions.find((version) => version.txid === txid)!.left;
  sender.fact(id, 'withdrawal_included', { taken: '1100' });
  t.is(left(), '1100');
  sender.fact(id, 'withdrawal_matured', { taken: '1100' });
  t.is(left(), '1100');
  sender.fact(id, 'withdrawal_included', { height: 203, blockHash: '0xb7', taken: '1050' });
  t.is(left(), '1050', 'it moved to another block');
  sender.fact(id, 'withdrawal_orphaned', { blockHash: '0xb7' });
  t.is(left(), '1050', 'the row before has it for what is given back');
  sender.fact(id, 'withdrawal_included', { blockHash: '0xb8' });
  t.is(left(), undefined);
});

test('found F22: what was in a block is out, whatever became of the answer to its submit: no refusal of a node fails it after a reorg', (t) => {
  for (const facts of [['include'], ['mature'], ['include', 'mature']] as const) {
    const sender = new Sender({}, 'gas_tank');
    for (const act of ['build', 'submit', ...facts, 'orphan'] as const) tell(sender, { act, which: 0, count: 0 });
    const [before] = sender.rows.values();
    t.is(before!.status, 'broadcast');
    t.is(before!.versions[0]!.taken, true);
    tell(sender, { act: 'reject', which: 0, count: 0 });
    const [after] = sender.rows.values();
    t.is(after!.status, 'broadcast', facts.join());
    t.true(after!.id in sender.account.state.signed, 'it counts as signed, and its counter is held');
  }
});

test('found F22: a version that every node refused and that landed all the same is one of those that may land again', (t) => {
  const sender = new Sender({}, 'gas_tank');
  for (const act of ['build', 'submit', 'reprice', 'submit', 'reject'] as const)
    tell(sender, { act, which: 0, count: 0 });
  const { id, versions } = [...sender.rows.values()][0]!;
  t.is(versions.length, 2);
  const refused = sender.rows.get(id)!.versions.find((version) => version.refused === true)!;
  sender.fact(id, 'withdrawal_included', { txid: refused.txid });
  sender.fact(id, 'withdrawal_orphaned', { txid: refused.txid });
  t.is(sender.rows.get(id)!.versions.find(({ txid }) => txid === refused.txid)!.refused, undefined);
  t.is(sender.status(id), 'broadcast');
});
