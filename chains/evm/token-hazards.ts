/**
 * What a token contract can do to its holders, as far as it shows: code and storage of proxies, and functions that only
 * such tokens have. A contract that answers every question has every hazard. Treasury Q4, Q8.
 */
import { keccak256 } from '../keccak.ts';
import type { Endpoint } from '../chain.ts';
import { ChainUnavailable } from '../chain.ts';
import type { RpcAnswer } from '../json-rpc.ts';
import { decodeWord } from './abi.ts';
import type { EvmNetwork } from './network.ts';
import { call, tryAskAll } from './node.ts';
import { word } from './quantity.ts';
import { revertReasonOf } from './rejection.ts';

const slotOf = (name: string, less: bigint): string =>
  `0x${word(BigInt(`0x${Buffer.from(keccak256(Buffer.from(name))).toString('hex')}`) - less)}`;
/** Where a proxy keeps the contract that says what it runs. Source: EIP-1967. */
export const BEACON_SLOT = slotOf('eip1967.proxy.beacon', 1n);
/** Where proxies keep what they run. Sources: EIP-1967; OpenZeppelin's proxies before it (USDC). */
export const SLOTS = [
  slotOf('eip1967.proxy.implementation', 1n),
  BEACON_SLOT,
  slotOf('org.zeppelinos.proxy.implementation', 0n),
];
/** How a minimal proxy begins. Source: EIP-1167. */
const MINIMAL_PROXY = /^0x363d3d373d3d3d363d73/i;

const ONE = word(1n),
  NOBODY = word(0n);
/** Calls that a token without the hazard has not. */
const CALLS: readonly (readonly [hazard: string, data: string])[] = [
  ['fee_on_transfer', '0xdd644f72'], // basisPointsRate()
  ['fee_on_transfer', '0x35390714'], // maximumFee()
  ['rebasing', `0x7a28fb88${ONE}`], // getPooledEthByShares(uint256)
  ['rebasing', `0x6691cb3d${NOBODY}`], // rebasingCreditsPerToken()
  ['blocklist', `0xfe575a87${NOBODY}`], // isBlacklisted(address)
  ['blocklist', `0xe47d6060${NOBODY}`], // isBlackListed(address)
  ['pausable', '0x5c975abb'], // paused()
  ['hook', '0x556f0dc7'], // granularity(), ERC-777
];

/** Hazards of a contract, each once. Throws: ChainUnavailable. */
export async function readTokenHazards(network: EvmNetwork, endpoint: Endpoint, contract: string): Promise<string[]> {
  const answers = await tryAskAll(network, endpoint, [
    call('eth_getCode', contract, 'latest'),
    ...SLOTS.map((slot) => call('eth_getStorageAt', contract, slot, 'latest')),
    ...CALLS.map(([, data]) => call('eth_call', { to: contract, data }, 'latest')),
  ]);
  const [code, ...rest] = answers.map((answer) => answerOf(network, answer));
  const slots = rest.slice(0, SLOTS.length),
    calls = rest.slice(SLOTS.length);
  const isProxy =
    (typeof code === 'string' && MINIMAL_PROXY.test(code)) || slots.some((value) => (decodeWord(value) ?? 0n) !== 0n);
  const shown = CALLS.flatMap(([hazard], index) => (decodeWord(calls[index]) === null ? [] : [hazard]));
  return [...new Set([...(isProxy ? ['upgradeable'] : []), ...shown])];
}

/** The result, or null where the contract has no such function. */
export function answerOf(network: EvmNetwork, answer: RpcAnswer): unknown {
  if (answer.ok) return answer.result;
  if (revertReasonOf(answer.error) !== null) return null;
  throw new ChainUnavailable(network.slug, answer.error.message);
}
