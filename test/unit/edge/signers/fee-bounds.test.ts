/**
 * found F2, G29: no payload is signed whose fee is beyond a bound of the customer's, whatever market or contract made
 * it.
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Intent, Network, Token, Unsigned } from '../../../../chains/chain.ts';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { decodePsbt } from '../../../../chains/btc/psbt.ts';
import { buildUnsigned as buildBtc } from '../../../../chains/btc/unsigned.ts';
import { decodeUnsigned } from '../../../../chains/evm/envelope.ts';
import { evmNetworks } from '../../../../chains/evm/network.ts';
import { buildUnsigned as buildEvm } from '../../../../chains/evm/unsigned.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { decodePayment } from '../../../../chains/sol/payment.ts';
import { buildUnsigned as buildSol } from '../../../../chains/sol/unsigned.ts';
import { tron } from '../../../../chains/tron/network.ts';
import { decodeRaw } from '../../../../chains/tron/raw-transaction.ts';
import { buildUnsigned as buildTron } from '../../../../chains/tron/unsigned.ts';
import { decodePayload, encodePayload } from '../../../../chains/xlm/envelope.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { buildUnsigned as buildXlm, feePartsOf as stellarFeeParts } from '../../../../chains/xlm/unsigned.ts';
import { xrp } from '../../../../chains/xrp/network.ts';
import { decodeUnsigned as decodeXrp } from '../../../../chains/xrp/transaction.ts';
import { buildUnsigned as buildXrp } from '../../../../chains/xrp/unsigned.ts';
import { btcSigner } from '../../../../edge/signing/signers/btc.ts';
import { evmSigner } from '../../../../edge/signing/signers/evm.ts';
import { feeBoundsOf, USUAL_FEES, type FeeBounds } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, Purpose, Signer } from '../../../../edge/signing/signers/signer.ts';
import { solSigner } from '../../../../edge/signing/signers/sol.ts';
import { tronSigner } from '../../../../edge/signing/signers/tron.ts';
import { xlmSigner } from '../../../../edge/signing/signers/xlm.ts';
import { xrpSigner } from '../../../../edge/signing/signers/xrp.ts';
import { isRefusal, type Refusal } from '../../../../protocol/errors.ts';
import { CHAINS, type Chain } from '../../../../protocol/slugs.ts';
import * as btcs from '../../../support/btc-inputs.ts';
import * as evms from '../../../support/evm-inputs.ts';
import * as sols from '../../../support/sol-inputs.ts';
import * as trons from '../../../support/tron-inputs.ts';
import { SENDER as TRON_SENDER, SHOP as TRON_SHOP } from '../../../support/tron-ledger.ts';
import * as xlms from '../../../support/xlm-inputs.ts';
import { ours as stellarOurs, tank as stellarTank } from '../../../support/xlm-node.ts';
import * as xrps from '../../../support/xrp-inputs.ts';
import { ours as rippleOurs } from '../../../support/xrp-node.ts';

/** A market, a contract and an amount; a price in the table's unit. */
interface Wish {
  readonly price: bigint;
  readonly gas: number;
  readonly amount: bigint;
  readonly isToken: boolean;
  readonly makesAccount: boolean;
}
/** What the bytes of a payload can cost, read without the signer. */
interface Proven {
  readonly feeMax: bigint;
  readonly price: bigint | null;
  readonly nativeGas: bigint | null;
  readonly amount: bigint | null;
}
interface Built {
  readonly unsigned: Unsigned;
  readonly to: string;
  readonly token: Token | null;
  readonly proven: Proven;
}
interface Case {
  readonly network: Network;
  readonly signer: Signer;
  readonly from: string;
  readonly fromPath: string;
  build(wish: Wish): Built | Refusal;
}

const PLENTY = (10n ** 27n).toString();
const RENT = 2_039_280n;
/** The cloud's own caps hold no cloud that lies. */
const greedy = <N extends Network>(network: N): N => ({
  ...network,
  feeCap: 10n ** 30n,
  feeRateCapSatPerKvb: 10n ** 12n,
});
const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
const firstToken = (chain: Chain): Token => [...catalogueOf(chain).values()][0]!;
const made = (
  unsigned: Unsigned | Refusal,
  to: string,
  token: Token | null,
  prove: (unsigned: Unsigned) => Omit<Proven, 'amount'>,
): Built | Refusal =>
  isRefusal(unsigned)
    ? unsigned
    : { unsigned, to, token, proven: { ...prove(unsigned), amount: token === null ? unsigned.amount : null } };

