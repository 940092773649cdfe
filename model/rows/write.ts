import type { AccountKeyRow, AddressRow, PoolAddressRow } from './address.ts';
import type { AddressStatus } from '../../protocol/slugs.ts';
import type { DepositRow, LedgerEntryRow } from './deposit.ts';
import type { IdempotencyRow } from './idempotency.ts';
import type { PublicationRow, WebhookRow } from './webhook.ts';
import type { WithdrawalRow } from './withdrawal.ts';

/**
 * What the actor's statement writes beside its events; one tagged list so that a new projection is one more tag. Of
 * several rows with one id in one append the last one stands.
 */
export type RowWrite =
  // Inserted; a gas tank or treasury that the account has already stays. ADDRESS_CONFLICT when another account has it
  // (I9). `paired`: a further network of an EVM address that the account has; `pairsFrom`: first index of the present
  // identity. Refused as `address_pairs` when its pair changed meanwhile (spec 1.6).
  | { table: 'address'; row: AddressRow; paired?: boolean; pairsFrom?: number }
  // Refused as CONFLICT when the address has that status already: the actor keeps no list of addresses.
  // `alone`: no other active row has the address; refused as `address_pairs` when that changed meanwhile.
  | { table: 'address_status'; id: string; status: AddressStatus; alone?: boolean }
  // The pinned identity; refused as CROSS_ENVIRONMENT_IDENTITY when the organization's other account pins the same one
  // (I20).
  | { table: 'identity'; publicKey: string }
  | { table: 'pool_address'; row: PoolAddressRow } // insert, or replace one that was not issued
  | { table: 'account_key'; row: AccountKeyRow }
  | { table: 'deposit'; row: DepositRow } // insert or update by id
  | { table: 'ledger_entry'; row: LedgerEntryRow }
  | { table: 'withdrawal'; row: WithdrawalRow } // insert or update by id
  // A build that nobody signed: it ended, or gave the counter that was bound for it back.
  | { table: 'withdrawal_status'; id: string; status: 'expired' | 'built'; updatedAtMs: number }
  | { table: 'webhook'; row: WebhookRow } // insert or update by id
  | { table: 'publication'; row: PublicationRow }
  | { table: 'replay'; deliveryId: string; newDeliveryId: string; nowMs: number }
  // Every id must still be there, else the entry is stale: no fact is decided twice.
  | { table: 'inbox_taken'; ids: string[] }
  | { table: 'idempotency'; row: IdempotencyRow }
  | { table: 'billable'; withdrawalId: string; kind: 'withdrawal' | 'sweep'; period: string }
  | { table: 'address_peak'; day: string; active: number }
  // Deposit addresses, transactions, deliveries, inbox and facts of the account; its own addresses and pools stay.
  | { table: 'sandbox_reset' };
