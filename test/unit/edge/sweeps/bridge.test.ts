/** Transactions of a bridge at the edge: what an honest cloud asks for is signed, and no change of it. Treasury E5. */
import test from 'ava';
import fc from 'fast-check';
import { encodeApprove, encodeBurn, MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from '../../../../chains/evm/cctp.ts';
import { decodeUnsigned, encodeUnsigned } from '../../../../chains/evm/envelope.ts';
import { isRefusal, type Refusal } from '../../../../protocol/errors.ts';
import { operateFrame, type OperateFrame } from '../../../../protocol/frames.ts';
import { newId } from '../../../../protocol/node/ids.ts';
import { CHAINS, OPERATION_ROLES } from '../../../../protocol/slugs.ts';
import { stopSweeps } from '../../../../edge/sweeps/stop.ts';
import {
  AMOUNT,
  bridgeFrame,
  ROUTED,
  TANK_ADDRESS,
  TREASURY_ADDRESS,
  type BridgeAsk,
} from '../../../support/edge/bridges.ts';
import { operatingEdge, SUBMITTED, type EdgeOf } from '../../../support/edge/operations.ts';

const ROLES = ['approve', 'burn', 'mint'] as const;
const STRANGER = '0x00000000000000000000000000000000DeaDBeef';
const CAPS = new Map([['eth' as const, 10n ** 15n]]);
const edgeOf = (more: EdgeOf = {}) => operatingEdge({ registry: ROUTED, bridgeCaps: CAPS, ...more });
const reasonOf = (answer: unknown) => (answer as Refusal).details['reason'] ?? (answer as Refusal).code;

for (const role of ROLES)
  test(`treasury E5: the honest ${role} of a bridge is signed once, however often it is asked for`, async (t) => {
    const { operations, signatures } = edgeOf(),
      frame = operateFrame.parse(bridgeFrame(role));
    t.is(await operations.onFrame(frame), SUBMITTED);
    t.is(await operations.onFrame(frame), SUBMITTED);
    t.is(signatures(), 1);
  });

/** What is asked for, and the reason against it. */
const LIES: readonly (readonly [what: string, role: (typeof ROLES)[number], ask: BridgeAsk, reason: string])[] = [
  ['a stranger is minted to', 'burn', { recipient: STRANGER, recipientPath: null }, 'bridge_recipient_not_allowed'],
  ['a stranger at our path', 'burn', { recipient: STRANGER }, 'bridge_recipient_not_allowed'],
  ['the tank as a treasury', 'burn', { recipient: TANK_ADDRESS }, 'bridge_recipient_not_allowed'],
  ['a message for a stranger', 'mint', { recipient: STRANGER }, 'bridge_recipient_not_allowed'],
  ['a fee of all', 'burn', { maxFee: AMOUNT - 1n }, 'bridge_fee'],
  ['a fee above a thousandth', 'burn', { maxFee: AMOUNT / 1_000n + 1n }, 'bridge_fee'],
  ['more than one burn may move', 'approve', { amount: 10_000_000_000_001n }, 'bridge_amount'],
  [
    'an unlimited approval',
    'approve',
    { call: { contract: usdc(), data: encodeApprove(2n ** 256n - 1n) } },
    'call_mismatch',
  ],
  [
    'an approval of a stranger',
    'approve',
    {
      call: {
        contract: usdc(),
        data: encodeApprove(AMOUNT).replace(TOKEN_MESSENGER.slice(2).toLowerCase(), 'ab'.repeat(20)),
      },
    },
    'call_mismatch',
  ],
  ['another messenger', 'burn', { call: { contract: STRANGER, data: burnData() } }, 'call_mismatch'],
  ['another domain', 'burn', { call: { contract: TOKEN_MESSENGER, data: word(burnData(), 1, 5n) } }, 'call_mismatch'],
  ['a caller', 'burn', { call: { contract: TOKEN_MESSENGER, data: word(burnData(), 4, 1n) } }, 'call_mismatch'],
  ['no finality', 'burn', { call: { contract: TOKEN_MESSENGER, data: word(burnData(), 6, 1_000n) } }, 'call_mismatch'],
  ['a hook', 'burn', { call: { contract: TOKEN_MESSENGER, data: `${burnData()}${'00'.repeat(32)}` } }, 'call_mismatch'],
  ['another call', 'mint', { call: { contract: MESSAGE_TRANSMITTER, data: burnData() } }, 'call_mismatch'],
];

function usdc(): string {
  return bridgeFrame('burn').token!;
}
function burnData(): string {
  const ends = { from: 'eth', to: 'base', sender: TREASURY_ADDRESS, recipient: TREASURY_ADDRESS } as const;
  return encodeBurn({ ...ends, token: usdc(), amount: AMOUNT, maxFee: 0n });
}
/** Call data with another word. */
function word(data: string, at: number, value: bigint): string {
  const place = 10 + 64 * at;
  return `${data.slice(0, place)}${value.toString(16).padStart(64, '0')}${data.slice(place + 64)}`;
}

for (const [what, role, ask, reason] of LIES)
  test(`treasury E5: not signed: ${role}, ${what}`, async (t) => {
    const { operations, signatures } = edgeOf();
    const answer = await operations.onFrame(bridgeFrame(role, ask));
    t.is(reasonOf(answer), reason);
    t.truthy((answer as Refusal).details['next']);
    t.is(signatures(), 0);
  });

test('treasury E4: burned units are bounded by EDGE_BRIDGE_CAP, which is zero unless it is set', async (t) => {
  const none = edgeOf({ bridgeCaps: new Map() });
  for (const role of ['approve', 'burn'] as const)
    t.like(await none.operations.onFrame(bridgeFrame(role)), {
      code: 'AMOUNT_CAP_EXCEEDED',
      details: { setting: 'EDGE_BRIDGE_CAP_ETH', cap: '0', amount: AMOUNT.toString(), tokenContract: usdc() },
    });
  t.is(none.signatures(), 0);
  const once = edgeOf({ bridgeCaps: new Map([['eth', AMOUNT + AMOUNT / 2n]]) });
  t.is(await once.operations.onFrame(bridgeFrame('burn')), SUBMITTED);
  t.like(await once.operations.onFrame(bridgeFrame('burn', { nonce: 8 })), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { setting: 'EDGE_BRIDGE_CAP_ETH', spent: AMOUNT.toString() },
  });
  t.is(once.signatures(), 1);
});

