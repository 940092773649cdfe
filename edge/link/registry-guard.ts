/** The highest token registry that this data directory has seen: an older or altered one is refused. Decisions 6. */
import { registryHash, shippedRegistry, type Registry } from '../../chains/catalogue.ts';
import type { Storage } from '../storage/storage.ts';

const SETTING = 'registry';

/** A problem in words, or null when the registry may be used; it is then remembered. */
export function guardRegistry(storage: Storage, registry: Registry = shippedRegistry): string | null {
  const kept = storage.setting(SETTING);
  const [keptVersion, keptHash] = kept === null ? [0, ''] : [Number(kept.split(' ')[0]), kept.split(' ')[1]];
  const hash = registryHash(registry);
  if (registry.version < keptVersion) {
    return `the token registry of this edge is version ${registry.version}; its data directory has seen version ${keptVersion}`;
  }
  if (registry.version === keptVersion && hash !== keptHash) {
    return `the token registry of this edge is version ${registry.version} with other content than its data directory has seen`;
  }
  storage.setSetting(SETTING, `${registry.version} ${hash}`);
  return null;
}
