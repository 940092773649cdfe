/** EVM clients over endpoints, and what anvil tests send. */
import { Wallet } from 'ethers/wallet';
import type { Catalogue, Endpoint, Token } from '../../chains/chain.ts';
import { createClient, type EvmClient } from '../../chains/evm/client.ts';
import { addressOfHex } from '../../chains/evm/address.ts';
import type { EvmNetwork } from '../../chains/evm/network.ts';
import { word } from '../../chains/evm/quantity.ts';
import { createFailoverTransport, type FailoverTransport } from '../../chains/transport/failover.ts';
import type { Anvil } from './anvil.ts';

export interface Reader {
  readonly client: EvmClient;
  readonly transport: FailoverTransport;
}

/** A client whose endpoints never wait: a minute passes at every look at the clock. */
export function readerOf(
  network: EvmNetwork,
  endpoints: readonly Endpoint[],
  catalogue: Catalogue = new Map(),
): Reader {
  let nowMs = 0;
  const transport = createFailoverTransport({
    chain: network.slug,
    endpoints,
    elapsedMs: () => (nowMs += 60_000),
    random: () => 0.5,
  });
  return { client: createClient(network, transport, catalogue), transport };
}

export const catalogueOfTokens = (...tokens: Token[]): Catalogue =>
  new Map(tokens.map((token) => [token.contract, token]));

export function tokenAt(network: EvmNetwork, number: number, more: Partial<Token> = {}): Token {
  return {
    chain: network.slug,
    contract: addressOfHex(number.toString(16).padStart(40, '0')),
    symbol: 'TKN',
    decimals: 18,
    ...more,
  };
}

const call = (selector: string, address: string, amount: bigint) =>
  `0x${selector}${address.slice(2).toLowerCase().padStart(64, '0')}${word(amount)}`;
export const transferCall = (to: string, amount: bigint) => call('a9059cbb', to, amount);
export const mintCall = (to: string, amount: bigint) => call('40c10f19', to, amount);
export const blockCall = (address: string) => call('e4962195', address, 0n);
export const payload = (address: string, flag = 0n) =>
  `0x${address.slice(2).toLowerCase().padStart(64, '0')}${flag === 0n ? '' : word(flag)}`;

/** Funds an address and, for tokens with code, gives it some. */
export async function supply(anvil: Anvil, holder: string, token: Token | null, amount: bigint): Promise<void> {
  await anvil.fund(holder, 10n ** 20n);
  if (token !== null) await anvil.send({ from: holder, to: token.contract, data: mintCall(holder, amount) });
}

/** A payer with a key, so that its transactions can be mined again on another branch. */
export const payer = new Wallet(`0x${'51'.repeat(32)}`);

/** A signed native transfer of the payer, `0x` hex. */
export function signedTransfer(network: EvmNetwork, nonce: number, to: string, value: bigint): Promise<string> {
  return payer.signTransaction({
    type: 2,
    chainId: network.chainId,
    nonce,
    to,
    value,
    gasLimit: 21_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
}
