/**
 * The registry of a node follows what was published: the newest version that two registry keys signed and that is a
 * lawful successor is in force here about a second later. One that is not stays out, and a person is notified, once.
 * Treasury K7, K8, K11.
 */
import { parseRegistry, type Registry } from '../chains/catalogue.ts';
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
  const refused = new Set<number>();
  const listeners: ((published: PublishedRegistry) => void)[] = [];

  /** Why a version is not put in force; null where it is. */
  const problemOf = ({ content, signatures }: PublishedRegistry): string | null => {
    const parsed = parsedOf(content);
    if (parsed === null) return 'registry_malformed';
    if (!isRegistrySigned(parsed, signatures, keys)) return 'registry_not_signed';
    const unlawful = tokens.take(parsed);
    return unlawful === null ? null : String(unlawful.details['reason']);
  };

  const isRefused = (published: PublishedRegistry): boolean => {
    const { version: registryVersion } = published;
    if (refused.has(registryVersion)) return true;
    const reason = problemOf(published);
    if (reason === null) return false;
    refused.add(registryVersion);
    log.error(
      { registryVersion, reason },
      'a published version of the token registry is not put in force: two keys of REGISTRY_KEYS sign each, and it keeps what was published before',
    );
    return true;
  };

  return {
    inForce: () => inForce,
    listen: (listener) => void listeners.push(listener),
    async look() {
      const { version: known } = tokens.current;
      let next = await store.newestAbove(known);
      // An account of the database can put an unsigned version there: an earlier one still holds.
      while (next !== null && isRefused(next)) next = await store.newestAbove(known, next.version);
      if (next === null) return;
      inForce = next;
      log.info({ registryVersion: next.version }, 'a version of the token registry is in force');
      for (const listener of listeners) listener(next);
    },
  };
}

function parsedOf(content: string): Registry | null {
  try {
    const parsed = parseRegistry(JSON.parse(content));
    return isRefusal(parsed) ? null : parsed;
  } catch {
    return null;
  }
}
