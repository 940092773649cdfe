import test from 'ava';
import { Transaction } from 'ethers/transaction';
import { BOUND_HOLD_MS } from '../../../actors/outgoing/binding.ts';
import type { AccountCommand } from '../../../model/account/capabilities.ts';
import type { Signed } from '../../../chains/chain.ts';
import { networkOf } from '../../../chains/registry.ts';
import { isWatched } from '../../../actors/outgoing/submit.ts';
import { refuse } from '../../../protocol/errors.ts';
import { commands, OTHER_IDENTITY, pushedKey, rowsOf } from '../../support/account.ts';
import { inputsOf } from '../../support/evm-inputs.ts';
import { Sender, sign } from '../../support/sender.ts';

test('§4.2 a build is nothing but a payload: row built, nothing held, nothing announced', (t) => {
  const sender = new Sender();
  const { reply, events, rows } = sender.do(sender.build());
  t.like(reply, { status: 'built', amount: 1_000n, userRef: 'u-9', txid: null, versions: [], ledger: 'eth' });
  t.true(reply.feeEstimate.feeMax > 0n);
  t.deepEqual(
    events.map(({ type }) => type),
    ['withdrawal_built'],
  );
  t.is(rowsOf(rows, 'publication').length, 0);
  t.is(sender.nonceOf(reply.id), 7);
});

test('found F10: a sandbox account builds for its ledger, and takes no signature that a real network would', (t) => {
  const sender = new Sender({ environment: 'sandbox' }),
    { id, unsigned } = sender.built();
  const asked = Transaction.from(unsigned.payload),
    live = asked.clone();
  t.is(asked.chainId, 9_000_000_000_000_001n);
  live.chainId = 1n;
  const signed = sign({ unsigned: { ...unsigned, payload: live.unsignedSerialized } });
  t.like(sender.account.decide(sender.submit(id, { signed })), {
    ok: false,
    code: 'SIGNED_BATCH_REJECTED',
    details: { reason: 'chain_id_mismatch' },
  });
  t.like(sender.do(sender.submit(id)).reply, { status: 'signing' });
  t.is(Transaction.from(new Sender().built().unsigned.payload).chainId, 1n);
});

test('V39 the nonce is the larger of our next and the latest count; in flight ones are never used again', (t) => {
  const tank = new Sender({}, 'gas_tank');
  t.deepEqual(
    [tank.sent(7), tank.sent(7), tank.sent(12), tank.sent(8)].map(({ id }) => tank.nonceOf(id)),
    [7, 8, 12, 13],
  );
});

test('V39 a nonce that was freed before signing is reused first', (t) => {
  const tank = new Sender({}, 'gas_tank');
  tank.sent();
  const second = tank.built();
  tank.do({ type: 'abandon_withdrawal', known: tank.rows.get(second.id)! });
  t.is(tank.status(second.id), 'expired');
  t.deepEqual(
    [tank.sent(), tank.sent()].map(({ id }) => tank.nonceOf(id)),
    [8, 9],
  );
});

test("C6-52 with nothing in flight the chain's own count is the truth, also when it fell back", (t) => {
  const sender = new Sender();
  const { id } = sender.built(47_012);
  sender.do({ type: 'abandon_withdrawal', known: sender.rows.get(id)! });
  t.deepEqual(sender.account.state.counters, {});
  t.is(sender.nonceOf(sender.built(47_002).id), 47_002);
});

