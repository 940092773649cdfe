/**
 * Sweeps of Bitcoin at the edge: off by default, and of thousands of changes of the frame and of its bytes none is
 * signed that moves anything else. Treasury 5.4, E1–E4.
 */
import test from 'ava';
import fc from 'fast-check';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { decodePsbt } from '../../../../chains/btc/psbt.ts';
import { decodeRaw } from '../../../../chains/btc/signed.ts';
import { buildUnsigned } from '../../../../chains/btc/unsigned.ts';
import { isRefusal, type Refusal } from '../../../../protocol/errors.ts';
import { operateFrame, type OperateFrame } from '../../../../protocol/frames.ts';
import { newId } from '../../../../protocol/node/ids.ts';
import { CHAINS, OPERATION_ROLES } from '../../../../protocol/slugs.ts';
import { accepted, coinOf, inputsOf, RECIPIENT, scriptFor } from '../../../support/btc-inputs.ts';
import { EPOCH, jsonOf, operatingEdge, own, SUBMITTED, type OperatingEdge } from '../../../support/edge/operations.ts';

const PATH = "m/84'/0'/0'/0/3";
const FROM = own.addressAt('btc', PATH)!,
  TREASURY_PATH = own.paths('btc').treasury!,
  TREASURY = own.addressAt('btc', TREASURY_PATH)!;
const SCRIPT = scriptFor(FROM);
const coins = [900_000n, 50_000n].map((amount) => coinOf(amount, { script: SCRIPT }));

/** What an honest cloud asks for. */
function frameOf(more: Partial<OperateFrame> = {}, to = TREASURY): OperateFrame {
  const ends = { chain: 'btc', from: FROM, fromPath: PATH, to, token: null, tag: null } as const;
  const unsigned = accepted(
    buildUnsigned(bitcoin, inputsOf({ coins }), { ...ends, amount: 'all', sweepUpTo: 10n ** 9n }, null),
  );
  return {
    ...ends,
    leaseEpoch: EPOCH,
    operationId: newId('swo', 1_800_000_000_000),
    transactionId: newId('txn', 1_800_000_000_000),
    role: 'sweep',
    toPath: to === TREASURY ? TREASURY_PATH : null,
    amount: unsigned.amount.toString(),
    sendAll: true,
    unsigned: jsonOf(unsigned),
    ...more,
  };
}
const reasonOf = (said: unknown) => (said as Refusal).details['reason'];

test('treasury 5.4: an edge signs no sweep of Bitcoin until its owner says so, and names the setting', async (t) => {
  const { operations, signatures } = operatingEdge({ btcSweeps: false });
  t.like(await operations.onFrame(frameOf()), {
    code: 'SIGNED_BATCH_REJECTED',
    details: { reason: 'btc_sweeps_off', setting: 'EDGE_BTC_SWEEPS' },
  });
  t.is(signatures(), 0);
});

test('found F13, treasury E1, E4: a sweep is signed once, all of it into the treasury; its fee is what is counted', async (t) => {
  const { operations, signatures, ledger, storage } = operatingEdge();
  const frame = frameOf();
  t.is(await operations.onFrame(frame), SUBMITTED);
  t.is(await operations.onFrame(frame), SUBMITTED);
  t.is(signatures(), 1);
  t.is(ledger.spent('btc', 'cloud'), BigInt(frame.unsigned.feeMax), 'what it moves stays the company’s');
  const { signed } = storage.one<{ signed: string }>('select signed_payload as signed from signatures')!;
  const { outs, ins } = decodeRaw(signed)!;
  t.is(ins.length, 2);
  t.deepEqual(
    outs.map(({ value }) => value),
    [BigInt(frame.amount)],
  );
  t.deepEqual(Uint8Array.from(outs[0]!.script), Uint8Array.from(scriptFor(TREASURY)));
  // The same coins again under another id pay the treasury alone, and a cap bounds the fees.
  t.true(isRefusal(await operations.onFrame(frameOf({ amount: '1' }))));
});

