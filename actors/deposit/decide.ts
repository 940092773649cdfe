/**
 * What the facts of the chains mean for an account's deposits. Spec §3.6, decisions 5.
 *
 *   deposit     fact       becomes     incarnation   ledger      event
 *   none        seen       detected    1             detected    deposit_detected (address_activated)
 *   none        matured    confirmed   1             detected,   deposit_detected, deposit_confirmed
 *                                                    credit
 *   detected    matured    confirmed                 credit      deposit_confirmed
 *   detected    orphaned   reversed                              deposit_reversed
 *   confirmed   orphaned   reversed                  reversal    deposit_reversed
 *   reversed    seen       detected    + 1           detected    none: the same deposit, detected before
 *   any         moved      as it is                              none: only the block changes
 *   none, reversed: moved is seen. none: orphaned is nothing. A fact that changes nothing is taken and forgotten.
 *   A contract may pay another amount, token or payee when its transaction is included again: the old movement is
 *   reversed, and the new movement is detected, deposit_detected again, under the same key and the next incarnation.
 *
 * So per incarnation there is at most one credit and at most one reversal of it, and the sum of a deposit is always
 * zero or its amount (I6), whatever the order of facts. Value that the account's own jobs move and change are no
 * deposits (G20, G21): the fact stays in the store, nothing is credited. A deposit to an archived address is credited
 * and not announced (spec §2.3); one that was announced is reported to its end, whatever becomes of its address.
 * What pays an address that was adopted from another wallet before its cutover is credited and not announced, then
 * and for ever (`silence`; migration M-O2, M-O4): the old wallet announces it. An incarnation that pays another address
 * is that address's.
 * An EVM address has a row for each network it was asked for: a deposit takes that of its network, else the oldest
 * active one. The watcher names the address by its first row, always the same, so a movement is known by payee, asset
 * and amount.
 */
import type { AddressRow, Adoption } from '../../model/rows/address.ts';
import type { DepositRow, LedgerEntryRow, Silence } from '../../model/rows/deposit.ts';
import type { AccountEvent, FactSees, RowWrite } from '../../model/account/capabilities.ts';
import type { SeenTransfer } from '../../model/rows/inbox.ts';
import { eventId } from '../../protocol/node/ids.ts';
import { formatAmount } from '../../protocol/money.ts';
import type { EventName } from '../../protocol/slugs.ts';
import type { EventData } from '../../protocol/schema/events.ts';
import { publish, type Announced } from '../account/events-body.ts';
import { NO_PURPOSE, type DepositChange, type DepositListener, type DepositPurpose } from './listener.ts';

export type DepositFactKind = 'seen' | 'matured' | 'orphaned' | 'moved';
type DepositEvent = 'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'deposit_moved';

/** One deposit per (ledger, txid, output index). G1. */
export function creditKey({
  ledger,
  txid,
  outputIndex,
}: {
  ledger: string;
  txid: string;
  outputIndex: number;
}): string {
  return `${ledger}|${txid}|${outputIndex}`;
}

/** Deposits as the facts of one command change them, with what becomes durable. */
export class DepositBook {
  readonly announced: EventName[] = [];
  readonly #rows: RowWrite[] = [];
  readonly #changed = new Map<string, DepositRow>();
  readonly #known: Map<string, DepositRow>;
  readonly #addresses: Map<string, AddressRow>;
  /** Rows of one address, by family and index. */
  readonly #networks: Partial<Record<string, AddressRow[]>>;
  readonly #own: Set<string>;
  readonly #ownTxids: ReadonlySet<string>;
  readonly #adoptions: Map<string, Adoption>;
  readonly #state: FactSees;
  readonly #nowMs: number;
  readonly #events: AccountEvent[];
  readonly #listeners: readonly DepositListener[];

