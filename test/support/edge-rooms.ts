/**
 * Edge rooms over real account decisions, a memory store, a hand-turned clock, and streams that a test holds the far
 * end of.
 */
import type { AccountCommand } from '../../model/account/capabilities.ts';
import type { Attempt, Publisher } from '../../actors/webhook/ports.ts';
import { EdgeRooms, type Joined } from '../../gateway/edge-stream/rooms.ts';
import type { Connection } from '../../gateway/edge-stream/sessions.ts';
import type { Answer } from '../../model/ports/accounts.ts';
import type { InstructionNotKept, SessionRow } from '../../model/ports/edge-store.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import {
  EDGE_VERSION,
  type HeartbeatReply,
  type InstructionRecord,
  type KeySetRecord,
  type LocalKeyRecord,
} from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import { enrolled, ses, type TestAccount } from './account.ts';
import { HandClock } from './clock.ts';
import { until } from './until.ts';

/** The far end of one stream. */
export class TestConnection implements Connection {
  readonly frames: { frame: string; body: Record<string, unknown> }[] = [];
  closedWith: string | null = null;
  answer: (frame: string, body: object) => unknown = () => ({ ok: true });
  joined: Joined | null = null;

  send(frame: string, body: object): void {
    this.frames.push({ frame, body: body as Record<string, unknown> });
  }

  async ask(frame: string, body: object): Promise<unknown> {
    this.send(frame, body);
    return this.answer(frame, body);
  }

  close(code: string): void {
    this.closedWith = code;
    this.joined?.left(true);
  }

  of(frame: string): Record<string, unknown>[] {
    return this.frames.filter((each) => each.frame === frame).map(({ body }) => body);
  }
}

/** One edge process: a session id, a stream when it has one, and what it believes of its lease. */
export class TestEdge {
  readonly sessionId = ses();
  connection = new TestConnection();
  epoch = 0;
  role = 'follower';

  get joined(): Joined {
    return this.connection.joined!;
  }

  /** Throws: TypeError where nothing is answered. */
  beat(leaseEpoch = this.epoch): HeartbeatReply {
    const reply = this.joined.heartbeat({ ...body(this.sessionId), leaseEpoch });
    if (reply === null) throw new TypeError('no answer');
    if (reply.ok) Object.assign(this, { epoch: reply.leaseEpoch, role: reply.role });
    return reply;
  }
}

export const body = (sessionId: string) => ({
  sessionId,
  edgeVersion: EDGE_VERSION,
  outboxDepth: 0,
  outboxPoisoned: false,
  outboxMode: 'durable' as const,
  podHint: null,
});

export class Rooms {
  clock = new HandClock();
  readonly accounts = new Map<AccountId, TestAccount>();
  readonly saved = new Map<string, SessionRow>();
  readonly localKeys = new Map<AccountId, LocalKeyRecord[]>();
  /** Accounts of other nodes. */
  readonly elsewhere = new Set<AccountId>();
  /** The node was frozen: its lease may be over. */
  lapsed = false;
  /** By account and replica. */
  readonly keySets = new Map<string, KeySetRecord>();
  /** By account and transaction. */
  readonly instructions = new Map<string, InstructionRecord>();
  /** What happens while an instruction is read. */
  readingInstruction: () => Promise<void> = async () => {};
  readonly reported: { accountId: AccountId; attempts: readonly Attempt[] }[] = [];
  readonly lost: AccountId[] = [];
  readonly rung: AccountId[] = [];
  /** Commands that the account answers with a refusal, while they stand here. */
  readonly failing = new Set<AccountCommand['type']>();
  /** Commands that the account carries out, while their answers do not arrive. */
  readonly unanswered = new Set<AccountCommand['type']>();
  readonly asked: AccountCommand['type'][] = [];
  failReports = false;
  readonly #held = new Map<AccountCommand['type'], Promise<void>>();
  /** A real one instead of the records below. */
  publisher: Publisher | null = null;
  rooms: EdgeRooms;

  /** What the store answers that it did not keep. */
  instructionsNotKept: readonly InstructionNotKept[] = [];
  localKeysNotKept: readonly string[] = [];
  /** Local keys whose revocation was asked for and has not come back. */
  toRevoke: string[] = [];
  /** The only identity that the store takes anything of. */
  pinned: string | null = null;

  constructor() {
    this.rooms = this.#create();
  }

  /** The account of a test: enrolled, unless another is given. */
  add(account: TestAccount = enrolled()): AccountId {
    this.accounts.set(account.state.accountId, account);
    return account.state.accountId;
  }

