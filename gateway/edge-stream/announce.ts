/** What an account is told of its edges' liveness: each transition once, again until it is taken. Spec §3.2. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Accounts } from '../../model/ports/accounts.ts';

export class LivenessTeller {
  readonly #accountId: AccountId;
  readonly #accounts: Pick<Accounts, 'ask'>;
  readonly #anyAlive: () => boolean;
  /** What the account was told by this node; null when nothing yet. */
  #told: 'live' | 'down' | null = null;
  #telling = false;

  constructor(accountId: AccountId, accounts: Pick<Accounts, 'ask'>, anyAlive: () => boolean) {
    this.#accountId = accountId;
    this.#accounts = accounts;
    this.#anyAlive = anyAlive;
  }

  /** True while the account believes that an edge is alive, or is being told something. */
  get open(): boolean {
    return this.#told === 'live' || this.#telling;
  }

  /** Tells the account if it does not know. A refusal is tried again with the next call. */
  note(): void {
    const liveness = this.#anyAlive() ? 'live' : 'down';
    if (this.#telling || liveness === this.#told) return;
    this.#telling = true;
    void this.#accounts.ask(this.#accountId, { type: 'note_liveness', liveness }).then((answer) => {
      this.#telling = false;
      if (answer.ok !== true) return;
      this.#told = liveness;
      this.note(); // It may have changed meanwhile.
    });
  }
}
