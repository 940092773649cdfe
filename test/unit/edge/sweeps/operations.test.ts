import test from 'ava';
import { openSharedSpend } from '../../../../edge/spend/shared-spend.ts';
import { spendReplicaOf } from '../../../../edge/spend/shared-spend.ts';
import { openSpendClock } from '../../../../edge/spend/clock.ts';
import { spendOf } from '../../../../edge/spend/caps.ts';
import { tronSigner } from '../../../../edge/signing/signers/tron.ts';
import { startSweeps, stopSweeps } from '../../../../edge/sweeps/stop.ts';
import { sweepsCommand } from '../../../../edge/cli/sweeps.ts';
import { buildUnsigned } from '../../../../chains/evm/unsigned.ts';
import { decodePayload, encodePayload, type DecodedPayload } from '../../../../chains/xlm/envelope.ts';
import { feePartsOf } from '../../../../chains/xlm/unsigned.ts';
import { eth } from '../../../../chains/evm/network.ts';
import { isRefusal, type Refusal } from '../../../../protocol/errors.ts';
import type { OperateFrame } from '../../../../protocol/frames.ts';
import { newId } from '../../../../protocol/node/ids.ts';
import { CHAINS } from '../../../../protocol/slugs.ts';
import { inputsOf as evmInputs } from '../../../support/evm-inputs.ts';
import { newDirectory, newStorage } from '../../../support/edge/disk.ts';
import { STAGES } from '../../../support/edge/lies/refusals.ts';
import type { Ask } from '../../../support/edge/lies/stage.ts';
import { EPOCH, frameOf, jsonOf, operatingEdge, own, SUBMITTED } from '../../../support/edge/operations.ts';

const ANY_RATIO = { sweepFeeRatioBps: 10 ** 9 };
const [TANK, TREASURY] = ["m/44'/60'/0'/1/0", "m/44'/60'/0'/1/1"].map((path) => own.addressAt('eth', path)!) as [
  string,
  string,
];
const pathOf = (index: number) => `m/44'/60'/0'/0/${index}`;
const GWEI = 1_000_000_000n;

/** An operation on Ethereum as an honest cloud builds it. */
function evmAsk(
  role: 'fund' | 'sweep',
  more: { index?: number; nonce?: number; amount?: bigint | 'all'; price?: bigint } = {},
): Ask {
  const { index = 0, nonce = 7, amount = role === 'sweep' ? 'all' : 10n ** 15n, price = GWEI } = more;
  const path = pathOf(index),
    address = own.addressAt('eth', path)!;
  const ends =
    role === 'sweep'
      ? { from: address, fromPath: path, to: TREASURY, toPath: null }
      : { from: TANK, fromPath: "m/44'/60'/0'/1/0", to: address, toPath: path };
  const { stage } = { stage: STAGES.evm };
  const built = buildUnsigned(
    eth,
    evmInputs({ baseFeePerGas: price.toString(), nativeBalance: (10n ** 18n).toString() }),
    { chain: 'eth', ...ends, amount, token: null, tag: null },
    { kind: 'nonce', value: nonce },
  );
  if (isRefusal(built)) throw new Error(JSON.stringify(built));
  const purpose = role === 'sweep' ? ('sweep' as const) : ('gas_funding' as const);
  const honest = stage.asks['sweep']!;
  return { ...honest, unsigned: built, instruction: { ...honest.instruction, ...ends, purpose, amount } };
}

const reasonOf = (answer: unknown) => (answer as Refusal).details['reason'] ?? (answer as Refusal).code;

