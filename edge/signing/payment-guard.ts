/**
 * Guards against unintended second payments: a cloud that calls a payment failed while its signed bytes may land makes
 * an application pay again. The guard records what this edge reported to applications, and finds out whether an earlier
 * payment still blocks a new one. The rules are in payments.ts, the count in the spend ledgers.
 */
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { Unsigned } from '../../chains/chain.ts';
import { sha256 } from './instruction-record.ts';
import type { Instructions } from './instructions.ts';
import type { EdgeLog } from '../process/log.ts';
import type { Landed, OwnFates } from './own-fates.ts';
import { earlierIn, type Settled, type Word } from './payments.ts';
import type { SharedSpend } from '../spend/replica.ts';
import type { SpendLedger } from '../spend/ledger.ts';
import type { Denied } from '../link/reported.ts';
import type { Upstream } from '../link/upstream.ts';

/**
 * The way on where another replica may have signed the earlier payment: whatever the cloud says of its broadcast, no
 * replica can know what another one did. The earlier one itself is signed under one key wherever it is broadcast.
 */
const ELSEWHERE = {
  setting: 'EDGE_SPEND_LEDGER',
  next: 'broadcast the earlier one again instead of a new one: another replica may have signed it, and it is signed once wherever it is broadcast. With an EDGE_SPEND_LEDGER for all replicas what was never signed blocks nothing',
};

/** Why a payment blocks no more, and SHA-256 of the payloads that this is proven of; null for a word about all. */
interface Proven {
  readonly how: Settled;
  readonly versions: readonly string[] | null;
}

export interface PaymentGuardSettings {
  readonly environment: Environment;
  readonly instructions: Instructions;
  readonly ledger: SpendLedger;
  readonly shared: SharedSpend | null;
  /** The company's own nodes; null without any. */
  readonly fates: OwnFates | null;
  readonly upstream: Upstream;
  readonly log: EdgeLog;
}

export class PaymentGuard {
  readonly #settings: PaymentGuardSettings;

  /** Calls under way that sign and submit, or have another replica do so; by transaction. */
  readonly #underWay = new Map<string, number>();
  /** What became of earlier transactions, as it is being asked; by transaction. */
  readonly #asking = new Map<string, Promise<Proven | Landed | null>>();
  /** Confirmations that are being recorded; a payment that comes right after waits for them. */
  readonly #noting = new Set<Promise<boolean>>();

  constructor(settings: PaymentGuardSettings) {
    this.#settings = settings;
  }

  /**
   * Records denials before an application receives them. False when they could not be recorded: then the application
   * must not receive them yet. Never rejects.
   */
  async noteDenied({ failed, reverted, failedTxids, revertedTxids }: Denied): Promise<boolean> {
    const kept = [
      await this.#note([...failed, ...this.#ofTxids(failedTxids)], 'failed'),
      await this.#note([...reverted, ...this.#ofTxids(revertedTxids)], 'reverted'),
    ];
    return !kept.includes(false);
  }

  /** Txids that this replica signed for a transaction, oldest first. */
  txidsOf(transactionId: string): string[] {
    return this.#settings.instructions
      .signaturesOf(transactionId)
      .flatMap(({ signed }) => (signed === null ? [] : [signed.txid]));
  }

  /** False for a txid that is none of a transaction of which every version was signed here. */
  isTxidOf(transactionId: string, txid: string): boolean {
    const own = this.txidsOf(transactionId);
    return (
      own.length === 0 ||
      own.some((one) => one.toLowerCase() === txid.toLowerCase()) ||
      this.#settings.instructions.mayBeSignedElsewhere(transactionId)
    );
  }

