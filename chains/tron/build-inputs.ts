/** Everything that a build needs, asked of one endpoint so that the figures belong together. */
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { BuildInputs, Endpoint, Intent, Network } from '../chain.ts';
import { readAccount, readResources, readTokenBalance } from './account.ts';
import { addressFromNode } from './address.ts';
import { callConstant } from './constant-call.ts';
import type { Header, Heads } from './heads.ts';
import { ask, integer, parsed, wallet } from './node.ts';
import { addressWord, decodeWord, TRANSFER_TOPIC, wordOf } from './trc20.ts';

/** Prices and limits that the committee sets, sun (T19 to T21); one that the node does not name is 0. */
export interface Prices {
  /** A byte of a transaction that no bandwidth covers. */
  readonly bandwidthSun: string;
  readonly energySun: string;
  /** In place of bandwidth for a transfer that creates an account, unless staked bandwidth covers it. */
  readonly createAccountSun: string;
  /** On top of it, always. */
  readonly newAccountSun: string;
  /** Staked bandwidth that a byte of such a transfer takes. */
  readonly createAccountRate: string;
  readonly feeLimitMaxSun: string;
}

/** Everything that was asked for a build; amounts are decimal texts in sun or in the token's smallest unit. */
export interface TronInputs extends BuildInputs {
  readonly readAtHash: string;
  /** Time of the newest block; the machine's clock says nothing about the chain's (T15). */
  readonly headTimeMs: number;
  /** Differs in every build of this process, also under one head: equal bytes would be one transaction (T18). */
  readonly timestampMs: number;
  /** Of the solidified head, which every node knows (T14). */
  readonly refBlockBytes: string;
  readonly refBlockHash: string;
  readonly senderExists: boolean;
  readonly nativeBalance: string;
  /** Null for a native intent. */
  readonly tokenBalance: string | null;
  readonly destination: 'missing' | 'account' | 'contract';
  /** Bytes, as staked and as free bandwidth; units of energy. */
  readonly stakedBandwidth: string;
  readonly freeBandwidth: string;
  readonly energy: string;
  readonly prices: Prices;
  /** What the transfer needs when it is tried out (T21, T24). */
  readonly tried:
    | { readonly kind: 'native' }
    | { readonly kind: 'succeeded'; readonly energy: string }
    | { readonly kind: 'reverted'; readonly reason: string };
}

/** Timestamps of one head's builds are spread over a minute from a random start, so that two processes do not meet. */
const TIMESTAMP_SPREAD_MS = 60_000;

/** A source of timestamps that differ from build to build. */
export function createTimestamps(start: number = randomInt(TIMESTAMP_SPREAD_MS)): (headTimeMs: number) => number {
  let count = 0;
  return (headTimeMs) => headTimeMs + ((start + count++) % TIMESTAMP_SPREAD_MS);
}

/** Bytes 6..8 of the number and 8..16 of the id of a block: the first 8 bytes of an id are the number. T14. */
export function referenceTo({ hash }: Pick<Header, 'hash'>): { refBlockBytes: string; refBlockHash: string } {
  return { refBlockBytes: hash.slice(12, 16), refBlockHash: hash.slice(16, 32) };
}

/** Inputs of an intent from one endpoint. Throws: ChainUnavailable, MalformedReply. */
export async function readBuildInputs(
  network: Network,
  heads: Heads,
  endpoint: Endpoint,
  intent: Intent,
  timestampOf: (headTimeMs: number) => number,
): Promise<TronInputs> {
  const { from, to, token } = intent;
  const head = await heads.headOf(endpoint);
  const [solid, sender, receiver, resources, prices, tokenBalance] = await Promise.all([
    heads.solidOf(endpoint),
    readAccount(network, endpoint, from),
    readAccount(network, endpoint, to),
    readResources(network, endpoint, from),
    readPrices(network, endpoint),
    token === null ? null : readTokenBalance(network, endpoint, from, token.contract),
  ]);
  const { stakedBandwidth, freeBandwidth, energy } = resources;
  return {
    readAtHeight: head.height,
    readAtHash: head.hash,
    headTimeMs: head.timeMs,
    timestampMs: timestampOf(head.timeMs),
    ...referenceTo(solid),
    senderExists: sender.exists,
    nativeBalance: sender.balance.toString(),
    tokenBalance: tokenBalance?.toString() ?? null,
    destination: receiver.isContract ? 'contract' : receiver.exists ? 'account' : 'missing',
    stakedBandwidth: stakedBandwidth.toString(),
    freeBandwidth: freeBandwidth.toString(),
    energy: energy.toString(),
    prices,
    tried: await tryTransfer(network, endpoint, intent, tokenBalance),
  };
}

/**
 * T21, T24: the transfer is run from the very sender, which a blacklist or a pause stops, and costs what it will cost.
 */
async function tryTransfer(
  network: Network,
  endpoint: Endpoint,
  { from, to, token, amount }: Intent,
  tokenBalance: bigint | null,
): Promise<TronInputs['tried']> {
  if (token === null) return { kind: 'native' };
  if (tokenBalance === 0n) return { kind: 'reverted', reason: 'the token balance is 0' };
  const moved = amount === 'all' ? (tokenBalance ?? 0n) : amount;
  const outcome = await callConstant(network, endpoint, {
    owner: from,
    contract: token.contract,
    selector: 'transfer(address,uint256)',
    parameter: addressWord(to) + wordOf(moved),
  });
  if (outcome.kind === 'no_contract') return { kind: 'reverted', reason: 'there is no contract at the address' };
  if (outcome.kind === 'reverted') return outcome;
  // USDT on TRON returns false for transfers that succeed; what a transfer does is to log one. Only a node that shows
  // no logs of a constant call is taken at the word that the contract returns.
  // Source: oikos-cash/swap-v2-periphery contracts/libraries/TransferHelper.sol.
  const { logs, answer, energy } = outcome;
  const isLogged = logs.some(
    ({ address, topics, data }) =>
      addressFromNode(network, address) === token.contract &&
      topics[0] === TRANSFER_TOPIC &&
      topics[2] === addressWord(to) &&
      data === wordOf(moved),
  );
  const succeeds = isLogged || (logs.length === 0 && decodeWord(answer) === 1n);
  return succeeds
    ? { kind: 'succeeded', energy: energy.toString() }
    : { kind: 'reverted', reason: 'the token does not make the transfer' };
}

const parameters = z.object({ chainParameter: z.array(z.object({ key: z.string(), value: integer })).min(1) });

async function readPrices(network: Network, endpoint: Endpoint): Promise<Prices> {
  const answer = await ask(network, endpoint, wallet('getchainparameters'));
  const listed = new Map(
    parsed(parameters, answer, 'chain parameters').chainParameter.map(({ key, value }) => [key, value]),
  );
  const textOf = (key: string): string => (listed.get(key) ?? 0n).toString();
  return {
    bandwidthSun: textOf('getTransactionFee'),
    energySun: textOf('getEnergyFee'),
    createAccountSun: textOf('getCreateAccountFee'),
    newAccountSun: textOf('getCreateNewAccountFeeInSystemContract'),
    createAccountRate: textOf('getCreateNewAccountBandwidthRate'),
    feeLimitMaxSun: textOf('getMaxFeeLimit'),
  };
}