test('treasury E4: a funding counts amount and highest fee, a sweep its highest fee alone, and the cap is held before a signature', async (t) => {
  const fund = evmAsk('fund'),
    sweep = evmAsk('sweep');
  const need = fund.unsigned.amount + fund.unsigned.feeMax + sweep.unsigned.feeMax;
  const { operations, ledger, signatures } = operatingEdge({ cap: need });
  t.is(await operations.onFrame(frameOf(fund)), SUBMITTED);
  t.is(ledger.spent('eth', 'cloud'), fund.unsigned.amount + fund.unsigned.feeMax);
  t.is(await operations.onFrame(frameOf(sweep)), SUBMITTED);
  t.is(ledger.spent('eth', 'cloud'), need, 'a swept ether stays the company’s');
  const over = await operations.onFrame(frameOf(evmAsk('sweep', { index: 1 })));
  t.like(over, {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { setting: 'EDGE_SPEND_CAP_ETH', cap: need.toString(), spent: need.toString(), windowSeconds: 60 },
  });
  t.is(signatures(), 2);
  const none = operatingEdge({ cap: 0n });
  t.like(await none.operations.onFrame(frameOf(sweep)), { code: 'AMOUNT_CAP_EXCEEDED', details: { cap: '0' } });
  t.is(none.signatures(), 0);
});

test('T20 treasury E4: a funding on TRON counts the account that it may make, though the cloud says that it makes none', async (t) => {
  const ask = STAGES.tron.asks['gas funding']!,
    { amount, feeMax, fee } = ask.unsigned;
  t.is(fee['activationFee'], '0', 'what a lying cloud says of an address that is not on the chain');
  const counted = amount + feeMax + 1_000_000n;
  const edge = operatingEdge({ cap: 2n * counted - 1n, nowMs: () => ask.policy.nowMs! });
  t.is(await edge.operations.onFrame(frameOf(ask)), SUBMITTED);
  t.is(edge.ledger.spent('tron', 'cloud'), counted);
  t.is(spendOf({ ...ask.unsigned, amount: 1n }, tronSigner), 1n + feeMax + 1_000_000n, 'one sun burns a whole TRX');
  const activating = STAGES.tron.asks['native to a new account']!.unsigned;
  t.is(spendOf(activating, tronSigner), activating.amount + activating.feeMax, 'what is stated is counted once');
  for (const kind of ['sweep', 'sweep of a token']) {
    const { unsigned } = STAGES.tron.asks[kind]!;
    t.is(spendOf(unsigned, tronSigner, { isSweep: true }), unsigned.feeMax, kind);
  }
});

test('M28 treasury E4: what is inside of a bump can land without it: the higher of both offers is counted', async (t) => {
  for (const kind of ['sweep', 'sweep of a token']) {
    const ask = STAGES.xlm.asks[kind]!;
    const decoded = decodePayload(ask.unsigned.payload) as DecodedPayload & { ok: true };
    const { transaction, bump } = decoded.payload;
    const payload = { transaction: { ...transaction, feeStroops: 9_999 }, bump };
    const unsigned = { ...ask.unsigned, payload: encodePayload(payload), fee: feePartsOf(payload) };
    const edge = (cap: bigint) =>
      operatingEdge({
        cap,
        fees: ANY_RATIO,
        nowMs: () => ask.policy.nowMs!,
        treasuries: new Map([['xlm', [{ address: ask.instruction.to, tag: null, isOfOneChain: false }]]]),
      });
    t.true(unsigned.feeMax < 9_999n, 'what the outside offers');
    const poor = edge(9_998n);
    t.like(await poor.operations.onFrame(frameOf({ ...ask, unsigned })), { code: 'AMOUNT_CAP_EXCEEDED' }, kind);
    t.is(poor.signatures(), 0);
    const rich = edge(9_999n);
    t.is(await rich.operations.onFrame(frameOf({ ...ask, unsigned })), SUBMITTED);
    t.is(rich.ledger.spent('xlm', 'cloud'), 9_999n);
  }
});

