/** Where scans end: gaps, limits and references. Migration M-D4. */
import { HDKey } from '@scure/bip32';
import test from 'ava';
import fc from 'fast-check';
import {
  advance,
  endedBy,
  gapOf,
  lanesOf,
  nextWindow,
  type Limits,
} from '../../../actors/migration/discovery/lanes.ts';
import type { Lane } from '../../../model/ports/scan-store.ts';

const xpubAt = (path: string): string => HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive(path).publicExtendedKey;
const keyAt = (family: 'evm' | 'btc', path: string) => ({ family, path, xpub: xpubAt(path), publicKey: null });
const EVM = "m/44'/60'/0'";
const lanes = () => lanesOf({ keys: [keyAt('evm', EVM)] }, 'eth', 'account', [0]);

/** Reads a whole chain of uses, window by window. */
function scanned(uses: ReadonlySet<number>, limits: Limits, from: readonly Lane[] = lanes()) {
  let now = from,
    found = 0,
    windows = 0;
  for (
    let window = nextWindow(now, { ...limits, evidence: null });
    window !== null;
    window = nextWindow(now, { ...limits, evidence: null })
  ) {
    const { from: first, to, lane } = window;
    const used = Array.from({ length: to - first }, (_, at) => uses.has(first + at));
    const moved = advance(now, { lane }, used, limits, 'state');
    now = moved.lanes;
    found += moved.found;
    windows += 1;
    if (windows > 20_000) throw new Error('no end');
  }
  return { lane: now[0]!, found, ended: endedBy(now) };
}
const limits = (more: Partial<Limits> = {}): Limits => ({ gapLimit: 20, maxScan: 10_000, mappedTo: null, ...more });

test('migration M-D4 (A4): gaps of 19 are crossed and gaps of 20 end it; the limit wins over maxScan where both come at once', (t) => {
  t.like(scanned(new Set([0, 3, 24]), limits()), { found: 2, ended: 'gap_limit', lane: { lastUsed: 3, next: 24 } });
  // Behind 3 there are 20 unused ones before 24, and 19 before 23.
  t.like(scanned(new Set([0, 3, 23]), limits()), { found: 3, lane: { lastUsed: 23, largestGap: 19, next: 44 } });
  t.like(scanned(new Set([0, 3, 23]), limits({ gapLimit: 21 })), { found: 3, lane: { next: 45 } });
  t.like(scanned(new Set([0, 900]), limits({ gapLimit: 999 })), { found: 2, lane: { lastUsed: 900, largestGap: 899 } });
  t.like(scanned(new Set(), limits({ gapLimit: 1_000 })), { found: 0, ended: 'gap_limit', lane: { next: 1_000 } });
  // 4 used, then 20 unused: the 24th index is the last of the gap and of maxScan.
  t.is(scanned(new Set([0, 3]), limits({ maxScan: 24 })).ended, 'gap_limit');
  t.like(scanned(new Set([0, 3]), limits({ maxScan: 23 })), { ended: 'max_scan', lane: { next: 23 } });
});

test('migration M-D4 (btcpayserver-docker#53): it goes past the highest index that has a reference', (t) => {
  t.like(scanned(new Set([40]), limits({ mappedTo: 40 })), { found: 1, lane: { lastUsed: 40, next: 61 } });
  t.like(scanned(new Set(), limits({ mappedTo: 40 })), { found: 0, ended: 'gap_limit', lane: { next: 61 } });
  t.like(scanned(new Set(), limits({ mappedTo: 9_990 })), { ended: 'max_scan', lane: { next: 10_000 } });
});

test('migration M-D4: any uses, gap and maxScan end where the rule says, whatever the windows are', (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(600), { maxLength: 40 }),
      fc.integer({ min: 1, max: 80 }),
      fc.integer({ min: 1, max: 500 }),
      fc.option(fc.nat(400), { nil: null }),
      (uses, gapLimit, maxScan, mappedTo) => {
        const used = new Set(uses);
        const { lane, found, ended } = scanned(used, { gapLimit, maxScan, mappedTo });
        // The rule, index by index.
        let gap = 0,
          at = 0,
          stopped: string | null = null;
        while (stopped === null) {
          gap = used.has(at) ? 0 : gap + 1;
          at += 1;
          if (gap >= gapLimit && (mappedTo === null || at > mappedTo + gapLimit)) stopped = 'gap_limit';
          else if (at >= maxScan) stopped = 'max_scan';
        }
        t.is(lane.next, at);
        t.is(ended, stopped as never);
        t.is(found, uses.filter((index) => index < at).length);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('migration M-D6: where spent outputs are not seen, the gap is 1,000 unless the caller names one', (t) => {
  t.is(gapOf(null, 'unspent_only'), 1_000);
  t.is(gapOf(null, 'history'), 20);
  t.is(gapOf(5, 'unspent_only'), 5);
});

test('migration M-D1: lanes by key, branch and script; each account key an index (bitbox-wallet-app#2195)', (t) => {
  const btc = [keyAt('btc', "m/84'/0'/0'"), keyAt('btc', "m/49'/0'/0'"), keyAt('btc', "m/45'")];
  const made = lanesOf({ keys: btc }, 'btc', 'account', [0, 1]);
  t.deepEqual(
    made.filter(({ branch }) => branch === 0).map(({ script }) => script),
    ['p2wpkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2sh-p2wpkh', 'p2pkh'],
  );
  t.is(made.length, 10);
  t.is(made[0]!.branch, 0);
  t.deepEqual(lanesOf({ keys: btc }, 'eth', 'account', [0]), []);
  t.deepEqual(
    lanesOf({ keys: [{ family: 'evm', path: null, xpub: null, publicKey: '02' }] }, 'eth', 'account', [0]),
    [],
  );
  // Copay and Tatum have segwit on 44' (M-P8 9, 10); with `each` a purpose is no account of another.
  const scripts = (paths: string[], template: 'account' | 'each') =>
    lanesOf({ keys: paths.map((path) => keyAt('btc', path)) }, 'btc', template, [0]).map(
      ({ keys, script }) => `${keys.map(({ path }) => path).join()} ${script}`,
    );
  t.deepEqual(
    scripts(["m/44'/0'/0'"], 'account').map((one) => one.split(' ')[1]),
    ['p2pkh', 'p2wpkh', 'p2sh-p2wpkh'],
  );
  t.deepEqual(scripts(["m/84'/0'/1'", "m/49'/0'/0'", "m/84'/0'/0'"], 'each'), [
    "m/84'/0'/0',m/84'/0'/1' p2wpkh",
    "m/49'/0'/0' p2sh-p2wpkh",
  ]);
  const accounts = [10, 2, 0].map((account) => keyAt('evm', `m/44'/60'/${account}'`));
  const [each] = lanesOf({ keys: accounts }, 'eth', 'each', [0]) as [Lane];
  t.deepEqual(
    each.keys.map(({ path }) => path),
    ["m/44'/60'/0'", "m/44'/60'/2'", "m/44'/60'/10'"],
  );
  t.like(scanned(new Set([2]), limits(), [each]), { found: 1, ended: 'max_scan', lane: { next: 3, lastUsed: 2 } });
});
