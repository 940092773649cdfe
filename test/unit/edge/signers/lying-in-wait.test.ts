/**
 * found F8, chains.md 1.6-8: what is signed lands soon or never, whatever the cloud says of heights, counters and
 * times.
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Network, Unsigned } from '../../../../chains/chain.ts';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { encodePsbt } from '../../../../chains/btc/psbt.ts';
import { buildUnsigned as buildBtc } from '../../../../chains/btc/unsigned.ts';
import { evmNetworks } from '../../../../chains/evm/network.ts';
import { buildUnsigned as buildEvm } from '../../../../chains/evm/unsigned.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { buildUnsigned as buildSol } from '../../../../chains/sol/unsigned.ts';
import { tron } from '../../../../chains/tron/network.ts';
import { buildUnsigned as buildTron } from '../../../../chains/tron/unsigned.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { buildUnsigned as buildXlm } from '../../../../chains/xlm/unsigned.ts';
import { xrp } from '../../../../chains/xrp/network.ts';
import { buildUnsigned as buildXrp } from '../../../../chains/xrp/unsigned.ts';
import { btcSigner } from '../../../../edge/signing/signers/btc.ts';
import { evmSigner } from '../../../../edge/signing/signers/evm.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import { highestHeight, KNOWN_HEIGHTS, outdatedAt } from '../../../../edge/signing/signers/known-heights.ts';
import { FIRST_NONCE_MAX } from '../../../../edge/signing/signers/lying-in-wait.ts';
import type { Instruction, Signer, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import { solSigner } from '../../../../edge/signing/signers/sol.ts';
import { tronSigner } from '../../../../edge/signing/signers/tron.ts';
import { xlmSigner } from '../../../../edge/signing/signers/xlm.ts';
import { xrpSigner } from '../../../../edge/signing/signers/xrp.ts';
import { isRefusal, type Refusal } from '../../../../protocol/errors.ts';
import type { Chain } from '../../../../protocol/slugs.ts';
import * as btcs from '../../../support/btc-inputs.ts';
import * as evms from '../../../support/evm-inputs.ts';
import * as sols from '../../../support/sol-inputs.ts';
import * as trons from '../../../support/tron-inputs.ts';
import { SENDER as TRON_SENDER, SHOP as TRON_SHOP } from '../../../support/tron-ledger.ts';
import * as xlms from '../../../support/xlm-inputs.ts';
import { ours as stellarOurs } from '../../../support/xlm-node.ts';
import * as xrps from '../../../support/xrp-inputs.ts';
import { ours as rippleOurs } from '../../../support/xrp-node.ts';

const DAY_MS = 86_400_000,
  HOUR_MS = 3_600_000;
/** The edge's clock. */
const NOW = Date.parse('2026-11-28T12:00:00Z');
const LONG_AGO = Date.parse('2019-01-01T00:00:00Z');

/** One kind of waiting: a payload that names `value`, and the highest value that is signed by a clock. */
interface Kind {
  readonly what: string;
  readonly network: Network;
  readonly signer: Signer;
  readonly from: string;
  readonly fromPath: string;
  readonly to: string;
  readonly reasons: readonly string[];
  readonly top: bigint;
  build(value: bigint, nowMs: number): Unsigned | Refusal;
  /** Values up to here must be signed, values beyond `latest` must not. */
  honest(nowMs: number): bigint;
  latest(nowMs: number): bigint;
}

/** What a chain can have by the table, computed apart: at the fastest pace, and at the pace of every day. */
function heightBy(chain: Chain, nowMs: number, blockMs: number): bigint {
  const { height, at } = KNOWN_HEIGHTS[chain]!;
  return BigInt(height + Math.floor(Math.max(0, nowMs - Date.parse(at)) / blockMs));
}
const USUAL_MS: Readonly<Partial<Record<Chain, number>>> = { btc: 590_000, sol: 360, xrp: 3_900, xlm: 5_400 };
const FASTEST_MS: Readonly<Partial<Record<Chain, number>>> = { btc: 500_000, sol: 150, xrp: 3_000, xlm: 4_000 };
const usual = (chain: Chain) => (nowMs: number) => heightBy(chain, nowMs, USUAL_MS[chain]!);
const fastest =
  (chain: Chain, more = 0n) =>
  (nowMs: number) =>
    heightBy(chain, nowMs, FASTEST_MS[chain]!) + 20_000n + more;