test('treasury E2: an address gets gas four times within the window, of all replicas that share a ledger', async (t) => {
  let nowMs = 1_800_000_000_000;
  const directory = newDirectory();
  const sharedOf = async (storage: ReturnType<typeof newStorage>) => {
    const caps = {
      spendCaps: new Map(CHAINS.map((chain) => [chain, 10n ** 30n])),
      withdrawalCaps: new Map(),
      spendWindowMs: 60_000,
    };
    const ports = { wallMs: () => nowMs, monotonicMs: () => nowMs };
    return openSharedSpend({
      ...ports,
      place: { kind: 'directory', path: directory },
      scope: 'live',
      caps,
      clock: openSpendClock(storage, 0, ports),
      replica: spendReplicaOf(storage),
    });
  };
  const replicas = await Promise.all(
    [newStorage(), newStorage()].map(async (storage) =>
      operatingEdge({ storage, nowMs: () => nowMs, shared: await sharedOf(storage) }),
    ),
  );
  const fundAt = (replica: number, nonce: number, index = 0) =>
    replicas[replica]!.operations.onFrame(frameOf(evmAsk('fund', { nonce, index })));
  for (const nonce of [7, 8, 9, 10]) t.is(await fundAt(nonce % 2, nonce), SUBMITTED);
  for (const replica of [0, 1])
    t.like(await fundAt(replica, 11), {
      details: { reason: 'funding_count', bound: '4', value: '5', windowSeconds: 60 },
    });
  t.is(await fundAt(0, 11, 1), SUBMITTED, 'another address');
  nowMs += 61_000;
  t.is(await fundAt(1, 12), SUBMITTED, 'the window has passed');
});

test('treasury E1: lease, epoch, rotation and the operator’s stop come before a signature', async (t) => {
  const follower = operatingEdge({ epoch: null });
  t.is(reasonOf(await follower.operations.onFrame(frameOf(evmAsk('sweep')))), 'LEASE_HELD');
  const { operations, lease, storage, signatures } = operatingEdge({ fees: ANY_RATIO });
  const frame = frameOf(evmAsk('sweep'));
  t.is(reasonOf(await operations.onFrame({ ...frame, leaseEpoch: EPOCH - 1 })), 'LEASE_EPOCH_STALE');
  lease.awaitOwner('rot_1');
  t.is(reasonOf(await operations.onFrame(frame)), 'IDENTITY_ROTATION_PENDING');
  lease.awaitOwner(null);
  stopSweeps(storage, 1);
  t.is(reasonOf(await operations.onFrame(frame)), 'sweeps_stopped');
  t.is(operations.report().stoppedAtMs, 1);
  t.is(signatures(), 0);
  startSweeps(storage);
  t.is(await operations.onFrame(frame), SUBMITTED);
  t.deepEqual(
    operations.report().refusals.map(([reason]) => reason),
    ['LEASE_EPOCH_STALE', 'IDENTITY_ROTATION_PENDING', 'sweeps_stopped'],
  );
});

test('treasury E1: one signature for one payload, a reprice keeps nonce and destination, and an id belongs to one operation', async (t) => {
  const storage = newStorage(),
    { operations, signatures, ledger } = operatingEdge({ storage });
  const frame = frameOf(evmAsk('fund'));
  await Promise.all([operations.onFrame(frame), operations.onFrame(frame)]);
  t.is(await operations.onFrame(frame), SUBMITTED);
  t.is(signatures(), 1, 'the same bytes again');
  const again = (ask: Ask) => operations.onFrame({ ...frameOf(ask), transactionId: frame.transactionId });
  const dearer = evmAsk('fund', { price: 2n * GWEI });
  t.is(await again(dearer), SUBMITTED);
  t.is(signatures(), 2);
  t.is(ledger.spent('eth', 'cloud'), dearer.unsigned.amount + dearer.unsigned.feeMax, 'counted once, at the dearest');
  t.is(reasonOf(await again(evmAsk('fund', { nonce: 8 }))), 'instruction_signed_before');
  t.is(reasonOf(await again(evmAsk('fund', { amount: 10n ** 14n }))), 'replacement_differs');
  t.is(reasonOf(await again(evmAsk('fund', { index: 1 }))), 'replacement_differs');
  t.is(reasonOf(await operations.onFrame(frameOf(evmAsk('fund', { index: 1 })))), 'nonce_used', 'under a new id');
  t.is(signatures(), 2);
  // After a crash between journal and signature the same bytes are signed, and counted once.
  storage.run('update signatures set signed_payload = null, txid = null');
  const restarted = operatingEdge({ storage });
  t.is(await restarted.operations.onFrame(frame), SUBMITTED);
  t.is(restarted.signatures(), 1);
  t.is(ledger.spent('eth', 'cloud'), dearer.unsigned.amount + dearer.unsigned.feeMax);
});