test('found F57: a nonce that a block of ours has used is not built again while the reorg window may hold the node back', (t) => {
  const sender = new Sender();
  const { id } = sender.sent(7);
  sender.fact(id, 'withdrawal_included');
  sender.fact(id, 'withdrawal_matured');
  t.deepEqual(sender.account.state.counters, {}, 'nothing is in flight: the node alone would be asked');
  const used = { value: '7', height: 200 };
  const nonceAt = (readAtHeight: number, nonceLatest: number) => {
    const fresh = new Sender();
    return fresh.nonceOf(
      fresh.do({
        ...fresh.build(nonceLatest),
        inputs: inputsOf({ nonceLatest, noncePending: nonceLatest, readAtHeight }),
        used,
      }).reply.id,
    );
  };
  const { reorgWindow } = networkOf('eth');
  t.deepEqual(
    [nonceAt(201, 7), nonceAt(199, 7), nonceAt(200 + reorgWindow, 7)],
    [8, 8, 8],
    'one too few, also from a node that lags',
  );
  t.is(nonceAt(201, 12), 12, 'the node knows more');
  t.is(nonceAt(201 + reorgWindow, 3), 3, 'C6-52: outside of the window the chain is the truth');
});

test('found F43: builds hold nothing: 200 of one sender stand beside each other, and each gets the next nonce when it is broadcast', (t) => {
  for (const purpose of ['deposit', 'gas_tank'] as const) {
    const sender = new Sender({}, purpose);
    const ids = Array.from({ length: 200 }, () => sender.built().id);
    t.deepEqual(sender.account.state.counters, {});
    const order = ids
      .map((id, index) => ({ id, place: (index * 73) % 200 }))
      .sort((a, b) => a.place - b.place)
      .map(({ id }) => id);
    let next = 7;
    for (const id of order) {
      const { reply } = sender.do(sender.bind(id, Math.max(7, next - 3))); // the node lags by what waits
      t.is(reply.unsigned.boundAtMs, reply.updatedAtMs);
      t.is(sender.nonceOf(id), next);
      sender.do(sender.submit(id));
      t.is(sender.rows.get(id)!.unsigned.boundAtMs, undefined);
      sender.fact(id, 'withdrawal_included');
      next += 1;
    }
    t.deepEqual(
      order.map((id) => sender.nonceOf(id)),
      Array.from({ length: 200 }, (_, n) => 7 + n),
    );
    t.deepEqual(sender.account.folded(), sender.account.state);
  }
});

test('found F43: only the nonce of what is bound changes, and what is signed keeps its own', (t) => {
  const sender = new Sender();
  const first = sender.built(),
    second = sender.built();
  sender.do(sender.submit(sender.do(sender.bind(first.id)).reply.id));
  const { reply, events } = sender.do(sender.bind(second.id));
  t.deepEqual(
    events.map(({ type }) => type),
    ['withdrawal_bound'],
  );
  const [before, after] = [Transaction.from(second.unsigned.payload), Transaction.from(reply.unsigned.payload)];
  t.deepEqual([before.nonce, after.nonce], [7, 8]);
  before.nonce = 8;
  t.is(after.unsignedSerialized, before.unsignedSerialized);
  t.deepEqual(
    { ...reply.unsigned, boundAtMs: 0 },
    { ...second.unsigned, payload: reply.unsigned.payload, replayKey: { kind: 'nonce', value: 8 }, boundAtMs: 0 },
  );
  const again = sender.do(sender.bind(first.id, 9));
  t.deepEqual([again.events.length, again.reply.unsigned.replayKey], [0, { kind: 'nonce', value: 7 }]);
});

test('found F43: one bound build of a sender at a time: it gives way when its edge gave it up, or said nothing for long', (t) => {
  const sender = new Sender();
  const [first, second, third] = [sender.bound(), sender.built(), sender.built()];
  t.like(sender.account.refused(sender.bind(second.id)), {
    code: 'CONFLICT',
    details: { reason: 'another_is_bound', by: first.id, retryAfterSeconds: 1 },
  });
  t.is(sender.nonceOf(sender.do(sender.bind(first.id)).reply.id), 7, 'asked again it is the same');
  const { rows } = sender.do(sender.bind(second.id, 7, [first.id]));
  t.like(rowsOf(rows, 'withdrawal_status'), [{ id: first.id, status: 'built' }]);
  t.deepEqual(
    [sender.nonceOf(second.id), sender.status(first.id), sender.rows.get(first.id)!.unsigned.boundAtMs],
    [7, 'built', undefined],
  );
  sender.account.nowMs += BOUND_HOLD_MS + 10; // changes within one millisecond come one after another
  sender.do(sender.bind(third.id));
  t.is(sender.nonceOf(third.id), 7);
  t.deepEqual(sender.account.folded(), sender.account.state);
  t.is(
    sender.account.refused(sender.submit(second.id)).code,
    'CONFLICT',
    "signed after all, and too late: its value is another one's",
  );
  sender.do(sender.submit(third.id));
  t.is(sender.nonceOf(sender.do(sender.bind(first.id)).reply.id), 8, 'what gave way is bound anew');
});

