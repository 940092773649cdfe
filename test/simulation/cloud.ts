/**
 * A cloud node: the account's actor, the edge rooms and the publisher as supervision/node.ts wires them, over the
 * story's database.
 */
import type { z } from 'zod';
import { createAccountEntity, type AccountReply } from '../../actors/account/account.ts';
import type { AccountCommand, AccountEvent, AccountState, RowWrite } from '../../model/account/capabilities.ts';
import { createSystem, systemClock, type KernelLog } from '../../actors/kernel/index.ts';
import type { Ladder } from '../../actors/webhook/ladder.ts';
import type { Publisher } from '../../actors/webhook/ports.ts';
import { createPublisher } from '../../actors/webhook/publisher.ts';
import { EdgeRooms, type Joined } from '../../gateway/edge-stream/rooms.ts';
import { builtView } from '../../gateway/http/views.ts';
import type { Connection } from '../../gateway/edge-stream/sessions.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { isRefusal, refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import {
  attemptsFrame,
  heartbeatFrame,
  instructionsFrame,
  keySetFrame,
  localKeysFrame,
  releaseFrame,
  type Acknowledgement,
  type HandshakeAuth,
  type HeartbeatBody,
  type SyncBody,
} from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import { createAccounts } from '../../actors/account/port.ts';
import { ENTITY_RESTARTS, restartPolicy, WORKER_RESTARTS } from '../../actors/kernel/restart-policy.ts';
import { adr, IDENTITY } from '../support/account.ts';
import { simulatedBook } from './chain.ts';
import type { StoryDatabase, Stores } from './database.ts';
import type { Process } from './machine.ts';
import type { CloudEnd } from './network.ts';
import type { Plant } from './plants.ts';
import type { Accepts } from './wire.ts';

type BuildIntent = Extract<AccountCommand, { type: 'build_withdrawal' }>['intent'];

/** Short, so that a story of half an hour climbs all of it. */
const STORY_LADDER: Ladder = { pausesMs: [2_000, 10_000, 30_000], jitterPercent: 5, retryAfterMsMax: 60_000 };
const INBOX_SWEEP_MS = 1_000;
const INBOX_AGE_MS = 2_000;

const quiet: KernelLog = { warn: () => undefined, error: () => undefined };
const log = { ...quiet, info: () => undefined } as unknown as Parameters<typeof createAccounts>[0]['log'];

export interface CloudOptions {
  readonly process: Process;
  readonly database: StoryDatabase;
  readonly plant: Plant;
  /** What a node counts of the sender's transactions. */
  readonly counted: () => number;
}

export class Cloud implements CloudEnd {
  readonly process: Process;
  readonly accounts: Accounts;
  readonly accepts: Accepts;
  readonly rooms: EdgeRooms;
  readonly #accountId: AccountId;
  readonly #stores: Stores;
  readonly #publisher: Publisher;
  readonly #plant: Plant;
  readonly #counted: () => number;
  #isServing = false;