/** A bump that the sender pays itself, as a repricing makes it: the tank pays for sweeps only. */
function paidBySender(unsigned: Unsigned): Unsigned {
  const read = decodePayload(unsigned.payload);
  if (!read.ok) throw new Error(read.reason);
  const { transaction, bump } = read.payload,
    payload = { transaction, bump: bump === null ? null : { ...bump, feeSource: unsigned.from } };
  return { ...unsigned, payload: encodePayload(payload), fee: stellarFeeParts(payload) };
}

const CASES: readonly Case[] = [
  ...evmNetworks.map((network): Case => ({
    network,
    signer: evmSigner,
    from: evms.SENDER,
    fromPath: evms.SENDER_PATH,
    build({ price, gas, amount, isToken }) {
      const token = isToken ? firstToken(network.slug) : null;
      const inputs = evms.inputsOf({
        nativeBalance: PLENTY,
        tokenBalance: PLENTY,
        baseFeePerGas: '0',
        tipPerGas: price.toString(),
        gasPrice: price.toString(),
        gas: gas <= 21_000 && !isToken ? { kind: 'plain' } : { kind: 'estimated', units: String(gas) },
        l1FeeUpperBound: network.l1FeeOracle === null ? null : '1000',
      });
      const intent: Intent = evms.intentOf({ chain: network.slug, amount, token });
      return made(
        buildEvm(greedy(network), inputs, intent, { kind: 'nonce', value: 7 }),
        evms.RECIPIENT,
        token,
        ({ payload }) => {
          const read = decodeUnsigned(payload);
          if (!read.ok) throw new Error(read.reason);
          const { gasLimit, maxFeePerGas } = read.transaction;
          return { feeMax: gasLimit * maxFeePerGas, price: maxFeePerGas, nativeGas: isToken ? null : gasLimit };
        },
      );
    },
  })),
  {
    network: bitcoin,
    signer: btcSigner,
    from: btcs.SENDER.address,
    fromPath: btcs.SENDER.path,
    build({ price, amount }) {
      const coins = [5_000n, 60_000n, 1_000_000n, 500_000_000n].map((value) => btcs.coinOf(value));
      const built = buildBtc(
        greedy(bitcoin),
        btcs.inputsOf({ coins, estimateSatPerKvb: price.toString() }),
        btcs.intentOf({ amount }),
        null,
      );
      return made(built, btcs.RECIPIENT, null, ({ payload, fee }) => {
        const read = decodePsbt(payload);
        if (!read.ok) throw new Error(read.reason);
        const into = btcs
          .psbtIn({ payload })
          .inputs.reduce((sum, { txid }) => sum + BigInt(coins.find((coin) => coin.txid === txid)!.valueSats), 0n);
        const feeMax = read.psbt.outputs.reduce((rest, { value }) => rest - value, into);
        // a fee is whole satoshi
        return { feeMax, price: (feeMax * 1_000n) / BigInt(fee['vsize']!) - 8n, nativeGas: null };
      });
    },
  },
  {
    network: tron,
    signer: tronSigner,
    from: TRON_SENDER.address,
    fromPath: TRON_SENDER.path,
    build({ price, gas, amount, isToken, makesAccount }) {
      const token = isToken ? firstToken('tron') : null;
      const inputs = trons.inputsOf({
        nativeBalance: PLENTY,
        tokenBalance: PLENTY,
        destination: makesAccount ? 'missing' : 'account',
        tried: isToken ? { kind: 'succeeded', energy: String(Math.min(gas, 130_000)) } : { kind: 'native' },
        prices: { ...trons.inputsOf().prices, energySun: price.toString(), feeLimitMaxSun: PLENTY },
      });
      const intent: Intent = {
        chain: 'tron',
        from: TRON_SENDER.address,
        fromPath: TRON_SENDER.path,
        to: TRON_SHOP,
        amount,
        token,
        tag: null,
      };
      return made(buildTron(greedy(tron), inputs, intent, null), TRON_SHOP, token, ({ payload, fee }) => {
        const read = decodeRaw(payload);
        if (!read.ok) throw new Error(read.reason);
        const { feeLimit } = read.raw;
        return {
          feeMax: feeLimit + BigInt(fee['bandwidthFeeMax']!) + BigInt(fee['activationFee']!),
          price: isToken ? ceilDiv(feeLimit, 156_000n) : null,
          nativeGas: null,
        };
      });
    },
  },
  {
    network: solana,
    signer: solSigner,
    from: sols.SENDER,
    fromPath: sols.SENDER_PATH,
    build({ price, gas, amount, isToken, makesAccount }) {
      const token = isToken ? firstToken('sol') : null,
        tokens =
          token === null
            ? {}
            : sols.tokenInputsOf(token, { balance: PLENTY, createRent: makesAccount ? RENT.toString() : null });
      const inputs = sols.inputsOf({
        ...tokens,
        senderLamports: PLENTY,
        payerLamports: PLENTY,
        unitPrice: price.toString(),
        ...(isToken ? { compute: { kind: 'simulated', units: Math.min(gas, 1_000_000) } } : {}),
      });
      const network = { ...greedy(solana), unitPrice: { floor: 0n, ceiling: 10n ** 18n } };
      return made(
        buildSol(network, inputs, sols.intentOf({ amount, token }), null),
        sols.RECEIVER,
        token,
        ({ payload }) => {
          const read = decodePayment(new Uint8Array(Buffer.from(payload, 'base64')));
          if (!read.ok) throw new Error(read.reason);
          const { unitLimit, microLamportsPerUnit: perUnit, asset } = read.payment;
          const rent = asset.kind === 'token' && asset.creates !== null ? RENT : 0n;
          return {
            feeMax: 5_000n + ceilDiv(BigInt(unitLimit) * perUnit, 1_000_000n) + rent,
            price: perUnit,
            nativeGas: null,
          };
        },
      );
    },
  },
  {
    network: xrp,
    signer: xrpSigner,
    from: rippleOurs(0, 0).address,
    fromPath: rippleOurs(0, 0).path,
    build({ price, amount, isToken }) {
      const token = isToken ? firstToken('xrp') : null,
        { address: from, path: fromPath } = rippleOurs(0, 0),
        to = rippleOurs(0, 5).address;
      const inputs = xrps.inputsOf({
        openLedgerFeeDrops: price.toString(),
        sender: { balanceDrops: '1000000000000', sequence: 7, ownerCount: 0, tickets: [] },
        token: isToken ? xrps.tokenStateOf({ senderLine: xrps.lineOf({ balance: PLENTY }) }) : null,
      });
      return made(
        buildXrp(
          greedy(xrp),
          inputs,
          { chain: 'xrp', from, fromPath, to, amount, token, tag: null },
          { kind: 'sequence', value: '7' },
        ),
        to,
        token,
        ({ payload }) => {
          const read = decodeXrp(payload);
          if (!read.ok) throw new Error(read.reason);
          return { feeMax: read.transaction.feeDrops, price: read.transaction.feeDrops, nativeGas: null };
        },
      );
    },
  },
  {
    network: stellar,
    signer: xlmSigner,
    from: stellarOurs(0).address,
    fromPath: stellarOurs(0).path,
    build({ price, amount, isToken, makesAccount }) {
      const token = isToken ? firstToken('xlm') : null,
        { address: from, path: fromPath } = stellarOurs(0),
        to = stellarOurs(1).address;
      const lines = token === null ? {} : { [token.contract]: xlms.lineOf({ balance: '1000000000000000' }) };
      const account = xlms.accountOf({ lines, balance: '1000000000000000' });
      const inputs = xlms.inputsOf(from, {
        sender: account,
        payer: account,
        destination: account,
        issuer: account,
        marketFee: price.toString(),
        ...(makesAccount ? { feePayer: stellarTank.address } : {}),
      });
      const built = buildXlm(
        greedy(stellar),
        inputs,
        { chain: 'xlm', from, fromPath, to, amount, token, tag: null },
        { kind: 'sequence', value: '7' },
      );
      return made(isRefusal(built) ? built : paidBySender(built), to, token, ({ payload }) => {
        const read = decodePayload(payload);
        if (!read.ok) throw new Error(read.reason);
        const { bump, transaction } = read.payload,
          feeMax = bump?.feeStroops ?? BigInt(transaction.feeStroops);
        return { feeMax, price: ceilDiv(feeMax, bump === null ? 1n : 2n), nativeGas: null };
      });
    },
  },
];

