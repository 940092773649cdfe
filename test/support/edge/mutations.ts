/**
 * Unsigned payloads of six families, changed at random by a seed, beside the instruction that asked for the honest one:
 * bytes, letters of the text, fields of the summary, and the bytes of another honest payment. A signer refuses each, or
 * what it signs moves the same to the same. `npm run soak -- --mutations 80000 --from SEED`.
 */
import { catalogueOf } from '../../../chains/catalogue.ts';
import type { Unsigned } from '../../../chains/chain.ts';
import { networkOf } from '../../../chains/registry.ts';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { OwnAddresses } from '../../../edge/signing/own-addresses.ts';
import { loadSigner } from '../../../edge/signing/signer-loader.ts';
import { feeBoundsOf } from '../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, Signer, SigningPolicy } from '../../../edge/signing/signers/signer.ts';
import { seeded } from '../seeded.ts';
import { PHRASE } from './edges.ts';
import { FAMILY_CHAINS, unsignedFor, type FamilyChain } from './families.ts';
import { readOutside } from './outside-readers.ts';

/** What became of the mutations of one family. */
export interface MutationFigures {
  readonly chain: FamilyChain;
  readonly tried: number;
  readonly refused: number;
  /** Signed, and all that moves is what was asked for. */
  readonly same: number;
  /** Signed, and something else moves: each is a hole. Its payload and summary as JSON. */
  readonly wrong: readonly string[];
}

type Random = () => number;
type Mutate = (unsigned: Unsigned, others: readonly Unsigned[], random: Random) => Unsigned;

/** So many honest payments a family are the beginnings of its mutations. */
const VARIANTS = 24;
const NOW_MS = 1_800_000_000_000;
const WRONG_KEPT = 5;
const EDGE_BYTES = [0x00, 0x01, 0x7f, 0x80, 0xff];

const keystore = createPhraseKeystore(seedOf(PHRASE, ''));
const own = new OwnAddresses(keystore);

const below = (random: Random, limit: number): number => Math.floor(random() * limit);
const oneOf = <T>(random: Random, values: readonly T[]): T => values[below(random, values.length)]!;

/** Bytes of a payload, and how its chain writes bytes. */
function bytesOf(text: string): { readonly bytes: Buffer; readonly write: (bytes: Buffer) => string } {
  const prefix = text.startsWith('0x') ? '0x' : '',
    digits = text.slice(prefix.length);
  if (/^(?:[0-9a-f]{2})+$/.test(digits)) {
    return { bytes: Buffer.from(digits, 'hex'), write: (bytes) => prefix + bytes.toString('hex') };
  }
  if (/^(?:[0-9A-F]{2})+$/.test(digits)) {
    return { bytes: Buffer.from(digits, 'hex'), write: (bytes) => prefix + bytes.toString('hex').toUpperCase() };
  }
  return { bytes: Buffer.from(text, 'base64'), write: (bytes) => bytes.toString('base64') };
}

const BYTE_CHANGES: readonly ((bytes: Buffer, random: Random, other: Buffer) => Buffer)[] = [
  (bytes, random) => replaced(bytes, random, (byte) => byte ^ (1 << below(random, 8))),
  (bytes, random) => replaced(bytes, random, () => below(random, 256)),
  (bytes, random) => replaced(bytes, random, () => oneOf(random, EDGE_BYTES)),
  (bytes, random) => replaced(bytes, random, (byte) => byte + 1),
  (bytes, random) => spliced(bytes, random, 0, Buffer.of(below(random, 256))),
  (bytes, random) => spliced(bytes, random, 1 + below(random, 8), Buffer.alloc(0)),
  (bytes, random) => bytes.subarray(0, below(random, bytes.length)),
  (bytes, random) => Buffer.concat([bytes, Buffer.from([below(random, 256)])]),
  (bytes, random) => {
    const at = below(random, bytes.length);
    return Buffer.concat([bytes, bytes.subarray(at, at + 1 + below(random, 40))]);
  },
  (bytes, random, other) => {
    // A stretch of another honest payment in the same place.
    const at = below(random, Math.min(bytes.length, other.length)),
      length = 1 + below(random, 40);
    return Buffer.concat([bytes.subarray(0, at), other.subarray(at, at + length), bytes.subarray(at + length)]);
  },
  (bytes, random) => {
    const [left, right, length] = [below(random, bytes.length), below(random, bytes.length), 1 + below(random, 32)];
    const swapped = Buffer.from(bytes);
    bytes.copy(swapped, left, right, right + length);
    bytes.copy(swapped, right, left, left + length);
    return swapped;
  },
];

function replaced(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes),
    at = below(random, copy.length);
  copy[at] = change(copy[at]!) & 0xff;
  return copy;
}

function spliced(bytes: Buffer, random: Random, gone: number, added: Buffer): Buffer {
  const at = below(random, bytes.length);
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + gone)]);
}

const changedBytes: Mutate = (unsigned, others, random) => {
  const { bytes, write } = bytesOf(unsigned.payload);
  let changed = bytes;
  for (let turn = 1 + below(random, 3); turn > 0 && changed.length > 0; turn -= 1)
    changed = oneOf(random, BYTE_CHANGES)(changed, random, bytesOf(oneOf(random, others).payload).bytes);
  return { ...unsigned, payload: write(changed) };
};