  /** Lets commands of a kind wait until what it answers is called. */
  hold(type: AccountCommand['type']): () => void {
    let release = (): void => {};
    this.#held.set(
      type,
      new Promise((resolve) => {
        release = resolve;
      }),
    );
    return () => {
      this.#held.delete(type);
      release();
    };
  }

  /** The node is killed; another one starts later with what it saved. */
  async restart(downMs = 0): Promise<void> {
    this.clock = new HandClock(this.clock.nowMs() + downMs);
    this.rooms = this.#create();
    await this.rooms.start();
  }

  async connect(accountId: AccountId, edge: TestEdge): Promise<Joined | Refusal> {
    const connection = new TestConnection();
    const joined = await this.rooms.join(
      { accountId, sessionId: edge.sessionId, edgeVersion: EDGE_VERSION, podHint: 'pod', publicKey: 'key' },
      connection,
    );
    if (isRefusal(joined)) return joined;
    connection.joined = joined;
    edge.connection = connection;
    edge.epoch = joined.welcome.leaseEpoch;
    edge.role = joined.welcome.role;
    return joined;
  }

  async edge(accountId: AccountId): Promise<TestEdge> {
    const edge = new TestEdge();
    const joined = await this.connect(accountId, edge);
    if (isRefusal(joined)) throw new Error(`${joined.code} ${JSON.stringify(joined.details)}`);
    return edge;
  }

  /** Turns the clock second by second, each edge beating as it should: a leader every 10 s, a follower every 30 s. */
  async pass(seconds: number, ...alive: TestEdge[]): Promise<void> {
    for (let second = 1; second <= seconds; second += 1) {
      this.clock.advance(1_000);
      for (const edge of alive) if (second % (edge.role === 'leader' ? 10 : 30) === 0) edge.beat();
      await settle();
    }
  }

  #isForeign(identity: string | null | undefined): boolean {
    return this.pinned !== null && identity !== this.pinned;
  }

  #create(): EdgeRooms {
    const store = {
      saveSessions: async (rows: readonly SessionRow[]) => void rows.forEach((row) => this.saved.set(row.id, row)),
      openSessions: async () => [...this.saved.values()].filter(({ endedAtMs }) => endedAtMs === null),
      saveLocalKeys: async (accountId: AccountId, records: readonly LocalKeyRecord[], identity?: string | null) => {
        if (this.#isForeign(identity)) return 'not_pinned' as const;
        const kept = records.filter(({ id }) => !this.localKeysNotKept.includes(id));
        this.localKeys.set(accountId, [...(this.localKeys.get(accountId) ?? []), ...kept]);
        return this.localKeysNotKept;
      },
      localKeys: async (accountId: AccountId) => this.localKeys.get(accountId) ?? [],
      keysToRevoke: async () => this.toRevoke,
      saveKeySet: async (accountId: AccountId, set: KeySetRecord, identity?: string | null) => {
        if (this.#isForeign(identity)) return 'not_pinned' as const;
        const name = `${accountId} ${set.replica}`,
          isNew = (this.keySets.get(name)?.version ?? 0) < set.version;
        if (isNew) this.keySets.set(name, set);
        return isNew ? ('kept' as const) : ('known' as const);
      },
      keySets: async (accountId: AccountId) =>
        [...this.keySets].flatMap(([name, set]) => (name.startsWith(`${accountId} `) ? [set] : [])),
      saveInstructions: async (
        accountId: AccountId,
        records: readonly InstructionRecord[],
        identity?: string | null,
      ) => {
        if (this.#isForeign(identity)) return 'not_pinned' as const;
        for (const record of records) this.instructions.set(`${accountId} ${record.transactionId}`, record);
        return this.instructionsNotKept;
      },
      instruction: async (accountId: AccountId, transactionId: string) => {
        await this.readingInstruction();
        return this.instructions.get(`${accountId} ${transactionId}`) ?? null;
      },
    };
    return new EdgeRooms({
      isHere: (shard) => !this.lapsed && ![...this.elsewhere].some((accountId) => shardOf(accountId) === shard),
      store,
      clock: this.clock,
      log: { info: () => {}, warn: () => {} },
      accounts: { ask: this.ask },
      publisher: () =>
        this.publisher ?? {
          report: async (accountId, attempts) => {
            if (this.failReports) throw new Error('the database is away');
            this.reported.push({ accountId, attempts });
          },
          ring: (accountId) => void this.rung.push(accountId!),
          leaderLost: (accountId) => void this.lost.push(accountId),
        },
    });
  }

  readonly ask = async <C extends AccountCommand>(accountId: AccountId, command: C): Promise<Answer<C>> => {
    this.asked.push(command.type);
    if (this.#held.has(command.type)) await this.#held.get(command.type);
    if (this.failing.has(command.type)) return refuse('SERVICE_UNAVAILABLE');
    const account = this.accounts.get(accountId);
    if (account === undefined) return refuse('NOT_FOUND');
    account.nowMs = this.clock.nowMs();
    const decision = account.decide(command);
    if (!decision.ok) return decision;
    const { reply } = account.accept(command);
    return this.unanswered.has(command.type) ? refuse('SERVICE_UNAVAILABLE') : ({ ok: true, reply } as Answer<C>);
  };
}

/** Rooms of a node that has started. */
export async function opened(): Promise<Rooms> {
  const rooms = new Rooms();
  await rooms.rooms.start();
  return rooms;
}

/** Code of a refusal, `accepted` for every other answer. */
export const codeOf = (answer: object): string => (isRefusal(answer) ? (answer as Refusal).code : 'accepted');

/** Everything that was ready has run. */
export async function settle(): Promise<void> {
  let turns = 0;
  await until('promises settled', () => (turns += 1) > 3);
}
