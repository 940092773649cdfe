/**
 * The registry of a node follows what was published: the newest version that two registry keys signed and that is a
 * lawful successor is in force here about a second later. One that is not stays out, and a person is notified, once.
 * Treasury K7, K8, K11.
 */
import { parseRegistry } from '../chains/catalogue.ts';
import { isRegistrySigned } from '../chains/registry-signature.ts';
import type { TokensInForce } from '../chains/tokens.ts';
import type { RegistryFollower } from '../model/ports/registry-follower.ts';
import type { PublishedRegistry, RegistryStore } from '../model/ports/registry-store.ts';
import { isRefusal } from '../protocol/errors.ts';
import type { Log } from './ports.ts';

export interface RegistryFollowing {
  readonly tokens: TokensInForce;
  readonly store: Pick<RegistryStore, 'newestAbove'>;
  /** REGISTRY_KEYS. */
  readonly keys: ReadonlySet<string>;
  readonly log: Pick<Log, 'info' | 'error'>;
}

export function createRegistryFollower({ tokens, store, keys, log }: RegistryFollowing): RegistryFollower {
  let inForce: PublishedRegistry | null = null;
  let refused = 0;
  const listeners: ((published: PublishedRegistry) => void)[] = [];

  /** Why a version is not put in force; null where it is. */
  const problemOf = ({ content, signatures }: PublishedRegistry): string | null => {
    const parsed = parseRegistry(JSON.parse(content));
    if (isRefusal(parsed)) return 'registry_malformed';
    if (!isRegistrySigned(parsed, signatures, keys)) return 'registry_not_signed';
    const unlawful = tokens.take(parsed);
    return unlawful === null ? null : String(unlawful.details['reason']);
  };

  return {
    inForce: () => inForce,
    listen: (listener) => void listeners.push(listener),
    async look() {
      const newest = await store.newestAbove(tokens.current.version);
      if (newest === null || newest.version <= refused) return;
      const { version: registryVersion } = newest;
      const reason = problemOf(newest);
      if (reason !== null) {
        refused = registryVersion;
        log.error(
          { registryVersion, reason },
          'a published version of the token registry is not put in force: two keys of REGISTRY_KEYS sign each, and it keeps what was published before',
        );
        return;
      }
      inForce = newest;
      log.info({ registryVersion }, 'a version of the token registry is in force');
      for (const listener of listeners) listener(newest);
    },
  };
}
