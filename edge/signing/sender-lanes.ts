/**
 * One broadcast at a time of a sender: bound, signed and with the cloud before the next one is bound, so that no
 * counter stays unused below one that is signed. Senders do not wait for each other.
 */
import type { Instruction } from './signers/signer.ts';

export interface Lane {
  /** Transactions whose counter was bound in this lane, and that were not signed: the cloud may give it to others. */
  gaveUp(): readonly string[];
  settle(gaveUp: readonly string[]): void;
}

export class SenderLanes<Outcome> {
  /** By transaction. */
  readonly #turns = new Map<string, Promise<Outcome>>();
  /** By sender: the end of the last turn, and what it bound and did not sign. */
  readonly #lanes = new Map<string, { readonly end: Promise<unknown>; gaveUp: readonly string[] }>();

  /** The turn of a transaction that waits or works; undefined without one. */
  turnOf(transactionId: string): Promise<Outcome> | undefined {
    return this.#turns.get(transactionId);
  }

  /** Works when all turns of the sender before it have ended, however they did. */
  take(
    { id, chain, from }: Pick<Instruction, 'id' | 'chain' | 'from'>,
    work: (lane: Lane) => Promise<Outcome>,
  ): Promise<Outcome> {
    const sender = `${chain}|${from}`,
      before = this.#lanes.get(sender);
    // The newest turn's record is the lane's: what an earlier one gives up is read by the next.
    const lane: Lane = {
      gaveUp: () => this.#lanes.get(sender)!.gaveUp,
      settle: (gaveUp) => {
        this.#lanes.get(sender)!.gaveUp = gaveUp;
      },
    };
    const turn = (before?.end ?? Promise.resolve()).then(() => work(lane));
    const mine = {
      end: turn
        .then(
          () => undefined,
          () => undefined,
        )
        .then(() => {
          this.#turns.delete(id);
          if (this.#lanes.get(sender) === mine && mine.gaveUp.length === 0) this.#lanes.delete(sender);
        }),
      gaveUp: before?.gaveUp ?? [],
    };
    this.#lanes.set(sender, mine);
    this.#turns.set(id, turn);
    return turn;
  }
}