/** What is inside of a fee bump was signed before. */
function insideOf(payload: string): string[] {
  const read = decodePayload(payload);
  return read.ok && read.payload.bump !== null ? [encodePayload({ ...read.payload, bump: null })] : [];
}

function check(
  { network, signer, from, fromPath }: Case,
  { unsigned, to, token }: Built,
  bounds: FeeBounds,
  purpose: Purpose = 'withdrawal',
): Refusal | null {
  const chain = network.slug;
  const instruction: Instruction = {
    id: 'txn_1',
    purpose,
    chain,
    from,
    fromPath,
    to,
    toPath: null,
    amount: unsigned.amount,
    token,
    tag: null,
  };
  return signer.check(network, unsigned, instruction, {
    ...bounds,
    sweepDestinations: [to],
    gasTank: chain === 'xlm' ? stellarTank.address : null,
    catalogue: catalogueOf(chain),
    addressAt: () => from,
    journal: { forInstruction: chain === 'xlm' ? insideOf(unsigned.payload) : [], withReplayKey: () => [] },
    replayWindow: null,
    nowMs: chain === 'xlm' ? xlms.CLOSED_AT * 1_000 : chain === 'tron' ? trons.HEAD_MS : Date.UTC(2026, 0, 1),
  });
}

/** Bounds that the costs break, each by its setting. */
function broken(chain: Chain, { feeMax, price, nativeGas, amount }: Proven, bounds: FeeBounds): string[] {
  const slug = chain.toUpperCase();
  const isAboveShare =
    amount !== null && feeMax > bounds.feeFloor && feeMax * 10_000n > amount * BigInt(bounds.feeRatioBpsMax);
  return [
    ...(nativeGas !== null && nativeGas > bounds.nativeGasLimit ? ['EDGE_NATIVE_GAS_LIMIT'] : []),
    ...(feeMax > bounds.feeCap ? [`EDGE_FEE_CAP_${slug}`] : []),
    ...(price !== null && price > bounds.feePriceCap ? [`EDGE_FEE_PRICE_CAP_${slug}`] : []),
    ...(isAboveShare ? ['EDGE_FEE_RATIO_BPS'] : []),
  ];
}