test('found F43: what cannot be bound is refused, by the error of its cause', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  const old = sender.rows.get(id)!;
  sender.do(sender.bind(id));
  t.like(sender.account.refused({ ...sender.bind(id), known: old }), {
    code: 'CONFLICT',
    details: { reason: 'changed_meanwhile' },
  });
  sender.do({ type: 'abandon_withdrawal', known: sender.rows.get(id)! });
  t.like(sender.account.refused(sender.bind(id)), { code: 'CONFLICT', details: { reason: 'closed' } });
  t.deepEqual(sender.account.state.counters, {});
  const other = sender.built().id;
  t.like(sender.account.refused({ ...sender.bind(other), known: { ...sender.rows.get(other)!, chain: 'btc' } }), {
    code: 'CONFLICT',
    details: { reason: 'no_counter' },
  });
});

test('found F43: a queue that is full answers CONFLICT with when to come again, and a block makes room', (t) => {
  const sender = new Sender(),
    waiting = sender.built();
  const ids = Array.from({ length: 16 }, () => sender.sent().id);
  t.deepEqual(
    ids.map((id) => sender.nonceOf(id)),
    Array.from({ length: 16 }, (_, n) => 7 + n),
  );
  t.like(sender.account.refused(sender.build()), {
    code: 'CONFLICT',
    details: { reason: 'in_flight_limit', limit: 16, inFlight: ids, retryAfterSeconds: 12 },
    message:
      'this address has 16 signed transactions on the way, as many as it may have at once; build it again when one of' +
      ' details.inFlight is in a block, or reprice that one',
  });
  t.like(sender.account.refused(sender.bind(waiting.id)), {
    code: 'CONFLICT',
    details: { reason: 'in_flight_limit', limit: 16, inFlight: ids, retryAfterSeconds: 12 },
  });
  sender.fact(ids[0]!, 'withdrawal_included');
  t.is(sender.nonceOf(sender.do(sender.bind(waiting.id, 8)).reply.id), 23);
});

test('what is signed may land and is not abandoned: CONFLICT', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  sender.do(sender.submit(id));
  t.like(sender.account.refused({ type: 'abandon_withdrawal', known: sender.rows.get(id)! }), {
    code: 'CONFLICT',
    details: { reason: 'signed' },
  });
});

test('V40 a gas tank has sixteen in flight', (t) => {
  const tank = new Sender({}, 'gas_tank');
  for (let count = 0; count < 16; count += 1) tank.do(tank.submit(tank.bound().id));
  t.like(tank.account.refused(tank.build()), { code: 'CONFLICT', details: { reason: 'in_flight_limit', limit: 16 } });
});

test('five EVM networks share the address and not the count', (t) => {
  const sender = new Sender();
  const eth = sender.built(),
    bsc = sender.do(sender.build(3, { chain: 'bsc' })).reply;
  t.deepEqual([sender.nonceOf(eth.id), sender.nonceOf(bsc.id), sender.status(eth.id)], [7, 3, 'built']);
});

test('what the builder refuses is answered and holds nothing', (t) => {
  const sender = new Sender();
  t.is(
    sender.account.refused({ ...sender.build(), inputs: inputsOf({ nativeBalance: '10' }) }).code,
    'INSUFFICIENT_FUNDS',
  );
  t.deepEqual(sender.account.state.counters, {});
  t.like(new Sender({ modules: [] }).account.refused(sender.build()), {
    code: 'CHAIN_UNAVAILABLE',
    details: { permanent: true },
  });
});

