import test from 'ava';
import type { ReplayKey, Unsigned } from '../../../chains/chain.ts';
import { createIdentity, publicKeyOf } from '../../../edge/link/identity.ts';
import { InstructionShare } from '../../../edge/signing/instruction-share.ts';
import { Instructions, type RecordedInstruction } from '../../../edge/signing/instructions.ts';
import { newStorage } from '../../support/edge/disk.ts';

const unsigned: Unsigned = {
  chain: 'eth',
  payload: '0x02aa',
  from: '0xA',
  fromPath: "m/44'/60'/0'/0/0",
  to: '0xB',
  amount: 12345678901234567890n,
  tokenContract: null,
  tag: null,
  kind: 'payment',
  sendAll: false,
  feeMax: 7n,
  fee: { type: 2 },
  replayKey: { kind: 'nonce', value: 3 },
  readAtHeight: 9,
};
const recorded: RecordedInstruction = {
  unsigned,
  instruction: {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain: 'eth',
    from: '0xA',
    fromPath: unsigned.fromPath,
    to: '0xB',
    toPath: null,
    amount: 12345678901234567890n,
    token: { chain: 'eth', contract: '0xC', symbol: 'X', decimals: 6 },
    tag: null,
  },
};
const NOW_MS = 1_700_000_000_000;
const newInstructions = () => new Instructions(newStorage(), () => NOW_MS);
const at = (value: number, more: Partial<Unsigned> = {}): Unsigned => ({
  ...unsigned,
  payload: `0x02${value}`,
  replayKey: { kind: 'nonce', value },
  ...more,
});

test('what was asked comes back exactly, amounts beyond a double too', (t) => {
  const instructions = newInstructions();
  t.is(instructions.get('txn_1'), null);
  t.true(instructions.record(recorded));
  t.deepEqual(instructions.get('txn_1'), recorded);
  const odd = {
    instruction: { ...recorded.instruction, id: 'txn_2' },
    unsigned: { ...unsigned, fee: { $n: 'not digits', amount: '7' } },
  };
  t.true(instructions.record(odd));
  t.deepEqual(instructions.get('txn_2'), odd, 'found F13: a part of a fee that is named as the text of an amount');
});

test('decisions 6: an instruction is never replaced by another one; its payload may be', (t) => {
  const instructions = newInstructions();
  instructions.record(recorded);
  t.false(instructions.record({ ...recorded, instruction: { ...recorded.instruction, to: '0xE' } }));
  t.true(instructions.record({ ...recorded, unsigned: at(3, { feeMax: 9n }) }));
  t.is(instructions.get('txn_1')?.unsigned.feeMax, 9n);
  t.is(instructions.get('txn_1')?.instruction.to, '0xB');
});

test('found F13: what only expires keeps nothing from landing but its own bytes: after a broadcast no other version is recorded or taken', (t) => {
  const expiring = (text: string): Unsigned => ({
    ...unsigned,
    chain: 'sol',
    payload: text,
    replayKey: { kind: 'expiry', value: text },
  });
  const instructions = newInstructions();
  const keep = (each: Unsigned) => instructions.record({ ...recorded, unsigned: each });
  t.true(keep(expiring('1')) && keep(expiring('2')), 'nobody broadcast it');
  t.false(instructions.mayBeSigned('txn_1') || instructions.mayBeSigned('txn_9'));
  instructions.noteBroadcast('txn_1');
  t.true(instructions.mayBeSigned('txn_1') && keep(expiring('2')));
  t.false(keep(expiring('3')) || keep(expiring('1')));
  const [shared] = instructions.unshared(0, 10_000),
    other = newInstructions();
  t.true(
    other.record({ ...recorded, unsigned: expiring('9') }) && other.take(shared!),
    'what was broadcast elsewhere wins',
  );
  t.is(other.get('txn_1')?.unsigned.payload, '2');
  t.false(other.record({ ...recorded, unsigned: expiring('9') }));
  const third = newInstructions();
  t.true(third.record({ ...recorded, unsigned: expiring('9') }));
  third.noteBroadcast('txn_1');
  t.false(third.take(shared!), 'two were broadcast: the second may be signed here, and the first is not');
  const signedHere = newInstructions();
  t.true(signedHere.record({ ...recorded, unsigned: expiring('1') }));
  signedHere.journal({ ...recorded, unsigned: expiring('1') });
  t.true(signedHere.mayBeSigned('txn_1'), 'an edge of before kept no broadcasts');
});

