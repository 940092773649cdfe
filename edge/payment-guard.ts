/**
 * Who pays twice without meaning it: an application that is told by the cloud that a payment failed while its signed bytes
 * are out. The guard keeps what applications are told by way of this edge, and finds out whether what stands in the way of a
 * payment is out of the way. The rules are in payments.ts, the count in the spend ledgers.
 */
import { isRefusal, type Refusal } from '../protocol/errors.ts';
import type { Environment } from '../protocol/slugs.ts';
import type { Unsigned } from '../chains/chain.ts';
import type { Instructions } from './instructions.ts';
import type { EdgeLog } from './log.ts';
import type { OwnFates } from './own-fates.ts';
import { earlierIn, type Settled, type Word } from './payments.ts';
import type { SharedSpend } from './shared-spend.ts';
import type { SpendLedger } from './spend-ledger.ts';
import type { Told } from './told.ts';
import type { Upstream } from './upstream.ts';

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

  constructor(settings: PaymentGuardSettings) {
    this.#settings = settings;
  }

  /** Keeps what an application is told; durable when it resolves, as far as the ledgers can be written. Never rejects. */
  async note(told: Told): Promise<void> {
    const { ledger, shared, instructions, log } = this.#settings;
    const ofTxids = told.reversedTxids.flatMap((txid) => instructions.transactionOf(txid) ?? []);
    const words: readonly (readonly [Word, readonly string[]])[] = [['failed', told.failed], ['reverted', [...told.reverted, ...ofTxids]], ['confirmed', told.confirmed]];
    for (const [word, ids] of words) {
      if (ids.length === 0) continue;
      try {
        ledger.note(ids, word);
        await shared?.note(ids, word);
      } catch (error) {
        log.fault('word_not_kept', error, { reason: word });
      }
    }
  }

  /** Whether one of the transactions that a refusal names is out of the way by now: then it is worth asking again. */
  async clears(refusal: Refusal): Promise<boolean> {
    const { ledger, shared } = this.#settings;
    const settled = new Map<Settled, string[]>();
    for (const id of earlierIn(refusal)) {
      const how = await this.#fateOf(id);
      if (how !== null) settled.set(how, [...settled.get(how) ?? [], id]);
    }
    for (const [how, ids] of settled) {
      ledger.settle(ids, how);
      await shared?.settle(ids, how);
    }
    return settled.size > 0;
  }

  /** A refusal with the txids that its caller is to look for. */
  withTxids(refusal: Refusal): Refusal {
    const earlier = earlierIn(refusal);
    if (earlier.length === 0) return refusal;
    const txids = earlier.flatMap((id) => this.#settings.instructions.signaturesOf(id)).flatMap(({ signed }) => (signed === null ? [] : [signed.txid]));
    return { ...refusal, details: { ...refusal.details, ...(txids.length === 0 ? {} : { txids }) } };
  }

  async #fateOf(transactionId: string): Promise<Settled | null> {
    const { environment, instructions, fates, log } = this.#settings;
    if (environment === 'sandbox') return this.#sandboxFateOf(transactionId);
    const recorded = instructions.get(transactionId);
    if (fates === null || recorded === null) return null;
    const versions = instructions.signaturesOf(transactionId).flatMap(({ payload, signed }) =>
      (signed === null ? [] : [{ unsigned: { ...recorded.unsigned, payload } satisfies Unsigned, txid: signed.txid }]));
    if (versions.length === 0) return null;
    const fate = await fates.of(recorded.instruction.chain, versions);
    if (fate === 'landed' && this.#wasDenied(transactionId)) {
      // It was paid, and its application was told that it was not: an equal payment now would be the second.
      log.alarm('paid_although_called_failed', { transactionId });
      return null;
    }
    return fate;
  }

  #wasDenied(transactionId: string): boolean {
    return !['nothing', 'confirmed'].includes(this.#settings.ledger.toldOf(transactionId));
  }

  /** In the sandbox the cloud is the chain, and nothing is lost by its word. A reset forgets transactions altogether. */
  async #sandboxFateOf(transactionId: string): Promise<Settled | null> {
    const reply = await this.#settings.upstream.signed.call('getTransaction', { params: { id: transactionId } });
    if (isRefusal(reply)) return reply.code === 'NOT_FOUND' ? 'forgotten' : null;
    return reply.status === 'confirmed' ? 'landed' : ['failed', 'expired', 'replaced'].includes(reply.status) ? 'dead' : null;
  }
}
