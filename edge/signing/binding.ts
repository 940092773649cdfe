/**
 * Binding a counter (nonce, sequence) for a broadcast: the cloud names the next one, and this edge accepts it only
 * while no version of the instruction can have been signed. docs/decisions/0035-counter-bound-at-broadcast.md.
 *
 *   with EDGE_SPEND_LEDGER      any replica binds; the ledger counts an instruction under one counter for all of them
 *   without                     the replica that built it binds, once; the counter is final as soon as another replica
 *                               may have the bound version
 *
 * A build reserves nothing, so its own counter is a proposal. A cloud that changes more than the counter and an expiry
 * is refused.
 */
import type { Unsigned } from '../../chains/chain.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { builtOf, unsignedOf } from './built-reply.ts';
import type { Instructions } from './instructions.ts';
import type { EdgeLog } from '../process/log.ts';
import { refuseToSign } from './signers/signer.ts';
import type { Upstream } from '../link/upstream.ts';

/** How long to wait for a sender's earlier binding, and between two requests. Milliseconds. */
const WAIT_MS = 5_000,
  PAUSE_MS = 200;

export interface BindingSettings {
  readonly instructions: Instructions;
  readonly upstream: Upstream;
  /** Whether all replicas count in one ledger. */
  readonly sharesLedger: boolean;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: EdgeLog;
}

export class CounterBinding {
  readonly sharesLedger: boolean;
  readonly #settings: BindingSettings;

  constructor(settings: BindingSettings) {
    this.#settings = settings;
    this.sharesLedger = settings.sharesLedger;
  }

  /** `own`: bind it here before it is signed · `elsewhere`: another replica must bind it · null: nothing to bind. */
  stateOf(transactionId: string): 'own' | 'elsewhere' | null {
    return this.#settings.instructions.counterToBind(transactionId, this.sharesLedger);
  }

  /**
   * Binds a counter and stores the version that results. `gaveUp`: transactions that this replica bound before and will
   * not sign now. Refuses: SIGNED_BATCH_REJECTED for a change beside the counter, and what the cloud refuses.
   */
  async bind(transactionId: string, gaveUp: readonly string[]): Promise<Refusal | null> {
    const { instructions, upstream, pause } = this.#settings;
    for (let waitedMs = 0; ;) {
      const before = instructions.get(transactionId);
      if (before === null) return refuseToSign('no_instruction');
      const reply = await upstream.signed.call('bindCounter', {
        params: { id: transactionId },
        body: { gaveUp: [...gaveUp] },
      });
      // Repriced meanwhile: the cloud bound another version.
      if (instructions.get(transactionId)?.unsigned.payload !== before.unsigned.payload) continue;
      if (isRefusal(reply)) {
        // An older cloud binds when it builds: sign what it built.
        if (reply.code === 'NOT_FOUND' && reply.details['reason'] !== 'no_such_build')
          return this.#keep(transactionId, before.unsigned);
        if (reply.details['reason'] !== 'another_is_bound' || waitedMs >= WAIT_MS) return reply;
        waitedMs += PAUSE_MS;
        await pause(PAUSE_MS);
        continue;
      }
      const bound = builtOf(reply);
      if (bound === null || bound.id !== transactionId)
        return this.#alarm(transactionId, refuseToSign('malformed_binding'));
      const refusal = checkBound(before.unsigned, unsignedOf(bound.unsigned));
      return refusal === null
        ? this.#keep(transactionId, unsignedOf(bound.unsigned))
        : this.#alarm(transactionId, refusal);
    }
  }

  #keep(transactionId: string, unsigned: Unsigned): Refusal | null {
    const { instructions } = this.#settings;
    return instructions.bind(transactionId, unsigned, this.sharesLedger)
      ? null
      : refuse('CONFLICT', { reason: 'bound_meanwhile', retryAfterSeconds: 1 });
  }

  #alarm(transactionId: string, refusal: Refusal): Refusal {
    this.#settings.log.alarm('binding_refused', { transactionId, reason: String(refusal.details['reason']) });
    return refusal;
  }
}

/**
 * Parts of the fee that follow from the counter, or are an expiry that is renewed with it; the signers compare them
 * with the bytes.
 */
const FOLLOWING: ReadonlySet<string> = new Set(['lastLedgerSequence', 'ticketSequence', 'maxTime']);

/**
 * Only the counter may differ. The signer compares the bytes with this summary. Refuses: SIGNED_BATCH_REJECTED.
 */
export function checkBound(before: Unsigned, after: Unsigned): Refusal | null {
  const rest = ({
    chain,
    from,
    fromPath,
    to,
    amount,
    tokenContract,
    tag,
    kind,
    sendAll,
    feeMax,
    fee,
    replayKey,
  }: Unsigned) =>
    canonicalJson({
      chain,
      from,
      fromPath,
      to,
      amount: amount.toString(),
      tokenContract,
      tag,
      kind,
      sendAll,
      feeMax: feeMax.toString(),
      key: replayKey.kind,
      fee: Object.fromEntries(Object.entries(fee).filter(([part]) => !FOLLOWING.has(part))),
    });
  return rest(before) === rest(after) ? null : refuseToSign('binding_changed_more_than_the_counter');
}

/** The replica that built it has not bound its counter yet. */
export function notBound(): Refusal {
  return refuse(
    'SERVICE_UNAVAILABLE',
    { reason: NOT_BOUND, mayBeSigned: true, setting: 'EDGE_SPEND_LEDGER', retryAfterSeconds: 1 },
    'the replica that built this withdrawal has not bound its counter; nothing was signed here, and that replica may sign it yet. Ask again; where that replica is ' +
      'gone for good, settle this one (flock-edge payments settle) and build it again. With one EDGE_SPEND_LEDGER for all replicas any of them binds',
  );
}

export function isNotBound(answer: unknown): boolean {
  return isRefusal(answer) && answer.details['reason'] === NOT_BOUND;
}

const NOT_BOUND = 'counter_not_bound';
