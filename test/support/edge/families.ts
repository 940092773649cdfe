/**
 * What an honest cloud builds on each of the six families for the first address of the test phrase, through the chain's
 * own module.
 */
import { base58 } from '@scure/base';
import { createHash } from 'node:crypto';
import type { BuildInputs, Intent, Network, ReplayKey, Unsigned } from '../../../chains/chain.ts';
import { factsOf, loadModule, networkOf } from '../../../chains/registry.ts';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { OwnAddresses } from '../../../edge/signing/own-addresses.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { formatAmount } from '../../../protocol/money.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { coinOf, inputsOf as btcInputs, RECIPIENT as BTC_RECIPIENT } from '../btc-inputs.ts';
import { inputsOf as evmInputs, RECIPIENT as EVM_RECIPIENT } from '../evm-inputs.ts';
import { inputsOf as solInputs } from '../sol-inputs.ts';
import { keyOf, SOL } from '../sol-node.ts';
import { inputsOf as tronInputs } from '../tron-inputs.ts';
import { accountOf, inputsOf as xlmInputs } from '../xlm-inputs.ts';
import { inputsOf as xrpInputs } from '../xrp-inputs.ts';
import { PHRASE } from './edges.ts';

export const FAMILY_CHAINS = ['btc', 'eth', 'tron', 'sol', 'xrp', 'xlm'] as const satisfies readonly Chain[];
export type FamilyChain = (typeof FAMILY_CHAINS)[number];

interface Family {
  readonly path: string;
  readonly to: string;
  readonly amount: bigint;
  readonly symbol: string;
  readonly decimals: number;
  /**
   * Inputs and replay key of a build; another `variant` is another counter, coin or block hash, so that two could land.
   */
  inputs(from: string, variant: number, nowMs: number): { inputs: BuildInputs; replay: ReplayKey | null };
}

const own = new OwnAddresses(createPhraseKeystore(seedOf(PHRASE, '')));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const FAMILIES: Readonly<Record<FamilyChain, Family>> = {
  btc: {
    path: "m/84'/0'/0'/0/0",
    to: BTC_RECIPIENT,
    amount: 200_000n,
    symbol: 'BTC',
    decimals: 8,
    inputs: (from) => {
      const parsed = factsOf('btc').parseAddress(networkOf('btc'), from);
      if (isRefusal(parsed)) throw new Error('not an address');
      return { inputs: btcInputs({ coins: [coinOf(900_000n, { script: parsed.bytes })] }), replay: null };
    },
  },
  eth: {
    path: "m/44'/60'/0'/0/0",
    to: EVM_RECIPIENT,
    amount: 10n ** 16n,
    symbol: 'ETH',
    decimals: 18,
    inputs: (_from, variant) => ({
      inputs: evmInputs({ nativeBalance: (10n ** 20n).toString() }),
      replay: { kind: 'nonce', value: 7 + variant },
    }),
  },
  tron: {
    path: "m/44'/195'/0'/0/0",
    to: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    amount: 3_000_000n,
    symbol: 'TRX',
    decimals: 6,
    inputs: (_from, variant, nowMs) => ({
      inputs: tronInputs({ headTimeMs: nowMs, timestampMs: nowMs + variant }),
      replay: null,
    }),
  },
  sol: {
    path: "m/44'/501'/0'/0'",
    to: keyOf(2).address,
    amount: 50_000_000n,
    symbol: 'SOL',
    decimals: 9,
    inputs: (from, variant) => ({
      inputs: solInputs({
        feePayer: from,
        senderLamports: (SOL * 5n).toString(),
        payerLamports: (SOL * 5n).toString(),
        blockhash: base58.encode(digest(`block ${variant}`)),
      }),
      replay: null,
    }),
  },
  xrp: {
    path: "m/44'/144'/0'/0/0",
    to: 'rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe',
    amount: 2_000_000n,
    symbol: 'XRP',
    decimals: 6,
    inputs: (_from, variant) => ({ inputs: xrpInputs(), replay: { kind: 'sequence', value: String(7 + variant) } }),
  },
  xlm: {
    path: "m/44'/148'/0'",
    to: 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
    amount: 10_000_000n,
    symbol: 'XLM',
    decimals: 7,
    inputs: (from, variant, nowMs) => ({
      inputs: xlmInputs(from, {
        closeTime: Math.floor(nowMs / 1_000),
        sender: accountOf({ sequence: String(6 + variant) }),
      }),
      replay: { kind: 'sequence', value: String(7 + variant) },
    }),
  },
};

