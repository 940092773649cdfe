/**
 * Every address that passes through the edge is derived again from its path before the caller sees it: a cloud that
 * names an address of its own would otherwise be paid by the customer's customers. Decisions 6, reliability 3.9-1.
 */
import { refuse, type Refusal } from '../protocol/errors.ts';
import { CHAINS, type Chain } from '../protocol/slugs.ts';
import { otherSpellingOf } from './other-spelling.ts';
import type { OwnAddresses } from './own-addresses.ts';

/** Values of one answer that are looked at; more than any page holds. */
const VALUES_MAX = 200_000;
const hasOtherPath = otherSpellingOf(['derivationPath']);
const hasOtherName = otherSpellingOf(['chain', 'address', 'derivationPath']);

interface NamedAddress { readonly chain: unknown; readonly address: unknown; readonly derivationPath: unknown }

/**
 * Refuses INTERNAL_ERROR when an object anywhere in the answer pairs a path with an address that is not derived there.
 * An origin that this edge has no key for (a retired identity, a source in another replica's keystore) is handed on: it
 * says itself that no key of this edge is behind it, as a null path does.
 */
export function checkAddresses(own: OwnAddresses, answer: unknown): Refusal | null {
  const waiting: unknown[] = [answer];
  for (let seen = 0; waiting.length > 0; seen += 1) {
    if (seen > VALUES_MAX) return refuse('INTERNAL_ERROR', { reason: 'answer_too_large' });
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (hasOtherPath(value) || ('derivationPath' in value && hasOtherName(value))) return notDerived('other_spelling');
    if ('derivationPath' in value && value.derivationPath !== null) {
      const refusal = checkOne(own, value as NamedAddress);
      if (refusal !== null) return refusal;
    }
    for (const inner of Object.values(value)) waiting.push(inner);
  }
  return null;
}

/** For a reply that is one known address: it must have its path. */
export function checkNamed(own: OwnAddresses, answer: unknown): Refusal | null {
  const named = answer as Partial<NamedAddress> | null;
  return typeof named?.derivationPath === 'string' ? checkAddresses(own, answer) : notDerived('path_missing');
}

/** For a reply that is a new address: it must be derived here, and be of the chain that was asked for. */
export function checkIssued(own: OwnAddresses, answer: unknown, askedChain: unknown): Refusal | null {
  const issued = answer as Partial<NamedAddress> | null;
  if (typeof issued?.derivationPath === 'string' && !issued.derivationPath.startsWith('m/')) return notDerived('foreign_path');
  if (askedChain !== undefined && issued?.chain !== askedChain) return notDerived('other_chain');
  return checkNamed(own, answer);
}

function checkOne(own: OwnAddresses, { chain, address, derivationPath }: NamedAddress): Refusal | null {
  if (typeof derivationPath !== 'string' || typeof address !== 'string' || !CHAINS.includes(chain as Chain)) return notDerived('malformed');
  if (own.isForeign(derivationPath)) return null;
  return own.addressAt(chain as Chain, derivationPath) === address ? null : notDerived('address_differs');
}

function notDerived(reason: string): Refusal {
  return refuse('INTERNAL_ERROR', { reason }, 'the cloud named an address that this edge does not derive; it was not handed on');
}