test('1.6-7: a payload that would not exclude the known one is not recorded, and not taken from another replica', (t) => {
  const instructions = newInstructions();
  const coins = (...value: string[]): Unsigned => ({
    ...unsigned,
    chain: 'btc',
    payload: value.join(),
    replayKey: { kind: 'outpoints', value },
  });
  const keep = (id: string, each: Unsigned) =>
    instructions.record({ unsigned: each, instruction: { ...recorded.instruction, id } });
  t.true(keep('txn_1', at(3)));
  t.true(keep('txn_1', at(4)), 'nobody broadcast it, so that it is signed nowhere');
  instructions.noteBroadcast('txn_1');
  t.false(keep('txn_1', at(3)));
  t.true(keep('txn_2', coins('t:0', 't:1')));
  instructions.noteBroadcast('txn_2');
  t.true(keep('txn_2', coins('t:1', 't:0', 't:2')));
  t.false(keep('txn_2', coins('t:0', 't:2')), 'a version keeps every coin');
  const first = instructions.unshared(0, 10_000).find(({ transactionId }) => transactionId === 'txn_1')!;
  const other = new Instructions(newStorage(), () => NOW_MS + 5_000);
  t.true(other.record({ ...recorded, unsigned: at(9) }));
  t.true(other.take(first), 'what was broadcast elsewhere wins over a later version that nobody broadcast here');
  t.is(other.get('txn_1')?.unsigned.payload, '0x024');
  t.false(other.record({ ...recorded, unsigned: at(9) }));
  const third = new Instructions(newStorage(), () => 1);
  t.true(third.record({ ...recorded, unsigned: at(5) }));
  third.noteBroadcast('txn_1');
  t.false(third.take(first), 'two that were broadcast and could both land');
  t.is(third.get('txn_1')?.unsigned.payload, '0x025');
});

test('found F70: the amounts of all versions are known, those of other replicas too; what the cloud adds to a build is none of them', (t) => {
  const all = { ...recorded.instruction, amount: 'all' as const },
    one = newInstructions(),
    late = newInstructions(),
    of = (amount: bigint) => at(3, { amount, payload: `0x02${amount}` });
  for (const amount of [90n, 80n])
    one.record({ instruction: all, unsigned: { ...of(amount), amounts: ['666'] } as Unsigned });
  late.take(one.unshared(0, 10_000)[0]!);
  one.record({ instruction: all, unsigned: of(70n) });
  t.deepEqual(
    [one.amountsOf('txn_1'), late.amountsOf('txn_1')],
    [
      [90n, 80n, 70n],
      [90n, 80n],
    ],
  );
  t.deepEqual(one.get('txn_1'), { instruction: all, unsigned: of(70n) });
  late.record({ instruction: all, unsigned: of(60n) });
  late.noteBroadcast('txn_1');
  t.true(one.take({ ...late.unshared(0, 10_000)[0]!, askedAtMs: NOW_MS + 9 }));
  t.deepEqual(
    one.amountsOf('txn_1'),
    [90n, 80n, 70n, 60n],
    'what one replica built stays known beside what the other did',
  );
  const before = { ...(one.unshared(0, 10_000)[0] ?? late.unshared(0, 10_000)[0]!) },
    { amounts: _, ...older } = JSON.parse(before.unsigned) as { amounts: unknown };
  const third = newInstructions();
  third.take({ ...before, unsigned: JSON.stringify(older) });
  t.is(third.amountsOf('txn_1'), null, 'an edge of before tells the newest only');
  t.is(third.amountsOf('txn_9'), null);
});

test('found F70: what a signed version pays is known by its txid; of a record of before only that of the newest payload', (t) => {
  const all = { ...recorded.instruction, amount: 'all' as const },
    storage = newStorage(),
    kept = new Instructions(storage, () => NOW_MS),
    of = (amount: bigint) => at(3, { amount, payload: `0x02${amount}` });
  for (const amount of [90n, 70n]) {
    const version = { instruction: all, unsigned: of(amount) };
    kept.record(version);
    kept.journal(version);
    kept.noteSigned('txn_1', version.unsigned.payload, { chain: 'eth', payload: '0x', txid: `0x${amount}` });
  }
  t.deepEqual([kept.amountOfSigned('txn_1', '0x90'), kept.amountOfSigned('txn_1', '0x70')], [90n, 70n]);
  t.deepEqual([kept.amountOfSigned('txn_1', '0x1'), kept.amountOfSigned('txn_2', '0x90')], [null, null]);
  storage.run('update signatures set amount = null');
  t.deepEqual([kept.amountOfSigned('txn_1', '0x90'), kept.amountOfSigned('txn_1', '0x70')], [null, 70n]);
});

