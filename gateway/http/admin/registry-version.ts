/** What publications of the token registry have in common: its next number, what was signed, and by whom. K7, K10. */
import { parseRegistry, registryHash, registryText, type Registry } from '../../../chains/catalogue.ts';
import { registryDifferences } from '../../../chains/registry-differences.ts';
import {
  isRegistrySigned,
  registrySigningText,
  signersOf,
  type RegistrySignature,
} from '../../../chains/registry-signature.ts';
import type { Publication } from '../../../model/ports/registry-store.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { BodyOf, ReplyOf } from '../../../protocol/routes.ts';
import type { HandlerDeps } from '../surroundings.ts';

type Deps = Pick<HandlerDeps, 'stores' | 'chains'>;

/** The version after the newest that was published, whether it is in force or not. */
export async function nextVersion({ stores, chains }: Deps): Promise<number> {
  const { version } = chains.tokens.current;
  return ((await stores.registry.newestAbove(version))?.version ?? version) + 1;
}

export function versionView(current: Registry, next: Registry): ReplyOf<'proposeTokenVersion'> {
  return {
    version: next.version,
    content: registryText(next),
    hash: registryHash(next),
    signingText: registrySigningText(next).toString(),
    differences: registryDifferences(current, next),
  };
}

/** The registry in a text that is its own bytes. Refuses: INVALID_INPUT. */
export function offeredIn(content: string): Registry | Refusal {
  const broken = (reason: string) => refuse('INVALID_INPUT', { field: 'content', reason });
  try {
    const parsed = parseRegistry(JSON.parse(content));
    if (isRefusal(parsed)) return broken(String(parsed.details['reason']));
    return registryText(parsed) === content ? parsed : broken('not_canonical');
  } catch {
    return broken('not_json');
  }
}

/** Why what is offered is not what was proposed, to the byte; null where it is. */
export const unlike = (wanted: Registry, offered: Registry): Refusal | null =>
  registryText(wanted) === registryText(offered)
    ? null
    : refuse(
        'INVALID_INPUT',
        { field: 'content', reason: 'not_the_proposal' },
        'sign the content that GET …/version answers',
      );

/** What two keys of these signed. Refuses: INVALID_INPUT `registry_not_signed`. */
export function signedBy(
  keys: readonly string[],
  offered: Registry,
  { content, signatures }: Pick<BodyOf<'publishRegistryProposal'>, 'content' | 'signatures'>,
): Pick<Publication, 'version' | 'content' | 'hash' | 'signatures'> | Refusal {
  const signed: RegistrySignature[] = signersOf(offered, signatures, keys);
  return isRegistrySigned(offered, signed, new Set(keys))
    ? { version: offered.version, content, hash: registryHash(offered), signatures: signed }
    : notSigned(keys);
}

export const registryMoved = (next: number): Refusal =>
  refuse(
    'CONFLICT',
    { reason: 'registry_moved', value: String(next) },
    'another version was published meanwhile: have the next one proposed and signed',
  );

const notSigned = (keys: readonly string[]): Refusal =>
  refuse(
    'INVALID_INPUT',
    { field: 'signatures', reason: 'registry_not_signed' },
    keys.length === 0
      ? 'REGISTRY_KEYS names no key: set it on every node, and EDGE_REGISTRY_KEYS on the edges'
      : 'two different keys of REGISTRY_KEYS sign a version: flock registry sign',
  );
