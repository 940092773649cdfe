/**
 * A cloud that lies about operations: thousands of changes of every field of every frame, role and chain, and of the
 * bytes in it, end without a signature. docs/treasury.md has what stops each.
 */
import test from 'ava';
import fc from 'fast-check';
import { isRefusal } from '../../../../protocol/errors.ts';
import { operateFrame } from '../../../../protocol/frames.ts';
import { newId } from '../../../../protocol/node/ids.ts';
import { CHAINS, OPERATION_ROLES } from '../../../../protocol/slugs.ts';
import { liesAbout } from '../../../support/edge/lies/everywhere.ts';
import { STAGES } from '../../../support/edge/lies/refusals.ts';
import type { Ask } from '../../../support/edge/lies/stage.ts';
import { movesOf } from '../../../support/edge/moves.ts';
import {
  frameOf,
  jsonOf,
  operatingEdge,
  own,
  SUBMITTED,
  type OperatingEdge,
} from '../../../support/edge/operations.ts';

interface Case {
  readonly name: string;
  readonly stage: (typeof STAGES)[keyof typeof STAGES];
  readonly ask: Ask;
}

/** Every operation that some edge signs. */
const CASES: readonly Case[] = Object.entries(STAGES).flatMap(([family, stage]) =>
  Object.entries(stage.asks)
    .filter(
      ([
        ,
        {
          instruction: { purpose },
        },
      ]) =>
        (purpose === 'sweep' && family !== 'btc') ||
        (purpose === 'gas_funding' && !['btc', 'sol', 'xlm'].includes(family)),
    )
    .map(([kind, ask]) => ({ name: `${family}: ${kind}`, stage, ask })),
);

/** An edge whose settings allow the treasuries of the stage, and whose clock is the stage's. */
function edgeFor({ stage, ask }: Case): OperatingEdge {
  const {
    instruction: { chain },
    policy: { nowMs, sweepDestinations },
  } = ask;
  const derived = own.paths(chain).treasury,
    ours = derived === null ? null : own.addressAt(chain, derived);
  const entries = sweepDestinations
    .filter((address) => address !== ours)
    .map((address) => ({ address, tag: null, isOfOneChain: false }));
  return operatingEdge({
    nowMs: () => nowMs ?? 0,
    treasuries: new Map([[stage.network.slug, entries]]),
    // The stage's amounts are small; what a ratio refuses has tests of its own.
    fees: { sweepFeeRatioBps: 10 ** 9, feeCaps: new Map([['xrp', 3_000_000n]]) },
  });
}

/** Bytes that were signed, newest last. */
const signedOf = ({ storage }: OperatingEdge) =>
  storage.all<{ payload: string }>('select payload from signatures where signed_payload is not null order by rowid');

/**
 * Lies after which the bytes do the same: a fee, a counter or an end within the edge's own bounds, words for people.
 */
const SAME_MOVES =
  /^(?:bytes: (?:another nonce|another sequence|no memo|no rent|a life that ended|a price above the cap|a limit of gas that burns money|a fee out of proportion|a bump by the tank)|summary: (?:an unknown part of the fee|another (?:energy|l1Reserve)|an early height|a late height|replay key 0))$/;
/** Another amount that the cloud's frame asks for too, to an own address. */
const ANOTHER_OPERATION = /^(?:bytes: another amount|summary: send-all)$/;

for (const one of CASES) {
  test(`treasury E1, E2: what an honest cloud asks for is signed, and no lie about its bytes or summary: ${one.name}`, async (t) => {
    const { chain } = one.ask.instruction,
      honest = edgeFor(one);
    t.deepEqual(await honest.operations.onFrame(frameOf(one.ask)), SUBMITTED);
    t.is(honest.signatures(), 1);
    const moves = movesOf(chain, one.ask.unsigned.payload);
    for (const [lie, { unsigned }] of liesAbout(one.stage, one.ask)) {
      if (!/^(?:bytes|summary)/.test(lie) || ANOTHER_OPERATION.test(lie)) continue;
      const edge = edgeFor(one);
      // Once as the cloud would say that it asked for this, and once beside what it asked for.
      for (const lied of [frameOf({ ...one.ask, unsigned }), { ...frameOf(one.ask), unsigned: jsonOf(unsigned) }])
        t.true(isRefusal(await edge.operations.onFrame(lied)), lie);
      if (!SAME_MOVES.test(lie)) t.is(edge.signatures(), 0, lie);
      for (const { payload } of signedOf(edge)) t.is(movesOf(chain, payload), moves, lie);
      const counted = edge.ledger.spent(chain, 'cloud');
      if (edge.signatures() > 0) t.true(counted >= unsigned.feeMax, `${lie}: ${counted} of ${unsigned.feeMax}`);
    }
  });
}

