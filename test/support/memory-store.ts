/** An entity store in memory that fences like the real one and fails when it is told to. */
import { refuse } from '../../protocol/errors.ts';
import { APPEND_REFUSED, type Append, type AppendOutcome, type EntityStore, type Loaded } from '../../model/entity.ts';

/**
 * What the next append does: `refused` is a constraint's ADDRESS_CONFLICT, `unstorable` a constraint that must never be
 * hit, `before` throws and has written nothing, `after` throws and has written all, `hang` never answers and has
 * written nothing, `hang_after` never answers and has written all, `late` never answers and is tried
 * when `landLate` is called.
 */
export type AppendFailure =
  'before' | 'after' | 'stale' | 'duplicate' | 'refused' | 'unstorable' | 'hang' | 'hang_after' | 'late';

interface Stream<State, Event, Row> {
  state: State;
  version: number;
  ownerEpoch: number;
  events: Event[];
  rows: Row[];
}

export interface MemoryStoreSpec<State, Row> {
  /** The state of an entity that nobody has written yet; null when it does not exist. */
  initial(entityId: string): State | null;
  /** The unique key that a row takes; null for none. */
  keyOf?(row: Row): string | null;
}

export class MemoryStore<State, Event, Row> {
  readonly #spec: MemoryStoreSpec<State, Row>;
  readonly #streams = new Map<string, Stream<State, Event, Row>>();
  readonly #keys = new Set<string>();
  readonly #appendFailures: AppendFailure[] = [];
  readonly #loadFailures: Error[] = [];
  readonly #held: (() => void)[] = [];
  readonly #late: Append<State, Event, Row>[] = [];
  #holding = false;
  /** Appends that took effect, in order. */
  readonly appended: Append<State, Event, Row>[] = [];
  /** Appends that were asked for. */
  attempts = 0;
  loads = 0;

  constructor(spec: MemoryStoreSpec<State, Row>) {
    this.#spec = spec;
  }

  /** The store as a node sees it that owns everything under this epoch. */
  ownedBy(epoch: number): EntityStore<State, Event, Row> {
    return { load: (entityId) => this.#load(entityId, epoch), append: (entry) => this.#append(entry) };
  }

  stream(entityId: string): Readonly<Stream<State, Event, Row>> | undefined {
    return this.#streams.get(entityId);
  }

  failAppends(...failures: AppendFailure[]): void {
    this.#appendFailures.push(...failures);
  }

  failLoads(...failures: Error[]): void {
    this.#loadFailures.push(...failures);
  }

  /** Appends wait, undecided, until `release`. */
  hold(): void {
    this.#holding = true;
  }

  release(): void {
    this.#holding = false;
    for (const go of this.#held.splice(0)) go();
  }

  /** Statements that everybody has given up arrive all the same. Answers how many took effect. */
  landLate(): number {
    return this.#late.splice(0).filter((entry) => this.#apply(entry).kind === 'appended').length;
  }

  async #load(entityId: string, epoch: number): Promise<Loaded<State> | null> {
    this.loads += 1;
    const failure = this.#loadFailures.shift();
    if (failure !== undefined) throw failure;
    const stream = this.#streamOf(entityId);
    if (stream === null) return null;
    if (stream.ownerEpoch > epoch) throw new Error(`stale owner: epoch ${epoch} is below ${stream.ownerEpoch}`);
    stream.ownerEpoch = epoch;
    return { state: stream.state, version: stream.version, ownerEpoch: epoch };
  }

  async #append(entry: Append<State, Event, Row>): Promise<AppendOutcome> {
    this.attempts += 1;
    if (this.#holding) await new Promise<void>((go) => this.#held.push(go));
    const failure = this.#appendFailures.shift();
    if (failure === 'before') throw new Error('connection lost before the statement');
    if (failure === 'stale' || failure === 'duplicate') return { kind: failure };
    if (failure === 'refused') return { kind: 'refused', refusal: refuse('ADDRESS_CONFLICT') };
    if (failure === 'unstorable') {
      throw Object.assign(new Error('append refused: 23514 amount_positive'), { code: APPEND_REFUSED });
    }
    if (failure === 'late') this.#late.push(entry);
    if (failure === 'hang' || failure === 'late') return new Promise(() => {});
    const outcome = this.#apply(entry);
    if (failure === 'after') throw new Error('connection lost after the statement');
    return failure === 'hang_after' ? new Promise(() => {}) : outcome;
  }

  #apply(entry: Append<State, Event, Row>): AppendOutcome {
    const stream = this.#streamOf(entry.entityId);
    if (stream === null || stream.ownerEpoch !== entry.ownerEpoch || stream.version !== entry.expectedVersion) {
      return { kind: 'stale' };
    }
    const keys = entry.rows.map((row) => this.#spec.keyOf?.(row) ?? null).filter((key) => key !== null);
    if (new Set(keys).size < keys.length || keys.some((key) => this.#keys.has(key))) return { kind: 'duplicate' };
    for (const key of keys) this.#keys.add(key);
    stream.state = entry.state;
    stream.version += entry.events.length;
    stream.events.push(...entry.events);
    stream.rows.push(...entry.rows);
    this.appended.push(entry);
    return { kind: 'appended' };
  }

  #streamOf(entityId: string): Stream<State, Event, Row> | null {
    const known = this.#streams.get(entityId);
    if (known !== undefined) return known;
    const state = this.#spec.initial(entityId);
    if (state === null) return null;
    const stream = { state, version: 0, ownerEpoch: 0, events: [], rows: [] };
    this.#streams.set(entityId, stream);
    return stream;
  }
}
