/**
 * Addresses that are lent to payment links: customers' addresses like any other, of no customer. payments M3, S13, S16.
 */
import type { AccountEvent, AddressSees, RowWrite } from '../../model/account/capabilities.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import { CHECKOUT_TAG } from '../../model/rows/payment.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import { FAMILY_OF, type CheckoutChain } from '../../protocol/slugs.ts';
import type { ChainBook } from '../account/decision.ts';
import { presentFrom } from '../edge-link/retired-identities.ts';

/** Customers' addresses are `M/0/i`. */
const CHANGE = 0;

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
    { derivation, parseAddress } = book.facts(chain),
    index = state.indexes[family] ?? 0,
    key = state.enrolment?.keys[family];
  if (derivation.kind !== 'xpub' || key === undefined) throw new Error(`${chain} has no key to derive from`);
  const { address, path } = derivation.deriveAddress(book.network(chain), key.xpub, CHANGE, index);
  const parsed = parseAddress(book.network(chain), address);
  if (isRefusal(parsed)) throw new Error(`lent address of ${chain} does not parse`);
  const row: AddressRow = {
    id,
    accountId: state.accountId,
    chain,
    family,
    address,
    addressKey: addressKeyOf(state.environment, family, parsed.bytes),
    derivationPath: path,
    purpose: 'deposit',
    index,
    userRef: null,
    tag: CHECKOUT_TAG,
    label,
    status: 'active',
    createdAtMs: nowMs,
  };
  return {
    row,
    event: { type: 'address_issued', id, family, chain, index, lent: true },
    write:
      family === 'evm'
        ? { table: 'address', row, paired: false, pairsFrom: presentFrom(state, 'evm') }
        : { table: 'address', row },
  };
}
