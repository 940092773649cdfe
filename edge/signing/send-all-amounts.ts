/**
 * What the versions of a send-all pay. Repricing lowers the amount, and any version may land, so that an edge accepts
 * the amount of each version that was built or signed, here or at another replica, and no other. found F70.
 */
import { keptList } from '../storage/record-forms.ts';
import type { Storage } from '../storage/storage.ts';
import type { RecordedUnsigned } from './stored-text.ts';

export class SendAllAmounts {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Digits of the smallest unit; null where an older edge recorded only the newest. */
  of(transactionId: string): readonly string[] | null {
    const text =
      this.#storage.one<{ amounts: string | null }>(
        'select amounts from instructions where transaction_id = ?',
        transactionId,
      )?.amounts ?? null;
    return text === null ? null : keptList(text, 'instructions.amounts');
  }

  /**
   * Records a version's amount, and those that it names of versions before; one that names none leaves open which there
   * were.
   */
  note(id: string, { amount, amounts }: Pick<RecordedUnsigned, 'amount' | 'amounts'>, isNew: boolean): void {
    const known = isNew ? [] : this.of(id);
    const all =
      known === null || amounts === undefined
        ? null
        : JSON.stringify([...new Set([...known, ...amounts, amount.toString()])]);
    this.#storage.run('update instructions set amounts = ? where transaction_id = ?', all, id);
  }
}