test('treasury E1: what a caller asked for is not the cloud’s to sign under its id', async (t) => {
  const { operations, instructions, signatures } = operatingEdge();
  const frame = frameOf(evmAsk('sweep')),
    { instruction, unsigned } = STAGES.evm.asks['native']!;
  instructions.record({ instruction: { ...instruction, id: frame.transactionId }, unsigned });
  t.is(reasonOf(await operations.onFrame(frame)), 'another_instruction_under_this_id');
  t.is(signatures(), 0);
});

test('treasury W5, E2: a treasury is the derived one or an entry with its tag, asked at every signature', async (t) => {
  const ask = STAGES.xrp.asks['sweep']!,
    frame = frameOf(ask);
  const external = { ...frame, toPath: null };
  const edgeWith = (entries: readonly { address: string; tag: string | null; isOfOneChain: boolean }[]) =>
    operatingEdge({ nowMs: () => ask.policy.nowMs!, fees: ANY_RATIO, treasuries: new Map([['xrp', entries]]) });
  const entry = { address: frame.to, tag: null, isOfOneChain: false };
  t.is(await edgeWith([entry]).operations.onFrame(external), SUBMITTED);
  const refused: readonly [readonly (typeof entry)[], OperateFrame][] = [
    [[], external],
    [[{ ...entry, tag: '7' } as never], external],
    [[entry], { ...external, tag: '7' }],
    [[entry], { ...external, to: STAGES.xrp.thief }],
    [[entry], { ...frame, toPath: frame.fromPath }],
  ];
  for (const [entries, lied] of refused) {
    const edge = edgeWith(entries);
    t.is(reasonOf(await edge.operations.onFrame(lied)), 'sweep_destination_not_allowed');
    t.is(edge.signatures(), 0);
  }
});

test('treasury E2: tank, treasury, strangers and foreign paths are no deposit paths; gas goes to own addresses, and no more than a fee', async (t) => {
  const { operations, signatures } = operatingEdge({ fees: ANY_RATIO });
  const sweep = frameOf(evmAsk('sweep')),
    fund = frameOf(evmAsk('fund'));
  const refused: readonly [OperateFrame, string][] = [
    [{ ...sweep, fromPath: "m/44'/60'/0'/1/0", from: TANK }, 'from_not_a_deposit_path'],
    [{ ...sweep, fromPath: "m/44'/60'/0'/1/1", from: TREASURY }, 'from_not_a_deposit_path'],
    [{ ...sweep, fromPath: "m/44'/60'/1'/0/0" }, 'from_not_a_deposit_path'],
    [{ ...sweep, fromPath: '[73c5da0a/0/0]' }, 'from_not_a_deposit_path'],
    [{ ...sweep, from: TANK }, 'from_mismatch'],
    [{ ...sweep, token: STAGES.evm.thief }, 'token_not_in_registry'],
    [{ ...sweep, amount: '1' }, 'amount_mismatch'],
    [{ ...fund, fromPath: pathOf(0), from: own.addressAt('eth', pathOf(0))! }, 'not_the_gas_tank'],
    [{ ...fund, to: STAGES.evm.thief }, 'funding_destination_not_derived'],
    [{ ...fund, toPath: "m/44'/60'/0'/1/1", to: TREASURY }, 'funding_destination_not_derived'],
    [{ ...fund, toPath: null }, 'funding_destination_not_derived'],
    [{ ...fund, amount: (10n ** 17n).toString() }, 'funding_amount'],
    [{ ...fund, sendAll: true }, 'amount_mismatch'],
    [{ ...fund, token: STAGES.evm.token.contract }, 'token_mismatch'],
    [{ ...fund, chain: 'sol' }, 'role_not_on_chain'],
    [{ ...sweep, chain: 'btc' }, 'from_not_a_deposit_path'],
    [{ ...sweep, unsigned: { ...sweep.unsigned, payload: 'a'.repeat(20_001) } }, 'malformed_build'],
  ];
  for (const [lied, reason] of refused)
    t.is(reasonOf(await operations.onFrame({ ...lied, transactionId: newId('txn', 1) })), reason);
  t.is(signatures(), 0);
});