test('treasury E4: the fee of each role counts against EDGE_SPEND_CAP, and nothing is signed at zero', async (t) => {
  for (const role of ROLES) {
    const { operations, signatures } = edgeOf({ cap: 0n });
    const chain = role === 'mint' ? 'BASE' : 'ETH';
    t.like(await operations.onFrame(bridgeFrame(role)), {
      code: 'AMOUNT_CAP_EXCEEDED',
      details: { setting: `EDGE_SPEND_CAP_${chain}`, cap: '0' },
    });
    t.is(signatures(), 0);
  }
});

test('treasury H1, E5: without a route in the registry of the edge nothing of a bridge is signed', async (t) => {
  const [route] = ROUTED.routes.filter(({ from, to }) => from === 'eth' && to === 'base');
  const others = ROUTED.routes.filter((one) => one !== route);
  const registries = [
    others,
    [...others, { ...route!, messenger: STRANGER }],
    [...others, { ...route!, transmitter: STRANGER }],
    [...others, { ...route!, toDomain: 7 }],
    [...others, { ...route!, fromDomain: 1 }],
  ].map((routes) => ({ ...ROUTED, routes }));
  for (const registry of registries) {
    const { operations, signatures } = edgeOf({ registry });
    for (const role of ROLES) t.is(reasonOf(await operations.onFrame(bridgeFrame(role))), 'route_not_open');
    t.is(signatures(), 0);
  }
});

test('treasury H9: an external recipient is an entry that names the chain; a bare address counts for sweeps alone', async (t) => {
  const ask = { recipient: STRANGER, recipientPath: null };
  const entry = { address: STRANGER, tag: null };
  const bare = edgeOf({ treasuries: new Map([['base', [{ ...entry, isOfOneChain: false }]]]) });
  const elsewhere = edgeOf({ treasuries: new Map([['eth', [{ ...entry, isOfOneChain: true }]]]) });
  const named = edgeOf({ treasuries: new Map([['base', [{ ...entry, isOfOneChain: true }]]]) });
  for (const role of ['burn', 'mint'] as const) {
    t.is(reasonOf(await bare.operations.onFrame(bridgeFrame(role, ask))), 'bridge_recipient_not_allowed');
    t.is(reasonOf(await elsewhere.operations.onFrame(bridgeFrame(role, ask))), 'bridge_recipient_not_allowed');
    t.is(await named.operations.onFrame(bridgeFrame(role, ask)), SUBMITTED);
  }
  t.is(bare.signatures() + elsewhere.signatures(), 0);
});

