/**
 * One edge replica, wired as edge/edge.ts does it, over the story's disk, network and endpoints, with a signer that
 * counts.
 */
import { catalogueOf } from '../../chains/catalogue.ts';
import { createIdentity, publicKeyOf } from '../../edge/link/identity.ts';
import { InstructionShare } from '../../edge/signing/instruction-share.ts';
import { Instructions } from '../../edge/signing/instructions.ts';
import type { Keystore } from '../../edge/keystore/keystore.ts';
import { Lease } from '../../edge/link/lease.ts';
import { KeySets } from '../../edge/local-keys/key-sets.ts';
import { LocalKeyShare } from '../../edge/local-keys/share.ts';
import { LocalKeys } from '../../edge/local-keys/local-keys.ts';
import type { EdgeLog } from '../../edge/process/log.ts';
import { Outbox, type OutboxWrite } from '../../edge/link/outbox.ts';
import { OutboxSender, type Sent } from '../../edge/link/outbox-sender.ts';
import type { OwnAddresses } from '../../edge/signing/own-addresses.ts';
import { PaymentGuard } from '../../edge/signing/payment-guard.ts';
import { Session, type SessionTakers } from '../../edge/link/session.ts';
import { CounterBinding } from '../../edge/signing/binding.ts';
import { Signing } from '../../edge/signing/signing.ts';
import type { Purpose } from '../../edge/signing/signers/signer.ts';
import { openSpendClock } from '../../edge/spend/clock.ts';
import { DEFAULT_FEE_SETTINGS } from '../../edge/signing/signers/fee-bounds.ts';
import { newestSpendMs, SpendLedger } from '../../edge/spend/ledger.ts';
import type { Storage } from '../../edge/storage/storage.ts';
import { Submissions } from '../../edge/signing/submissions.ts';
import { createTimers } from '../../edge/process/timers.ts';
import type { Upstream } from '../../edge/link/upstream.ts';
import { createViaLeader, type ViaLeader } from '../../edge/link/via-leader.ts';
import { WebhookRelay } from '../../edge/webhooks/relay.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { isRefusal, refuse } from '../../protocol/errors.ts';
import { ATTEMPTS_PER_FRAME, EDGE_VERSION } from '../../protocol/frames.ts';
import { pushedKey } from '../support/account.ts';
import { storySigner } from './chain.ts';
import type { Checks } from './checks.ts';
import type { Disk } from './disk.ts';
import type { Process } from './machine.ts';
import type { Network } from './network.ts';
import type { Plant } from './plants.ts';
import type { Receivers } from './receiver.ts';
import { SPEND_CAPS } from './spending.ts';

const OUTBOX_CAPACITY = 200;

export interface EdgeSurroundings {
  readonly network: Network;
  readonly receivers: Receivers;
  readonly checks: Checks;
  readonly plant: Plant;
}

/** What lies between a replica's parts while they are put together. */
interface Wiring {
  readonly around: EdgeSurroundings;
  readonly storage: Storage;
  readonly timers: ReturnType<typeof createTimers>;
  readonly upstream: Upstream;
  readonly instructions: Instructions;
  readonly viaLeader: ViaLeader;
  readonly ledger: SpendLedger;
  readonly guard: PaymentGuard;
}

export class EdgeProcess {
  readonly process: Process;
  readonly disk: Disk;
  readonly sessionId: string;
  readonly lease: Lease;
  readonly instructions: Instructions;
  readonly signing: Signing;
  readonly session: Session;
  /** Epochs under which a delivery came, by `deliveryId/attempt`. */
  readonly frameEpochs = new Map<string, Set<number>>();
  readonly #outbox: Outbox;
  readonly #sender: OutboxSender;
  readonly #relay: WebhookRelay;