test('treasury E3: the fee of a native sweep is a share of it; that of a funding and of a token is bounded by the fee cap', async (t) => {
  const { operations } = operatingEdge({ fees: { sweepFeeRatioBps: 1 } });
  t.like(await operations.onFrame(frameOf(evmAsk('sweep', { amount: 10n ** 17n }))), {
    details: { reason: 'fee_ratio', setting: 'EDGE_SWEEP_FEE_RATIO_BPS' },
  });
  t.is(await operations.onFrame(frameOf(evmAsk('fund', { amount: 1n }))), SUBMITTED);
  const dear = operatingEdge({ fees: { feeCaps: new Map([['eth', 1n]]) } });
  t.is(reasonOf(await dear.operations.onFrame(frameOf(STAGES.evm.asks['sweep of a token']!))), 'fee_cap');
});

test('treasury E6: flock-edge sweeps stop, start and status work on the data directory', (t) => {
  const directory = newDirectory();
  const run = (...args: string[]) => {
    const lines: string[] = [];
    const output = { write: (text: string) => (lines.push(text), true) };
    const code = sweepsCommand([...args, '--data-dir', directory], {}, output, output);
    return { code, text: lines.join('') };
  };
  t.like(JSON.parse(run('status').text), { sweeps: 'allowed', stoppedAt: null });
  t.like(JSON.parse(run('stop').text), { sweeps: 'stopped' });
  const { stoppedAt } = JSON.parse(run('status').text) as { stoppedAt: string };
  t.is((JSON.parse(run('stop').text) as { stoppedAt: string }).stoppedAt, stoppedAt, 'stopped once');
  t.like(JSON.parse(run('start').text), { sweeps: 'allowed', stoppedAt: null });
  for (const args of [[], ['pause'], ['stop', 'now']]) t.is(run(...args).code, 2);
});

test('treasury E1: a payload beside the one that was asked for leaves as it was built, or not at all', async (t) => {
  const { operations, signatures } = operatingEdge({ fees: ANY_RATIO });
  const frame = frameOf(evmAsk('sweep'));
  const thief = evmAsk('sweep', { index: 2 }).unsigned;
  t.is(reasonOf(await operations.onFrame({ ...frame, unsigned: jsonOf(thief) })), 'from_path_mismatch');
  t.is(signatures(), 0);
});

test('treasury S29: no batch, no delegation and no transfer by somebody’s authorization is signed as a sweep', async (t) => {
  const { operations, signatures } = operatingEdge({ fees: ANY_RATIO });
  const ask = STAGES.evm.asks['sweep of a token']!,
    { payload } = ask.unsigned;
  t.true(payload.startsWith('0x02') && payload.includes('a9059cbb'));
  const other = [
    payload.replace('0x02', '0x04'), // EIP-7702
    payload.replace('0x02', '0x01'),
    payload.replace('a9059cbb', 'e3ee160e'), // transferWithAuthorization
    payload.replace('a9059cbb', '23b872dd'), // transferFrom
    payload.replace('a9059cbb', 'ac9650d8'), // multicall
  ];
  for (const changed of other) {
    const answer = await operations.onFrame(frameOf({ ...ask, unsigned: { ...ask.unsigned, payload: changed } }));
    t.like(answer, { ok: false, code: 'SIGNED_BATCH_REJECTED' });
  }
  t.is(signatures(), 0);
});
