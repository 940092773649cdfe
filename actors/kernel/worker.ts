/**
 * A worker: a serial mailbox whose `receive` may do I/O and has its own memory (a watcher, the publisher, a schedule).
 * What it does must be safe to do again: after a fault the message is not retried, the worker recovers and goes on.
 */
import { type Refusal, isRefusal } from '../../protocol/errors.ts';
import { addressOf, Target, type Address } from './address.ts';
import { Envelope } from './envelope.ts';
import type { RestartPolicy } from './fault.ts';
import { Leaf } from './leaf.ts';
import type { Parent, Shared } from './shared.ts';
import { OwnedTimers, type Deadlines } from './timers.ts';

/** What a worker may use of the kernel while it works. */
export interface WorkerContext<Message> {
  readonly self: Address<Message>;
  /** Cancelled at each restart and at the stop. A callback that throws is a fault of the worker's, noted and logged. */
  readonly timers: OwnedTimers;
  /** Aborted when the drain begins: for waits that may be cut short, not for calls that must complete. */
  readonly signal: AbortSignal;
  /** Puts a message into its own mailbox. False when that is full or stopping. */
  sendSelf(message: Message): boolean;
}

export interface WorkerSpec<Message, Reply> {
  /** Its path: `watchers/eth`, or `publisher` for one right below the root. */
  readonly path: string;
  readonly policy?: RestartPolicy;
  readonly mailboxMax?: number;
  /** Runs before the first message and after each restart: forget, read again, arm the timers. */
  recover?(context: WorkerContext<Message>): void | Promise<void>;
  /** One message at a time; what it returns is the asker's reply. A throw is a fault. */
  receive(message: Message, context: WorkerContext<Message>): Reply | Refusal | Promise<Reply | Refusal>;
  /** For the admin endpoints; without secrets. */
  summarise?(): Readonly<Record<string, unknown>>;
}

export class WorkerLeaf<Message, Reply> extends Leaf {
  readonly kind = 'worker';
  readonly policy: RestartPolicy;
  readonly mailboxMax: number;
  readonly #spec: WorkerSpec<Message, Reply>;
  readonly #context: WorkerContext<Message>;
  readonly #timers: OwnedTimers;
  readonly #abort = new AbortController();
  #recovered = false;

  constructor(
    shared: Shared,
    parent: Parent,
    name: string,
    spec: WorkerSpec<Message, Reply>,
    limits: { policy: RestartPolicy; mailboxMax: number },
  ) {
    super(shared, parent, name);
    this.policy = limits.policy;
    this.mailboxMax = limits.mailboxMax;
    this.#spec = spec;
    this.#timers = new OwnedTimers(shared.clock, (error) => this.note(error));
    this.#context = {
      self: addressOf(new WorkerTarget(this)),
      timers: this.#timers,
      signal: this.#abort.signal,
      sendSelf: (message) => this.deliver(new Envelope(message, null)),
    };
  }

  get id(): string {
    return this.name;
  }
  get address(): Address<Message, Reply> {
    return this.#context.self as Address<Message, Reply>;
  }

  /** Puts the worker into the tree and lets it recover. */
  override enter(): void {
    super.enter();
    this.wake();
  }

  override drain(atRest: () => void): void {
    this.#abort.abort();
    this.#timers.cancelAll();
    super.drain(atRest);
  }

  summary(): Readonly<Record<string, unknown>> | null {
    return this.guard(() => this.#spec.summarise?.()) ?? null;
  }

  protected override hasWork(): boolean {
    return this.depth > 0 || (!this.#recovered && this.phase === 'live');
  }

  protected forget(): void {
    this.#timers.cancelAll();
    this.#recovered = false;
  }

  protected async turn(): Promise<void> {
    if (!this.#recovered) {
      await this.#spec.recover?.(this.#context);
      this.#recovered = true;
    }
    const [envelope] = this.take(1);
    if (envelope === undefined || this.stopped) return;
    const reply = await this.#spec.receive(envelope.command as Message, this.#context);
    this.answer(envelope, isRefusal(reply) ? reply : { ok: true, reply });
  }
}

class WorkerTarget extends Target {
  readonly #leaf: Leaf;
  constructor(leaf: Leaf) {
    super();
    this.#leaf = leaf;
  }
  get path(): string {
    return this.#leaf.path;
  }
  get deadlines(): Deadlines {
    return this.#leaf.shared.deadlines;
  }
  deliver(envelope: Envelope): boolean {
    return this.#leaf.deliver(envelope);
  }
}