test('§8.2 tier Free stops at 100 settled transactions a month and begins anew with the next', (t) => {
  const sender = new Sender({ plan: { tier: 'free' } });
  sender.account.state = { ...sender.account.state, settled: { period: '2026-07', count: 100 } };
  t.like(sender.account.refused(sender.build()), {
    code: 'TIER_FEATURE_LOCKED',
    details: { feature: 'settledTransactions', limit: 100 },
  });
  sender.account.nowMs = Date.UTC(2026, 7, 1);
  t.notThrows(() => sender.built());
});

test('G25 signed bytes are stored before anything is submitted, the same bytes once', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  const submit = sender.submit(id);
  const { reply, rows } = sender.do(submit);
  t.like(reply, { status: 'signing', txid: submit.signed.txid });
  t.deepEqual(reply.versions, [
    {
      txid: submit.signed.txid,
      signedPayload: submit.signed.payload,
      payload: reply.unsigned.payload,
      amount: '1000',
      taken: false,
    },
  ]);
  t.is(rowsOf(rows, 'publication').length, 0);
  const again = sender.do({ ...submit, known: sender.rows.get(id)! });
  t.deepEqual([again.events.length, again.rows.length, again.reply.txid], [0, 0, submit.signed.txid]);
});

test('decisions 3: a signed payload that is not the built one is SIGNED_BATCH_REJECTED', (t) => {
  const sender = new Sender();
  const { id } = sender.built(),
    other = sender.do(sender.build(7, { amount: 2_000n })).reply;
  t.is(sender.status(id), 'built');
  const known = sender.rows.get(other.id)!;
  const wrong: Signed[] = [
    sign(sender.rows.get(id)!),
    sign(known, "m/44'/60'/0'/0/1"),
    { ...sign(known), txid: `0x${'0'.repeat(64)}` },
    { ...sign(known), payload: '0x02' },
  ];
  for (const signed of wrong)
    t.is(sender.account.refused(sender.submit(other.id, { signed })).code, 'SIGNED_BATCH_REJECTED');
});

test('V39 signed bytes under a value that another withdrawal holds are refused', (t) => {
  const sender = new Sender();
  const { id } = sender.built(),
    key = `eth:${sender.from.address}`;
  const { account } = sender,
    theirs = { id: 'txn_other', stage: 'signed' as const };
  account.state = {
    ...account.state,
    counters: { [key]: { ...account.state.counters[key]!, inFlight: { 7: theirs } } },
  };
  t.like(account.refused(sender.submit(id)), { code: 'CONFLICT', details: { reason: 'inputs_in_flight', value: '7' } });
});

test('I19 signed bytes under an old epoch, of another session or without a leader are refused', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  sender.do({ type: 'claim_lease', sessionId: 'ses_b', liveSessions: [] });
  t.is(sender.account.refused(sender.submit(id, { leaseEpoch: 1 })).code, 'LEASE_EPOCH_STALE');
  t.is(sender.account.refused(sender.submit(id)).code, 'LEASE_HELD');
  sender.do({ type: 'release_lease', sessionId: 'ses_b' });
  t.is(sender.account.refused(sender.submit(id, { sessionId: 'ses_b' })).code, 'EDGE_NO_LEADER');
});

test('a row that was read before another change decides nothing: CONFLICT', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  const old = sender.rows.get(id)!;
  sender.do({ type: 'reprice_withdrawal', known: old, inputs: inputsOf() });
  t.like(sender.account.refused({ type: 'reprice_withdrawal', known: old, inputs: inputsOf() }), {
    code: 'CONFLICT',
    details: { reason: 'changed_meanwhile' },
  });
  t.is(sender.account.refused({ type: 'abandon_withdrawal', known: old }).code, 'CONFLICT');
  t.is(sender.account.refused(sender.submit(id, { known: old, signed: sign(old) })).code, 'CONFLICT');
});

