/**
 * Statements about addresses of payers, signed ahead, so that a page which pins this edge's key can know them from
 * those of anybody else. The cloud says which indexes it has none for; the address is derived here, at a customers'
 * path of this edge's own phrase, whatever the cloud says. The leader looks by the clock; an edge that is away blocks
 * nothing for a thousand payments. payments E4, E5.
 */
import { factsOf, networkOf } from '../../chains/registry.ts';
import {
  ATTESTATION_MS,
  ATTESTED_AHEAD,
  attestedInstant,
  attestedText,
  type AttestedFamily,
} from '../../protocol/attestation.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { AttestationsBody } from '../../protocol/frames.ts';
import type { Chain, Environment } from '../../protocol/slugs.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { EdgeLog } from '../process/log.ts';
import type { Lease } from './lease.ts';
import type { Upstream } from './upstream.ts';

type Batch = NonNullable<AttestationsBody['batch']>;
interface Range {
  readonly family: AttestedFamily;
  readonly from: number;
  readonly count: number;
}

/** How often the leader looks. */
export const ATTESTATION_LOOK_MS = 60_000;
/** How often it asks for those that end soon, too. */
const RENEW_LOOK_MS = 3_600_000;
/** Statements of one call; and of one look, whatever a cloud asks for. */
const BATCH = 250;
const PER_LOOK_MAX = 4 * ATTESTED_AHEAD;
/** Deriving and signing of one turn of the event loop, after which requests, frames and deliveries are served. */
const TURN_MS = 4;
/** One chain of a family stands for it: its addresses are those of all. */
const CHAIN_OF: Readonly<Record<AttestedFamily, Chain>> = { btc: 'btc', evm: 'eth', tron: 'tron' };
const INDEX_END = 0x8000_0000;

export interface AttestationKeeperSettings {
  readonly environment: Environment;
  readonly keystore: Pick<Keystore, 'accountXpub' | 'identity'>;
  readonly upstream: { readonly signed: Pick<Upstream['signed'], 'call'> };
  readonly lease: { view(): Pick<ReturnType<Lease['view']>, 'held'> };
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly log: Pick<EdgeLog, 'info' | 'warn' | 'fault'>;
}

export class AttestationKeeper {
  readonly #settings: AttestationKeeperSettings;
  #looking: Promise<void> | null = null;
  #renewedAtMs: number | null = null;
  #refusedWith: string | null = null;
  #stopped = false;

  constructor(settings: AttestationKeeperSettings) {
    this.#settings = settings;
  }

  /** Asks and signs, where this replica leads. Several callers share one look. */
  look(): Promise<void> {
    const { lease, log } = this.#settings;
    if (!lease.view().held) {
      this.#renewedAtMs = null; // who leads again does not know what the other one signed
      return Promise.resolve();
    }
    return (this.#looking ??= this.#askAndSign()
      .catch((error: unknown) => log.fault('attestations_fault', error))
      .finally(() => {
        this.#looking = null;
      }));
  }

  /** What is under way ends with its present part. */
  stop(): void {
    this.#stopped = true;
  }

  async #askAndSign(): Promise<void> {
    const { monotonicMs, log } = this.#settings;
    const startedAtMs = monotonicMs(),
      renew = this.#renewedAtMs === null || startedAtMs - this.#renewedAtMs >= RENEW_LOOK_MS;
    const wanted = await this.#call(null, renew);
    if (wanted === null) return;
    if (renew) this.#renewedAtMs = startedAtMs;
    let signed = 0;
    for (const part of partsOf(wanted)) {
      if (this.#stopped || signed >= PER_LOOK_MAX) break;
      const batch = await this.#sign(part);
      if (batch === null) continue;
      if ((await this.#call(batch, false)) === null) return;
      signed += batch.statements.length;
    }
    if (signed > 0) log.info('attestations_signed', { count: signed });
  }

  /** What the cloud has no statement for; null where it took nothing. */
  async #call(batch: Batch | null, renew: boolean): Promise<readonly Range[] | null> {
    const { upstream, log } = this.#settings;
    const reply = await upstream.signed.call('pushAttestations', { body: { batch, renew } });
    const code = isRefusal(reply) ? reply.code : null;
    // An older cloud does not know the path.
    if (code !== null && code !== this.#refusedWith && code !== 'NOT_FOUND') log.warn('attestations_refused', { code });
    this.#refusedWith = code;
    return isRefusal(reply) ? null : reply.wanted;
  }

  /** Null where this edge derives no such addresses. */
  async #sign({ family, indexes }: Part): Promise<Batch | null> {
    const { keystore, environment, nowMs } = this.#settings;
    const network = networkOf(CHAIN_OF[family]),
      { derivation } = factsOf(CHAIN_OF[family]),
      xpub = keystore.accountXpub(family),
      now = nowMs();
    if (derivation.kind !== 'xpub' || xpub === null) return null;
    const dates = { issuedAt: attestedInstant(now), validUntil: attestedInstant(now + ATTESTATION_MS) };
    const statements: Batch['statements'] = [];
    let turnEndsMs = performance.now() + TURN_MS;
    for (const index of indexes) {
      const { address } = derivation.deriveAddress(network, xpub, 0, index);
      const signature = keystore.identity.sign(Buffer.from(attestedText({ environment, family, address, ...dates })));
      statements.push({ index, signature: signature.toString('base64url') });
      if (performance.now() < turnEndsMs) continue;
      await new Promise(setImmediate);
      turnEndsMs = performance.now() + TURN_MS;
    }
    return { family, ...dates, statements };
  }
}

interface Part {
  readonly family: AttestedFamily;
  readonly indexes: readonly number[];
}

/** What is wanted in parts of one call, a family each; nothing more than one look signs. */
function partsOf(wanted: readonly Range[]): Part[] {
  const parts: { family: AttestedFamily; indexes: number[] }[] = [];
  let left = PER_LOOK_MAX;
  for (const { family, from, count } of wanted)
    for (let index = from; index < Math.min(from + count, INDEX_END) && left > 0; index += 1, left -= 1) {
      const open = parts.findLast((part) => part.family === family);
      if (open !== undefined && open.indexes.length < BATCH) open.indexes.push(index);
      else parts.push({ family, indexes: [index] });
    }
  return parts;
}
