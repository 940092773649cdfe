/** The row of a new address, and how it is written: one form for all who ask for one. */
import type { AddressSees, RowWrite } from '../../model/account/capabilities.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import type { ChainBook } from '../account/decision.ts';
import { presentFrom } from '../edge-link/retired-identities.ts';

/** Customers' addresses are `M/0/i`. Spec: chains.md 4.1, 5.1. */
export const ISSUED = 0;

/** Whom an address is for, and where it lies. */
export type Issue = Pick<AddressRow, 'id' | 'chain' | 'index' | 'userRef' | 'tag' | 'label'> & {
  readonly address: string;
  readonly path: string;
};

/** A customers' address of an account. Throws: Error when the derived text is no address of its chain. */
export function issuedRow(
  { accountId, environment }: Pick<AddressSees, 'accountId' | 'environment'>,
  book: ChainBook,
  { id, chain, index, userRef, tag, label, address, path }: Issue,
  nowMs: number,
): AddressRow {
  const { family, parseAddress } = book.facts(chain);
  const parsed = parseAddress(book.network(chain), address);
  if (isRefusal(parsed)) throw new Error(`derived address of ${chain} does not parse`);
  return {
    id,
    accountId,
    chain,
    family,
    address,
    addressKey: addressKeyOf(environment, family, parsed.bytes),
    derivationPath: path,
    purpose: 'deposit',
    index,
    userRef,
    tag,
    label,
    status: 'active',
    createdAtMs: nowMs,
  };
}

/** `paired`: a further network of an EVM address that the account has. */
export const issuedWrite = (state: AddressSees, row: AddressRow, paired: boolean): RowWrite =>
  row.family === 'evm'
    ? { table: 'address', row, paired, pairsFrom: presentFrom(state, 'evm') }
    : { table: 'address', row };