test('treasury E2, E3, E4: strangers, an amount beside all, a fee out of proportion and a spent cap are refused by name', async (t) => {
  const { operations, signatures } = operatingEdge();
  const refused: readonly [OperateFrame, string][] = [
    [frameOf({}, RECIPIENT), 'sweep_destination_not_allowed'],
    [frameOf({ toPath: null }), 'sweep_destination_not_allowed'],
    [frameOf({ toPath: "m/84'/0'/0'/1/0" }), 'sweep_destination_not_allowed'],
    [frameOf({ fromPath: "m/84'/0'/0'/0/4" }), 'from_mismatch'],
    [frameOf({ fromPath: TREASURY_PATH, from: TREASURY }), 'from_not_a_deposit_path'],
    [frameOf({ sendAll: false }), 'amount_mismatch'],
    [frameOf({ role: 'fund' }), 'role_not_on_chain'],
    [frameOf({ token: 'x' }), 'token_not_in_registry'],
  ];
  for (const [frame, reason] of refused) t.is(reasonOf(await operations.onFrame(frame)), reason);
  t.is(signatures(), 0);
  const dear = operatingEdge({ fees: { sweepFeeRatioBps: 10 } });
  t.like(await dear.operations.onFrame(frameOf()), {
    details: { reason: 'fee_ratio', setting: 'EDGE_SWEEP_FEE_RATIO_BPS' },
  });
  const spent = operatingEdge({ cap: BigInt(frameOf().unsigned.feeMax) - 1n });
  t.like(await spent.operations.onFrame(frameOf()), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { setting: 'EDGE_SPEND_CAP_BTC' },
  });
});

/** Inputs and outputs of a payload, in their order. */
function movesOf(payload: string): string {
  const decoded = decodePsbt(payload);
  if (!decoded.ok) return decoded.reason;
  const { inputs, outputs } = decoded.psbt;
  return JSON.stringify([
    inputs.map(({ txid, vout }) => `${txid}:${vout}`),
    outputs.map(({ script, value }) => [Buffer.from(script).toString('hex'), String(value)]),
  ]);
}

/** Whether an edge signed what moves anything else than the honest frame. */
async function isFooled(edge: OperatingEdge, lied: OperateFrame, moves: string, tried: number): Promise<boolean> {
  const said = await edge.operations.onFrame({ ...lied, transactionId: newId('txn', tried) });
  return said === SUBMITTED && movesOf(lied.unsigned.payload) !== moves;
}

test('B12, B13, treasury E2: of two thousand changes of bytes of a payload none is signed that moves anything else', async (t) => {
  const frame = frameOf(),
    moves = movesOf(frame.unsigned.payload),
    bytes = Buffer.from(frame.unsigned.payload, 'base64'),
    edge = operatingEdge();
  let tried = 0;
  for (let turn = 0; turn < 2_000; turn += 1) {
    const at = turn % bytes.length,
      changed = Buffer.from(bytes);
    changed[at] = changed[at]! ^ (1 + ((turn * 37) % 255));
    tried += 1;
    const payload = changed.toString('base64');
    if (await isFooled(edge, { ...frame, unsigned: { ...frame.unsigned, payload } }, moves, tried))
      t.fail(`byte ${at}`);
  }
  t.is(tried, 2_000);
});

type Path = readonly string[];
const leavesOf = (value: unknown, path: Path = []): Path[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));

function withLeaf(value: unknown, [name, ...rest]: Path, leaf: unknown): unknown {
  if (name === undefined) return leaf;
  const inner = (value as Record<string, unknown>)[name];
  const changed = withLeaf(inner, rest, leaf);
  return Array.isArray(value)
    ? value.map((one, index) => (String(index) === name ? changed : (one as unknown)))
    : { ...(value as object), [name]: changed };
}

test('treasury E1, E2: of two thousand changes of fields of a frame none is signed that moves anything else', async (t) => {
  const honest = frameOf(),
    moves = movesOf(honest.unsigned.payload),
    leaves = leavesOf(honest),
    edge = operatingEdge();
  const values = fc.oneof(
    fc.constantFrom<unknown>(null, '', '0', '1', RECIPIENT, FROM, TREASURY, PATH, TREASURY_PATH, true, false, 0, -1),
    fc.constantFrom<unknown>(...CHAINS, ...OPERATION_ROLES, 'm/84’', 'outpoints', 'expiry'),
    fc.string(),
    fc.nat(),
  );
  let tried = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), values, async (which, value) => {
      const path = leaves[which % leaves.length]!,
        parsed = operateFrame.safeParse(withLeaf(honest, path, value));
      tried += 1;
      if (!parsed.success) return;
      t.false(await isFooled(edge, parsed.data, moves, tried), `${path.join('.')} ${String(value)}`);
    }),
    { numRuns: 2_000, seed: 20_261_130, endOnFailure: true },
  );
  t.true(tried >= 2_000);
});
