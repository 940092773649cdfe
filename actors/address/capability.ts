/** Addresses and their pools. */
import type { AddressCommand, AddressState } from '../../model/account/address.ts';
import type { AddressSees } from '../../model/account/capabilities.ts';
import type { Capability } from '../account/decision.ts';
import { createAddress, notePeak, setAddressStatus } from './decide.ts';
import { addressFolds } from './evolve.ts';
import { pushPool } from './pools.ts';

export const address: Capability<AddressCommand, AddressSees, AddressState> = {
  owns: ['pools', 'indexes', 'chains', 'activeAddresses', 'peak'],
  decide: {
    push_pool: pushPool,
    create_address: createAddress,
    set_address_status: setAddressStatus,
    note_peak: notePeak,
  },
  folds: addressFolds,
};
