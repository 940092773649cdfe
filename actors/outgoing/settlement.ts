/**
 * What the facts of the chains mean for an account's withdrawals.
 *
 *   fact        row               becomes       event
 *   included    open              confirming
 *   included    closed, not       confirming    it was given up and landed all the same: the chain is right
 *               confirmed
 *   included    confirmed         confirmed     none; the same version in another block: the row names that block
 *   matured     open              confirmed     withdrawal_confirmed; settled once per withdrawal, sweeps never
 *   matured     open, reverted    failed        withdrawal_failed: the chain executed it without success
 *                                             one that was settled is counted no longer, until it is confirmed again
 *   orphaned    confirming        broadcast     none; the same bytes are submitted again
 *   orphaned    confirmed         broadcast     none; it is settled already and not again when it comes back, and
 *                                             announced again only when another version does: its txid is another
 *   dead        open, not in a    failed        withdrawal_failed
 *               block
 *   dead        failed, refused   failed        none: it is proven now, and looked for no more
 *
 * Failed again after a reorg, with nothing confirmed in between, it is not announced again.
 *
 * A fact about a row that changed after it was read is deferred: it stays in the inbox, and later ones of that row too.
 * So are those behind the orphaned fact of a confirmed one: that it left its block is written before where it is now.
 */
