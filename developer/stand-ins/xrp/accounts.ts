/** `AccountSet`, `AccountDelete`, `TicketCreate`, `DepositPreauth`. Source: xrpl.org, the pages of these names. */
import { ACCOUNT, accountKey, hasFlag, preauthKey, ticketKey } from './entries.ts';
import { balanceOf, credit, own, ownerCountOf, reserveOf, type Fees } from './reserves.ts';
import type { View } from './view.ts';

/** `SetFlag` and `ClearFlag` by their numbers. */
const SETTABLE: Readonly<Record<number, number>> = {
  1: ACCOUNT.requireDest,
  2: ACCOUNT.requireAuth,
  3: ACCOUNT.disallowXrp,
  4: ACCOUNT.disableMaster,
  6: ACCOUNT.noFreeze,
  7: ACCOUNT.globalFreeze,
  8: ACCOUNT.defaultRipple,
  9: ACCOUNT.depositAuth,
};

export interface AccountSet {
  readonly Account: string;
  readonly SetFlag?: number;
  readonly ClearFlag?: number;
  readonly TransferRate?: number;
}

/** Flags and transfer rate of an account. */
export function accountSet(view: View, { Account, SetFlag = 0, ClearFlag = 0, TransferRate }: AccountSet): string {
  if (TransferRate !== undefined && TransferRate !== 0 && (TransferRate < 1e9 || TransferRate > 2e9)) {
    return 'temBAD_TRANSFER_RATE';
  }
  const key = accountKey(Account),
    flags = Number(view.get(key)!['Flags'] ?? 0);
  const next = (flags | (SETTABLE[SetFlag] ?? 0)) & ~(SETTABLE[ClearFlag] ?? 0);
  const rate =
    TransferRate === undefined
      ? {}
      : { TransferRate: TransferRate === 0 || TransferRate === 1e9 ? undefined : TransferRate };
  view.change(key, { Flags: next, ...rate });
  return 'tesSUCCESS';
}

export interface TicketCreate {
  readonly Account: string;
  readonly TicketCount: number;
}

const TICKETS_MAX = 250;

/** Sets the next sequences aside. */
export function ticketCreate(
  view: View,
  fees: Fees,
  { Account, TicketCount }: TicketCreate,
  priorBalance: bigint,
): string {
  if (TicketCount < 1 || TicketCount > TICKETS_MAX) return 'temINVALID_COUNT';
  const key = accountKey(Account),
    root = view.get(key)!;
  const owned = Number(root['TicketCount'] ?? 0);
  if (owned + TicketCount > TICKETS_MAX) return 'tecDIR_FULL';
  if (priorBalance < reserveOf(fees, ownerCountOf(root) + TicketCount)) return 'tecINSUFFICIENT_RESERVE';
  const first = Number(root['Sequence']);
  for (let sequence = first; sequence < first + TicketCount; sequence += 1) {
    view.put(ticketKey(Account, sequence), {
      LedgerEntryType: 'Ticket',
      Account,
      Flags: 0,
      OwnerNode: '0',
      TicketSequence: sequence,
    });
  }
  view.change(key, { Sequence: first + TicketCount, TicketCount: owned + TicketCount });
  own(view, Account, TicketCount);
  return 'tesSUCCESS';
}

export interface DepositPreauth {
  readonly Account: string;
  readonly Authorize?: string;
  readonly Unauthorize?: string;
}

/** Lets somebody pay an account that takes no deposits, or no longer. */
export function depositPreauth(
  view: View,
  fees: Fees,
  { Account, Authorize, Unauthorize }: DepositPreauth,
  priorBalance: bigint,
): string {
  if (Authorize !== undefined) {
    if (view.account(Authorize) === undefined) return 'tecNO_TARGET';
    const key = preauthKey(Account, Authorize);
    if (view.get(key) !== undefined) return 'tecDUPLICATE';
    if (priorBalance < reserveOf(fees, ownerCountOf(view.account(Account)!) + 1)) return 'tecINSUFFICIENT_RESERVE';
    view.put(key, { LedgerEntryType: 'DepositPreauth', Account, Authorize, Flags: 0, OwnerNode: '0' });
    own(view, Account, 1);
    return 'tesSUCCESS';
  }
  const key = preauthKey(Account, String(Unauthorize));
  if (view.get(key) === undefined) return 'tecNO_ENTRY';
  view.remove(key);
  own(view, Account, -1);
  return 'tesSUCCESS';
}

export interface AccountDelete {
  readonly Account: string;
  readonly Destination: string;
  readonly DestinationTag?: number;
}

/** Ledgers between an account's sequence and the first one that may delete it; objects that may go with it. */
const AGE_LEDGERS_MIN = 255;
const OBJECTS_MAX = 1_000;

/** Removes an account and pays out what it has. */
export function accountDelete(
  view: View,
  { Account, Destination, DestinationTag }: AccountDelete,
): { result: string; delivered?: string } {
  const no = (result: string) => ({ result });
  if (Account === Destination) return no('temDST_IS_SRC');
  const destination = view.account(Destination),
    root = view.account(Account)!;
  if (destination === undefined) return no('tecNO_DST');
  if (hasFlag(destination, ACCOUNT.requireDest) && DestinationTag === undefined) return no('tecDST_TAG_NEEDED');
  if (hasFlag(destination, ACCOUNT.depositAuth) && view.get(preauthKey(Destination, Account)) === undefined) {
    return no('tecNO_PERMISSION');
  }
  // The sequence was moved on by this very transaction.
  if (Number(root['Sequence']) - 1 + AGE_LEDGERS_MIN > view.place.height) return no('tecTOO_SOON');
  const owned: string[] = [];
  for (const [key, entry] of view.entries()) {
    if (entry.LedgerEntryType === 'RippleState') {
      const ends = ['LowLimit', 'HighLimit'].map((limit) => (entry[limit] as { issuer: string }).issuer);
      if (ends.includes(Account)) return no('tecHAS_OBLIGATIONS');
    } else if (entry.LedgerEntryType !== 'AccountRoot' && entry['Account'] === Account) owned.push(key);
  }
  if (owned.length > OBJECTS_MAX) return no('tefTOO_BIG');
  for (const key of owned) view.remove(key);
  const left = balanceOf(root);
  credit(view, Destination, left);
  view.change(accountKey(Account), { Balance: '0', OwnerCount: 0 });
  view.remove(accountKey(Account));
  return { result: 'tesSUCCESS', delivered: left.toString() };
}