/** From 1 up, evenly by order of magnitude. */
const upTo = (digits: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: digits - 1 }), fc.integer({ min: 1, max: 9_999 }))
    .map(([power, mantissa]) => (10n ** BigInt(power) * BigInt(mantissa)) / 1_000n + 1n);
const DIGITS: Readonly<Record<string, number>> = { evm: 13, btc: 8, tron: 6, sol: 9, xrp: 6, xlm: 6 };
const AMOUNT_DIGITS: Readonly<Record<string, number>> = { evm: 20, btc: 8, tron: 10, sol: 11, xrp: 10, xlm: 10 };

for (const one of CASES) {
  const { slug: chain, family } = one.network;
  test(`found F2 G29 ${chain}: what passes is within every bound, and what is refused names a bound that it breaks`, (t) => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(
        fc.record({
          price: upTo(DIGITS[family]!),
          gas: fc.integer({ min: 21_000, max: 2_000_000 }),
          amount: upTo(AMOUNT_DIGITS[family]!),
          isToken: family === 'btc' ? fc.constant(false) : fc.boolean(),
          makesAccount: fc.boolean(),
        }),
        fc.boolean(),
        fc.integer({ min: 0, max: 20_000 }),
        (wish, isDefault, feeRatioBpsMax) => {
          const usual = feeBoundsOf(chain);
          const bounds = isDefault
            ? usual
            : {
                ...usual,
                feeRatioBpsMax,
                feeFloor: usual.feeFloor / 3n,
                feeCap: usual.feeCap * 2n,
                feePriceCap: usual.feePriceCap / 2n,
                nativeGasLimit: 60_000n,
              };
          const built = one.build(wish);
          if (isRefusal(built)) return;
          const refusal = check(one, built, bounds),
            breaks = broken(chain, built.proven, bounds);
          const outcome = refusal === null ? 'passed' : String(refusal.details['setting'] ?? refusal.details['reason']);
          seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
          if (refusal === null) return void t.deepEqual(breaks, [], Object.values(wish).join(' '));
          const { setting, bound, value } = refusal.details as {
            setting?: string | null;
            bound?: string;
            value?: string;
          };
          if (setting === undefined || setting === null)
            return void t.true(
              ['fee_rate_cap', 'amount_mismatch', 'fee_cap'].includes(String(refusal.details['reason'])),
              outcome,
            );
          // On a network with an L1 part, the reserve is a part of the fee that stands in no byte.
          if (chain !== 'base') t.true(breaks.includes(setting) || chain === 'btc', `${setting} of ${breaks.join()}`);
          t.true(BigInt(value!) > BigInt(bound!) && refusal.message.includes(setting), outcome);
        },
      ),
      { numRuns: family === 'xrp' ? 150 : 400 },
    );
    t.true(seen.has('passed') && seen.size >= (family === 'xlm' ? 2 : 3), JSON.stringify([...seen]));
  });

  test(`found F2 ${chain}: a plain payment at the usual price passes, however small, and one at eleven times of it does not`, (t) => {
    const { price } = USUAL_FEES[chain],
      amount = family === 'btc' ? 546n : family === 'sol' ? 1_000n : 1n;
    const wish = { gas: 21_000, amount, isToken: false, makesAccount: false };
    const at = (times: bigint) =>
      one.build({ ...wish, price: family === 'xrp' ? (price * times * 10n) / 12n : price * times });
    const usual = at(1n),
      dear = at(11n);
    t.false(isRefusal(usual));
    if (!isRefusal(usual)) t.is(check(one, usual, feeBoundsOf(chain)), null);
    // A TRX transfer has no price in its bytes: the chain's own holds, and it is bounded by its floor.
    if (family !== 'tron') t.true(isRefusal(dear) || check(one, dear, feeBoundsOf(chain)) !== null);
  });
}

