/**
 * Addresses that are lent to payment links: customers' addresses like any other, of no customer. payments M3, S13, S16.
 */
import type { AccountEvent, AddressSees, RowWrite } from '../../model/account/capabilities.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import { CHECKOUT_TAG } from '../../model/rows/payment.ts';
import { FAMILY_OF, type CheckoutChain } from '../../protocol/slugs.ts';
import type { ChainBook } from '../account/decision.ts';
import { ISSUED, issuedRow, issuedWrite } from './issued.ts';

export interface Lendable {
  readonly row: AddressRow;
  readonly event: AccountEvent;
  readonly write: RowWrite;
}

/** Whether an address was issued to be lent. */
export const isLent = ({ tag, userRef }: Pick<AddressRow, 'tag' | 'userRef'>): boolean =>
  tag === CHECKOUT_TAG && userRef === null;

/**
 * The next index of the chain's family, as an address of the chain; it takes no place of the plan until it receives.
 * Throws: Error on a chain whose key is not registered, which readiness refuses before.
 */
export function freshLent(
  state: AddressSees,
  book: ChainBook,
  { id, chain, label }: { id: string; chain: CheckoutChain; label: string },
  nowMs: number,
): Lendable {
  const family = FAMILY_OF[chain],
    { derivation } = book.facts(chain),
    index = state.indexes[family] ?? 0,
    key = state.enrolment?.keys[family];
  if (derivation.kind !== 'xpub' || key === undefined) throw new Error(`${chain} has no key to derive from`);
  const { address, path } = derivation.deriveAddress(book.network(chain), key.xpub, ISSUED, index),
    row = issuedRow(state, book, { id, chain, index, userRef: null, tag: CHECKOUT_TAG, label, address, path }, nowMs);
  return {
    row,
    event: { type: 'address_issued', id, family, chain, index, lent: true },
    write: issuedWrite(state, row, false),
  };
}