  /** Runs a call that signs and submits a transaction, or has another replica do so. */
  async underWay<T>(transactionId: string, call: () => Promise<T>): Promise<T> {
    const count = (change: number) => (this.#underWay.get(transactionId) ?? 0) + change;
    this.#underWay.set(transactionId, count(1));
    try {
      return await call();
    } finally {
      if (count(-1) === 0) this.#underWay.delete(transactionId);
      else this.#underWay.set(transactionId, count(-1));
    }
  }

  /**
   * Whether the cloud can honestly have no signed bytes of a transaction: they are being made or submitted now, or it
   * took none of those that were signed here.
   */
  mayBeUnsent(transactionId: string): boolean {
    const own = this.#settings.instructions.signaturesOf(transactionId).filter(({ signed }) => signed !== null);
    return own.length > 0 ? own.every(({ outcome }) => outcome === 'open') : this.#underWay.has(transactionId);
  }

  /** Records that an application received a payment's confirmation. Never rejects. */
  async noteConfirmed(transactionId: string): Promise<void> {
    const noting = this.#note([transactionId], 'confirmed').finally(() => this.#noting.delete(noting));
    this.#noting.add(noting);
    await noting;
  }

  /**
   * The refusal for the caller where the earlier transactions that it names still block the payment; null where one of
   * them no longer does, so that it is worth trying again.
   */
  async stillBlocked(refusal: Refusal): Promise<Refusal | null> {
    const earlier = earlierIn(refusal);
    if (earlier.length === 0) return refusal;
    if (this.#noting.size > 0) return Promise.all(this.#noting).then(() => null);
    const landed = new Map<string, string>();
    let isAnySettled = false;
    for (const id of earlier) {
      const fate = await this.#fateOf(id);
      if (fate === null) continue;
      if ('landed' in fate) landed.set(id, fate.landed);
      else if (await this.#settle(id, fate)) isAnySettled = true;
    }
    // A transaction that landed has used its counter up, and was paid.
    const isFilled =
      refusal.details['reason'] === 'counter_not_filled' &&
      landed.size > 0 &&
      (await this.#note([...landed.keys()], 'landed'));
    return isAnySettled || isFilled ? null : this.#withTxids(refusal, [...landed.values()]);
  }

  /** With the txids that the caller should look for, and those that are certainly on the chain. */
  #withTxids(refusal: Refusal, landed: readonly string[]): Refusal {
    const txids = earlierIn(refusal)
      .flatMap((id) => this.#settings.instructions.signaturesOf(id))
      .flatMap(({ signed }) => (signed === null ? [] : [signed.txid]));
    const details = {
      ...refusal.details,
      ...(txids.length === 0 ? {} : { txids }),
      ...(this.#isElsewhere(earlierIn(refusal)) ? ELSEWHERE : {}),
    };
    return landed.length === 0
      ? { ...refusal, details }
      : {
          ...refusal,
          details: { ...details, landed },
          message:
            'an equal payment landed, as your own node says: this one would be the second. Where you mean to pay twice, build it with another paymentRef',
        };
  }

  /** Whether nothing of them was signed here: another replica was asked to, and may have. */
  #isElsewhere(ids: readonly string[]): boolean {
    const { shared, instructions } = this.#settings;
    return shared === null && ids.every((id) => instructions.signaturesOf(id).every(({ signed }) => signed === null));
  }

  async #note(ids: readonly string[], word: Word): Promise<boolean> {
    const { ledger, shared, log } = this.#settings;
    if (ids.length === 0) return true;
    try {
      ledger.note(ids, word);
      await shared?.note(ids, word);
      return true;
    } catch (error) {
      log.fault('word_not_kept', error, { reason: word });
      return false;
    }
  }

  #ofTxids(txids: readonly string[]): string[] {
    return txids.flatMap((txid) => this.#settings.instructions.transactionsOf(txid));
  }

  /**
   * What was proven of some versions settles the payment only while there are no others: one may have been signed since
   * the question, here or at another replica. found F1.
   */
  async #settle(transactionId: string, { how, versions }: Proven): Promise<boolean> {
    const { ledger, shared } = this.#settings;
    if (versions !== null && !this.#signedHere(transactionId).every((version) => versions.includes(version)))
      return false;
    ledger.settle([transactionId], how, versions);
    await shared?.settle([transactionId], how, versions);
    return true;
  }

  /** SHA-256 of each payload that this replica signed for a transaction. */
  #signedHere(transactionId: string): string[] {
    return this.#settings.instructions
      .signaturesOf(transactionId)
      .flatMap(({ payload, signed }) => (signed === null ? [] : [sha256(payload)]));
  }

  /**
   * Payments that wait for the same earlier one share a question that is under way: it may take a node hundreds of
   * blocks, and what it proves names the versions that it was asked about. found part 2.
   */
  #fateOf(transactionId: string): Promise<Proven | Landed | null> {
    const asking =
      this.#asking.get(transactionId) ?? this.#askFate(transactionId).finally(() => this.#asking.delete(transactionId));
    this.#asking.set(transactionId, asking);
    return asking;
  }

  async #askFate(transactionId: string): Promise<Proven | Landed | null> {
    const { environment, instructions, fates, log } = this.#settings;
    if (environment === 'sandbox') {
      const how = await this.#sandboxFateOf(transactionId);
      return how === null ? null : { how, versions: null };
    }
    const recorded = instructions.get(transactionId);
    if (fates === null || recorded === null) return null;
    const versions = instructions
      .signaturesOf(transactionId)
      .flatMap(({ payload, signed, signedAtMs }) =>
        signed === null
          ? []
          : [{ unsigned: { ...recorded.unsigned, payload } satisfies Unsigned, txid: signed.txid, signedAtMs }],
      );
    if (versions.length === 0) return null;
    const said = await fates.of(recorded.instruction.chain, versions);
    if (said === null) return null;
    if (said === 'dead') {
      const judged = versions.map(({ unsigned: { payload } }) => sha256(payload));
      return (await this.#isEveryVersion(transactionId, judged)) ? { how: said, versions: judged } : null;
    }
    // It was paid, and reported to its application as unpaid: an equal payment now would be the second.
    if (this.#settings.ledger.reportedOf(transactionId) !== 'nothing')
      log.alarm('paid_although_called_failed', { transactionId });
    return said;
  }

  /**
   * Whether the versions that a node judged are all that may be signed: another replica's version may have used the
   * counter up. A shared ledger counted each version; without one, those that others may have signed and the newest
   * known record must be among them.
   */
  async #isEveryVersion(id: string, judged: readonly string[]): Promise<boolean> {
    const { instructions, shared, log } = this.#settings;
    try {
      if (shared === null && instructions.mayBeSignedElsewhere(id)) return false;
      const newest = instructions.get(id);
      const versions =
        shared === null ? (newest === null ? null : [sha256(newest.unsigned.payload)]) : await shared.versionsOf(id);
      return versions?.every((version) => judged.includes(version)) ?? false;
    } catch (error) {
      log.fault('versions_not_read', error, { transactionId: id });
      return false;
    }
  }

  /**
   * In the sandbox the cloud is the chain, so its word is believed. After a reset it knows no transactions.
   */
  async #sandboxFateOf(transactionId: string): Promise<Settled | null> {
    const reply = await this.#settings.upstream.signed.call('getTransaction', { params: { id: transactionId } });
    if (isRefusal(reply)) return reply.code === 'NOT_FOUND' ? 'forgotten' : null;
    return reply.status === 'confirmed'
      ? 'landed'
      : ['failed', 'expired', 'replaced'].includes(reply.status)
        ? 'dead'
        : null;
  }
}