/** The caller's wish, and what an honest cloud answers to it. */
export interface FamilyWish {
  readonly chain: FamilyChain;
  readonly amount?: bigint;
  readonly to?: string;
}

export function fromOf(chain: FamilyChain): string {
  const address = own.addressAt(chain, FAMILIES[chain].path);
  if (address === null) throw new Error(`no address of ${chain}`);
  return address;
}

/** Body of `POST /v1/transactions/unsigned`. */
export function askedOf({
  chain,
  amount = FAMILIES[chain].amount,
  to = FAMILIES[chain].to,
}: FamilyWish): Record<string, string> {
  return { chain, from: fromOf(chain), to, amount: amount.toString() };
}

/** The payload that the chain's module builds for a wish. */
export async function unsignedFor(
  { chain, amount = FAMILIES[chain].amount, to = FAMILIES[chain].to }: FamilyWish,
  variant = 0,
  nowMs = Date.now(),
  network: Network = networkOf(chain),
): Promise<Unsigned> {
  const module = await loadModule(chain),
    from = fromOf(chain);
  const { inputs, replay } = FAMILIES[chain].inputs(from, variant, nowMs);
  const intent: Intent = { chain, from, fromPath: FAMILIES[chain].path, to, amount, token: null, tag: null };
  const unsigned = module.buildUnsigned(network, inputs, intent, replay);
  if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
  return unsigned;
}

/** The cloud's answer that carries a payload. */
export function builtOf(unsigned: Unsigned, id: string = newId('txn', Date.now())): BuiltJson {
  const { symbol, decimals } = FAMILIES[unsigned.chain as FamilyChain];
  const amount = unsigned.amount.toString(),
    feeMax = unsigned.feeMax.toString();
  return {
    id,
    chain: unsigned.chain,
    status: 'built',
    from: unsigned.from,
    to: unsigned.to,
    tokenContract: null,
    tokenSymbol: symbol,
    chainTag: null,
    amount,
    amountFormatted: formatAmount(unsigned.amount, decimals),
    decimals,
    feeEstimate: { fee: feeMax, feeMax, parts: {} },
    unsigned: {
      ...unsigned,
      amount,
      feeMax,
      fee: { ...unsigned.fee },
      replayKey: unsigned.replayKey as BuiltJson['unsigned']['replayKey'],
    },
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
}

/** The cloud's record of a withdrawal that was built so. */
export function recordOf(built: BuiltJson, status: string, txid: string | null): ReplyOf<'getTransaction'> {
  const {
    amount,
    amountFormatted,
    decimals,
    id,
    chain,
    from,
    to,
    tokenContract,
    tokenSymbol,
    chainTag,
    createdAt,
    updatedAt,
  } = built;
  const network = networkOf(chain);
  return {
    amount,
    amountFormatted,
    decimals,
    id,
    direction: 'out',
    kind: 'withdrawal',
    role: null,
    operationId: null,
    chain,
    environment: 'live',
    status,
    txid,
    outputIndex: null,
    address: from,
    counterparty: to,
    tokenContract,
    tokenSymbol,
    userRef: null,
    tag: null,
    chainTag,
    height: null,
    blockHash: null,
    confirmations: 0,
    threshold: network.threshold,
    incarnation: null,
    fee: null,
    failure: null,
    versions: txid === null ? [] : [{ txid, at: 'submitted' }],
    explorerUrl: txid === null ? null : network.explorer.tx.replace('{id}', txid),
    createdAt,
    updatedAt,
  };
}