test('1.6-7: the journal finds what was signed for an instruction and under a replay key, oldest first', (t) => {
  const instructions = newInstructions();
  const journal = (id: string, each: Unsigned) =>
    instructions.journal({ instruction: { ...recorded.instruction, id }, unsigned: each });
  journal('txn_1', at(3));
  journal('txn_1', at(3));
  journal('txn_1', at(3, { payload: '0x02dearer' }));
  journal('txn_2', at(4));
  journal('txn_3', at(3, { payload: '0x02bsc', chain: 'bsc' }));
  t.deepEqual(
    instructions.signaturesOf('txn_1').map(({ payload }) => payload),
    ['0x023', '0x02dearer'],
  );
  t.deepEqual(
    instructions.signaturesUnder('eth', '0xA', { kind: 'nonce', value: 3 }).map(({ payload }) => payload),
    ['0x023', '0x02dearer'],
  );
  t.deepEqual(
    instructions.signaturesUnder('bsc', '0xA', { kind: 'nonce', value: 3 }).map(({ transactionId }) => transactionId),
    ['txn_3'],
  );
  t.deepEqual(instructions.signaturesUnder('eth', '0xZ', { kind: 'nonce', value: 3 }), []);
  t.is(instructions.highestCounter('eth', '0xA', { kind: 'nonce', value: 0 }), 4n);
  t.is(instructions.highestCounter('eth', '0xZ', { kind: 'nonce', value: 0 }), null);
});

test('decisions 3: a build that took over the coins of an expired one keeps them in each version: another replica may sign the expired one', (t) => {
  const instructions = newInstructions();
  const build = (id: string, value: string[], supersedes: string[] = []): RecordedInstruction => ({
    instruction: {
      ...recorded.instruction,
      id,
      chain: 'btc',
      token: null,
      request: { key: 'k', body: 'b', ...(supersedes.length === 0 ? {} : { supersedes }) },
    },
    unsigned: { ...unsigned, chain: 'btc', payload: value.join(), replayKey: { kind: 'outpoints', value } },
  });
  t.true(instructions.record(build('txn_1', ['t:0'])));
  t.true(instructions.record(build('txn_1', ['t:1'])), 'nobody signs the version before');
  t.true(instructions.record(build('txn_2', ['t:1', 't:2'], ['txn_1'])));
  t.false(instructions.record(build('txn_2', ['t:2', 't:3'], ['txn_1'])), 'both could land');
  t.true(instructions.record(build('txn_2', ['t:1', 't:2', 't:3'], ['txn_1'])));
});

test('decision 35: a late record without a counter takes no bound version away, and is no alarm', (t) => {
  const counted: RecordedInstruction = {
    instruction: { ...recorded.instruction, counter: 'at_broadcast' },
    unsigned: at(3),
  };
  const recordOf = (from: Instructions) => from.unshared(0, 10_000)[0]!;
  const builder = newInstructions(),
    another = new Instructions(newStorage(), () => NOW_MS + 5_000),
    reader = newInstructions();
  t.true(builder.record(counted));
  const unbound = recordOf(builder);
  t.true(another.take(unbound));
  another.noteBroadcast('txn_1'); // its caller broadcast it there, later by that clock
  const late = recordOf(another);
  t.true(builder.bind('txn_1', at(4), false));
  t.true(builder.handOut('txn_1'));
  for (const [record, value] of [
    [unbound, 3],
    [recordOf(builder), 4],
    [late, 4],
  ] as const) {
    t.true(reader.take(record));
    t.like(reader.get('txn_1')?.unsigned.replayKey, { value });
  }
  t.true(builder.take(late));
  t.like(builder.get('txn_1')?.unsigned, { bound: true, replayKey: { value: 4 } });
});

test('1.6-7: outpoints meet when they share one; a Stellar sequence is compared exactly', (t) => {
  const instructions = newInstructions();
  const journal = (id: string, chain: 'btc' | 'xlm', replayKey: ReplayKey) =>
    instructions.journal({
      instruction: { ...recorded.instruction, id },
      unsigned: at(0, { chain, payload: id, replayKey }),
    });
  journal('a', 'btc', { kind: 'outpoints', value: ['t:0', 't:1'] });
  journal('b', 'btc', { kind: 'outpoints', value: ['u:0'] });
  const under = (value: string[]) =>
    instructions.signaturesUnder('btc', '0xA', { kind: 'outpoints', value }).map(({ payload }) => payload);
  t.deepEqual(under(['t:1', 'x:9']), ['a']);
  t.deepEqual(under(['u:0', 't:0']), ['a', 'b']);
  t.deepEqual(under(['t:10']), []);
  t.is(instructions.highestCounter('btc', '0xA', { kind: 'outpoints', value: [] }), null);
  journal('c', 'xlm', { kind: 'sequence', value: '9007199254740993' });
  t.deepEqual(instructions.signaturesUnder('xlm', '0xA', { kind: 'sequence', value: '9007199254740992' }), []);
  t.is(instructions.highestCounter('xlm', '0xA', { kind: 'sequence', value: '0' }), 9007199254740993n);
});

