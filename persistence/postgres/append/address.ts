/** Rows of an append: addresses, their pools, and how many were active on a day. */
import type { AddressWrite } from '../../../model/account/address.ts';
import { environmentOf, type AccountId } from '../../../protocol/ids.ts';
import { encoded, instant, type AppendOf, type Row, type Writes } from './rows.ts';

export const address: AppendOf<AddressWrite> = {
  address: (write, { accountId }) => [encoded('addresses', { ...addressRow(accountId, write.row), ...pairOf(write) })],
  address_status: ({ id, status, alone }) => [
    encoded('address_statuses', { id, status, ...(alone === undefined ? {} : { alone }) }),
  ],
  pool_address: ({ row: { chain, index, address, path, addressKey } }) => [
    encoded('pool_addresses', { chain, index, address, path, address_key: addressKey }, `${chain}/${index}`),
  ],
  address_peak: ({ day, active }) => [encoded('address_peaks', { day, active }, day)],
};

function addressRow(accountId: string, row: Writes['address']['row']): Row {
  return {
    id: row.id,
    environment: environmentOf(accountId as AccountId),
    chain: row.chain,
    family: row.family,
    address: row.address,
    address_key: row.addressKey,
    derivation_path: row.derivationPath,
    purpose: row.purpose,
    index: row.index,
    user_ref: row.userRef,
    tag: row.tag,
    label: row.label,
    status: row.status,
    created_at: instant(row.createdAtMs),
  };
}

function pairOf({ paired, pairsFrom }: Writes['address']): Row {
  return { ...(paired === undefined ? {} : { paired }), ...(pairsFrom === undefined ? {} : { pairs_from: pairsFrom }) };
}
