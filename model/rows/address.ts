/**
 * Addresses. Amounts of all rows are bigint here and numeric(78,0) in SQL, instants epoch milliseconds here and
 * timestamptz there.
 */
import type { AccountId } from '../../protocol/ids.ts';
import type { AddressStatus, Chain, Family, PooledChain } from '../../protocol/slugs.ts';

export interface AddressRow {
  id: string;
  accountId: AccountId;
  /**
   * The chain it was asked for. An EVM address receives on all five and has a row for each that it was asked for (spec
   * §1.6).
   */
  chain: Chain;
  family: Family;
  address: string;
  /** First 16 bytes of SHA-256(environment ‖ family ‖ decoded bytes), as a uuid. Unique over all accounts. */
  addressKey: string;
  derivationPath: string;
  /** `deposit` addresses are issued to customers; the others are the account's own (G20). */
  purpose: 'deposit' | 'gas_tank' | 'treasury';
  /** Index below the account path, null where the path is not M/0/i. Used once per (account, family, purpose). */
  index: number | null;
  userRef: string | null;
  tag: string | null;
  label: string | null;
  status: AddressStatus;
  createdAtMs: number;
  /** The batch that adopted it from another wallet; absent where it was issued or registered. */
  batchId?: string;
  /** Of the batch, where it was read with the address. */
  project?: { id: string; mode: 'observe' | 'active' };
}

/**
 * What decides whether a deposit to an adopted address is announced. Heights are by chain; a chain without one was
 * enabled later, and all of its blocks are above. Migration M-I12, M-O2, M-O5.
 */
export interface Adoption {
  addressId: string;
  mode: 'observe' | 'active';
  /** Of the account when this was read; a cutover meanwhile asks for another reading. */
  cutovers: number;
  /** Recorded at the commit: what is in these blocks was before. */
  recorded: Partial<Record<Chain, number>>;
  /** Recorded at the last cutover: what is in these blocks stays silent, however late it is read. */
  activated: Partial<Record<Chain, number>>;
}

export interface AccountKeyRow {
  family: Family;
  xpub: string;
  accountPath: string;
  /** First 16 hex digits of SHA-256 of the xpub. */
  fingerprint: string;
  status: 'active' | 'held' | 'retired';
}

export interface PoolAddressRow {
  chain: PooledChain;
  index: number;
  address: string;
  path: string;
  addressKey: string;
}
