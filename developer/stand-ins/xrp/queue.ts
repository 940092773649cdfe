/**
 * What a transaction must pay to be in the open ledger, and the queue of those that pay less.
 *
 *   below the target size   the base fee
 *   above it                base × 500 × (transactions in it + 1)² / target²
 *   queued                  at most 10 of one sender, whose fees together stay below the base reserve, and none that
 *                           could not wait two ledgers
 *
 * Source: xrpl.org "Transaction Queue", "Open Ledger Cost"; XRPLF/rippled `TxQ.cpp`.
 */
import { accountOf, feeOf, slotOf, type Submitted } from './transactions.ts';

const MULTIPLIER = 500n;
const PER_SENDER_MAX = 10;
/** A transaction that replaces another one pays a quarter more. */
const REPLACEMENT = [5n, 4n] as const;
/** Ledgers that must still come before it is void. */
const LEDGERS_MIN = 2;

/** Drops that the next transaction of an open ledger must pay. */
export function openLedgerFee(baseFee: bigint, held: number, target: number): bigint {
  if (held < target) return baseFee;
  const size = BigInt(held + 1),
    wanted = BigInt(target);
  return (baseFee * MULTIPLIER * size * size) / (wanted * wanted);
}

interface Bounds {
  readonly openHeight: number;
  readonly reserveBase: bigint;
  readonly balance: bigint;
}

export class FeeQueue {
  readonly sizeMax: number;
  #waiting: Submitted[] = [];

  constructor(sizeMax: number) {
    this.sizeMax = sizeMax;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Waiting transactions of a sender, by their numbers. */
  of(account: string): readonly Submitted[] {
    return this.#waiting
      .filter(({ json }) => accountOf(json) === account)
      .sort((a, b) => slotOf(a.json).number - slotOf(b.json).number);
  }

  find(txid: string): Submitted | undefined {
    return this.#waiting.find((one) => one.txid === txid);
  }

  /** The first number that a sender neither used nor has waiting. */
  nextAfter(account: string, sequence: number): number {
    let next = sequence;
    for (const { json } of this.of(account)) if (!slotOf(json).isTicket && slotOf(json).number === next) next += 1;
    return next;
  }

  /** Takes a transaction in; `terQUEUED`, or why not. */
  offer(tx: Submitted, { openHeight, reserveBase, balance }: Bounds): string {
    if (this.find(tx.txid) !== undefined) return 'terQUEUED';
    const last = tx.json['LastLedgerSequence'];
    if (last !== undefined && Number(last) < openHeight + LEDGERS_MIN) return 'telCAN_NOT_QUEUE';
    const own = this.of(accountOf(tx.json)),
      { number } = slotOf(tx.json);
    const replaced = own.find(({ json }) => slotOf(json).number === number);
    const fee = feeOf(tx.json);
    if (replaced !== undefined && fee * REPLACEMENT[1] < feeOf(replaced.json) * REPLACEMENT[0]) {
      return 'telCAN_NOT_QUEUE_FEE';
    }
    if (replaced === undefined && (own.length >= PER_SENDER_MAX || this.size >= this.sizeMax)) {
      return 'telCAN_NOT_QUEUE_FULL';
    }
    const fees = own.reduce((sum, one) => sum + (one === replaced ? 0n : feeOf(one.json)), fee);
    if (own.length > 0 && (fees > reserveBase || fees > balance)) return 'telCAN_NOT_QUEUE_BALANCE';
    this.#waiting = [...this.#waiting.filter((one) => one !== replaced), tx];
    return 'terQUEUED';
  }

  /** Takes one out. */
  remove(txid: string): void {
    this.#waiting = this.#waiting.filter((one) => one.txid !== txid);
  }

  /** Everything that waits, the dearest first, a sender's own in their order. */
  inOrder(): readonly Submitted[] {
    return [...this.#waiting].sort((a, b) =>
      accountOf(a.json) === accountOf(b.json)
        ? slotOf(a.json).number - slotOf(b.json).number
        : Number(feeOf(b.json) - feeOf(a.json)),
    );
  }
}