test('V37 a repricing keeps nonce and payment, raises the fee, and leaves the older version able to land', (t) => {
  const sender = new Sender();
  const { id } = sender.sent();
  const before = sender.rows.get(id)!;
  const { reply } = sender.do({ type: 'reprice_withdrawal', known: before, inputs: inputsOf() });
  t.true(reply.unsigned.feeMax > before.unsigned.feeMax);
  t.deepEqual([reply.status, reply.unsigned.replayKey, reply.amount], ['broadcast', before.unsigned.replayKey, 1_000n]);
  sender.do(sender.submit(id));
  t.is(sender.rows.get(id)!.versions.length, 2);
  sender.fact(id, 'withdrawal_included', { txid: before.txid! });
  sender.fact(id, 'withdrawal_matured', { txid: before.txid! });
  t.like(sender.rows.get(id), { status: 'confirmed', txid: before.txid, fee: 21_000n });
  t.is(
    sender.account.refused({ type: 'reprice_withdrawal', known: sender.rows.get(id)!, inputs: inputsOf() }).code,
    'CONFLICT',
  );
});

test('found F70: of a send-all the row and its event name what the version pays that landed, whichever lands, also after a reorg', (t) => {
  for (const order of [[0], [1], [2], [0, 1], [1, 0], [2, 0], [0, 2], [1, 2, 0], [2, 1, 2]]) {
    const sender = new Sender();
    const { id } = sender.do(sender.build(7, { amount: 'all' })).reply;
    sender.do(sender.bind(id));
    for (const readAtHeight of [100, 101, 102]) {
      if (readAtHeight > 100)
        sender.do({ type: 'reprice_withdrawal', known: sender.rows.get(id)!, inputs: inputsOf({ readAtHeight }) });
      const { txid } = sender.do(sender.submit(id)).reply;
      sender.noted(id, { kind: 'accepted', txid: txid! });
    }
    const { versions } = sender.rows.get(id)!,
      amounts = versions.map(({ payload }) => Transaction.from(payload).value);
    t.true(amounts[0]! > amounts[1]! && amounts[1]! > amounts[2]!, 'each repricing pays less');
    for (const [turn, index] of order.entries()) {
      const { txid } = versions[index]!,
        amount = amounts[index]!;
      sender.fact(id, 'withdrawal_included', { txid });
      t.like(sender.rows.get(id), { status: 'confirming', txid, amount });
      const { rows } = sender.fact(id, 'withdrawal_matured', { txid });
      t.like(sender.rows.get(id), { status: 'confirmed', txid, amount, fee: 21_000n });
      if (turn === 0)
        t.true(
          JSON.stringify(rowsOf(rows, 'publication'), (_, each: unknown) =>
            typeof each === 'bigint' ? String(each) : each,
          ).includes(String(amount)),
        );
      if (turn < order.length - 1) sender.fact(id, 'withdrawal_orphaned', { txid });
    }
  }
});

test('found F70: versions of before kept no amount: the row names its own, and a repricing keeps that of the last one', (t) => {
  const sender = new Sender(),
    { id } = sender.do(sender.build(7, { amount: 'all' })).reply;
  sender.do(sender.bind(id));
  sender.do(sender.submit(id));
  const row = sender.rows.get(id)!,
    [{ amount: _, ...version } = { amount: '' }] = row.versions;
  sender.rows.set(id, { ...row, versions: [version as (typeof row.versions)[number]] });
  sender.do({ type: 'reprice_withdrawal', known: sender.rows.get(id)!, inputs: inputsOf({ readAtHeight: 101 }) });
  sender.do(sender.submit(id));
  t.true(sender.rows.get(id)!.amount < row.amount);
  sender.fact(id, 'withdrawal_matured', { txid: row.txid! });
  t.is(sender.rows.get(id)!.amount, row.amount);
  const other = new Sender(),
    sent = other.sent();
  other.rows.set(sent.id, { ...sent, versions: sent.versions.map(({ amount: _amount, ...each }) => each) });
  other.fact(sent.id, 'withdrawal_matured');
  t.is(other.rows.get(sent.id)!.amount, sent.amount);
});

