/** Addresses that an account issues, and the pools of chains whose addresses only its edge derives. Spec §3.1. */
import type { AddressRow } from '../rows/address.ts';
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
  | { type: 'set_address_status'; known: AddressRow; status: AddressStatus; alone: boolean }
  | { type: 'note_peak'; day: string };

export type AddressEvent =
  | { type: 'pool_pushed'; chain: PooledChain; size: number; gasTank: string; gasTankPath: string }
  | { type: 'pool_low_announced'; chain: PooledChain }
  /** `paired`: on a further network, so that it counts no more than before. */
  | { type: 'address_issued'; id: string; family: Family; chain: Chain; index: number; paired?: true }
  /** `counts` false: another network of the address is active. */
  | { type: 'address_status_changed'; id: string; status: AddressStatus; counts?: false }
  | { type: 'peak_noted'; day: string; active: number };

export interface AddressReplies {
  push_pool: { size: number; unused: number };
  create_address: AddressRow;
  set_address_status: AddressRow;
  note_peak: { day: string; active: number };
}