  /** Events go to `events`, in the order of the facts; what follows from a deposit is asked of the listeners. */
  constructor(
    state: FactSees,
    read: {
      readonly deposits: readonly DepositRow[];
      readonly addresses: readonly AddressRow[];
      readonly adoptions?: readonly Adoption[];
      readonly ownTxids?: readonly string[];
    },
    nowMs: number,
    events: AccountEvent[],
    listeners: readonly DepositListener[] = [],
  ) {
    this.#state = state;
    this.#listeners = listeners;
    this.#nowMs = nowMs;
    this.#events = events;
    this.#known = new Map(read.deposits.map((row) => [creditKey(row), row]));
    this.#addresses = new Map(read.addresses.map((row) => [row.id, row]));
    this.#adoptions = new Map(read.adoptions?.map((row) => [row.addressId, row]));
    this.#networks = Object.groupBy(
      read.addresses.filter(({ purpose, index }) => purpose === 'deposit' && index !== null),
      atIndex,
    );
    this.#ownTxids = new Set(read.ownTxids);
    this.#own = new Set([
      ...read.addresses.filter(({ purpose }) => purpose !== 'deposit').map(({ address }) => address),
      ...Object.values(state.pools).map(({ gasTank }) => gasTank),
    ]);
  }

  /** Rows to write: the deposits in their new state, then entries and publications in the order in which they arose. */
  get rows(): RowWrite[] {
    const deposits = [...this.#changed.values()].map((row): RowWrite => ({ table: 'deposit', row }));
    return [...deposits, ...this.#rows];
  }

  /** Applies one fact; `newId` becomes the deposit's id if this is the first that is heard of it. */
  apply(kind: DepositFactKind, seen: SeenTransfer, newId: string): void {
    const address = this.#paid(seen);
    const known = this.#known.get(creditKey(seen));
    if (address === undefined || address.purpose !== 'deposit') return;
    if (kind === 'orphaned') {
      if (known !== undefined) this.#reverse(known, seen, address, newId);
    } else if (known === undefined || known.status === 'reversed') this.#appear(kind, known, seen, address, newId);
    else if (!sameMovement(known, seen)) {
      const reversed = this.#reverse(
        known,
        { ...seen, confirmations: 0 },
        this.#addresses.get(known.addressId) ?? address,
        newId,
      );
      this.#appear(kind, reversed, seen, address, newId);
    } else {
      const current = this.#inBlock(known, seen);
      if (kind === 'matured' && current.status === 'detected') this.#confirm(current, seen, address, newId);
    }
  }

  /** The row that a movement is of. */
  #paid({ addressId, chain }: SeenTransfer): AddressRow | undefined {
    const first = this.#addresses.get(addressId);
    if (first === undefined || first.purpose !== 'deposit' || first.index === null) return first;
    const rows = (this.#networks[atIndex(first)] ?? []).toSorted(
      (a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1),
    );
    return rows.find((row) => row.chain === chain) ?? rows.find(({ status }) => status === 'active') ?? first;
  }

  /**
   * Whether the fate of a deposit is announced: an archived address announces no new ones, and what was silent when it
   * was first seen stays so (migration M-X2).
   */
  #heardOf(deposit: DepositRow, address: AddressRow): boolean {
    if (deposit.silence !== null) return false;
    return (
      deposit.announced || address.status !== 'archived' || this.#addresses.get(deposit.addressId)?.status === 'active'
    );
  }

  /** Throws where nothing says whether the address is cut over: the fact waits, neither announced nor silenced. */
  #silenceOf({ id, batchId }: AddressRow, { chain, height }: SeenTransfer): Silence | null {
    if (batchId === undefined) return null;
    const adoption = this.#adoptions.get(id);
    if (adoption === undefined) throw new Error(`the batch of an adopted address is not known: ${id}`);
    if (height <= (adoption.recorded[chain] ?? -1)) return 'historical';
    return adoption.mode === 'observe' || height <= (adoption.activated[chain] ?? -1) ? 'observed' : null;
  }

  /** By its transaction and by its sender: either is enough. Treasury S24. */
  #isOwnMovement({ from, address, txid }: SeenTransfer): boolean {
    return this.#ownTxids.has(txid) || from.some((sender) => sender === address || this.#own.has(sender));
  }

  #appear(
    kind: DepositFactKind,
    before: DepositRow | undefined,
    seen: SeenTransfer,
    address: AddressRow,
    newId: string,
  ): void {
    // A maturity of the very block that was orphaned is old news; one of another block means that it came back.
    if (before !== undefined && kind === 'matured' && before.blockHash === seen.blockHash) return;
    const again = before !== undefined && sameMovement(before, seen);
    if (!again && this.#isOwnMovement(seen)) return;
    const deposit =
      before === undefined ? this.#created(seen, address, newId) : this.#incarnated(before, again, seen, address);
    this.#put('deposit_detected', deposit);
    const change = { deposit, before: again ? before.status : null, confirmations: seen.confirmations };
    for (const listener of this.#listeners) listener.appears(change, newId);
    const announced = again ? null : this.#announce({ event: 'deposit_detected' }, deposit, seen);
    this.#enter('detected', deposit, deposit.amount, announced);
    if (before === undefined && seen.activates) this.#announce({ event: 'address_activated' }, deposit, seen);
    this.#report(change, newId);
    if (kind === 'matured') this.#confirm(deposit, seen, address, newId);
  }

  #confirm(before: DepositRow, seen: SeenTransfer, address: AddressRow, newId: string): void {
    const deposit: DepositRow = {
      ...before,
      ...this.#blockOf(seen),
      status: 'confirmed',
      announced: this.#heardOf(before, address),
    };
    this.#put('deposit_confirmed', deposit);
    this.#enter('credit', deposit, deposit.amount, this.#announce({ event: 'deposit_confirmed' }, deposit, seen));
    this.#report({ deposit, before: before.status, confirmations: seen.confirmations }, newId);
  }

  #reverse(before: DepositRow, seen: SeenTransfer, address: AddressRow, newId: string): DepositRow {
    if (before.status === 'reversed') return before;
    const deposit: DepositRow = {
      ...before,
      status: 'reversed',
      updatedAtMs: this.#nowMs,
      announced: this.#heardOf(before, address),
    };
    this.#put('deposit_reversed', deposit);
    const reversal = { reversedFrom: before.status, depth: seen.confirmations };
    const announced = this.#announce({ event: 'deposit_reversed', ...reversal }, deposit, seen);
    if (before.status === 'confirmed') this.#enter('reversal', deposit, -deposit.amount, announced);
    this.#report({ deposit, before: before.status, confirmations: seen.confirmations }, newId);
    return deposit;
  }

  #report(change: DepositChange, newId: string): void {
    for (const listener of this.#listeners) this.#rows.push(...listener.changed(change, newId));
  }

  /** The first listener's that knows the deposit. */
  #purposeOf(deposit: DepositRow): DepositPurpose {
    for (const listener of this.#listeners) {
      const purpose = listener.purposeOf(deposit);
      if (purpose.linkId !== null) return purpose;
    }
    return NO_PURPOSE;
  }

  #inBlock(before: DepositRow, seen: SeenTransfer): DepositRow {
    if (before.blockHash === seen.blockHash && before.height === seen.height) return before;
    const deposit: DepositRow = { ...before, ...this.#blockOf(seen) };
    this.#put('deposit_moved', deposit);
    return deposit;
  }

  #blockOf({ height, blockHash }: SeenTransfer): { height: number; blockHash: string; updatedAtMs: number } {
    return { height, blockHash, updatedAtMs: this.#nowMs };
  }

  #incarnated(before: DepositRow, again: boolean, seen: SeenTransfer, address: AddressRow): DepositRow {
    const silence = before.addressId === address.id ? before.silence : this.#silenceOf(address, seen);
    return {
      ...before,
      ...(again ? this.#blockOf(seen) : this.#movementOf(seen, address)),
      status: 'detected',
      incarnation: before.incarnation + 1,
      silence,
      announced: silence === null && this.#heardOf({ ...before, silence }, address),
    };
  }

  #created(seen: SeenTransfer, address: AddressRow, id: string): DepositRow {
    const silence = this.#silenceOf(address, seen);
    return {
      id,
      accountId: this.#state.accountId,
      ledger: seen.ledger,
      chain: seen.chain,
      txid: seen.txid,
      outputIndex: seen.outputIndex,
      status: 'detected',
      incarnation: 1,
      createdAtMs: this.#nowMs,
      silence,
      announced: silence === null && address.status !== 'archived',
      ...this.#movementOf(seen, address),
    };
  }

  /** What of a deposit is of its movement: all but its key and its story. */
  #movementOf(seen: SeenTransfer, address: AddressRow) {
    return {
      addressId: address.id,
      address: seen.address,
      amount: BigInt(seen.amount),
      decimals: seen.decimals,
      tokenContract: seen.tokenContract,
      tokenSymbol: seen.tokenSymbol,
      userRef: address.userRef,
      tag: address.tag,
      chainTag: seen.chainTag,
      threshold: seen.threshold,
      ...this.#blockOf(seen),
    };
  }

  #put(type: DepositEvent, deposit: DepositRow): void {
    const { id, incarnation, height, blockHash } = deposit;
    this.#known.set(creditKey(deposit), deposit);
    this.#changed.set(creditKey(deposit), deposit);
    this.#events.push({ type, id, incarnation, amount: String(deposit.amount), height, blockHash });
  }

  #enter(
    kind: LedgerEntryRow['kind'],
    { id, incarnation }: DepositRow,
    amount: bigint,
    announced: string | null,
  ): void {
    const row = { depositId: id, accountId: this.#state.accountId, incarnation, kind, amount, eventId: announced };
    this.#rows.push({ table: 'ledger_entry', row });
  }

  /** Id of the publication, null where none is made. One id per fact, whatever happens in between (I12). */
  #announce(change: Change, deposit: DepositRow, seen: SeenTransfer): string | null {
    if (!deposit.announced) return null;
    const { event } = change;
    const id = eventId(deposit.ledger, deposit.txid, deposit.outputIndex, deposit.incarnation, event);
    this.announced.push(event);
    this.#rows.push(
      publish(this.#state, {
        ...announcedOf(change, deposit, this.#purposeOf(deposit)),
        id,
        confirmations: event === 'deposit_reversed' ? 0 : seen.confirmations,
        threshold: deposit.threshold,
        atMs: this.#nowMs,
        orderKey: deposit.address,
      }),
    );
    return id;
  }
}

