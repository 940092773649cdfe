/**
 * This replica's life with the cloud: registration, then the stream; heartbeats that carry the lease; frames in,
 * reports and local keys out. Where the stream is down the heartbeat goes over REST (spec §4.3).
 */
import { isRefusal, refuse, type ErrorCode } from '../../protocol/errors.ts';
import {
  heartbeatReply,
  HEARTBEAT_MS,
  leaseRenewMs,
  LEASE_TTL_MS,
  type Acknowledgement,
  type DeliverFrame,
  type EdgeTreasury,
  type HeartbeatBody,
  type InstructionRecord,
  type LeaseFrame,
  type OperateFrame,
  type RegistryFrame,
  type WelcomeFrame,
} from '../../protocol/frames.ts';
import type { PooledChain } from '../../protocol/slugs.ts';
import { adviceFor } from '../http/advice.ts';
import type { EdgeLog } from '../process/log.ts';
import type { Lease } from './lease.ts';
import type { InstructionShare, OnBroadcast } from '../signing/instruction-share.ts';
import type { LocalKeyShare } from '../local-keys/share.ts';
import type { OutboxWrite } from './outbox.ts';
import type { Sent } from './outbox-sender.ts';
import { Registration, type RegistrationSettings, type RegistrationState } from './registration.ts';
import { EdgeStream, type OpenSocket } from './stream.ts';
import type { Timers } from '../process/timers.ts';
import type { Upstream } from './upstream.ts';
import { attemptVerdict } from './write-verdicts.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Attempt } from '../webhooks/post.ts';

/**
 * A follower keeps its reports for so many terms of a lease after it led last: it may lead again, after a restart
 * mostly, and then they spare the receivers a second delivery. By then another leader has made the attempts anew, and
 * only those count (decisions 4); what waits behind them, a signed payload above all, must not wait for longer.
 */
const SUPERSEDED_AFTER_TERMS = 2;
/** Refusals because another replica leads now. */
const LEASE_CODES: ReadonlySet<string> = new Set<ErrorCode>(['LEASE_EPOCH_STALE', 'LEASE_HELD', 'EDGE_NO_LEADER']);

/** Pause between heartbeats at least, however short the cloud says that a lease is. */
const RENEW_MS_MIN = 100;

export interface SessionSettings {
  readonly sessionId: string;
  readonly edgeVersion: string;
  readonly podHint: string | null;
  readonly cloudUrl: string;
  /** The stream's wire; Socket.IO when absent. */
  readonly openSocket?: OpenSocket;
  readonly upstream: Upstream;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  readonly lease: Lease;
  readonly keyShare: LocalKeyShare;
  readonly instructionShare: InstructionShare;
  readonly registration: Pick<RegistrationSettings, 'storage' | 'publicKeys' | 'keySetName' | 'rotationCheckMs'>;
  readonly outboxReport: () => { outboxDepth: number; outboxPoisoned: boolean };
  readonly treasuryReport: () => EdgeTreasury;
  readonly log: EdgeLog;
}

/** Where frames go. Built after the session, since it reports through the session; given to `start`. */
export interface SessionTakers {
  /** Takes deliveries that came under this epoch; false when there is no room. */
  readonly deliver: (frame: DeliverFrame) => boolean;
  readonly sign: (transactionId: string, leaseEpoch: number) => Promise<Acknowledgement>;
  readonly registry: (frame: RegistryFrame) => Promise<Acknowledgement>;
  readonly operate: (frame: OperateFrame) => Promise<Acknowledgement>;
  readonly replenish: (ask: { chain: PooledChain; from: number; count: number }) => Promise<Acknowledgement>;
  /** A record of another replica whose caller broadcast it. */
  readonly onBroadcast: OnBroadcast;
  /** The outbox may move: stream up, lease taken or lost, registration confirmed. */
  readonly onMovement: () => void;
}

/** Codes of a cloud that serves nothing now. */
const NOT_SERVING: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE', 'INTERNAL_ERROR']);

export class Session {
  readonly #settings: SessionSettings;
  readonly #registration: Registration;
  /** Null before `start`; no frame arrives before it. */
  #takers: SessionTakers | null = null;
  #cloudTrouble: string | null = null;
  readonly #stream: EdgeStream;
  #beating: Promise<void> | null = null;
  #cancelBeat: () => void = () => undefined;
  /** The lease's term in the cloud's last answer. */
  #leaseTtlMs = LEASE_TTL_MS;
  #stopped = false;
  /** When registry and caps are said again, monotonic; null: the cloud of this stream takes none. Treasury K15. */
  #treasuryDueMs: number | null = null;