const ripple = rippleOurs(0, 0),
  stellarSender = stellarOurs(0);
const xrpBase = {
  network: xrp,
  signer: xrpSigner,
  from: ripple.address,
  fromPath: ripple.path,
  to: rippleOurs(0, 5).address,
};
const xlmBase = {
  network: stellar,
  signer: xlmSigner,
  from: stellarSender.address,
  fromPath: stellarSender.path,
  to: stellarOurs(1).address,
};
const solBase = {
  network: solana,
  signer: solSigner,
  from: sols.SENDER,
  fromPath: sols.SENDER_PATH,
  to: sols.RECEIVER,
};
const tronBase = {
  network: tron,
  signer: tronSigner,
  from: TRON_SENDER.address,
  fromPath: TRON_SENDER.path,
  to: TRON_SHOP,
};

const buildStellar = (sequence: bigint, closeTime: number): Unsigned | Refusal => {
  const account = xlms.accountOf({ sequence: (sequence - 1n).toString() });
  const { from, fromPath, to } = xlmBase;
  return buildXlm(
    stellar,
    xlms.inputsOf(from, { sender: account, closeTime }),
    { chain: 'xlm', from, fromPath, to, amount: 10_000_000n, token: null, tag: null },
    null,
  );
};
const buildRipple = (sequence: number, readAtHeight: number): Unsigned | Refusal => {
  const { from, fromPath, to } = xrpBase;
  const sender = { balanceDrops: '25000000', sequence, ownerCount: 0, tickets: [] };
  return buildXrp(
    xrp,
    xrps.inputsOf({ sender, readAtHeight }),
    { chain: 'xrp', from, fromPath, to, amount: 2_000_000n, token: null, tag: null },
    null,
  );
};
const buildTrx = (headTimeMs: number): Unsigned | Refusal => {
  const { from, fromPath, to } = tronBase;
  return buildTron(
    tron,
    trons.inputsOf({ nativeBalance: '50000000', headTimeMs, timestampMs: headTimeMs }),
    { chain: 'tron', from, fromPath, to, amount: 1_000_000n, token: null, tag: null },
    null,
  );
};
const secondsOf = (nowMs: number) => Math.floor(nowMs / 1_000);