type Path = readonly (string | number)[];

function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], value);

function withLeaf(value: unknown, [name, ...rest]: Path, leaf: unknown): unknown {
  if (name === undefined) return leaf;
  const inner = (value as Record<string, unknown>)[name];
  return { ...(value as object), [name]: withLeaf(inner, rest, leaf) };
}

/** Names of the cloud's own, and what is for people: no byte follows from them. */
const FREE = /^(?:operationId|transactionId|unsigned\.readAtHeight|unsigned\.fee\..*)$/;

/** Values that other frames have in the same place, and values that no frame has. */
const OTHER_FRAMES = CASES.map(({ ask }) => frameOf(ask));

function changedLeaf(
  before: unknown,
  path: Path,
  { pick, at: where, byte }: { pick: number; at: number; byte: number },
) {
  const borrowed = OTHER_FRAMES.flatMap((frame) => {
    try {
      return [at(frame, path)];
    } catch {
      return [];
    }
  });
  const texts = typeof before === 'string' ? mutatedTexts(before, where, byte) : [];
  const numbers = typeof before === 'number' ? [before + 1, before - 1, 0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER] : [];
  const flags = typeof before === 'boolean' ? [!before] : [];
  const all = [...borrowed, ...texts, ...numbers, ...flags, null, '', '0', ...CHAINS, ...OPERATION_ROLES];
  return all[pick % all.length];
}

function mutatedTexts(text: string, where: number, byte: number): string[] {
  const place = text.length === 0 ? 0 : where % text.length;
  const replaced = `${text.slice(0, place)}${String.fromCharCode(33 + (byte % 94))}${text.slice(place + 1)}`;
  const grown = /^[0-9]+$/.test(text) ? [(BigInt(text) + 1n).toString(), `${text}0`] : [];
  return [
    ...Array.from({ length: 24 }, (_, turn) =>
      text.length === 0
        ? text
        : `${text.slice(0, (place + turn * 37) % text.length)}${String.fromCharCode(33 + ((byte + turn) % 94))}${text.slice(((place + turn * 37) % text.length) + 1)}`,
    ),
    replaced,
    text.slice(0, -1),
    `${text} `,
    text.toUpperCase(),
    text.toLowerCase(),
    ...grown,
  ];
}

test('treasury E2: of ten thousand changes of single fields of frames, roles and chains none is signed', async (t) => {
  const edges = new Map(CASES.map((one) => [one.name, edgeFor(one)]));
  const frames = CASES.map((one) => ({
    one,
    frame: frameOf(one.ask),
    leaves: leavesOf(frameOf(one.ask)).filter((path) => !FREE.test(path.join('.'))),
  }));
  let tried = 0,
    signed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { minLength: 5, maxLength: 5 }), async ([which, leaf, pick, where, byte]) => {
      const { one, frame, leaves } = frames[which! % frames.length]!,
        path = leaves[leaf! % leaves.length]!;
      const before = at(frame, path),
        after = changedLeaf(before, path, { pick: pick!, at: where!, byte: byte! });
      if (Object.is(before, after)) return;
      tried += 1;
      const parsed = operateFrame.safeParse(withLeaf(frame, path, after));
      if (!parsed.success) return;
      const edge = edges.get(one.name)!,
        count = edge.signatures(),
        what = `${one.name}: ${path.join('.')} ${String(before)} → ${String(after)}`;
      t.true(isRefusal(await edge.operations.onFrame({ ...parsed.data, transactionId: newId('txn', tried) })), what);
      if (edge.signatures() === count) return;
      // A block hash, a reference block or a height: it decides whether the bytes land, and nothing else.
      t.true(['unsigned.payload', 'unsigned.replayKey.value'].includes(path.join('.')), what);
      const { chain } = one.ask.instruction;
      t.is(movesOf(chain, signedOf(edge).at(-1)!.payload), movesOf(chain, one.ask.unsigned.payload), what);
      signed += 1;
    }),
    { numRuns: 12_500, seed: 20_261_129, endOnFailure: true },
  );
  t.true(tried >= 10_000, `${tried}`);
  t.log(`${tried} changes, ${signed} of bytes that move nothing else`);
});
