/**
 * How an edge comes to be known to the cloud. Spec §3.7: "First sync enrols; later boots resume."
 *
 *   new ── sync ──▶ confirmed
 *   known before ── resume ──▶ confirmed
 *   sync answers ALREADY_ENROLLED ──▶ resume
 *   resume (or any later call) answers RESYNC_REQUIRED ──▶ the cache is dropped, sync
 *   EDGE_SIGNATURE_INVALID, IDENTITY_ROTATION_PENDING ──▶ halted: nothing is repeated (spec §7). The edge only watches
 *       the readiness of its chains, with its API key; when none of them is quarantined any more the owner has decided,
 *       and one resume says for whom.
 *   anything else ──▶ again after a pause
 */
import { createHash } from 'node:crypto';
import { isRefusal, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import type { SyncBody } from '../../protocol/frames.ts';
import { adviceFor, type Advice } from '../http/advice.ts';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import type { Storage } from '../storage/storage.ts';
import type { Timers } from '../process/timers.ts';
import type { Upstream } from './upstream.ts';

const RETRY: Backoff = { firstMs: 500, mostMs: 60_000, jitterPercent: 50 };
/** A confirmation that lasted so long was a good one: a later loss is the ordinary one, which is mended at once. */
const STABLE_MS = 60_000;
const SETTING = 'enrolled_as';

export type RegistrationState =
  | { readonly kind: 'unconfirmed'; readonly code: ErrorCode | null; readonly advice?: Advice | null }
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'halted'; readonly code: ErrorCode };

export interface RegistrationSettings {
  readonly upstream: Upstream;
  readonly storage: Storage;
  readonly timers: Timers;
  readonly edgeVersion: string;
  /** How often the readiness is read while the owner has not decided. */
  readonly rotationCheckMs: number;
  readonly sessionId: string;
  /** Public keys and pools to push; derived when a sync needs them. */
  readonly publicKeys: () => Promise<Pick<SyncBody, 'keys' | 'pools'>>;
  /** Names what is pushed, so that a new chain or phrase is registered and not resumed. */
  readonly keySetName: string;
  readonly onConfirmed: () => void;
  /** The cloud knows nothing of this edge: what was remembered of it is void. */
  readonly onForgotten: () => void;
  readonly onRefused: (step: 'sync' | 'resume', refusal: Refusal) => void;
  readonly onFault: (error: unknown) => void;
}

export class Registration {
  readonly #settings: RegistrationSettings;
  #state: RegistrationState = { kind: 'unconfirmed', code: null };
  #tries = 0;
  /**
   * Confirmations that the cloud took back since one was stable: a cloud that gives and takes makes no busy loop of
   * this edge.
   */
  #lost = 0;
  #cancelStable: () => void = () => undefined;
  /** Halted, and a chain was quarantined when the readiness was read last. */
  #quarantined = false;
  #running: Promise<void> | null = null;
  /** The look at the owner's decision, one at a time however often the edge is halted. */
  #watching: Promise<void> | null = null;
  #stopped = false;

  constructor(settings: RegistrationSettings) {
    this.#settings = settings;
  }

  get state(): RegistrationState {
    return this.#state;
  }

  start(): void {
    if (this.#stopped) return;
    this.#running ??= this.#untilDone(() => this.#register()).finally(() => {
      this.#running = null;
      if (this.#state.kind === 'unconfirmed') this.start(); // It was lost as it was confirmed.
    });
  }

  /** The cloud said that it has no enrolment of this edge, on whatever call. */
  forgotten(): void {
    this.#noteLoss();
    this.#forget();
    this.#state = { kind: 'unconfirmed', code: 'RESYNC_REQUIRED' };
    this.start();
  }

  /** The cloud said on a later call that the identity is not the pinned one. */
  halted(code: ErrorCode): void {
    if (this.#state.kind === 'halted') return;
    this.#noteLoss();
    this.#halt(code);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelStable();
    await this.#running;
  }

  /** Again after a pause when it throws: a disk that takes nothing now may do so later. */
  async #untilDone(work: () => Promise<void>): Promise<void> {
    const { onFault, timers } = this.#settings;
    for (let faults = 0; !this.#stopped; faults += 1) {
      try {
        return await work();
      } catch (error) {
        onFault(error);
        await timers.pause(backoffMs(faults, RETRY, Math.random()));
      }
    }
  }