const KINDS: readonly Kind[] = [
  {
    what: 'a lock time',
    network: bitcoin,
    signer: btcSigner,
    from: btcs.SENDER.address,
    fromPath: btcs.SENDER.path,
    to: btcs.RECIPIENT,
    reasons: ['locktime'],
    top: 0xffff_ffffn,
    build(value) {
      const built = buildBtc(
        bitcoin,
        btcs.inputsOf({ readAtHeight: 900_000 }),
        btcs.intentOf({ amount: 100_000n }),
        null,
      );
      return isRefusal(built)
        ? built
        : { ...built, payload: encodePsbt({ ...btcs.psbtIn(built), locktime: Number(value) }) };
    },
    honest: usual('btc'),
    latest: fastest('btc'),
  },
  ...evmNetworks.map((network): Kind => ({
    what: 'a first nonce',
    network,
    signer: evmSigner,
    from: evms.SENDER,
    fromPath: evms.SENDER_PATH,
    to: evms.RECIPIENT,
    reasons: ['nonce_outside_window', 'nonce', 'unreadable', 'not_canonical'],
    top: 2n ** 53n - 1n,
    build: (value) =>
      buildEvm(
        network,
        evms.inputsOf({
          baseFeePerGas: '0',
          tipPerGas: '1000000000',
          gasPrice: '1000000000',
          l1FeeUpperBound: network.l1FeeOracle === null ? null : '1000',
        }),
        evms.intentOf({ chain: network.slug, amount: 10n ** 17n }),
        { kind: 'nonce', value: Number(value) },
      ),
    honest: () => FIRST_NONCE_MAX,
    latest: () => FIRST_NONCE_MAX,
  })),
  {
    ...solBase,
    what: 'a last valid height',
    reasons: ['expiry', 'expiry_missing'],
    top: 2n ** 53n - 1n,
    build: (value) => buildSol(solana, sols.inputsOf({ lastValidBlockHeight: Number(value) }), sols.intentOf(), null),
    honest: usual('sol'),
    latest: fastest('sol'),
  },
  {
    ...xrpBase,
    what: 'a last ledger',
    reasons: ['expiry'],
    top: 0xffff_ff00n,
    build: (value) => buildRipple(7, Number(value)),
    honest: usual('xrp'),
    latest: fastest('xrp'),
  },
  {
    ...xrpBase,
    what: 'a first sequence',
    reasons: ['sequence_outside_window'],
    top: 0xffff_ffffn,
    build: (value) => buildRipple(Number(value), 1_000),
    honest: usual('xrp'),
    latest: fastest('xrp', 2_000_000n),
  },
  {
    ...xlmBase,
    what: 'a first sequence',
    reasons: ['sequence_out_of_window'],
    top: 2n ** 63n - 1n,
    build: (value, nowMs) => buildStellar(value, secondsOf(nowMs)),
    honest: (nowMs) => (usual('xlm')(nowMs) << 32n) + 1_000n,
    latest: (nowMs) => fastest('xlm')(nowMs) << 32n,
  },
  {
    ...xlmBase,
    what: 'a last time',
    reasons: ['expires_too_late', 'expired'],
    top: 2n ** 40n,
    build: (value) => buildStellar(7n, Number(value)),
    honest: (nowMs) => BigInt(secondsOf(nowMs)),
    latest: (nowMs) => BigInt(secondsOf(nowMs) + 3_600),
  },
  {
    ...tronBase,
    what: 'an expiration',
    reasons: ['expiration_too_far'],
    top: 2n ** 52n,
    build: (value) => buildTrx(Number(value)),
    honest: (nowMs) => BigInt(nowMs),
    latest: (nowMs) => BigInt(nowMs + HOUR_MS),
  },
];

function check(
  { network: { slug: chain }, network, signer, from, fromPath, to }: Kind,
  unsigned: Unsigned,
  nowMs: number,
  more: Partial<SigningPolicy> = {},
): Refusal | null {
  const instruction: Instruction = {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain,
    from,
    fromPath,
    to,
    toPath: null,
    amount: unsigned.amount,
    token: null,
    tag: null,
  };
  return signer.check(network, unsigned, instruction, {
    ...feeBoundsOf(chain),
    sweepDestinations: [],
    gasTank: null,
    catalogue: catalogueOf(chain),
    addressAt: () => from,
    journal: { forInstruction: [], withReplayKey: () => [] },
    replayWindow: null,
    nowMs,
    ...more,
  });
}

/** From a value up to the highest that the bytes hold, by order of magnitude. */
const beyond = (from: bigint, top: bigint) =>
  fc
    .tuple(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.integer({ min: 0, max: 63 }))
    .map(([random, bits]) => from + 1n + ((random >> BigInt(bits)) % (top - from)));

for (const kind of KINDS) {
  const {
    network: { slug: chain },
    what,
  } = kind;
  test(`found F8 ${chain}: ${what} that the chain cannot have by the edge's clock is not signed, one that it has is`, (t) => {
    const built = (value: bigint, nowMs: number): Unsigned => {
      const unsigned = kind.build(value, nowMs);
      if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
      return unsigned;
    };
    const seen = { signed: 0, refused: 0 };
    const clocks = fc.constantFrom(NOW, NOW - 60 * DAY_MS, NOW + 200 * DAY_MS, Date.parse('2026-09-08T00:00:00Z'));
    fc.assert(
      fc.property(clocks, fc.double({ min: 0, max: 1, noNaN: true }), (nowMs, share) => {
        const highest = kind.honest(nowMs),
          wide =
            what.includes('time') || what.includes('expiration')
              ? highest
              : BigInt(Math.floor(Number(highest) * share)) + 1n;
        t.is(
          check(kind, built(wide > highest ? highest : wide, nowMs), nowMs),
          null,
          `${wide} at ${new Date(nowMs).toISOString()}`,
        );
        seen.signed += 1;
      }),
      { numRuns: 40 },
    );
    fc.assert(
      fc.property(
        clocks.chain((nowMs) => beyond(kind.latest(nowMs), kind.top).map((value) => ({ nowMs, value }))),
        ({ nowMs, value }) => {
          const refusal = check(kind, built(value, nowMs), nowMs);
          t.true(
            refusal !== null && kind.reasons.includes(String(refusal.details['reason'])),
            `${value} at ${new Date(nowMs).toISOString()}: ${JSON.stringify(refusal)}`,
          );
          seen.refused += 1;
        },
      ),
      { numRuns: 60 },
    );
    t.true(seen.signed >= 40 && seen.refused >= 60);
  });
}