test('treasury E6: what an operator stopped covers bridges', async (t) => {
  const { operations, storage, signatures } = edgeOf();
  stopSweeps(storage, 1);
  for (const role of ROLES) t.is(reasonOf(await operations.onFrame(bridgeFrame(role))), 'sweeps_stopped');
  t.is(signatures(), 0);
});

type Path = readonly (string | number)[];
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
}
const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value);
function withLeaf(value: unknown, [name, ...rest]: Path, leaf: unknown): unknown {
  if (name === undefined) return leaf;
  return { ...(value as object), [name]: withLeaf((value as Record<string, unknown>)[name], rest, leaf) };
}

/** Names of the cloud's own, and what is for people: no byte follows from them. */
const FREE = /^(?:operationId|transactionId|unsigned\.readAtHeight|unsigned\.fee\..*)$/;

/** No byte of an approval is about the other chain, and a mint's fee is read from its message. */
const FREE_OF: Readonly<Record<string, RegExp>> = {
  approve: /^bridge\.(?:otherChain|maxFee)$/,
  // On a rollup a part of the fee is in no byte either.
  mint: /^(?:bridge\.maxFee|unsigned\.feeMax)$/,
};

test('treasury E5: of three thousand changes of single fields of the frames of a bridge none is signed', async (t) => {
  const frames = ROLES.map((role) => bridgeFrame(role));
  const edge = edgeOf();
  let tried = 0;
  const leaf = fc.nat().chain((which) => {
    const frame = frames[which % frames.length]!;
    const leaves = leavesOf(frame).filter((path) => {
      const name = path.join('.');
      return !FREE.test(name) && FREE_OF[frame.role]?.test(name) !== true;
    });
    return fc.record({ frame: fc.constant(frame), path: fc.constantFrom(...leaves), pick: fc.nat(), where: fc.nat() });
  });
  await fc.assert(
    fc.asyncProperty(leaf, async ({ frame, path, pick, where }) => {
      const before = at(frame, path),
        borrowed = frames.map((other) => at(other, path));
      const texts = typeof before === 'string' ? changedTexts(before, where) : [];
      const numbers = typeof before === 'number' ? [before + 1, before - 1, 0, 2 ** 31] : [];
      const all = [...borrowed, ...texts, ...numbers, !before, null, '', '0', ...CHAINS, ...OPERATION_ROLES];
      const after = all[pick % all.length];
      if (Object.is(before, after) || isSameNumber(before, after)) return;
      const parsed = operateFrame.safeParse(withLeaf(frame, path, after));
      if (!parsed.success) return;
      tried += 1;
      const answer = await edge.operations.onFrame({ ...parsed.data, transactionId: newId('txn', tried) });
      t.true(isRefusal(answer));
      t.is(edge.signatures(), 0, `${frame.role}: ${path.join('.')} ${String(before)} → ${String(after)}`);
    }),
    { numRuns: 3_000, seed: 20_261_130, endOnFailure: true },
  );
  t.true(tried > 1_000, `${tried}`);
});

const isSameNumber = (before: unknown, after: unknown): boolean =>
  [before, after].every((text) => typeof text === 'string' && /^[0-9]+$/.test(text)) &&
  BigInt(before as string) === BigInt(after as string);

function changedTexts(text: string, where: number): string[] {
  const place = text.length === 0 ? 0 : where % text.length;
  const digits = ['0', '1', '8', 'f'].map((digit) => `${text.slice(0, place)}${digit}${text.slice(place + 1)}`);
  return [...digits, text.slice(0, -1), `${text}0`, text.toUpperCase(), text.toLowerCase()].filter(
    (changed) => changed !== text,
  );
}

test('treasury E5: no byte of the call can be another one', async (t) => {
  for (const role of ROLES) {
    const frame = bridgeFrame(role),
      edge = edgeOf();
    const decoded = decodeUnsigned(frame.unsigned.payload);
    if (!decoded.ok) return t.fail(decoded.reason);
    const { data } = decoded.transaction;
    for (let place = 2; place < data.length; place += 2) {
      const byte = Number.parseInt(data.slice(place, place + 2), 16) ^ 1;
      const altered = `${data.slice(0, place)}${byte.toString(16).padStart(2, '0')}${data.slice(place + 2)}`;
      const payload = encodeUnsigned({ ...decoded.transaction, data: altered });
      const lied: OperateFrame = { ...frame, unsigned: { ...frame.unsigned, payload } };
      t.is(reasonOf(await edge.operations.onFrame(lied)), 'call_mismatch');
    }
    t.is(edge.signatures(), 0);
  }
});