  constructor(settings: SessionSettings) {
    this.#settings = settings;
    const { log, upstream, timers, edgeVersion, sessionId, podHint } = settings;
    const onFault = (error: unknown) => log.fault('session_fault', error);
    this.#registration = new Registration({
      ...settings.registration,
      upstream,
      timers,
      edgeVersion,
      sessionId,
      onFault,
      onConfirmed: () => this.#confirmed(),
      onForgotten: () => settings.lease.forget(),
      onRefused: (step, refusal) =>
        log.warn('registration_refused', { step, code: refusal.code, ...adviceFor(refusal) }),
    });
    this.#stream = new EdgeStream({
      cloudUrl: settings.cloudUrl,
      timers,
      monotonicMs: settings.monotonicMs,
      onFault,
      ...(settings.openSocket === undefined ? {} : { openSocket: settings.openSocket }),
      auth: () => ({ headers: upstream.handshakeHeaders(), sessionId, edgeVersion, podHint }),
      onUp: () => log.info('stream_up'),
      onDown: (reason) => log.info('stream_down', { reason }),
      onTooLarge: (whose) => {
        const facts = { code: 'PAYLOAD_TOO_LARGE', reason: whose };
        if (whose === 'received') log.alarm('frame_too_large', facts);
        else log.warn('frame_too_large', { ...facts, next: 'upgrade the older one of cloud and edge' });
      },
      onRefused: (code) => this.#refused(code),
      onMalformed: (frame) => log.warn('frame_malformed', { frame }),
      handlers: {
        welcome: (frame, connectStartedAtMs) => this.#welcome(frame, connectStartedAtMs),
        lease: (frame) => this.#leasePushed(frame),
        deliver: (frame) => this.#delivered(frame),
        sign: ({ transactionId, leaseEpoch, record }) => {
          if (record != null) settings.instructionShare.take([record], this.#started.onBroadcast);
          return this.#started.sign(transactionId, leaseEpoch);
        },
        registry: (frame) => this.#started.registry(frame),
        operate: (frame) => this.#started.operate(frame),
        instructions: ({ records }) => settings.instructionShare.take(records, this.#started.onBroadcast),
        replenish: async ({ leaseEpoch, chain, from, count }) =>
          (await this.#leadsIn(leaseEpoch)) ? this.#started.replenish({ chain, from, count }) : staleEpoch(),
        keys: async ({ records }) => {
          await settings.keyShare.merge(records);
          this.shareKeys();
        },
        key_set: ({ set }) => {
          settings.keyShare.take(set);
          this.shareKeys();
        },
        revoke_keys: ({ ids }) => {
          settings.keyShare.revoke(ids);
          this.shareKeys();
        },
        rotation: ({ rotationId }) => {
          log.alarm('rotation_pending', { code: 'IDENTITY_ROTATION_PENDING' });
          settings.lease.awaitOwner(rotationId);
        },
      },
    });
  }

  start(takers: SessionTakers): void {
    this.#takers = takers;
    this.#registration.start();
  }

  get #started(): SessionTakers {
    if (this.#takers === null) throw new Error('a frame before the session was started');
    return this.#takers;
  }

  get registration(): RegistrationState {
    return this.#registration.state;
  }

  get streamUp(): boolean {
    return this.#stream.up;
  }

  /** Spec §4.3 `POST /v1/edge/resync`: asks the cloud to take the registration anew, then registers. */
  async resync(): Promise<void> {
    const { upstream, edgeVersion, sessionId } = this.#settings;
    await upstream.signed.call('resyncEdge', { body: { edgeVersion, sessionId } });
    this.#stream.stop();
    this.#registration.forgotten();
  }

  /** Reports attempts under the epoch that holds now, whenever they were made. Only a leader may (spec §6). */
  async sendAttempts(writes: readonly OutboxWrite[]): Promise<Sent> {
    const { lease, sessionId, log } = this.#settings;
    const { leaseEpoch, held } = lease.view();
    if (!held || !this.#stream.up) {
      const superseded = this.#stream.up && lease.followingMs() > SUPERSEDED_AFTER_TERMS * this.#leaseTtlMs;
      if (superseded) log.warn('attempts_superseded', { count: writes.length });
      return { kind: superseded ? 'taken' : 'held' };
    }
    const attempts = writes.map(({ body }) => JSON.parse(body) as Attempt);
    failpoint('edge.report.before');
    const reply = await this.#stream.report('attempts', { sessionId, leaseEpoch, attempts });
    failpoint('edge.report.after');
    if (reply === null) return { kind: 'held' };
    if (reply.ok) return { kind: 'taken' };
    const code = reply.code ?? 'INTERNAL_ERROR';
    if (LEASE_CODES.has(code)) lease.lose();
    return attemptVerdict(code) === 'waits' ? { kind: 'held' } : { kind: 'refused', code };
  }

  /** One heartbeat, on the stream where it is up. Several callers at one time share it. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat()
      .catch((error: unknown) => this.#settings.log.fault('heartbeat_fault', error))
      .finally(() => {
        this.#beating = null;
        this.#scheduleBeat();
      });
    return this.#beating;
  }

  /** Also without a stream: a leader vouches for itself. */
  shareKeys(): void {
    const { keyShare, lease } = this.#settings;
    void keyShare.send(lease.view().held, this.#stream.up ? (frame, body) => this.#stream.report(frame, body) : null);
  }

  /** Resolves when the cloud has what own callers asked for, or will not now. */
  shareInstructions(): Promise<void> {
    const report = (records: InstructionRecord[]) => this.#stream.report('instructions', { records });
    return this.#stream.up ? this.#settings.instructionShare.send(report) : Promise.resolve();
  }

  /** Stops acting and releases the lease, so that another replica leads at once. */
  async release(): Promise<void> {
    const { lease, log } = this.#settings;
    const { held, leaseEpoch } = lease.view();
    this.#stopped = true;
    this.#cancelBeat();
    lease.lose();
    if (!held || !this.#stream.up) return;
    const reply = await this.#stream.report('release', { leaseEpoch });
    log.info(reply?.ok === true ? 'lease_released' : 'lease_release_unanswered', { leaseEpoch });
  }

  /** A refusal of any call to the cloud may name the state of the registration. */
  noteRefusal(code: string): void {
    if (code === 'RESYNC_REQUIRED' || code === 'IDENTITY_ROTATION_PENDING') this.#refused(code);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelBeat();
    this.#stream.stop();
    this.#settings.lease.lose();
    await this.#registration.stop();
  }

  #confirmed(): void {
    this.#settings.log.info('registered');
    this.#stream.start();
    this.#scheduleBeat();
    this.#started.onMovement();
  }

  #welcome(frame: WelcomeFrame, connectStartedAtMs: number): void {
    const { lease, log, keyShare } = this.#settings;
    if (this.#stopped) return;
    if (!lease.grant({ ...frame, sentAtMs: connectStartedAtMs })) {
      log.alarm('stale_lease_epoch', { leaseEpoch: frame.leaseEpoch });
      this.#stream.cut();
      return;
    }
    lease.awaitOwner(null);
    log.info('welcomed', { role: frame.role, leaseEpoch: frame.leaseEpoch });
    this.#leaseTtlMs = frame.leaseTtlMs;
    this.#treasuryDueMs = frame.treasury === true ? 0 : null;
    void keyShare.welcome(frame.localKeys, frame.keySets === true).then(() => this.shareKeys());
    void this.shareInstructions();
    this.#scheduleBeat();
    this.#started.onMovement();
  }

  #leasePushed(frame: LeaseFrame): void {
    const before = this.#settings.lease.view();
    const ask = this.#settings.lease.hint(frame);
    if (before.held !== this.#settings.lease.view().held)
      this.#settings.log.info('lease_lost', { leaseEpoch: frame.leaseEpoch });
    if (ask) void this.beat();
  }

  /**
   * Whether this replica may act on a frame. That of a lease that ran out here may follow a new grant: the cloud is
   * asked, once.
   */
  async #leadsIn(leaseEpoch: number): Promise<boolean> {
    const { lease } = this.#settings;
    if (!lease.mayAct(leaseEpoch) && leaseEpoch >= lease.view().leaseEpoch) await this.beat();
    return lease.mayAct(leaseEpoch);
  }

  async #delivered(frame: DeliverFrame): Promise<Acknowledgement> {
    const { log } = this.#settings;
    if (!(await this.#leadsIn(frame.leaseEpoch))) {
      log.warn('stale_frame_dropped', { frame: 'deliver', leaseEpoch: frame.leaseEpoch });
      return staleEpoch();
    }
    if (this.#started.deliver(frame)) return { ok: true };
    log.warn('deliveries_refused', { count: frame.deliveries.length });
    const { code, details } = refuse('EDGE_OUTBOX_FULL');
    return { ok: false, code, details };
  }

  async #beat(): Promise<void> {
    if (this.#stopped || this.#registration.state.kind !== 'confirmed') return;
    const { lease, upstream, monotonicMs } = this.#settings;
    const sentAtMs = monotonicMs();
    const { body, leaseEpoch } = { body: this.#heartbeat(), leaseEpoch: lease.view().leaseEpoch };
    if (this.#stream.up) {
      const reply = await this.#stream.ask(
        'heartbeat',
        { ...body, leaseEpoch, ...this.#treasuryDue() },
        heartbeatReply,
      );
      if (reply === null) return this.#stream.cut(); // A half-open connection looks like this.
      this.#heartbeatAnswered(reply.ok ? null : (reply.code ?? 'SERVICE_UNAVAILABLE'));
      if (!reply.ok && reply.code !== undefined) this.#refused(reply.code);
      this.#granted(reply, sentAtMs);
    } else {
      const reply = await upstream.signed.call('heartbeatEdge', { body });
      this.#heartbeatAnswered(isRefusal(reply) ? reply.code : null);
      if (isRefusal(reply)) return this.#refused(reply.code);
      this.#granted(reply, sentAtMs);
    }
    this.shareKeys();
    void this.shareInstructions();
  }

  /** Code of the last heartbeat's refusal while the cloud does not serve; null while it does. */
  get cloudTrouble(): string | null {
    return this.#cloudTrouble;
  }

  #heartbeatAnswered(code: string | null): void {
    const trouble = code !== null && NOT_SERVING.has(code) ? code : null;
    if (trouble === this.#cloudTrouble) return;
    this.#cloudTrouble = trouble;
    if (trouble === null) this.#settings.log.info('cloud_serves_again');
    else this.#settings.log.warn('cloud_does_not_serve', { code: trouble });
  }

  #granted(reply: LeaseFrame, sentAtMs: number): void {
    const { lease, log } = this.#settings;
    if (this.#stopped) return; // The lease was given back; an answer that was on its way does not bring it again.
    const before = lease.view();
    if (!lease.grant({ ...reply, sentAtMs })) {
      log.alarm('stale_lease_epoch', { leaseEpoch: reply.leaseEpoch });
      return;
    }
    this.#leaseTtlMs = reply.leaseTtlMs;
    const now = lease.view();
    if (before.role === now.role && before.leaseEpoch === now.leaseEpoch) return;
    log.info('lease_changed', { role: now.role, leaseEpoch: now.leaseEpoch });
    this.#started.onMovement();
  }

  #heartbeat(): HeartbeatBody {
    const { sessionId, edgeVersion, podHint, outboxReport } = this.#settings;
    const { outboxDepth, outboxPoisoned } = outboxReport();
    return { sessionId, edgeVersion, outboxDepth, outboxPoisoned, outboxMode: 'durable', podHint };
  }

  /** A leader beats every few seconds, and sums of what is spent are read from the ledger: each HEARTBEAT_MS. */
  #treasuryDue(): { treasury?: EdgeTreasury } {
    const nowMs = this.#settings.monotonicMs();
    if (this.#treasuryDueMs === null || nowMs < this.#treasuryDueMs) return {};
    this.#treasuryDueMs = nowMs + HEARTBEAT_MS;
    return { treasury: this.#settings.treasuryReport() };
  }

  #scheduleBeat(): void {
    this.#cancelBeat();
    if (this.#stopped || this.#registration.state.kind !== 'confirmed') return;
    const waitMs = this.#settings.lease.view().held
      ? Math.max(RENEW_MS_MIN, leaseRenewMs(this.#leaseTtlMs))
      : HEARTBEAT_MS;
    this.#cancelBeat = this.#settings.timers.after(waitMs, () => void this.beat());
  }

  #refused(code: string): void {
    this.#settings.log.warn('cloud_refused', { code, ...adviceFor({ code: code as ErrorCode, details: {} }) });
    if (LEASE_CODES.has(code)) this.#settings.lease.lose();
    if (code === 'RESYNC_REQUIRED') {
      this.#stream.stop();
      this.#registration.forgotten();
    }
    if (code === 'IDENTITY_ROTATION_PENDING' || code === 'EDGE_SIGNATURE_INVALID') {
      this.#stream.stop();
      this.#settings.lease.lose();
      this.#registration.halted(code);
    }
  }
}

function staleEpoch(): Acknowledgement {
  return { ok: false, code: 'LEASE_EPOCH_STALE' };
}
