/**
 * The networks of simulated ledgers. A sandbox edge may hold a phrase that is used for live too, so that what it signs
 * must be worthless on every real network: it is bound to an id that no network has, or, where the signed bytes hold no
 * id, made over another digest than any network verifies. docs/decisions/0033-sandbox-signatures.md, found F10.
 *
 *   evm               chain id 9,000,000,000,000,000 + the real one
 *   xrp               NetworkID 4,100,000,000 in the signed bytes
 *   xlm               a passphrase of its own
 *   btc, sol, tron    SHA-256(SHA-256(tag) || SHA-256(tag) || what is signed), tag
 *                     `flock-sandbox/<chain>` (the form of BIP-340)
 */
import { createHash } from 'node:crypto';
import type { Family } from '../protocol/slugs.ts';
import type { Network } from './chain.ts';
import { evmOf, type EvmNetwork } from './evm/network.ts';
import type { XrpNetwork } from './xrp/network.ts';

/**
 * Above 4,503,599,627,370,476, the highest chain id that wallets take ((2^53 - 39) / 2, so that EIP-155's `v` is
 * exact), so that no network people can use has one of these; below 2^53, so that a number holds it, and below
 * EIP-2294's bound.
 */
const SANDBOX_CHAIN_ID_BASE = 9_000_000_000_000_000;
/**
 * Above 1,024, from where on every server demands the field, and above 2^31, which no network's id is. Source:
 * xrpl.org, NetworkID.
 */
const SANDBOX_NETWORK_ID = 4_100_000_000;
const SANDBOX_PASSPHRASE = 'Flock sandbox ; no real network ; 2026';

const simulatedEvm = (network: EvmNetwork): EvmNetwork => {
  const chainId = SANDBOX_CHAIN_ID_BASE + network.chainId;
  return { ...network, chainId, identity: String(chainId) };
};

function tagged(network: Network): Network {
  const digestTag = `flock-sandbox/${network.slug}`;
  return { ...network, digestTag, identity: digestTag };
}

const SIMULATED: Readonly<Record<Family, (network: Network) => Network>> = {
  btc: tagged,
  sol: tagged,
  tron: tagged,
  evm: (network) => simulatedEvm(evmOf(network)),
  xrp: (network): XrpNetwork => ({ ...network, networkId: SANDBOX_NETWORK_ID, identity: String(SANDBOX_NETWORK_ID) }),
  xlm: (network) => ({ ...network, identity: SANDBOX_PASSPHRASE }),
};

/** The network of a chain's simulated ledgers: the same facts, and an id that no real network has. */
export function sandboxOf(network: Network): Network {
  return network.simulated === true ? network : { ...SIMULATED[network.family](network), simulated: true };
}

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

/**
 * What a key signs on a network in the place of a digest (or, on sol, a message): the same, or 32 bytes under its tag.
 */
export function signedOn({ digestTag }: Pick<Network, 'digestTag'>, bytes: Uint8Array): Uint8Array {
  if (digestTag === undefined) return bytes;
  const tag = sha256(Buffer.from(digestTag));
  return sha256(tag, tag, bytes);
}