test('found F2 the wallet of a customer that burns gas: a limit above EDGE_NATIVE_GAS_LIMIT is not signed, a usual contract is', (t) => {
  const one = CASES[0]!,
    price = 8_000_000_000n;
  const built = (gas: number, amount: bigint) =>
    one.build({ price, gas, amount, isToken: false, makesAccount: false }) as Built;
  t.like(check(one, built(1_600_000, 1n), feeBoundsOf('eth')), {
    details: { reason: 'native_gas_limit', setting: 'EDGE_NATIVE_GAS_LIMIT', bound: '100000', value: '1920000' },
  });
  t.like(
    check(one, built(1_600_000, 10n ** 20n), feeBoundsOf('eth')),
    { details: { setting: 'EDGE_NATIVE_GAS_LIMIT' } },
    'large amounts too',
  );
  t.is(
    check(one, built(50_000, 10n ** 17n), feeBoundsOf('eth')),
    null,
    'a contract wallet, or an account with a delegation (EIP-7702)',
  );
  t.like(check(one, built(50_000, 1n), { ...feeBoundsOf('eth'), feeFloor: 0n }), {
    details: { setting: 'EDGE_FEE_RATIO_BPS' },
  });
});

test('found F2 sweeps have a share of their own, and no floor', (t) => {
  const fees = {
    feeCaps: new Map(),
    feeFloors: new Map(),
    feePriceCaps: new Map(),
    feeRatioBps: 5_000,
    sweepFeeRatioBps: 1_000,
    nativeGasLimit: 100_000n,
  };
  const one = CASES[0]!,
    built = one.build({
      price: 10n ** 9n,
      gas: 21_000,
      amount: 21_000n * 10n ** 9n * 9n,
      isToken: false,
      makesAccount: false,
    }) as Built;
  t.is(check(one, built, feeBoundsOf('eth', fees)), null);
  t.like(check(one, built, feeBoundsOf('eth', fees, true), 'sweep'), {
    details: { setting: 'EDGE_SWEEP_FEE_RATIO_BPS' },
  });
});

test("found F2 the rent of a receiver's token account is fee, the whole of it, however little is told", (t) => {
  const one = CASES.find(({ network }) => network.slug === 'sol')!;
  const built = one.build({ price: 1_000n, gas: 10_000, amount: 1n, isToken: true, makesAccount: true }) as Built;
  const bounds = { ...feeBoundsOf('sol'), feeCap: 2_000_000n };
  t.like(check(one, built, bounds), { details: { setting: 'EDGE_FEE_CAP_SOL' } });
  const { unsigned } = built,
    hidden = {
      ...unsigned,
      fee: { ...unsigned.fee, rentLamports: '1' },
      feeMax: BigInt(unsigned.fee['feeLamports']!) + 1n,
    };
  t.like(check(one, { ...built, unsigned: hidden }, bounds), { details: { setting: 'EDGE_FEE_CAP_SOL' } });
});

test('found F2 the table of usual prices in the configuration page is the one of the code', (t) => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| ([\d,]+) ([^|]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm)].map(
    ([, chain, price, unit, ...rest]) => [
      chain,
      unit!.trim(),
      ...[price!, ...rest].map((text) => BigInt(text!.replaceAll(',', ''))),
    ],
  );
  t.deepEqual(
    rows,
    CHAINS.map((chain) => {
      const { feeCap, feeFloor, feePriceCap } = feeBoundsOf(chain),
        { unit, price } = USUAL_FEES[chain];
      return [chain, unit, price, feePriceCap, feeFloor, feeCap];
    }),
  );
});