  constructor(process: Process, disk: Disk, sessionId: string, around: EdgeSurroundings) {
    const { host } = process,
      { plant } = around;
    this.process = process;
    this.disk = disk;
    this.sessionId = sessionId;
    const storage = disk.open(process);
    const wallMs = () => host.wallMs(),
      monotonicMs = () => host.monotonicMs();
    this.lease = plant.lease?.(monotonicMs) ?? new Lease(monotonicMs);
    this.instructions = plant.instructions?.(storage, wallMs) ?? new Instructions(storage, wallMs);
    const settings = { capacity: OUTBOX_CAPACITY, nowMs: wallMs };
    this.#outbox = plant.outbox?.(storage, settings) ?? new Outbox(storage, settings);
    const upstream = upstreamOf(around.network, process),
      onRefused = (code: string) => this.session.noteRefusal(code);
    const viaLeader = createViaLeader({ upstream, share: () => this.session.shareInstructions(), onRefused });
    const bootTime = () => ({ bootId: process.host.name, upMs: Math.floor(monotonicMs()) });
    const clock = openSpendClock(storage, newestSpendMs(storage), { wallMs, monotonicMs, bootTime });
    const ledger = plant.ledger?.(storage, SPEND_CAPS, clock) ?? new SpendLedger(storage, SPEND_CAPS, clock);
    const guard = new PaymentGuard({
      environment: 'live',
      instructions: this.instructions,
      ledger,
      shared: null,
      fates: null,
      upstream,
      log: quiet,
    });
    const wiring: Wiring = {
      around,
      storage,
      timers: createTimers(),
      upstream,
      instructions: this.instructions,
      viaLeader,
      ledger,
      guard,
    };
    const submissions = new Submissions({
      sessionId,
      upstream,
      lease: this.lease,
      instructions: this.instructions,
      timers: wiring.timers,
      viaLeader,
      guard,
      onRefused,
      log: quiet,
    });
    this.#sender = new OutboxSender(
      this.#outbox,
      {
        attempt: {
          batch: ATTEMPTS_PER_FRAME,
          send: (writes) => this.#watched(wiring, writes, () => this.session.sendAttempts(writes)),
        },
        signed: { batch: 1, send: (writes) => this.#watched(wiring, writes, () => submissions.send(writes)) },
      },
      { onFault: () => undefined },
    );
    this.signing = this.#signing(wiring, submissions, wallMs);
    this.#relay = new WebhookRelay({
      poster: around.receivers.poster(process, (delivery) => around.checks.posted(this, delivery)),
      outbox: this.#outbox,
      concurrency: 8,
      concurrencyPerHost: 3,
      mayAct: plant.mayAct ?? ((leaseEpoch) => this.lease.mayAct(leaseEpoch)),
      onStored: () => this.#sender.nudge('attempt'),
      onFault: () => undefined,
    });
    this.session = this.#session(wiring, monotonicMs, wallMs);
  }

  /** Called within its process. */
  start(): void {
    this.session.start(this.#takers());
    this.#sender.nudge();
  }

  /** SIGTERM: as edge/edge.ts stops. */
  async stop(): Promise<void> {
    await this.#relay.stop();
    await this.session.release();
    await Promise.all([this.session.stop(), this.#sender.stop()]);
  }

  /** An own caller asked for this and had it built; now it asks for the broadcast. */
  async withdraw(row: WithdrawalRow, purpose: Purpose): Promise<void> {
    const { id, chain, from, to, amount, unsigned } = row;
    const instruction = {
      id,
      purpose,
      chain,
      from,
      fromPath: unsigned.fromPath,
      to,
      toPath: null,
      amount,
      token: null,
      tag: null,
      paymentRef: id,
      counter: 'at_broadcast' as const,
    };
    if (!this.instructions.record({ instruction, unsigned })) return;
    await this.session.shareInstructions();
    await this.signing.broadcast(id);
  }

  async #watched(
    { around: { checks } }: Wiring,
    writes: readonly OutboxWrite[],
    send: () => Promise<Sent>,
  ): Promise<Sent> {
    checks.sending(this, writes);
    try {
      const sent = await send();
      checks.sent(this, writes, sent);
      return sent;
    } finally {
      checks.rests(this, writes[0]!.kind);
    }
  }

  #signing(
    { around, ledger, guard, upstream, instructions, viaLeader, timers }: Wiring,
    submissions: Submissions,
    wallMs: () => number,
  ): Signing {
    const signer = storySigner((transactionId, unsigned) => around.checks.signed(this, transactionId, unsigned));
    const own = { paths: () => ({ gasTank: null, treasury: null }), addressAt: () => null } as unknown as OwnAddresses;
    const pause = (ms: number) => timers.pause(ms);
    return new Signing({
      environment: 'live',
      pause,
      share: () => this.session.shareInstructions(),
      binding: new CounterBinding({ instructions, upstream, sharesLedger: false, pause, log: quiet }),
      lease: this.lease,
      instructions,
      ledger,
      guard,
      shared: null,
      outbox: this.#outbox,
      submissions,
      upstream,
      log: quiet,
      keystore: { withKey: (_chain, _path, use) => use({ privateKey: new Uint8Array(32) }) } as Keystore,
      policies: {
        instructions,
        own,
        fees: DEFAULT_FEE_SETTINGS,
        firstNonceMax: 100_000n,
        sweepTreasuries: new Map(),
        btcSweeps: false,
        bridgeCaps: new Map(),
        catalogueOf,
        nowMs: wallMs,
      },
      nextCounter: null,
      signerOf: async () => signer,
      beat: () => this.session.beat(),
      viaLeader,
      instructionTtlMs: 3_600_000,
      nudge: () => this.#sender.nudge('signed'),
    });
  }

  #session(
    { around, storage, timers, upstream, instructions }: Wiring,
    monotonicMs: () => number,
    wallMs: () => number,
  ): Session {
    const identity = createIdentity(new Uint8Array(32).fill(7)),
      identityKey = publicKeyOf(identity.publicKey);
    const keys = new LocalKeys(storage, 'live', wallMs),
      time = { nowMs: wallMs, mark: () => undefined };
    const sets = new KeySets({ storage, keys, environment: 'live', identity, identityKey, ttlMs: 86_400_000, time });
    const instructionShare = new InstructionShare({
      instructions,
      environment: 'live',
      identity,
      identityKey,
      nowMs: wallMs,
      ttlMs: 3_600_000,
      log: quiet,
    });
    return new Session({
      sessionId: this.sessionId,
      edgeVersion: EDGE_VERSION,
      podHint: this.process.name,
      cloudUrl: 'simulated',
      upstream,
      timers,
      lease: this.lease,
      openSocket: around.network.opens(this.process),
      log: quiet,
      monotonicMs,
      nowMs: wallMs,
      keyShare: new LocalKeyShare({ keys, sets, identity, identityKey, log: quiet, nowMs: monotonicMs, shelf: null }),
      instructionShare,
      registration: {
        storage,
        publicKeys: async () => ({ keys: [pushedKey('evm')], pools: [] }),
        keySetName: 'story',
        rotationCheckMs: 60_000,
      },
      outboxReport: () => this.#outbox.report(),
      treasuryReport: () => ({ registryVersion: 1, windowSeconds: 86_400, caps: [] }),
    });
  }

  #takers(): SessionTakers {
    return {
      deliver: ({ leaseEpoch, deliveries }) => {
        for (const { deliveryId, attempt } of deliveries) {
          const key = `${deliveryId}/${attempt}`;
          this.frameEpochs.set(key, (this.frameEpochs.get(key) ?? new Set()).add(leaseEpoch));
        }
        return this.#relay.accept(leaseEpoch, deliveries);
      },
      sign: async (transactionId, leaseEpoch) => {
        const submitted = await this.signing.onFrame(transactionId, leaseEpoch);
        return isRefusal(submitted)
          ? { ok: false, code: submitted.code, details: { ...submitted.details } }
          : { ok: true };
      },
      registry: () => Promise.reject(new Error('no registry in this story')),
      operate: () => Promise.reject(new Error('no treasury in this story')),
      replenish: async () => ({ ok: true }),
      onMovement: () => this.#sender.nudge(),
      onBroadcast: (recorded, asked) =>
        void this.signing
          .noteElsewhere(recorded)
          .then(async () => {
            if (asked === 'unbound' && (await this.signing.bindForOthers(recorded.instruction.id)))
              await this.session.shareInstructions();
          })
          .catch(() => undefined),
    };
  }
}

const quiet: EdgeLog = {
  info: () => undefined,
  warn: () => undefined,
  alarm: () => undefined,
  fault: () => undefined,
  alarms: 0,
};

/** The cloud over REST, as far as a replica asks. */
function upstreamOf(network: Network, process: Process): Upstream {
  const call = (operation: string, sent: { params?: Record<string, string>; body?: unknown } = {}) =>
    network.request(process, operation, sent);
  const client = { call, must: call, ask: call, with: () => client } as unknown as Upstream['signed'];
  return {
    signed: client,
    unsigned: client,
    handshakeHeaders: () => ({}),
    clockOffsetSeconds: () => null,
    close: async () => undefined,
    forward: async () => refuse('UPSTREAM_UNAVAILABLE'),
    stream: async () => refuse('UPSTREAM_UNAVAILABLE'),
    put: async () => refuse('UPSTREAM_UNAVAILABLE'),
  };
}
