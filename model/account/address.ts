/** Addresses that an account issues, and the pools of chains whose addresses only its edge derives. Spec §3.1. */
import type { AddressRow, PoolAddressRow } from '../rows/address.ts';
import type { AddressStatus, Chain, Family, PooledChain } from '../../protocol/slugs.ts';

/**
 * Addresses of a pooled chain live in `pool_address`; here is only how far they reach: indexes [next, size) are
 * unissued, `capacity` of them are a full pool. After a rotation `capacity` is zero until the new edge has pushed, and
 * `base` is where its addresses begin: those below are of an identity that was rotated away.
 */
export interface Pool {
  base: number;
  size: number;
  next: number;
  capacity: number;
  gasTank: string;
  gasTankPath: string;
  lowAnnounced: boolean;
}

export interface AddressState {
  pools: Partial<Record<PooledChain, Pool>>;
  /** Next unused deposit index by family. */
  indexes: Partial<Record<Family, number>>;
  /** Chains that addresses were asked for: tier Free allows two. */
  chains: Chain[];
  activeAddresses: number;
  /** The highest count of the UTC day that is running; `actors/address/peak.ts`. */
  peak: { day: string; active: number };
}

export interface PushedPool {
  chain: PooledChain;
  addresses: { index: number; address: string; path: string }[];
  gasTank: { address: string; path: string };
}

export type AddressCommand =
  | { type: 'push_pool'; publicKey: string; pool: PushedPool; addressIds: string[] }
  | {
      type: 'create_address';
      id: string;
      chain: Chain;
      userRef: string;
      tag: string | null;
      label: string | null;
      /**
       * EVM: the lowest index of this (userRef, tag) without a row on the chain, as the store sees it; null for a new
       * one.
       */
      paired: number | null;
      /**
       * Pooled chains: the next unissued pool addresses as the store sees them; the actor takes the one that is next.
       */
      unissued: { index: number; address: string; path: string }[];
    }
  /** `alone`: no other active row has the address, as the store sees it. */
  /** `monitored`: a lent address, once its link was reported long enough (payments M11). */
  | { type: 'set_address_status'; known: AddressRow; status: AddressStatus; alone: boolean; monitored?: true }
  | { type: 'note_peak' };

export type AddressEvent =
  | { type: 'pool_pushed'; chain: PooledChain; size: number; gasTank: string; gasTankPath: string }
  | { type: 'pool_low_announced'; chain: PooledChain }
  /**
   * `paired`: on a further network, so that it counts no more than before. `lent`: to a payment link, so that it counts
   * from its first transfer (payments S16).
   */
  | { type: 'address_issued'; id: string; family: Family; chain: Chain; index: number; paired?: true; lent?: true }
  /** A lent address received for the first time. */
  | { type: 'address_counted'; id: string; family: Family }
  /** `counts` false: another network of the address is active. */
  | { type: 'address_status_changed'; id: string; status: AddressStatus; counts?: false }
  | { type: 'peak_noted'; day: string; active: number };

export interface AddressReplies {
  push_pool: { size: number; unused: number };
  create_address: AddressRow;
  set_address_status: AddressRow;
  note_peak: { day: string };
}

/** Rows that it writes. */
export type AddressWrite =
  // Inserted; a gas tank or treasury that the account has already stays. ADDRESS_CONFLICT when another account has it
  // (I9). `paired`: a further network of an EVM address that the account has; `pairsFrom`: first index of the present
  // identity. Refused as `address_pairs` when its pair changed meanwhile (spec 1.6).
  | { table: 'address'; row: AddressRow; paired?: boolean; pairsFrom?: number }
  // Refused as CONFLICT when the address has that status already: the actor keeps no list of addresses.
  // `alone`: no other active row has the address; refused as `address_pairs` when that changed meanwhile.
  | { table: 'address_status'; id: string; status: AddressStatus; alone?: boolean }
  | { table: 'pool_address'; row: PoolAddressRow } // insert, or replace one that was not issued
  | { table: 'address_peak'; day: string; active: number };

export const ADDRESS_INITIAL: AddressState = {
  pools: {},
  indexes: {},
  chains: [],
  activeAddresses: 0,
  peak: { day: '', active: 0 },
};
