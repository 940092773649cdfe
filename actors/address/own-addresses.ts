/**
 * The account's own addresses: the gas tank `M/1/0` and the treasury `M/1/1` of each extended key, and the gas tank
 * that the edge names on a pooled chain (its treasury is external). They are watched, so that value which our own jobs
 * move is distinguished from a customer's deposit (G20). Spec §2.10.
 */
import { isRefusal } from '../../protocol/errors.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { AddressSees, RowWrite } from '../../model/account/capabilities.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import { CHAINS, FAMILY_OF, type Chain, type Family } from '../../protocol/slugs.ts';
import type { ChainBook } from '../account/decision.ts';
import type { AccountKey } from '../../model/account/edge-link.ts';

/** Ids that came with the command, in the order in which they are used up. */
export type OwnAddressIds = Iterator<string>;

/** Ids that one enrolment can use up: two for each extended key, one for each pool. */
export const OWN_ADDRESSES_MAX = 10;

const CHANGE = 1;
const OWN_INDEXES = [
  ['gas_tank', 0],
  ['treasury', 1],
] as const;

/** The chain that stands for its family in rows and paths: `eth` for the five EVM networks. */
export function chainOf(family: Family): Chain {
  return CHAINS.find((chain) => FAMILY_OF[chain] === family)!;
}

/** Rows of gas tank and treasury of each key. Throws: RangeError for a key that does not derive. */
export function ownAddresses(
  state: Pick<AddressSees, 'accountId' | 'environment'>,
  book: ChainBook,
  keys: Partial<Record<Family, AccountKey>>,
  ids: OwnAddressIds,
  nowMs: number,
): RowWrite[] {
  return (Object.entries(keys) as [Family, AccountKey][]).flatMap(([family, { xpub }]) => {
    const chain = chainOf(family),
      { derivation } = book.facts(chain);
    if (derivation.kind !== 'xpub') return [];
    return OWN_INDEXES.map(([purpose, index]) => {
      const derived = derivation.deriveAddress(book.network(chain), xpub, CHANGE, index);
      return ownAddress(state, book, ids, { chain, purpose, ...derived }, nowMs);
    });
  });
}

/** Row of one own address. Throws: RangeError when the command brought too few ids or the address is none. */
export function ownAddress(
  state: Pick<AddressSees, 'accountId' | 'environment'>,
  book: ChainBook,
  ids: OwnAddressIds,
  own: { chain: Chain; purpose: AddressRow['purpose']; address: string; path: string },
  nowMs: number,
): RowWrite {
  const id = ids.next();
  if (id.done === true) throw new RangeError(`an enrolment needs up to ${OWN_ADDRESSES_MAX} address ids`);
  const { family, parseAddress } = book.facts(own.chain);
  const parsed = parseAddress(book.network(own.chain), own.address);
  if (isRefusal(parsed)) throw new RangeError(`derived address of ${own.chain} does not parse`);
  return {
    table: 'address',
    row: {
      id: id.value,
      accountId: state.accountId,
      chain: own.chain,
      family,
      address: own.address,
      addressKey: addressKeyOf(state.environment, family, parsed.bytes),
      derivationPath: own.path,
      purpose: own.purpose,
      index: null,
      userRef: null,
      tag: null,
      label: null,
      status: 'active',
      createdAtMs: nowMs,
    },
  };
}