  constructor({ process, database, plant, counted }: CloudOptions) {
    this.process = process;
    this.#counted = counted;
    this.#plant = plant;
    this.#accountId = database.seed.state.accountId;
    this.#stores = database.open(process);
    const system = createSystem({
      log: quiet,
      clock: systemClock,
      random: Math.random,
      policies: { entity: restartPolicy(ENTITY_RESTARTS), worker: restartPolicy(WORKER_RESTARTS) },
    });
    const entities = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
      entity: createAccountEntity({
        book: simulatedBook,
        inFlight: { deposit: { other: 64 }, gas_tank: { other: 1 }, treasury: { other: 1 } },
      }),
      store: plant.accounts?.(this.#stores.accounts) ?? this.#stores.accounts,
      shardOf,
    });
    this.accounts = createAccounts({
      entities,
      inbox: this.#stores.inbox,
      nowMs: Date.now,
      log,
      onPublished: (id) => this.#publisher.ring(id),
      onPoolUsed: () => undefined,
    });
    const { sessions } = this.#stores;
    this.rooms = new EdgeRooms({
      isHere: () => true,
      accounts: this.accounts,
      publisher: () => this.#publisher,
      clock: systemClock,
      log,
      store: {
        saveSessions: sessions.saveSessions,
        openSessions: sessions.openSessions,
        saveLocalKeys: sessions.saveLocalKeys,
        localKeys: sessions.localKeys,
        keysToRevoke: sessions.keysToRevoke,
        saveKeySet: sessions.saveKeySet,
        keySets: sessions.keySets,
        saveInstructions: sessions.saveInstructions,
        instruction: sessions.instruction,
      },
    });
    this.#publisher = createPublisher({
      node: 'node',
      store: plant.deliveries?.(this.#stores.deliveries) ?? this.#stores.deliveries,
      streams: this.rooms,
      secrets: { open: (sealed) => sealed },
      clock: systemClock,
      random: Math.random,
      log,
      ladder: STORY_LADDER,
    });
    this.accepts = { admit: (auth, connection) => this.#admit(auth, connection), frame: answerFrame };
  }

  /** Called within its process. */
  start(): void {
    const begin = (): void =>
      void this.rooms.start().then(
        () => {
          this.#isServing = true;
          this.#publisher.start();
          this.#sweep();
        },
        () => setTimeout(begin, 1_000),
      ); // a node that cannot read its database is started again
    begin();
  }

  /** As `POST /v1/transactions` builds: `counted` is what a node counts of the sender. Null when nothing was built. */
  async build({
    id,
    intent,
    from,
    counted,
  }: {
    id: string;
    intent: BuildIntent;
    from: AddressRow;
    counted: number;
  }): Promise<WithdrawalRow | null> {
    try {
      const used =
        this.#plant.usedValue === undefined
          ? await this.#stores.usedValue(intent.from)
          : this.#plant.usedValue(intent.from);
      const inputs = { readAtHeight: 1, counted };
      const answer = await this.accounts.ask(this.#accountId, {
        type: 'build_withdrawal',
        id,
        intent,
        inputs,
        from,
        used,
        tokenSymbol: 'ETH',
        decimals: 18,
      });
      return answer.ok === true ? answer.reply : null;
    } catch {
      return null; // the database is away: the caller gets 503
    }
  }

  async request(
    operation: string,
    { params = {}, body }: { params?: Record<string, string>; body?: unknown },
  ): Promise<unknown> {
    if (!this.#isServing) return refuse('SERVICE_UNAVAILABLE');
    const ask = async (command: AccountCommand) => {
      const answer = await this.accounts.ask(this.#accountId, command);
      return answer.ok === true ? answer.reply : answer;
    };
    switch (operation) {
      case 'syncEdge': {
        const { keys, pools } = body as SyncBody;
        return ask({
          type: 'enrol',
          publicKey: IDENTITY,
          keys,
          pools,
          rotationId: 'rot_1',
          addressIds: Array.from({ length: 10 }, adr),
        });
      }
      case 'resumeEdge':
        return ask({ type: 'resume', publicKey: IDENTITY });
      case 'heartbeatEdge': {
        const known = await ask({ type: 'resume', publicKey: IDENTITY });
        if (isRefusal(known)) return known;
        const noted = await this.rooms.noteHeartbeat(this.#accountId, body as HeartbeatBody);
        return isRefusal(noted) ? noted : { ...noted, serverTimeMs: Date.now() };
      }
      case 'bindCounter': {
        const known = await this.#stores.withdrawal(params['id']!).catch(() => null);
        if (known === null) return refuse('SERVICE_UNAVAILABLE');
        const used =
          this.#plant.usedValue === undefined
            ? await this.#stores.usedValue(known.from).catch(() => undefined)
            : this.#plant.usedValue(known.from);
        if (used === undefined) return refuse('SERVICE_UNAVAILABLE');
        const inputs = { readAtHeight: 1, counted: this.#counted() };
        const bound = await ask({
          type: 'bind_withdrawal',
          known,
          inputs,
          used,
          gaveUp: (body as { gaveUp: string[] }).gaveUp,
        });
        return isRefusal(bound) ? bound : builtView(bound as WithdrawalRow);
      }
      case 'submitSigned': {
        const known = await this.#stores.withdrawal(params['id']!).catch(() => null);
        if (known === null) return refuse('SERVICE_UNAVAILABLE');
        const {
          signedPayload: payload,
          txid,
          sessionId,
          leaseEpoch,
        } = body as { signedPayload: string; txid: string; sessionId: string; leaseEpoch: number };
        const taken = await ask({
          type: 'submit_signed',
          known,
          signed: { chain: known.chain, payload, txid },
          sessionId,
          leaseEpoch,
        });
        if (isRefusal(taken)) return taken;
        await this.#submitFirst(taken as WithdrawalRow);
        return { id: known.id };
      }
      case 'broadcastTransaction': {
        const acknowledged = await this.rooms.askToSign(this.#accountId, params['id']!);
        if (acknowledged.ok) return { id: params['id'] };
        return isRefusal(acknowledged)
          ? acknowledged
          : refuse((acknowledged.code ?? 'INTERNAL_ERROR') as ErrorCode, acknowledged.details);
      }
      case 'getTransaction': {
        const known = await this.#stores.withdrawal(params['id']!).catch(() => null);
        return known === null ? refuse('SERVICE_UNAVAILABLE') : { id: known.id, status: known.status };
      }
      default:
        return refuse('NOT_FOUND', { operation });
    }
  }

  async #admit({ sessionId, edgeVersion, podHint }: HandshakeAuth, connection: Connection): Promise<Joined | Refusal> {
    if (!this.#isServing) return refuse('SERVICE_UNAVAILABLE');
    const known = await this.accounts.ask(this.#accountId, { type: 'resume', publicKey: IDENTITY });
    if (known.ok !== true) return known.ok === 'duplicate' ? refuse('INTERNAL_ERROR') : known;
    return this.rooms
      .join({ accountId: this.#accountId, sessionId, edgeVersion, podHint }, connection)
      .catch(() => refuse('INTERNAL_ERROR'));
  }

  /** The node of the chain takes everything. */
  async #submitFirst(row: WithdrawalRow): Promise<void> {
    if (row.status !== 'signing') return;
    await this.accounts.ask(this.#accountId, {
      type: 'note_broadcast',
      known: row,
      txid: row.txid!,
      result: { kind: 'accepted', txid: row.txid! },
    });
  }

  #sweep(): void {
    void this.#stores.inbox
      .accountsWithInbox(Date.now() - INBOX_AGE_MS, 1)
      .then((ids) => Promise.all(ids.map((id) => this.accounts.wake(id))))
      .catch(() => undefined)
      .then(() => setTimeout(() => this.#sweep(), INBOX_SWEEP_MS));
  }
}

/** As gateway/edge-stream/server.ts: parse, hand on, answer. */
async function answerFrame(
  joined: Joined,
  name: string,
  raw: unknown,
): Promise<{ ok: boolean; code?: string | undefined }> {
  const taken = async <S extends z.ZodType>(
    schema: S,
    hand: (frame: z.infer<S>) => Acknowledgement | Promise<Acknowledgement>,
  ) => {
    const parsed = schema.safeParse(raw);
    return parsed.success ? hand(parsed.data) : { ok: false, code: 'INVALID_INPUT' };
  };
  try {
    switch (name) {
      case 'heartbeat':
        return await taken(
          heartbeatFrame,
          (frame) => joined.heartbeat(frame) ?? { ok: false, code: 'SERVICE_UNAVAILABLE' },
        );
      case 'attempts':
        return await taken(attemptsFrame, (frame) => joined.attempts(frame));
      case 'instructions':
        return await taken(instructionsFrame, ({ records }) => joined.instructions(records));
      case 'key_set':
        return await taken(keySetFrame, ({ set }) => joined.keySet(set));
      case 'release':
        return await taken(releaseFrame, ({ leaseEpoch }) => joined.release(leaseEpoch));
      default:
        return await taken(localKeysFrame, ({ records }) => joined.localKeys(records));
    }
  } catch {
    return { ok: false, code: 'INTERNAL_ERROR' };
  }
}