  #noteLoss(): void {
    this.#cancelStable();
    if (this.#state.kind === 'confirmed') this.#lost += 1;
  }

  async #register(): Promise<void> {
    if (this.#lost > 1) await this.#settings.timers.pause(backoffMs(this.#lost - 2, RETRY, Math.random()));
    while (!this.#stopped && this.#state.kind !== 'confirmed') {
      const known = this.#settings.storage.setting(SETTING) === this.#cacheName();
      const refusal = known ? await this.#resume() : await this.#sync();
      if (this.#stopped) return;
      if (refusal === null) return this.#confirm();
      this.#settings.onRefused(known ? 'resume' : 'sync', refusal);
      if (refusal.code === 'EDGE_SIGNATURE_INVALID' || refusal.code === 'IDENTITY_ROTATION_PENDING')
        return this.#halt(refusal.code);
      this.#state = { kind: 'unconfirmed', code: refusal.code, advice: adviceFor(refusal) };
      if (!known && refusal.code === 'ALREADY_ENROLLED') this.#settings.storage.setSetting(SETTING, this.#cacheName());
      if (known && refusal.code === 'RESYNC_REQUIRED') this.#forget();
      this.#tries += 1;
      // Switching once between sync and resume is the ordinary recovery and needs no pause; a cloud that keeps
      // sending the edge to and fro does.
      const switched = refusal.code === 'ALREADY_ENROLLED' || refusal.code === 'RESYNC_REQUIRED';
      if (!switched || this.#tries > 1)
        await this.#settings.timers.pause(backoffMs(this.#tries - 1, RETRY, Math.random()));
    }
  }

  async #sync(): Promise<Refusal | null> {
    const { upstream, edgeVersion, sessionId, publicKeys } = this.#settings;
    const reply = await upstream.signed.call('syncEdge', { body: { edgeVersion, sessionId, ...(await publicKeys()) } });
    return isRefusal(reply) ? reply : null;
  }

  async #resume(): Promise<Refusal | null> {
    const { upstream, edgeVersion, sessionId } = this.#settings;
    const reply = await upstream.signed.call('resumeEdge', { body: { edgeVersion, sessionId } });
    return isRefusal(reply) ? reply : null;
  }

  #confirm(): void {
    this.#settings.storage.setSetting(SETTING, this.#cacheName());
    this.#tries = 0;
    this.#cancelStable = this.#settings.timers.after(STABLE_MS, () => {
      this.#lost = 0;
    });
    this.#state = { kind: 'confirmed' };
    this.#settings.onConfirmed();
  }

  #forget(): void {
    this.#settings.storage.setSetting(SETTING, null);
    this.#settings.onForgotten();
  }

  #halt(code: ErrorCode): void {
    this.#state = { kind: 'halted', code };
    // A rotation that was pending when this was said may be decided before the first look at the chains.
    this.#quarantined = code === 'IDENTITY_ROTATION_PENDING';
    this.#watching ??= this.#untilDone(() => this.#watchDecision()).finally(() => {
      this.#watching = null;
      if (!this.#stopped && this.#state.kind === 'halted') this.#halt(this.#state.code);
    });
  }

  async #watchDecision(): Promise<void> {
    if (this.#lost > 1) await this.#settings.timers.pause(this.#settings.rotationCheckMs);
    while (!this.#stopped && this.#state.kind === 'halted') {
      const reply = await this.#settings.upstream.unsigned.call('getEdgeReadiness');
      if (!isRefusal(reply)) {
        const now = reply.content.some(({ state }) => state === 'quarantined');
        if (this.#quarantined && !now) {
          const refusal = await this.#resume();
          if (refusal === null) return this.#confirm();
          this.#settings.onRefused('resume', refusal);
        }
        this.#quarantined = now;
      }
      await this.#settings.timers.pause(this.#settings.rotationCheckMs);
    }
  }

  #cacheName(): string {
    return createHash('sha256').update(this.#settings.keySetName).digest('hex');
  }
}
