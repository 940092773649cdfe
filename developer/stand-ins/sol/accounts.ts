/**
 * Every account at every slot: what a node that is behind would answer, and what a reorganisation gives back. The
 * virtual machine holds the newest state only.
 */
import type { Svm, SvmAccount } from './svm.ts';

interface Version {
  readonly slot: number;
  readonly account: SvmAccount | null;
}

export class AccountHistory {
  readonly #svm: Svm;
  readonly #versions = new Map<string, Version[]>();

  constructor(svm: Svm) {
    this.#svm = svm;
  }

  /** The account as it was after a slot; null when there was none. */
  at(key: string, slot: number): SvmAccount | null {
    const versions = this.#versions.get(key);
    if (versions === undefined) return this.#svm.account(key); // never written: programs and sysvars
    return versions.findLast((version) => version.slot <= slot)?.account ?? null;
  }

  /** Writes an account from outside of any transaction. */
  set(key: string, slot: number, account: SvmAccount | null): void {
    this.#keepFirst(key);
    this.#svm.setAccount(key, account);
    this.#versions.get(key)!.push({ slot, account });
  }

  /** To be called before a transaction runs, so that what it writes for the first time has a version to go back to. */
  keep(keys: readonly string[]): void {
    for (const key of keys) this.#keepFirst(key);
  }

  /** Takes over what a transaction wrote. */
  note(keys: readonly string[], slot: number): void {
    for (const key of keys) this.#versions.get(key)!.push({ slot, account: this.#svm.account(key) });
  }

  /** Goes back to the state after a slot. */
  forgetAbove(slot: number): void {
    for (const [key, versions] of this.#versions) {
      const kept = versions.filter((version) => version.slot <= slot);
      if (kept.length === versions.length) continue;
      this.#versions.set(key, kept);
      this.#svm.setAccount(key, kept.at(-1)?.account ?? null);
    }
  }

  /** Accounts that hold something at a slot. */
  *entries(slot: number): Generator<readonly [key: string, account: SvmAccount]> {
    for (const key of this.#versions.keys()) {
      const account = this.at(key, slot);
      if (account !== null) yield [key, account];
    }
  }

  #keepFirst(key: string): void {
    if (!this.#versions.has(key)) this.#versions.set(key, [{ slot: -1, account: this.#svm.account(key) }]);
  }
}
