/**
 * Tokens of links in letters: 256 bits, of which the store keeps the hash; the link has it in its fragment, so that
 * fetching it spends nothing. Console A7, A9.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { SecretBox } from '../../../model/ports/secret-box.ts';
import type { TokenKind, TokenRow } from '../../../model/ports/people-store.ts';
import { notFound, refuse, type Refusal } from '../../../protocol/errors.ts';

const TOKEN_BYTES = 32;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** How long a link is good. */
export const LINK_MS: Readonly<Record<TokenKind | 'invitation', number>> = {
  verify: DAY_MS,
  email: DAY_MS,
  reset: 30 * MINUTE_MS,
  undo: 7 * DAY_MS,
  invitation: 7 * DAY_MS,
};

export const newLetterId = (): string => randomUUID();
export const linkHashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
/** Additional data under which the token of a letter is sealed. */
export const letterContext = (letterId: string): string => `letter|token|${letterId}`;

/** A new token with the letter that will carry it. A token that begins with an id says whose it is. */
export function newLink(
  secrets: Pick<SecretBox, 'seal'>,
  { letterId = newLetterId(), of }: { readonly letterId?: string; readonly of?: string } = {},
): { hash: string; letterId: string; sealed: string } {
  const token = `${of === undefined ? '' : `${of}.`}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  return { hash: linkHashOf(token), letterId, sealed: secrets.seal(token, letterContext(letterId)) };
}

/** Null for a link that is good. Refuses: NOT_FOUND, CONFLICT with `reason` used, replaced, revoked, expired. */
export function linkRefusal(
  row: Pick<TokenRow, 'kind' | 'why' | 'expiresAtMs'> | null,
  kinds: readonly TokenKind[],
  nowMs: number,
): Refusal | null {
  if (row === null || !kinds.includes(row.kind)) return notFound('link', '');
  if (row.why !== null) return spentLink(row.why);
  return row.expiresAtMs <= nowMs ? spentLink('expired') : null;
}

export const spentLink = (reason: 'used' | 'replaced' | 'revoked' | 'expired'): Refusal =>
  refuse('CONFLICT', { reason, next: 'have another letter sent, and open its link' });