test('G25: signed bytes and their fate are kept with the payload', (t) => {
  const instructions = newInstructions();
  instructions.journal(recorded);
  t.deepEqual(
    instructions.signaturesOf('txn_1').map(({ signed, outcome }) => [signed, outcome]),
    [[null, 'open']],
  );
  instructions.noteSigned('txn_1', unsigned.payload, { chain: 'eth', payload: '0xsigned', txid: '0xid' });
  instructions.noteOutcome('txn_1', '0xid', 'refused', 'CHAIN_REJECTED');
  t.deepEqual(instructions.signaturesOf('txn_1'), [
    {
      transactionId: 'txn_1',
      payload: unsigned.payload,
      signed: { chain: 'eth', payload: '0xsigned', txid: '0xid' },
      outcome: 'refused',
      outcomeCode: 'CHAIN_REJECTED',
      signedAtMs: NOW_MS,
    },
  ]);
});

test('a record that the cloud refuses for good holds up no younger one; one it cannot take now is sent again', async (t) => {
  const instructions = new Instructions(newStorage(), () => NOW_MS);
  for (const id of ['txn_1', 'txn_2', 'txn_3'])
    instructions.record({ ...recorded, instruction: { ...recorded.instruction, id } });
  const identity = createIdentity(new Uint8Array(32).fill(7));
  const log = {
    info: () => undefined,
    warn: () => undefined,
    alarm: () => undefined,
    fault: (_code: string, error: unknown) => t.fail(String(error)),
    alarms: 0,
  };
  const share = new InstructionShare({
    instructions,
    environment: 'live',
    identity,
    identityKey: publicKeyOf(identity.publicKey),
    nowMs: () => NOW_MS,
    ttlMs: 1_000,
    log,
  });
  const told: string[] = [];
  const answer = (codes: Record<string, string>) =>
    share.send(async ([record]) => {
      told.push(record!.transactionId);
      const code = codes[record!.transactionId];
      return code === undefined ? { ok: true } : { ok: false, code };
    });
  await answer({ txn_1: 'PAYLOAD_TOO_LARGE', txn_2: 'SERVICE_UNAVAILABLE' });
  t.deepEqual(told.splice(0), ['txn_1', 'txn_2']);
  await answer({});
  t.deepEqual(told.splice(0), ['txn_2', 'txn_3']);
  instructions.noteBroadcast('txn_1');
  await answer({});
  t.deepEqual(told, ['txn_1'], 'asked for anew');
});

test('found: a broadcast that was refused is withdrawn for good, also before a record of it that comes again, until its caller broadcasts it anew', (t) => {
  let nowMs = NOW_MS;
  const storage = newStorage(),
    instructions = new Instructions(storage, () => nowMs);
  instructions.record(recorded);
  instructions.noteBroadcast('txn_1');
  const [shared] = instructions.unshared(0, 10_000);
  instructions.withdraw('txn_1');
  for (const each of [instructions, new Instructions(storage, () => nowMs)]) {
    t.is(each.broadcastAtMs('txn_1'), null);
    t.true(each.take(shared!) && each.broadcastAtMs('txn_1') === null, 'the cloud shows the record of before');
    t.true(each.mayBeSigned('txn_1'), 'another replica may have signed it');
  }
  nowMs += 1;
  instructions.noteBroadcast('txn_1');
  t.true(instructions.broadcastAtMs('txn_1')! > shared!.broadcastAtMs!);
  const journaled = new Instructions(newStorage(), () => nowMs);
  journaled.record(recorded);
  journaled.journal(recorded);
  t.true(
    journaled.broadcastAtMs('txn_1') !== null && journaled.unshared(0, 10_000)[0]?.broadcastAtMs !== null,
    'what is signed was broadcast, and is shared',
  );
});

test("found: an Idempotency-Key is one id's, for what is recorded here and what another replica shares; a known instruction is repriced though its key went on", (t) => {
  let nowMs = NOW_MS;
  const instructions = new Instructions(newStorage(), () => nowMs),
    other = new Instructions(newStorage(), () => nowMs);
  const as = (id: string): RecordedInstruction => ({
    ...recorded,
    instruction: { ...recorded.instruction, id, request: { key: 'k', body: 'b' } },
  });
  t.true(instructions.record(as('txn_1')) && other.record(as('txn_2')));
  t.false(instructions.record(as('txn_2')) || instructions.take(other.unshared(0, 10_000)[0]!));
  t.is(instructions.get('txn_2'), null);
  nowMs += 86_400_001;
  t.true(instructions.record(as('txn_3')), 'a key is kept for 24 hours');
  t.true(instructions.record(as('txn_1')), 'a new version of what is known');
});