/** What is announced of a deposit. */
type Change =
  | { readonly event: 'deposit_detected' | 'deposit_confirmed' | 'address_activated' }
  | ({ readonly event: 'deposit_reversed' } & Omit<EventData['deposit_reversed'], keyof EventData['deposit_detected']>);

function announcedOf(change: Change, deposit: DepositRow, purpose: DepositPurpose): Announced {
  const fields = { ...depositFields(deposit), ...purpose };
  if (change.event !== 'deposit_reversed') return { event: change.event, data: fields };
  const { event, ...more } = change;
  return { event, data: { ...fields, ...more } };
}

const atIndex = ({ family, index }: AddressRow): string => `${family}/${index}`;

/** Whether a fact is about the movement that a deposit stands for: same payee, asset and amount. */
function sameMovement(deposit: DepositRow, seen: SeenTransfer): boolean {
  return (
    deposit.address === seen.address &&
    deposit.amount === BigInt(seen.amount) &&
    deposit.tokenContract === seen.tokenContract
  );
}

/** `data` of a deposit event. Spec §6; `incarnation` by decisions 5, `chainTag` is the memo or destination tag. */
function depositFields(deposit: DepositRow): Omit<EventData['deposit_detected'], keyof DepositPurpose> {
  const { id, chain, txid, outputIndex, address, amount, decimals, tokenContract, tokenSymbol, userRef, tag } = deposit;
  return {
    depositId: id,
    chain,
    txid,
    outputIndex,
    address,
    amount: String(amount),
    amountFormatted: formatAmount(amount, decimals),
    decimals,
    tokenContract,
    tokenSymbol,
    userRef,
    tag,
    chainTag: deposit.chainTag,
    height: deposit.height,
    blockHash: deposit.blockHash,
    incarnation: deposit.incarnation,
  };
}
