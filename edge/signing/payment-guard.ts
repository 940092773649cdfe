/**
 * Who pays twice without meaning it: an application that is told by the cloud that a payment failed while its signed
 * bytes are out. The guard keeps what applications are told by way of this edge, and finds out whether what stands in
 * the way of a payment is out of the way. The rules are in payments.ts, the count in the spend ledgers.
 */
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { Unsigned } from '../../chains/chain.ts';
import { sha256 } from './instruction-record.ts';
import type { Instructions, RecordedInstruction } from './instructions.ts';
import type { EdgeLog } from '../process/log.ts';
import type { Landed, OwnFates } from './own-fates.ts';
import { earlierIn, type Settled, type Word } from './payments.ts';
import type { SharedSpend } from '../spend/replica.ts';
import type { SpendLedger } from '../spend/ledger.ts';
import type { Denied } from '../link/reported.ts';
import type { Upstream } from '../link/upstream.ts';

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

  /** Confirmations that were heard and are being kept: whoever pays again the moment after waits for them. */
  readonly #noting = new Set<Promise<boolean>>();

  constructor(settings: PaymentGuardSettings) {
    this.#settings = settings;
  }

  /**
   * Keeps denials before an application hears them. False when they could not be kept: then it must not hear them yet.
   * Never rejects.
   */
  async noteDenied({ failed, reverted, failedTxids, revertedTxids }: Denied): Promise<boolean> {
    const kept = [
      await this.#note([...failed, ...this.#ofTxids(failedTxids)], 'failed'),
      await this.#note([...reverted, ...this.#ofTxids(revertedTxids)], 'reverted'),
    ];
    return !kept.includes(false);
  }

  /** Keeps that an application heard of a payment that it was made. Never rejects. */
  async noteConfirmed(transactionId: string): Promise<void> {
    const noting = this.#note([transactionId], 'confirmed').finally(() => this.#noting.delete(noting));
    this.#noting.add(noting);
    await noting;
  }

  /**
   * A refusal that names transactions in the way, as its caller gets it; null where one of them is out of the way by
   * now, so that it is worth asking again.
   */
  async stands(refusal: Refusal): Promise<Refusal | null> {
    const { ledger, shared } = this.#settings,
      earlier = earlierIn(refusal);
    if (earlier.length === 0) return refusal;
    if (this.#noting.size > 0) return Promise.all(this.#noting).then(() => null);
    const settled = new Map<Settled, string[]>(),
      landed = new Map<string, string>();
    for (const id of earlier) {
      const how = await this.#fateOf(id);
      if (typeof how === 'object' && how !== null) landed.set(id, how.landed);
      else if (how !== null) settled.set(how, [...(settled.get(how) ?? []), id]);
    }
    for (const [how, ids] of settled) {
      ledger.settle(ids, how);
      await shared?.settle(ids, how);
    }
    // What landed has used its counter up; as a payment it was made.
    const isFilled =
      refusal.details['reason'] === 'counter_not_filled' &&
      landed.size > 0 &&
      (await this.#note([...landed.keys()], 'landed'));
    return settled.size > 0 || isFilled ? null : this.#withTxids(refusal, [...landed.values()]);
  }

  /** With the txids that its caller is to look for, and those that are on the chain for certain. */
  #withTxids(refusal: Refusal, landed: readonly string[]): Refusal {
    const txids = earlierIn(refusal)
      .flatMap((id) => this.#settings.instructions.signaturesOf(id))
      .flatMap(({ signed }) => (signed === null ? [] : [signed.txid]));
    const details = { ...refusal.details, ...(txids.length === 0 ? {} : { txids }) };
    return landed.length === 0
      ? { ...refusal, details }
      : {
          ...refusal,
          details: { ...details, landed },
          message:
            'an equal payment landed, as your own node says: this one would be the second. Where you mean to pay twice, build it with another paymentRef',
        };
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
    return txids.flatMap((txid) => this.#settings.instructions.transactionOf(txid) ?? []);
  }

  async #fateOf(transactionId: string): Promise<Settled | Landed | null> {
    const { environment, instructions, fates, log } = this.#settings;
    if (environment === 'sandbox') return this.#sandboxFateOf(transactionId);
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
    const fate = said === 'dead' && !(await this.#signedEveryVersion(recorded)) ? null : said;
    // It was paid, and its application was told that it was not: an equal payment now would be the second.
    if (typeof fate === 'object' && fate !== null && this.#settings.ledger.toldOf(transactionId) !== 'nothing')
      log.alarm('paid_although_called_failed', { transactionId });
    return fate;
  }

  /**
   * Whether this replica's journal has all that may be signed of a transaction: a version of another replica may be
   * what used the counter up. The shared ledger counted each one; without it those that others were told to sign, and
   * the record that is known last, must be of this journal.
   */
  async #signedEveryVersion({ instruction: { id }, unsigned }: RecordedInstruction): Promise<boolean> {
    const { instructions, shared, log } = this.#settings;
    const own = new Set(
      instructions.signaturesOf(id).flatMap(({ payload, signed }) => (signed === null ? [] : [sha256(payload)])),
    );
    try {
      if (shared === null && instructions.mayBeSignedElsewhere(id)) return false;
      const versions = shared === null ? [sha256(unsigned.payload)] : await shared.versionsOf(id);
      return versions?.every((version) => own.has(version)) ?? false;
    } catch (error) {
      log.fault('versions_not_read', error, { transactionId: id });
      return false;
    }
  }

  /**
   * In the sandbox the cloud is the chain, and nothing is lost by its word. A reset forgets transactions altogether.
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