test('found F8 the three that were seen: a lock for 9,500 years, a first nonce of 9·10¹⁵, a payment that is good for half a year', (t) => {
  const [lock, nonce, ledger] = [KINDS[0]!, KINDS[1]!, KINDS.find(({ what }) => what === 'a last ledger')!];
  const refused = (kind: Kind, value: bigint) => check(kind, kind.build(value, NOW) as Unsigned, NOW)?.details;
  t.like(refused(lock, 499_999_999n), { reason: 'locktime', found: '499999999' });
  t.like(refused(nonce, 9_000_000_000_000_000n), {
    reason: 'nonce_outside_window',
    setting: 'EDGE_FIRST_NONCE_MAX',
    bound: '100000',
    value: '9000000000000000',
  });
  const halfAYear = usual('xrp')(NOW) + BigInt(Math.floor((196 * DAY_MS) / 3_900));
  t.like(refused(ledger, halfAYear), { reason: 'expiry' });
});

test('found F8 a counter is held against what this edge or an own node knows; the setting holds only while neither does', (t) => {
  const nonce = KINDS[1]!,
    at = (value: bigint, more: Partial<SigningPolicy>) =>
      check(nonce, nonce.build(value, NOW) as Unsigned, NOW, more)?.details['reason'] ?? null;
  const known = { replayWindow: { from: 0n, to: 3_000_000n }, firstNonceMax: 5n };
  t.deepEqual([at(3_000_000n, known), at(3_000_001n, known)], [null, 'nonce_outside_window']);
  t.deepEqual([at(5n, { firstNonceMax: 5n }), at(6n, { firstNonceMax: 5n })], [null, 'nonce_outside_window']);
});

test('found F8 a clock that is set back, or none, does not make honest payloads of today impossible', (t) => {
  for (const chain of ['btc', 'sol', 'xrp', 'xlm'] as const) {
    t.true(highestHeight(chain, LONG_AGO)! >= KNOWN_HEIGHTS[chain]!.height);
    t.true(highestHeight(chain, undefined)! < KNOWN_HEIGHTS[chain]!.height * 2);
    t.true(highestHeight(chain, NOW)! < highestHeight(chain, NOW + DAY_MS)!);
  }
  t.is(highestHeight('eth', NOW), null);
});

test('found F8 no release is made whose known heights are older than a year', (t) => {
  const [heading = ''] = /^## .*$/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
  const [day] = /\d{4}-\d{2}-\d{2}/.exec(heading) ?? [];
  t.regex(heading, /^## \d+\.\d+\.\d+ — (?:unreleased|\d{4}-\d{2}-\d{2})$/, 'the newest release says its day');
  // The day of the release decides, and no day on which the tests run: a release gets its day in the commit that makes
  // it.
  t.deepEqual(
    day === undefined ? [] : outdatedAt(Date.parse(day)),
    [],
    'renew edge/signing/signers/known-heights.ts before the release',
  );
  t.deepEqual(outdatedAt(Date.parse('2028-01-01')), ['btc', 'sol', 'xrp', 'xlm']);
  const table = {
    btc: { ...KNOWN_HEIGHTS.btc!, at: '2025-01-01T00:00:00Z' },
    xrp: { ...KNOWN_HEIGHTS.xrp!, at: '2025-06-01T00:00:00Z' },
  };
  t.deepEqual(outdatedAt(Date.parse('2026-01-03T00:00:00Z'), table), ['btc']);
  for (const { at, source, height } of Object.values(KNOWN_HEIGHTS))
    t.true(Number.isFinite(Date.parse(at)) && source.length > 20 && height > 0);
});
