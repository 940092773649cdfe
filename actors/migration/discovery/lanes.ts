/**
 * Where a scan goes on and where it ends: pure. A lane ends after `gapLimit` indexes in a row that were read and show
 * no use, but not before the highest index that has a reference and as many again; what was not read is no gap. Lanes
 * are read one after the other. Migration M-D1, M-D4, M-D7.
 */
import { SCRIPT_TYPES, type ScriptType } from '../../../chains/btc/derive.ts';
import { parseXpub } from '../../../chains/secp256k1.ts';
import type { KeySource } from '../../../model/account/key-source.ts';
import type { Lane } from '../../../model/ports/scan-store.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import {
  GAP_LIMIT,
  GAP_LIMIT_UNSPENT,
  type Evidence,
  type ScanEnd,
  type ScanTemplate,
} from '../../../protocol/migration/words.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';

/** Indexes of one window: what is committed at once, and repeated after a crash. */
export const WINDOW = 100;
/** Where the question costs a node the same for as many: a search through all filters, or all unspent outputs. */
export const WINDOW_OF_NODE = 1_000;

/**
 * Scripts by the purpose of a path. 44' came first, and some wallets have kept it for segwit (rows 9 and 10 of the
 * catalogue of paths): it, and a key without a purpose, can have any of those that need no tweak. The first is the
 * standard's, whose lane the references are of.
 */
const SCRIPTS_OF: Readonly<Record<string, readonly ScriptType[]>> = {
  "44'": ['p2pkh', 'p2wpkh', 'p2sh-p2wpkh'],
  "49'": ['p2sh-p2wpkh'],
  "84'": ['p2wpkh'],
  "86'": ['p2tr'],
};
const ANY_SCRIPT: readonly ScriptType[] = SCRIPT_TYPES.filter((script) => script !== 'p2tr').toReversed();

const begun = (lane: Pick<Lane, 'keys' | 'branch' | 'script'>): Lane => ({
  ...lane,
  next: 0,
  gap: 0,
  lastUsed: null,
  largestGap: 0,
  done: null,
});

/** The lanes of a source's extended keys for a chain, receiving ones first; none where it has no such key. */
export function lanesOf(
  source: Pick<KeySource, 'keys'>,
  chain: Chain,
  template: ScanTemplate,
  branches: readonly (0 | 1)[],
): Lane[] {
  const family = FAMILY_OF[chain];
  const keys = source.keys.flatMap(({ family: of, xpub, path }) => {
    if (of !== family || xpub === null || path === null) return [];
    return isRefusal(parseXpub(xpub)) ? [] : [{ xpub, path }];
  });
  if (keys.length === 0) return [];
  const groups =
    template === 'each'
      ? // Accounts of one purpose and coin are one row of indexes: another purpose is another script.
        [...Map.groupBy(keys, ({ path }) => path.split('/').slice(0, 3).join('/')).values()].map((group) =>
          group.toSorted((a, b) => accountOf(a.path) - accountOf(b.path)),
        )
      : keys.map((one) => [one]);
  const made = groups.flatMap((group) =>
    scriptsOf(chain, group[0]!.path).flatMap((script) =>
      branches.map((branch) => begun({ keys: group, branch, script })),
    ),
  );
  return made.toSorted((a, b) => a.branch - b.branch);
}

/** `m/44'/60'/7'` is the eighth account. */
const accountOf = (path: string): number => Number.parseInt(path.split('/')[3] ?? '0', 10);

/** The first account of a row of accounts that has no key: an index would be another account's. Null: none. */
export function missingAccount(lanes: readonly Pick<Lane, 'keys'>[]): number | null {
  for (const { keys } of lanes) {
    const gap = keys.length === 1 ? -1 : keys.findIndex(({ path }, index) => accountOf(path) !== index);
    if (gap >= 0) return gap;
  }
  return null;
}

function scriptsOf(chain: Chain, path: string): readonly (ScriptType | null)[] {
  if (FAMILY_OF[chain] !== 'btc') return [null];
  return SCRIPTS_OF[path.split('/')[1] ?? ''] ?? ANY_SCRIPT;
}

export interface Limits {
  /** Null: as the evidence asks for. */
  readonly gapLimit: number | null;
  readonly maxScan: number;
  /** Of the first lane. */
  readonly mappedTo: number | null;
}

/** The gap after which a lane ends. */
export const gapOf = (gapLimit: number | null, evidence: Evidence | null): number =>
  gapLimit ?? (evidence === 'unspent_only' ? GAP_LIMIT_UNSPENT : GAP_LIMIT);

/** How far a lane may go: `each` has no more indexes than keys. */
const endOf = ({ keys }: Pick<Lane, 'keys'>, maxScan: number): number =>
  keys.length === 1 ? maxScan : Math.min(maxScan, keys.length);

export interface Window {
  readonly lane: number;
  readonly from: number;
  /** Not part of it. */
  readonly to: number;
}

/** What is read next; null where every lane has ended. */
export function nextWindow(
  lanes: readonly Lane[],
  { maxScan, evidence }: Pick<Limits, 'maxScan'> & { readonly evidence: Evidence | null },
): Window | null {
  const lane = lanes.findIndex(({ done }) => done === null);
  if (lane === -1) return null;
  const { next } = lanes[lane]!;
  const size = evidence === 'blocks' || evidence === 'unspent_only' ? WINDOW_OF_NODE : WINDOW;
  return { lane, from: next, to: Math.min(next + size, endOf(lanes[lane]!, maxScan)) };
}

export interface Advanced {
  readonly lanes: readonly Lane[];
  /** How many indexes of the window count: those after the end of the lane do not. */
  readonly counted: number;
  readonly found: number;
}

/** The lanes after a window. `used`: of each of its indexes. */
export function advance(
  lanes: readonly Lane[],
  { lane: at }: Pick<Window, 'lane'>,
  used: readonly boolean[],
  { gapLimit, maxScan, mappedTo }: Limits,
  evidence: Evidence,
): Advanced {
  const limit = gapOf(gapLimit, evidence),
    before = lanes[at]!,
    end = endOf(before, maxScan);
  const least = at === 0 && mappedTo !== null ? mappedTo + limit : -1;
  let { next, gap, lastUsed, largestGap } = before,
    done: ScanEnd | null = null,
    found = 0,
    counted = 0;
  for (const isUsed of used) {
    if (isUsed) {
      largestGap = Math.max(largestGap, gap);
      lastUsed = next;
      gap = 0;
      found += 1;
    } else gap += 1;
    next += 1;
    counted += 1;
    if (gap >= limit && next > least) done = 'gap_limit';
    else if (next >= end) done = 'max_scan';
    if (done !== null) break;
  }
  // A limit that was raised gives no more keys.
  if (next >= end) done ??= 'max_scan';
  const moved = { ...before, next, gap, lastUsed, largestGap, done };
  return { lanes: lanes.map((lane, i) => (i === at ? moved : lane)), counted, found };
}

/** Why a scan ended; null while a lane goes on. */
export function endedBy(lanes: readonly Lane[]): ScanEnd | null {
  if (lanes.some(({ done }) => done === null)) return null;
  return lanes.some(({ done }) => done === 'max_scan') ? 'max_scan' : 'gap_limit';
}