test('V37 what is signed is repriced twice per block at most; a build that nobody signed, as often as one likes', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  const reprice = (readAtHeight: number): AccountCommand => ({
    type: 'reprice_withdrawal',
    known: sender.rows.get(id)!,
    inputs: { ...inputsOf(), readAtHeight },
  });
  for (let n = 0; n < 3; n += 1) sender.do(reprice(100));
  sender.do(sender.submit(id));
  sender.noted(id, { kind: 'accepted', txid: sender.rows.get(id)!.txid! });
  for (let n = 0; n < 2; n += 1) sender.do(reprice(100));
  t.like(sender.account.refused(reprice(100)), {
    code: 'CONFLICT',
    details: { reason: 'repriced_in_this_block', limit: 2, height: 100 },
  });
  t.is(sender.account.refused(reprice(99)).code, 'CONFLICT', 'a node that lags is no new block');
  sender.do(reprice(101));
  sender.do(reprice(101));
  t.is(sender.account.refused(reprice(101)).code, 'CONFLICT');
});

test('G26 G27 bytes that a node may have are ended by no refusal: their nonce stays held until there is proof', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  const txid = sender.do(sender.submit(id)).reply.txid!;
  sender.noted(id, { kind: 'unknown', reason: 'timeout' });
  const counters = structuredClone(sender.account.state.counters);
  t.is(sender.noted(id, { kind: 'rejected_final', refusal: refuse('INSUFFICIENT_GAS') }).events.length, 0);
  t.deepEqual([sender.status(id), sender.told, sender.account.state.counters], ['signing', [], counters]);
  sender.noted(id, { kind: 'already_known', txid });
  t.is(sender.status(id), 'broadcast');
});

test('G26 G27 a submit is durable before it is made: after a crash between the two no refusal frees its nonce', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  sender.do(sender.submit(id));
  const { row, sole } = sender.begun(id);
  t.true(sole);
  t.true(row.versions[0]!.doubtful);
  // Whoever submitted is gone, with its answer. The next one does not know whether the bytes are out.
  const { counters } = structuredClone(sender.account.state);
  const next = sender.begun(id);
  t.false(next.sole);
  t.is(sender.noted(id, { kind: 'rejected_final', refusal: refuse('INSUFFICIENT_GAS') }).events.length, 0);
  t.deepEqual([sender.status(id), sender.told, sender.account.state.counters], ['signing', [], counters]);
  // The answer to the first one comes after all: it is about an older row.
  const late: AccountCommand = {
    type: 'note_broadcast',
    known: row,
    txid: row.txid!,
    sole: true,
    result: { kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED') },
  };
  t.like(sender.account.refused(late), { code: 'CONFLICT', details: { reason: 'changed_meanwhile' } });
  sender.noted(id, { kind: 'accepted', txid: row.txid! });
  t.is(sender.status(id), 'broadcast');
  t.deepEqual(sender.begun(id), { row: sender.rows.get(id)!, sole: false }, 'what a node took is marked no more');
});

test('G26 the answer to the only submit that was ever begun ends a version, and its nonce is free', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  sender.do(sender.submit(id));
  const { row } = sender.begun(id);
  sender.do({
    type: 'note_broadcast',
    known: row,
    txid: row.txid!,
    sole: true,
    result: { kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED') },
  });
  t.deepEqual([sender.status(id), sender.told, sender.account.state.counters], ['failed', ['withdrawal_failed'], {}]);
  t.is(sender.account.refused({ type: 'begin_submit', known: row, txid: row.txid! }).code, 'CONFLICT');
  t.is(sender.account.refused({ type: 'begin_submit', known: row, txid: '0xother' }).code, 'NOT_FOUND');
});

