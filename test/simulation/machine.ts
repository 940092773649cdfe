/**
 * The machine that a story runs on: one true time, one queue of what happens next, processes that can be killed and
 * frozen, and hosts with clocks of their own. Nothing happens but by the queue, and between two of its entries every
 * promise has settled, so one seed gives one story.
 *
 * Production code is run as it is: while a story runs, the global timers, `Date.now`, `performance.now` and
 * `Math.random` belong to whichever process is at work. Outside of a process they are the real ones.
 */
import { seeded } from '../support/seeded.ts';
import { Queue, type Entry } from './queue.ts';

/** Story time begins here, so that instants look like instants. */
export const EPOCH_MS = 1_700_000_000_000;

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setImmediate: globalThis.setImmediate,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
  random: Math.random,
};

/** A handle of a simulated timer; `unref` and `ref` mean nothing here. */
class SimulatedTimer {
  readonly entry: Entry;
  constructor(entry: Entry) {
    this.entry = entry;
  }
  unref(): this {
    return this;
  }
  ref(): this {
    return this;
  }
}

/** A computer: its wall clock may be stepped, its monotonic clock runs at a rate that is not quite that of time. */
export class Host {
  readonly name: string;
  readonly rate: number;
  wallStepMs = 0;
  readonly #machine: Machine;

  constructor(machine: Machine, name: string, rate: number) {
    this.#machine = machine;
    this.name = name;
    this.rate = rate;
  }

  wallMs(): number {
    return Math.floor(EPOCH_MS + this.#machine.nowMs + this.wallStepMs);
  }

  monotonicMs(): number {
    return this.#machine.nowMs * this.rate;
  }
}

export class Process {
  readonly name: string;
  readonly host: Host;
  readonly #machine: Machine;
  #state: 'running' | 'frozen' | 'dead' = 'running';
  #backlog: (() => void)[] = [];

  constructor(machine: Machine, name: string, host: Host) {
    this.#machine = machine;
    this.name = name;
    this.host = host;
  }

  get dead(): boolean {
    return this.#state === 'dead';
  }
  get frozen(): boolean {
    return this.#state === 'frozen';
  }
  get running(): boolean {
    return this.#state === 'running';
  }

  /** Lets something happen in it: now, when it thaws, or never. */
  run(work: () => void): void {
    if (this.#state === 'dead') return;
    if (this.#state === 'frozen') return void this.#backlog.push(work);
    this.#machine.enter(this, work);
  }

  /** SIGSTOP. */
  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  /** SIGCONT: what came meanwhile happens one after the other. */
  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    for (const work of this.#backlog.splice(0)) this.#machine.after(0, () => this.run(work));
  }

  /** SIGKILL: nothing of it happens any more. */
  kill(): void {
    this.#state = 'dead';
    this.#backlog = [];
  }
}

export class Machine {
  readonly random: () => number;
  /** Milliseconds of true time since the story began. */
  nowMs = 0;
  events = 0;
  /** Called after each entry; the place of the checks that hold always. */
  onEvent: () => void = () => undefined;
  readonly #queue = new Queue();
  readonly #immediates: { process: Process | null; run: () => void }[] = [];
  readonly #outside: Promise<unknown>[] = [];
  #current: Process | null = null;

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  /** An integer in [0, below). */
  pick(below: number): number {
    return Math.floor(this.random() * below);
  }

  between(least: number, below: number): number {
    return least + this.random() * (below - least);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** Something that happens later, in no process unless it enters one. */
  after(delayMs: number, fire: () => void): Entry {
    return this.#queue.add(this.nowMs + Math.max(0, delayMs), fire);
  }

  cancel(entry: Entry): void {
    entry.fire = null;
  }

  /** Runs code as a process; the globals are its own meanwhile, and until all promises have settled. */
  enter(process: Process, work: () => void): void {
    // One process an event: what it starts in another one is an event of its own.
    if (this.#current !== null && this.#current !== process) return void this.after(0, () => process.run(work));
    this.#current = process;
    work();
  }

  /** Everything of the next `byMs` of true time happens. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.nowMs + byMs;
    for (let next = this.#queue.take(untilMs); next !== null; next = this.#queue.take(untilMs)) {
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.fire!();
      await this.settle();
      this.events += 1;
      this.onEvent();
    }
    this.nowMs = untilMs;
  }

  /** Every promise and every immediate of what just happened is done. */
  async settle(): Promise<void> {
    await this.#promises();
    for (let next = this.#outside.shift(); next !== undefined; next = this.#outside.shift()) {
      await next;
      await this.#promises();
    }
    for (let next = this.#immediates.shift(); next !== undefined; next = this.#immediates.shift()) {
      if (next.process?.dead === true) continue;
      // A process that froze within its own turn ends that turn: a freeze is between two of them.
      this.#current = next.process;
      next.run();
      await this.#promises();
    }
    this.#current = null;
  }

  /** Work outside of the machine, in no process: story time waits until it is done. What it says is its caller's. */
  outside(work: Promise<unknown>): void {
    this.#outside.push(work.catch(() => undefined));
  }

  /** Makes the globals those of the process at work. The answer gives them back. */
  takeGlobals(): () => void {
    const globals = globalThis as unknown as Record<string, unknown>;
    const current = () => this.#current;
    globals['setTimeout'] = (fire: (...values: unknown[]) => void, delayMs = 0, ...values: unknown[]) => {
      const process = current();
      if (process === null) return real.setTimeout(fire, delayMs, ...values);
      return new SimulatedTimer(this.after(delayMs / process.host.rate, () => process.run(() => fire(...values))));
    };
    globals['clearTimeout'] = (handle: unknown) => {
      if (handle instanceof SimulatedTimer) this.cancel(handle.entry);
      else real.clearTimeout(handle as NodeJS.Timeout);
    };
    globals['setImmediate'] = (run: (...values: unknown[]) => void, ...values: unknown[]) => {
      const process = current();
      if (process === null) return real.setImmediate(run, ...values);
      this.#immediates.push({ process, run: () => run(...values) });
      return undefined;
    };
    Date.now = () => current()?.host.wallMs() ?? real.dateNow();
    performance.now = () => current()?.host.monotonicMs() ?? real.performanceNow();
    Math.random = () => (current() === null ? real.random() : this.random());
    return () => {
      Object.assign(globalThis, {
        setTimeout: real.setTimeout,
        clearTimeout: real.clearTimeout,
        setImmediate: real.setImmediate,
      });
      Date.now = real.dateNow;
      performance.now = real.performanceNow;
      Math.random = real.random;
    };
  }

  /** Node empties its microtasks before each immediate. */
  #promises(): Promise<void> {
    return new Promise((resolve) => void real.setImmediate(resolve));
  }
}
