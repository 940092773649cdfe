/**
 * What an Idempotency-Key is bound to: SHA-256 of the parsed body, under the number of the way in which it was made.
 * White space and the order of keys say nothing, so that a client that serialises anew may repeat itself.
 *
 *   stored   asked
 *   1:aa     1:aa        the same body
 *   1:aa     1:bb        another one
 *   aa       1:aa        the same: rows of before there were numbers are of the first way
 *   1:aa     2:cc 1:aa   the same: a release that makes hashes anew gives both for the 24 h that answers are kept
 *   2:cc     1:aa        no common way (a node that was rolled back): taken as the same. The stored answer names
 *                        what was done; a conflict would have its caller try again under another key, and pay twice
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../protocol/canonical-json.ts';

const FIRST_WAY = '1';

/** Hash of a parsed body, `1:` and 64 hex digits. */
export function bodyHashOf(body: unknown): string {
  return `${FIRST_WAY}:${hash('sha256', body === undefined ? '' : canonicalJson(body), 'hex')}`;
}

/** Whether two hashes are of one body: all ways in which both were made say so. */
export function isSameBody(stored: string, asked: string): boolean {
  if (stored === asked) return true;
  const known = waysOf(stored);
  return [...waysOf(asked)].every(([way, text]) => known.get(way) === undefined || known.get(way) === text);
}

function waysOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(' ').map((one) => {
      const at = one.indexOf(':');
      return at === -1 ? [FIRST_WAY, one] : [one.slice(0, at), one.slice(at + 1)];
    }),
  );
}
