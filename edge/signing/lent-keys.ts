/** A signature with keys that the keystore lends for it: the sender's, and the gas tank's where that pays the fee. */
import type { Network, Signed } from '../../chains/chain.ts';
import { networkOf } from '../../chains/registry.ts';
import { sandboxOf } from '../../chains/sandbox-networks.ts';
import type { Chain, Environment } from '../../protocol/slugs.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { OwnAddresses } from './own-addresses.ts';
import type { Signer, SigningKey } from './signers/signer.ts';
import type { RecordedInstruction } from './stored-text.ts';

/** The network that this edge signs for. What is signed in the sandbox is worthless on any real one. found F10. */
export function signedNetwork(environment: Environment, chain: Chain): Network {
  return environment === 'sandbox' ? sandboxOf(networkOf(chain)) : networkOf(chain);
}

/**
 * Signs a payload that `check` passed; `check` lets nobody else sign. Throws: Error for a co-signer that is not the gas
 * tank, or a key that is not the one that the payload needs.
 */
export function signWith(
  keystore: Pick<Keystore, 'withKey'>,
  own: Pick<OwnAddresses, 'paths' | 'addressAt'>,
  network: Network,
  signer: Signer,
  { instruction: { chain }, unsigned }: RecordedInstruction,
): Signed {
  const tank = own.paths(chain).gasTank;
  const beside = (signer.coSigners?.(unsigned) ?? []).map((address) => {
    if (tank === null || own.addressAt(chain, tank) !== address)
      throw new Error('a co-signer that is not the gas tank');
    return tank;
  });
  const lend = (paths: readonly string[], key: SigningKey, more: readonly SigningKey[]): Signed => {
    const [path, ...others] = paths;
    if (path === undefined) return signer.sign(network, unsigned, key, ...more);
    return keystore.withKey(chain, path, (next) => lend(others, key, [...more, next]));
  };
  return keystore.withKey(chain, unsigned.fromPath, (key) => lend(beside, key, []));
}
