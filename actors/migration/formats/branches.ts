/**
 * Adopted addresses as ranges below extended public keys, in the two formats that name keys: output descriptors (btc
 * alone) and key-value blocks. What is written reads back as the same addresses. Migration M-E2.
 */
import type { ScriptType } from '../../../chains/btc/derive.ts';
import { descriptorChecksum } from '../../../chains/btc/descriptor-checksum.ts';
import type { Chain } from '../../../protocol/slugs.ts';

/** Where an address lies below an extended key. */
export interface KeyedRow {
  readonly chain: Chain;
  readonly xpub: string;
  /** Of the key itself: `m/84'/0'/0'`. */
  readonly path: string;
  /** Steps between the key and the index: `0`, `44/60/7/0`, '' where the index follows the key. */
  readonly branch: string;
  readonly index: number;
  /** Of btc. */
  readonly script: ScriptType | null;
  readonly tag: string | null;
}

/** Indexes of one range of a file that an import reads. */
const RANGE_MAX = 1_000_000;

/** Both ends are part of it. */
type Range = readonly [first: number, last: number];
type Branch = Omit<KeyedRow, 'index'> & { readonly indexes: number[] };

/** Gathers the rows of a project in any order; a number for each is what it keeps. */
export class Branches {
  readonly #branches = new Map<string, Branch>();

  add({ index, ...row }: KeyedRow): void {
    const key = JSON.stringify([row.chain, row.xpub, row.path, row.branch, row.script, row.tag]);
    const known = this.#branches.get(key);
    if (known === undefined) this.#branches.set(key, { ...row, indexes: [index] });
    else known.indexes.push(index);
  }

  /** One line a range, each with its checksum. Rows have a script, and no tag: the format has no word for one. */
  *descriptors(): Generator<string> {
    for (const branch of this.#branches.values()) {
      const text = descriptorOf(branch);
      for (const [first, last] of rangesOf(branch.indexes)) yield `${text} range=${first}-${last}\n`;
    }
  }

  /** One block a range, ended by a blank line. Rows have branch `0` or `1`, and on btc the script p2wpkh. */
  *keyValues(): Generator<string> {
    for (const { chain, xpub, path, branch, tag, indexes } of this.#branches.values()) {
      const above = `chain: ${chain}\nxpub: ${xpub}\npath: ${path}\n`,
        below = `branch: ${branch}\n${tag === null ? '' : `tag: ${tag}\n`}\n`;
      for (const [first, last] of rangesOf(indexes)) yield `${above}range: ${first}-${last}\n${below}`;
    }
  }
}

const WRAPPED: Readonly<Record<ScriptType, readonly [before: string, after: string]>> = {
  p2pkh: ['pkh(', ')'],
  'p2sh-p2wpkh': ['sh(wpkh(', '))'],
  p2wpkh: ['wpkh(', ')'],
  p2tr: ['tr(', ')'],
};

/** Without the key's own path: its form wants the fingerprint of the master key, which is not known here. */
function descriptorOf({ xpub, branch, script }: Branch): string {
  const [before, after] = WRAPPED[script!];
  const text = `${before}${xpub}${branch === '' ? '' : `/${branch}`}/*${after}`;
  return `${text}#${descriptorChecksum(text)!}`;
}

function* rangesOf(indexes: number[]): Generator<Range> {
  const sorted = indexes.toSorted((a, b) => a - b);
  let [first] = sorted as [number];
  for (let at = 0; at < sorted.length; at += 1) {
    const here = sorted[at]!,
      next = sorted[at + 1];
    if (next !== undefined && next <= here + 1 && next - first < RANGE_MAX) continue;
    yield [first, here];
    if (next !== undefined) first = next;
  }
}