import type { Fact } from '../../model/rows/inbox.ts';
import type { AccountEvent, FactSees, RowWrite } from '../../model/account/capabilities.ts';
import type { SignedVersion, WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { EventName } from '../../protocol/slugs.ts';
import type { ChainBook } from '../account/decision.ts';
import { countingMonth } from '../billing/charges.ts';
import { isWatched } from './submit.ts';
import { amountOf, announceWithdrawal, changedAtMs, holdOfRow, unbilled, type WithdrawalEventName } from './row.ts';
import type { Hold } from '../../model/account/outgoing.ts';

export type WithdrawalFact = Extract<Fact, { withdrawalId: string }>;

/** Withdrawals as the facts of one command change them. */
export class WithdrawalBook {
  readonly announced: EventName[] = [];
  readonly #rows: RowWrite[] = [];
  readonly #known: Map<string, WithdrawalRow>;
  readonly #newest: Map<string, number>;
  readonly #reopened: Set<string>;
  readonly #changed = new Set<string>();
  /** Confirmed ones that lost their block by these facts. */
  readonly #taken = new Set<string>();
  readonly #state: FactSees;
  readonly #chains: Pick<ChainBook, 'network'>;
  readonly #nowMs: number;
  readonly #events: AccountEvent[];

  /** Events go to `events`; its index there is its position in the decision. */
  constructor(
    state: FactSees,
    withdrawals: readonly WithdrawalRow[],
    chains: Pick<ChainBook, 'network'>,
    nowMs: number,
    events: AccountEvent[],
  ) {
    this.#state = state;
    this.#chains = chains;
    this.#nowMs = nowMs;
    this.#events = events;
    this.#known = new Map(withdrawals.map((row) => [row.id, row]));
    this.#newest = new Map(Object.entries(state.withdrawals));
    this.#reopened = new Set(state.reopened);
  }

  get rows(): RowWrite[] {
    const withdrawals = [...this.#changed].map((id): RowWrite => ({ table: 'withdrawal', row: this.#known.get(id)! }));
    return [...withdrawals, ...this.#rows];
  }

  /** False when the fact has to wait. */
  apply(fact: WithdrawalFact): boolean {
    const known = this.#known.get(fact.withdrawalId);
    if (known === undefined) return true; // forgotten by a sandbox reset
    const newest = this.#newest.get(known.id);
    if (this.#taken.has(known.id) || (newest !== undefined && newest !== known.updatedAtMs)) return false;
    switch (fact.kind) {
      case 'withdrawal_included':
        this.#include(known, fact);
        break;
      case 'withdrawal_matured':
        this.#mature(known, fact);
        break;
      case 'withdrawal_orphaned':
        this.#orphan(known, fact);
        break;
      case 'withdrawal_dead':
        this.#die(known, fact);
        break;
    }
    return true;
  }

  #include(known: WithdrawalRow, fact: WithdrawalFact): void {
    if (known.status === 'confirmed') return this.#move(known, fact);
    if (known.status === 'confirming' && known.blockHash === fact.blockHash && known.txid === fact.txid) return;
    const versions = withLanded(reopenedVersions(known), fact.txid, fact.taken);
    const row = this.#put({ ...known, ...landedOf(known, fact), versions, status: 'confirming', failure: null });
    this.#events.push({
      type: 'withdrawal_included',
      id: row.id,
      atMs: row.updatedAtMs,
      txid: fact.txid,
      height: fact.height,
      hold: holdOfRow(row),
      ...unbilled(row),
    });
  }

  /** Another version than the confirmed one has to lose its block first. */
  #move(known: WithdrawalRow, fact: WithdrawalFact): void {
    if (!fact.success || known.txid !== fact.txid || known.blockHash === fact.blockHash) return;
    this.#put({ ...known, ...landedOf(known, fact), versions: withLanded(known.versions, fact.txid, fact.taken) });
    this.#newest.delete(known.id);
  }

  #mature(known: WithdrawalRow, fact: WithdrawalFact): void {
    const closed = known.status === 'confirmed' || (known.status === 'failed' && known.height !== null);
    if (closed) return;
    if (!fact.success) return this.#fail({ ...known, ...landedOf(known, fact) }, fact.reason ?? 'reverted', false);
    const announced = known.versions.find(({ confirmed }) => confirmed === true)?.txid ?? null,
      uncounted = isUncounted(known);
    const versions = withLanded(known.versions, fact.txid, fact.taken).map(
      ({ confirmed: _, failed: __, uncounted: ___, ...version }) =>
        version.txid === fact.txid ? { ...version, confirmed: true as const } : version,
    );
    const lastFailed = hasFailed(known);
    const row = this.#put({ ...known, ...landedOf(known, fact), versions, status: 'confirmed', failure: null });
    this.#newest.delete(row.id);
    // Billed once, but where it failed after that: then it is counted as often as it was confirmed, less the failures.
    const settled = this.#reopened.delete(row.id) || announced !== null,
      isFree = row.kind === 'sweep' || (settled && !uncounted),
      period = isFree ? null : countingMonth(this.#state, this.#nowMs);
    this.#events.push({ type: 'withdrawal_confirmed', id: row.id, txid: fact.txid, hold: holdOfRow(row), period });
    if (period !== null) {
      this.#rows.push(
        uncounted
          ? { table: 'billable_change', withdrawalId: row.id, period, change: 1 }
          : { table: 'billable', withdrawalId: row.id, kind: 'withdrawal', period },
      );
    }
    // One that was confirmed by an older release names no version: it is not announced again.
    if (!settled || lastFailed || (announced !== null && announced !== fact.txid))
      this.#announce('withdrawal_confirmed', row);
  }

  #orphan(known: WithdrawalRow, fact: WithdrawalFact): void {
    if (known.height === null) return;
    const wasConfirmed = known.status === 'confirmed';
    const inNoBlock = { height: null, blockHash: null, fee: null, failure: null };
    const versions = withLanded(reopenedVersions(known), fact.txid, leftBy(known, fact.txid));
    const row = this.#put({ ...known, ...inNoBlock, versions, status: 'broadcast' });
    if (wasConfirmed && row.kind !== 'sweep') this.#reopened.add(row.id);
    if (wasConfirmed) this.#taken.add(row.id);
    this.#events.push({
      type: 'withdrawal_orphaned',
      id: row.id,
      atMs: row.updatedAtMs,
      txid: fact.txid,
      hold: holdOfRow(row),
      wasConfirmed,
      ...unbilled(row),
    });
  }

  #die(known: WithdrawalRow, fact: WithdrawalFact): void {
    // The proof covers every version that there was; a newer one may still land.
    const whole = known.height === null && known.versions.at(-1)?.txid === fact.txid;
    if (whole && isWatched(known)) {
      this.#put({ ...known, versions: unwatched(known.versions) });
      this.#newest.delete(known.id);
      return;
    }
    if (!whole || !this.#newest.has(known.id)) return;
    // A nonce is dead because another transaction used it; an expired one of the other chains gives its value back.
    this.#fail(known, fact.reason ?? 'dead', known.unsigned.replayKey.kind !== 'nonce');
  }

  #fail(known: WithdrawalRow, reason: string, reusable: boolean): void {
    const counted =
      known.kind !== 'sweep' &&
      (this.#reopened.delete(known.id) || known.versions.some(({ confirmed }) => confirmed === true)) &&
      !isUncounted(known);
    const uncounted = counted ? countingMonth(this.#state, this.#nowMs) : null;
    const versions =
      uncounted === null ? known.versions : known.versions.map((version) => ({ ...version, uncounted: true as const }));
    const row = this.#put({ ...known, versions, status: 'failed', failure: { code: 'CHAIN_REJECTED', reason } });
    this.#newest.delete(row.id);
    if (uncounted !== null)
      this.#rows.push({ table: 'billable_change', withdrawalId: row.id, period: uncounted, change: -1 });
    const hold: Hold | null = holdOfRow(row);
    this.#events.push({
      type: 'withdrawal_failed',
      id: row.id,
      reason,
      hold: hold === null ? null : { ...hold, reusable },
      ...(uncounted === null ? {} : { uncounted }),
    });
    // An application pays again after it: one failure is announced once, whatever reorganizations do to it.
    if (!hasFailed(known)) this.#announce('withdrawal_failed', row);
  }

  #put(changed: WithdrawalRow): WithdrawalRow {
    const row = { ...changed, updatedAtMs: changedAtMs(changed, this.#nowMs) };
    this.#known.set(row.id, row);
    this.#newest.set(row.id, row.updatedAtMs);
    this.#changed.add(row.id);
    return row;
  }

  #announce(event: WithdrawalEventName, row: WithdrawalRow): void {
    const network = this.#chains.network(row.chain);
    const published = announceWithdrawal(this.#state, event, row, network, this.#events.length, this.#nowMs);
    if (published.length > 0) this.announced.push(event);
    this.#rows.push(...published);
  }
}