test('G26 accepted and already_known announce once, unknown is remembered, rejected_final fails and frees the nonce', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  const txid = sender.do(sender.submit(id)).reply.txid!;
  t.is(sender.noted(id, { kind: 'unknown', reason: 'timeout' }).events.length, 1);
  t.is(sender.noted(id, { kind: 'unknown', reason: 'timeout' }).events.length, 0, 'it is remembered once');
  sender.noted(id, { kind: 'already_known', txid });
  t.is(sender.noted(id, { kind: 'accepted', txid }).events.length, 0);
  t.deepEqual([sender.status(id), sender.told], ['broadcast', ['withdrawal_broadcast']]);
  const other = new Sender();
  const refused = other.built();
  other.do(other.submit(refused.id));
  other.noted(refused.id, {
    kind: 'rejected_final',
    refusal: refuse('CHAIN_REJECTED', { reason: 'invalid chain id' }),
  });
  t.like(other.rows.get(refused.id), {
    status: 'failed',
    failure: { code: 'CHAIN_REJECTED', reason: 'invalid chain id' },
  });
  t.deepEqual(
    [other.told, other.account.state.counters, other.account.state.withdrawals],
    [['withdrawal_failed'], {}, {}],
  );
});

test('found F3, G27: what every node refused is watched until it is proven dead, or lands', (t) => {
  const refused = (): [Sender, string] => {
    const sender = new Sender();
    const { id } = sender.bound();
    sender.do(sender.submit(id));
    sender.noted(id, { kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED') });
    t.true(isWatched(sender.rows.get(id)!));
    return [sender, id];
  };
  const [dead, deadId] = refused();
  const proven = dead.fact(deadId, 'withdrawal_dead', { reason: 'the nonce is used by another transaction' });
  t.false(isWatched(dead.rows.get(deadId)!));
  t.deepEqual([dead.status(deadId), dead.told, proven.events], ['failed', ['withdrawal_failed'], []]);
  const [landed, landedId] = refused();
  landed.fact(landedId, 'withdrawal_included');
  landed.fact(landedId, 'withdrawal_matured');
  t.like(landed.rows.get(landedId), { status: 'confirmed', failure: null });
  t.true(landed.rows.get(landedId)!.versions.every(({ watched }) => watched === undefined));
  t.deepEqual(landed.told, ['withdrawal_failed', 'withdrawal_confirmed']);
});

test('found G25: a replacement that the node refuses is submitted no more and stays signed; the version before it may still land', (t) => {
  const sender = new Sender();
  const { id, txid } = sender.sent();
  sender.do({ type: 'reprice_withdrawal', known: sender.rows.get(id)!, inputs: inputsOf() });
  sender.do(sender.submit(id));
  sender.noted(id, { kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED') });
  t.like(sender.rows.get(id), { status: 'broadcast', txid });
  t.deepEqual(
    sender.rows.get(id)!.versions.map((version) => [version.txid === txid, version.refused === true]),
    [
      [false, true],
      [true, false],
    ],
    'G25: kept, and watched',
  );
  t.is(
    sender.account.refused({
      type: 'note_broadcast',
      known: sender.rows.get(id)!,
      txid: '0xother',
      result: { kind: 'accepted', txid: '0xother' },
    }).code,
    'NOT_FOUND',
  );
});

test('§5.7 nothing is built or signed while a rotation awaits the owner', (t) => {
  const sender = new Sender();
  const { id } = sender.built();
  sender.do(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] }));
  t.is(sender.account.refused(sender.build()).code, 'IDENTITY_ROTATION_PENDING');
  t.is(sender.account.refused(sender.submit(id)).code, 'IDENTITY_ROTATION_PENDING');
});

test('found F70: a repriced version begins, is noted and is dropped by itself, beside an older one that a node has', (t) => {
  const sender = new Sender();
  const first = sender.sent();
  const reprice = () =>
    sender.do({
      type: 'reprice_withdrawal',
      known: sender.rows.get(first.id)!,
      inputs: inputsOf({ readAtHeight: 101 }),
    });
  const placesOf = () => sender.rows.get(first.id)!.versions.map(({ doubtful, taken }) => [doubtful === true, taken]);
  reprice();
  const { txid } = sender.do(sender.submit(first.id)).reply;
  t.not(txid, first.txid);
  t.deepEqual(
    placesOf(),
    [
      [false, true],
      [false, false],
    ],
    'the old one is in a node, the new one is not sent yet',
  );
  t.true(sender.begun(first.id).sole);
  t.deepEqual(placesOf(), [
    [false, true],
    [true, false],
  ]);
  sender.noted(first.id, { kind: 'accepted', txid: txid! });
  t.deepEqual(placesOf(), [
    [false, true],
    [true, true],
  ]);
  t.deepEqual(sender.told, ['withdrawal_broadcast'], 'told once');
  t.false(sender.begun(first.id).sole, 'a resubmission of what a node has costs no append');
  reprice();
  const third = sender.do(sender.submit(first.id)).reply.txid!;
  const { row, sole } = sender.begun(first.id);
  const refused = {
    kind: 'rejected_final' as const,
    refusal: refuse('CHAIN_REJECTED', { reason: 'replacement transaction underpriced' }),
  };
  sender.do({ type: 'note_broadcast', known: row, txid: third, result: refused, ...(sole ? { sole } : {}) });
  t.deepEqual(
    [sender.status(first.id), sender.rows.get(first.id)!.txid],
    ['broadcast', txid],
    'the refused one is dropped, the others may land',
  );
});

test('found F70: rows from before it was kept: no refusal ends a broadcast of which only the status tells', (t) => {
  const sender = new Sender();
  const { id } = sender.sent();
  const known = sender.rows.get(id)!;
  sender.rows.set(id, { ...known, versions: known.versions.map(({ taken: _, ...version }) => version) });
  t.false(sender.begun(id).sole);
  sender.noted(id, { kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED', { reason: 'refused' }) });
  t.deepEqual([sender.status(id), sender.rows.get(id)!.versions.length], ['broadcast', 1]);
});

test('found: a counter that one endpoint alone names above our own records is not built with; both agreed, it is', (t) => {
  const sender = new Sender();
  sender.sent(7);
  const lie = sender.build(30),
    inputs = { ...lie.inputs, counter: 'one_word' as const };
  t.like(sender.account.refused({ ...lie, inputs }), {
    code: 'CHAIN_UNAVAILABLE',
    details: { permanent: false, chain: 'eth' },
  });
  t.is(
    sender.nonceOf(
      sender.do({ ...sender.build(8), inputs: { ...sender.build(8).inputs, counter: 'one_word' as const } }).reply.id,
    ),
    8,
  );
  t.is(
    sender.nonceOf(
      sender.do({ ...sender.build(0), inputs: { ...sender.build(0).inputs, counter: 'disputed' as const } }).reply.id,
    ),
    8,
    'a lower one keeps what we know',
  );
  t.is(sender.nonceOf(sender.built(30).id), 30, 'two endpoints agree on it');
  const fresh = new Sender();
  t.is(
    fresh.nonceOf(fresh.do({ ...fresh.build(30), inputs: { ...lie.inputs, counter: 'one_word' as const } }).reply.id),
    30,
    'without own records there is nothing to hold it against',
  );
});

test('found: values that a lie left unused below what waits are filled by the next builds, also when the queue is full', (t) => {
  const sender = new Sender();
  const stuck = Array.from({ length: 16 }, () => sender.nonceOf(sender.sent(30).id));
  t.deepEqual(
    stuck,
    Array.from({ length: 16 }, (_, n) => 30 + n),
  );
  t.is(sender.account.refused(sender.build(28)).code, 'CONFLICT', 'what is young may be ahead of a node');
  sender.account.nowMs += 61_000;
  const disputed = sender.build(28);
  t.is(
    sender.account.refused({ ...disputed, inputs: { ...disputed.inputs, counter: 'disputed' as const } }).code,
    'CONFLICT',
  );
  t.deepEqual([sender.nonceOf(sender.sent(28).id), sender.nonceOf(sender.sent(28).id)], [28, 29]);
  t.is(sender.account.refused(sender.build(28)).code, 'CONFLICT', 'no gap is left');
});
