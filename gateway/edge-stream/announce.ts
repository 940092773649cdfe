/** Reports the liveness of its edges to an account: each transition once, retried until it is taken. Spec §3.2. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Accounts } from '../../model/ports/accounts.ts';

export class LivenessTeller {
  readonly #accountId: AccountId;
  readonly #accounts: Pick<Accounts, 'ask'>;
  readonly #anyAlive: () => boolean;
  /** What this node last reported to the account; null before the first report. */
  #reported: 'live' | 'down' | null = null;
  #reporting = false;

  constructor(accountId: AccountId, accounts: Pick<Accounts, 'ask'>, anyAlive: () => boolean) {
    this.#accountId = accountId;
    this.#accounts = accounts;
    this.#anyAlive = anyAlive;
  }

  /** True while the account believes that an edge is alive, or a report is under way. */
  get open(): boolean {
    return this.#reported === 'live' || this.#reporting;
  }

  /** Reports to the account what it does not know. A refused report is retried with the next call. */
  note(): void {
    const liveness = this.#anyAlive() ? 'live' : 'down';
    if (this.#reporting || liveness === this.#reported) return;
    this.#reporting = true;
    void this.#accounts.ask(this.#accountId, { type: 'note_liveness', liveness }).then((answer) => {
      this.#reporting = false;
      if (answer.ok !== true) return;
      this.#reported = liveness;
      this.note(); // It may have changed meanwhile.
    });
  }
}