/**
 * The version that landed, with what it paid and cost: an older one pays another amount than the newest where all was
 * sent.
 */
function landedOf(
  known: WithdrawalRow,
  { txid, height, blockHash, fee }: WithdrawalFact,
): Pick<WithdrawalRow, 'txid' | 'amount' | 'height' | 'blockHash' | 'fee'> {
  return { txid, amount: amountOf(known, txid), height, blockHash, fee: fee === null ? null : BigInt(fee) };
}

/**
 * The versions with what left the sender by the one that landed. Nodes have what was in a block, whatever became of the
 * block and of the answer to its submit: no refusal by one of them is the end of it.
 */
function withLanded(versions: SignedVersion[], txid: string, left: string | undefined): SignedVersion[] {
  return versions.map((version) => {
    if (version.txid !== txid) return version;
    const { left: _, refused: __, ...rest } = version;
    return { ...rest, taken: true, ...(left === undefined ? {} : { left }) };
  });
}

const leftBy = ({ versions }: WithdrawalRow, txid: string): string | undefined =>
  versions.find((version) => version.txid === txid)?.left;

/** Whether the last word on a withdrawal was that it failed. */
function hasFailed({ status, versions }: Pick<WithdrawalRow, 'status' | 'versions'>): boolean {
  return status === 'failed' || versions.some(({ failed }) => failed === true);
}

const isUncounted = ({ versions }: Pick<WithdrawalRow, 'versions'>): boolean =>
  versions.some(({ uncounted }) => uncounted === true);

/** The versions of a row that is taken up again: that it had failed is kept with the one it failed by. */
function reopenedVersions({ status, versions, txid }: WithdrawalRow): SignedVersion[] {
  if (status !== 'failed') return versions;
  const by = txid ?? versions.at(-1)?.txid;
  return unwatched(versions).map((version) => (version.txid === by ? { ...version, failed: true as const } : version));
}

const unwatched = (versions: readonly SignedVersion[]): SignedVersion[] =>
  versions.map(({ watched: _, ...version }) => version);