const changedText: Mutate = (unsigned, _others, random) => {
  const { payload } = unsigned,
    at = below(random, payload.length);
  const letter = String.fromCharCode(33 + below(random, 94));
  return { ...unsigned, payload: payload.slice(0, at) + letter + payload.slice(at + below(random, 2)) };
};

/** One field of the summary, with the value of another payment or one like it: the schema lets no other in. */
const changedSummary: Mutate = (unsigned, others, random) => {
  const names = Object.keys(unsigned).filter((name) => name !== 'payload') as (keyof Unsigned)[];
  const name = oneOf(random, names),
    before: unknown = unsigned[name];
  const near =
    typeof before === 'bigint'
      ? [before + 1n, before - 1n, 0n, -before, before * 2n]
      : typeof before === 'number'
        ? [before + 1, before - 1, 0, -1, 2 ** 40]
        : typeof before === 'boolean'
          ? [!before]
          : typeof before === 'string'
            ? ['', `${before}0`, before.toLowerCase(), before.slice(0, -1)]
            : before === null
              ? ['', '7', unsigned.to]
              : [];
  return { ...unsigned, [name]: oneOf(random, [...near, oneOf(random, others)[name]]) } as Unsigned;
};

/** The honest bytes of another payment, with its own summary or this one's, and then changed. */
const otherPayment: Mutate = (unsigned, others, random) => {
  const other = oneOf(random, others),
    mixed = random() < 0.5 ? other : { ...unsigned, payload: other.payload };
  return random() < 0.3 ? changedSummary(mixed, others, random) : mixed;
};

const MUTATIONS: readonly Mutate[] = [
  changedBytes,
  changedBytes,
  changedBytes,
  changedText,
  changedSummary,
  otherPayment,
];

/** What the bytes move, as the chain's own SDK reads them. */
function movementOf(chain: FamilyChain, { payload }: Unsigned, from: string): string {
  try {
    return readOutside(chain, payload, from);
  } catch {
    return 'no transaction';
  }
}

/** The instruction of a caller who asked for this payment, and an edge without history. */
function askOf(unsigned: Unsigned): readonly [Instruction, SigningPolicy] {
  const { chain, from, fromPath, to, amount } = unsigned;
  return [
    { id: 'txn_1', purpose: 'withdrawal', chain, from, fromPath, to, toPath: null, amount, token: null, tag: null },
    {
      ...feeBoundsOf(chain),
      sweepDestinations: [],
      gasTank: null,
      catalogue: catalogueOf(chain),
      addressAt: (path) => own.addressAt(chain, path),
      journal: { forInstruction: [], withReplayKey: () => [] },
      replayWindow: null,
      nowMs: NOW_MS,
    },
  ];
}

/** Tries `count` mutations of one family. `check` takes the signer's place: a planted fault. */
export async function mutate(
  chain: FamilyChain,
  count: number,
  seed: number,
  check?: Signer['check'],
): Promise<MutationFigures> {
  const random = seeded(seed),
    network = networkOf(chain),
    signer = check === undefined ? (await loadSigner(chain))! : { check };
  const amount = (await unsignedFor({ chain }, 0, NOW_MS)).amount;
  const honest: Unsigned[] = [];
  for (let variant = 0; variant < VARIANTS; variant += 1)
    honest.push(await unsignedFor({ chain, amount: amount + BigInt(variant % 5) }, variant, NOW_MS));
  const asked = honest.map((unsigned) => {
    const [instruction, policy] = askOf(unsigned);
    const refusal = signer.check(network, unsigned, instruction, policy);
    if (refusal !== null) throw new Error(`the honest payment of ${chain} is refused: ${JSON.stringify(refusal)}`);
    return { unsigned, instruction, policy, moves: readOutside(chain, unsigned.payload, unsigned.from) };
  });
  const figures = { tried: 0, refused: 0, same: 0, wrong: [] as string[] };
  while (figures.tried < count) {
    const { unsigned, instruction, policy, moves } = oneOf(random, asked);
    const changed = oneOf(random, MUTATIONS)(unsigned, honest, random);
    if (isSame(changed, unsigned)) continue;
    figures.tried += 1;
    if (signer.check(network, changed, instruction, policy) !== null) figures.refused += 1;
    else if (movementOf(chain, changed, instruction.from) === moves && isCounted(changed, unsigned)) figures.same += 1;
    else if (figures.wrong.length < WRONG_KEPT) figures.wrong.push(textOf(changed));
  }
  return { chain, ...figures };
}

/** The ledger counts by the summary: an amount that is not moved, or less than it, would free budget. */
const isCounted = (changed: Unsigned, { amount, from, chain }: Unsigned): boolean =>
  changed.amount === amount && changed.from === from && changed.chain === chain;

const textOf = (unsigned: Unsigned): string =>
  JSON.stringify(unsigned, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
const isSame = (one: Unsigned, other: Unsigned): boolean =>
  one === other || (one.payload === other.payload && textOf(one) === textOf(other));

/** `count` in all, as many of each family. */
export async function* mutateAll(count: number, seed: number): AsyncGenerator<MutationFigures> {
  for (const [at, chain] of FAMILY_CHAINS.entries())
    yield mutate(chain, Math.ceil(count / FAMILY_CHAINS.length), seed + at);
}
