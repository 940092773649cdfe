/**
 * The token registry of this edge: the one that ships with it, or a newer version that the cloud passed on and two
 * registry keys signed. A version is taken only as a lawful successor of the kept one, is durable before it is used,
 * and is never turned back. Only this makes a token known here; a cloud that withholds a version delays. Treasury K14,
 * decisions 6.
 */
import {
  catalogueOf,
  checkSuccession,
  findDeployment,
  formerRegistryHash,
  parseRegistry,
  registryHash,
  registryText,
  shippedRegistry,
  type Deployment,
  type Registry,
} from '../../chains/catalogue.ts';
import type { Catalogue } from '../../chains/chain.ts';
import { isRegistrySigned } from '../../chains/registry-signature.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { RegistryFrame } from '../../protocol/frames.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { EdgeLog } from '../process/log.ts';
import { stepOf } from '../signing/signers/refusal-steps.ts';
import { refuseToSign } from '../signing/signers/signer.ts';
import { markFields, markNumber, markText } from '../storage/record-forms.ts';
import type { Storage } from '../storage/storage.ts';

/** Highest version that this directory has seen, and its hash. */
const SEEN = 'registry';
/** Text of the newest version that was passed on. */
const KEPT = 'registry_content';
/** Of an edge of before: without a sum. */
const FORMER_SEEN = /^[0-9]{1,16} [0-9a-f]{64}$/;

export interface TokenRegistrySettings {
  readonly storage: Storage;
  /** EDGE_REGISTRY_KEYS. */
  readonly keys: ReadonlySet<string>;
  readonly log: EdgeLog;
  readonly shipped?: Registry;
}

/** A registry, or in words why the data directory does not fit. Throws: StorageFailed. */
export function openTokenRegistry(settings: TokenRegistrySettings): TokenRegistry | string {
  const { storage, shipped = shippedRegistry } = settings;
  const kept = keptIn(storage);
  if (kept === 'broken') return 'the token registry that it keeps cannot be read: restore the directory from a backup';
  const newest = kept !== null && kept.version > shipped.version ? kept : shipped;
  const older = newest === kept ? shipped : kept;
  const refusal = older === null ? null : checkSuccession(older, newest);
  if (refusal !== null)
    return `the token registry of this edge, version ${shipped.version}, does not fit the one that its data directory keeps, version ${kept!.version} (${String(refusal.details['reason'])})`;
  const problem = guardSeen(storage, newest);
  return problem ?? new TokenRegistry(settings, newest);
}

function keptIn(storage: Storage): Registry | null | 'broken' {
  const text = storage.setting(KEPT);
  if (text === null) return null;
  try {
    const parsed = parseRegistry(JSON.parse(text));
    return isRefusal(parsed) ? 'broken' : parsed;
  } catch {
    return 'broken';
  }
}

/** A problem in words, or null when the registry may be used; it is then remembered. */
function guardSeen(storage: Storage, registry: Registry): string | null {
  const { version: seenVersion, hash: seenHash } = seenIn(storage);
  const hash = registryHash(registry);
  if (registry.version < seenVersion)
    return `the token registry of this edge is version ${registry.version}; its data directory has seen version ${seenVersion}`;
  const isSame = seenHash === hash || seenHash === formerRegistryHash(registry);
  if (registry.version === seenVersion && !isSame)
    return `the token registry of this edge is version ${registry.version} with other content than its data directory has seen`;
  storage.setSetting(SEEN, markText([registry.version, hash]));
  return null;
}

function seenIn(storage: Storage): { readonly version: number; readonly hash: string } {
  const kept = storage.setting(SEEN);
  if (kept === null) return { version: 0, hash: '' };
  const [version, hash] = markFields(kept, SEEN, 2, FORMER_SEEN);
  return { version: markNumber(version!, SEEN), hash: hash! };
}

export class TokenRegistry {
  readonly #settings: TokenRegistrySettings;
  #current: Registry;
  #catalogues = new Map<Chain, Catalogue>();

  constructor(settings: TokenRegistrySettings, current: Registry) {
    this.#settings = settings;
    this.#current = current;
  }

  get current(): Registry {
    return this.#current;
  }

  /** Monitored tokens of a chain. */
  readonly catalogueOf = (chain: Chain): Catalogue => {
    const known = this.#catalogues.get(chain) ?? catalogueOf(chain, this.#current);
    this.#catalogues.set(chain, known);
    return known;
  };

  /** Refuses: TOKEN_NOT_ON_CHAIN, TOKEN_NOT_SUPPORTED. */
  find(chain: Chain, contract: string): Deployment | Refusal {
    return findDeployment(chain, contract, this.#current);
  }

  /**
   * Takes a version that the cloud passed on; durable when it returns. The kept version again changes nothing.
   * Refuses: SIGNED_BATCH_REJECTED; the kept version stays in use.
   */
  take(frame: RegistryFrame): Refusal | null {
    const { storage, keys, log } = this.#settings;
    const judged = this.#judge(frame, keys);
    if (judged === 'known') return null;
    if ('code' in judged) {
      log.alarm('registry_refused', { reason: String(judged.details['reason']), registryVersion: frame.version });
      return judged;
    }
    storage.transaction(() => {
      storage.setSetting(KEPT, registryText(judged));
      storage.setSetting(SEEN, markText([judged.version, registryHash(judged)]));
    });
    this.#current = judged;
    this.#catalogues = new Map();
    log.info('registry_taken', { registryVersion: judged.version });
    return null;
  }

  #judge({ version, content, signatures }: RegistryFrame, keys: ReadonlySet<string>): Refusal | Registry | 'known' {
    const parsed = parsedOf(content);
    if (parsed === null || parsed.version !== version) return refuseToSign('registry_malformed');
    // One text for one version: what is kept is what was signed.
    if (registryText(parsed) !== content) return refuseToSign('registry_malformed');
    if (version === this.#current.version && registryHash(parsed) === registryHash(this.#current)) return 'known';
    if (!isRegistrySigned(parsed, signatures, keys)) return refuseToSign('registry_not_signed');
    const unlawful = checkSuccession(this.#current, parsed);
    return unlawful === null
      ? parsed
      : { ...unlawful, details: { ...unlawful.details, ...stepOf('registry_not_signed') } };
  }
}

function parsedOf(content: string): Registry | null {
  try {
    const parsed = parseRegistry(JSON.parse(content));
    return isRefusal(parsed) ? null : parsed;
  } catch {
    return null;
  }
}
