/**
 * What an account makes of facts, as the simplest program that is right (spec §3.6, decisions 5): the judge of scenario
 * tests. One deposit per credit key; `orphaned` reverses; the same key seen again is the next incarnation, without a
 * second `deposit_detected`.
 */
import type { Fact, InboxRow, SeenTransfer } from '../../model/rows/inbox.ts';

export interface ModelDeposit {
  status: 'detected' | 'confirmed' | 'reversed';
  incarnation: number;
  transfer: SeenTransfer;
}
export interface ModelEvent {
  event: 'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed';
  key: string;
  incarnation: number;
}

export class ModelAccount {
  readonly deposits = new Map<string, ModelDeposit>();
  readonly events: ModelEvent[] = [];
  /** Append-only: credits and their exact reversals. */
  readonly ledger: { key: string; incarnation: number; amount: bigint }[] = [];
  readonly withdrawalFacts: Extract<Fact, { withdrawalId: string }>[] = [];

  take(rows: readonly InboxRow[]): void {
    for (const { fact } of rows) {
      if ('withdrawalId' in fact) this.withdrawalFacts.push(fact);
      else this.#deposit(fact.kind, fact.deposit);
    }
  }

  #deposit(kind: 'seen' | 'matured' | 'orphaned' | 'moved', transfer: SeenTransfer): void {
    const key = `${transfer.txid}:${transfer.outputIndex}`;
    const known = this.deposits.get(key);
    if (kind === 'seen') {
      if (known !== undefined && known.status !== 'reversed') throw new Error(`${key} is seen twice`);
      const incarnation = (known?.incarnation ?? 0) + 1;
      this.deposits.set(key, { status: 'detected', incarnation, transfer });
      if (known === undefined) this.events.push({ event: 'deposit_detected', key, incarnation });
      return;
    }
    if (known === undefined) throw new Error(`${kind} of ${key}, which was never seen`);
    if (kind === 'moved') known.transfer = transfer;
    else if (kind === 'matured') {
      if (known.status !== 'detected') throw new Error(`${key} matured while ${known.status}`);
      known.status = 'confirmed';
      this.events.push({ event: 'deposit_confirmed', key, incarnation: known.incarnation });
      this.ledger.push({ key, incarnation: known.incarnation, amount: BigInt(transfer.amount) });
    } else {
      if (known.status === 'reversed') throw new Error(`${key} reversed twice`);
      if (known.status === 'confirmed')
        this.ledger.push({ key, incarnation: known.incarnation, amount: -BigInt(transfer.amount) });
      known.status = 'reversed';
      this.events.push({ event: 'deposit_reversed', key, incarnation: known.incarnation });
    }
  }

  /** Net credit by key, zeros left out. */
  credited(): Map<string, bigint> {
    const sums = new Map<string, bigint>();
    for (const { key, amount } of this.ledger) sums.set(key, (sums.get(key) ?? 0n) + amount);
    return new Map([...sums].filter(([, amount]) => amount !== 0n));
  }
}
