/** Versions of the token registry in tests, and the keys that sign them. */
import { registryText, shippedRegistry, type Registry } from '../../../chains/catalogue.ts';
import { registrySigningText } from '../../../chains/registry-signature.ts';
import { createIdentity } from '../../../edge/link/identity.ts';
import { openTokenRegistry, TokenRegistry } from '../../../edge/link/token-registry.ts';
import { createEdgeLog } from '../../../edge/process/log.ts';
import type { Storage } from '../../../edge/storage/storage.ts';
import type { RegistryFrame } from '../../../protocol/frames.ts';
import { newStorage } from './disk.ts';

/** Three of the platform's keys, and one of nobody's. */
export const REGISTRY_KEYS = [1, 2, 3].map((seed) => createIdentity(new Uint8Array(32).fill(seed)));
export const STRANGER = createIdentity(new Uint8Array(32).fill(9));

/** A version that changes the one that ships. */
export function versionOf(version: number, change: (copy: Registry) => void = () => undefined): Registry {
  const copy = structuredClone(shippedRegistry);
  copy.version = version;
  change(copy);
  return copy;
}

export function frameOfVersion(registry: Registry, signers = REGISTRY_KEYS.slice(0, 2)): RegistryFrame {
  return {
    version: registry.version,
    content: registryText(registry),
    signatures: signers.map((signer) => ({
      key: signer.publicKey,
      signature: signer.sign(registrySigningText(registry)).toString('hex'),
    })),
  };
}

/** The registry of an edge. Throws: Error with the problem. */
export function registryIn(storage: Storage = newStorage(), shipped: Registry = shippedRegistry): TokenRegistry {
  const opened = openTokenRegistry({
    storage,
    keys: new Set(REGISTRY_KEYS.map(({ publicKey }) => publicKey)),
    log: createEdgeLog('silent'),
    shipped,
  });
  if (typeof opened === 'string') throw new Error(opened);
  return opened;
}
