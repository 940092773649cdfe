/**
 * What customers are shown of a chain, and what their payments are built on, by two endpoints where two are alive. One
 * that lies would else answer a wrong balance, or lock a wallet behind a counter that nobody used.
 * docs/chains/endpoints.md.
 *
 *   A and B agree           answered, at one question to each
 *   A and B contradict      a third is asked; else both again, at a common height where the chain's nodes can, up to
 *                           CONTRADICTED_TRIES times; then `EndpointsContradict`: 503, and one line for the operator
 *   B gives no answer       asked once more; then A alone decides, and B is out
 *   B is out                asked beside the others and not awaited, one question at a time, until it answers in time
 */
import {
  type Agreement,
  type Balance,
  type BuildInputs,
  type ChainClient,
  type ChainModule,
  ChainUnavailable,
  type Intent,
  type Network,
  type Token,
} from '../chains/chain.ts';
import { chainFailure } from '../chains/failure.ts';
import type { Log, Metrics } from './ports.ts';
import { lagBlocksOf } from './follow/quorum.ts';

/** An endpoint that has not answered for this long while another one has is out, milliseconds. RPC_HEDGE_MS. */
export const HEDGE_MS = 2_500;
/** Times that contradicting endpoints are asked again, and the pause before it: a block reaches them within it. */
const CONTRADICTED_TRIES = 2;
const AGAIN_MS = 500;

/** Living endpoints disagree and no third one settles it: nothing is proven. */
export class EndpointsContradict extends ChainUnavailable {
  readonly about: readonly string[];
  constructor(chain: Network['slug'], about: readonly string[]) {
    super(
      chain,
      `endpoints contradict each other about ${about.join(', ')}: nothing is answered until they agree or one is removed from the configuration`,
    );
    this.name = 'EndpointsContradict';
    this.about = about;
  }
}

export interface OpinionParts {
  readonly network: Network;
  readonly module: Pick<ChainModule, 'agreeInputs'>;
  /** Over all endpoints; for everything that needs no second opinion. */
  readonly client: ChainClient;
  /** One for each endpoint, at least two. */
  readonly witnesses: readonly ChainClient[];
  /** Whether an endpoint counts as alive, by its place from 0. quorum.ts. */
  counts(index: number): boolean;
  /** Calls back after a time; the function that it returns cancels that. */
  timer(ms: number, then: () => void): () => void;
  readonly hedgeMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Answer<T> {
  readonly index: number;
  readonly value: T;
}
interface Silence {
  readonly index: number;
  readonly isLate: boolean;
}
interface Heard<T> {
  readonly answers: readonly Answer<T>[];
  readonly silent: readonly Silence[];
  readonly reasons: readonly string[];
}
type Read<T> = (client: ChainClient) => Promise<T>;
type Settled<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly about: readonly string[] };
/** What two answers come to; `alone` what a single one does. */
interface Judge<T> {
  both(a: Answer<T>, b: Answer<T>): Promise<Settled<T>>;
  alone(one: T): T;
}

/** The client over all endpoints, whose balances and inputs of builds are two endpoints' word. */
export function withSecondOpinion(parts: OpinionParts): ChainClient {
  const board = new Board(parts);
  const { client, network, module } = parts;
  const agreeInputs = module.agreeInputs ?? equalInputs;
  return {
    ...client,
    fetchBalance: (address, token) =>
      board.ask((one) => one.fetchBalance(address, token), {
        alone: (balance) => balance,
        both: async (a, b) =>
          sameBalance(a.value, b.value)
            ? { ok: true, value: a.value }
            : atCommonHeight(parts, a, b, { address, token }),
      }),
    async fetchBuildInputs(intent) {
      const inputs = await board.ask<BuildInputs>((one) => one.fetchBuildInputs(intent), {
        alone: (one) => ({ ...one, counter: 'one_word' }),
        both: (a, b) => inputsOf(parts, a, b, agreeInputs(network, a.value, b.value, intent)),
      });
      return client.heed?.(inputs) ?? inputs;
    },
  };
}

/** For a family that says nothing of its own. */
const equalInputs = (_: Network, a: BuildInputs, b: BuildInputs, _intent: Intent): Agreement<BuildInputs> =>
  JSON.stringify(a) === JSON.stringify(b) ? { ok: true, inputs: a } : { ok: false, about: ['inputs'] };

const sameBalance = (a: Balance, b: Balance): boolean =>
  a.amount === b.amount &&
  a.reserved === b.reserved &&
  a.available === b.available &&
  a.decimals === b.decimals &&
  a.accountExists === b.accountExists;

/**
 * Heads differ for a moment: both are asked at the lower one, unless it is so far below the other that the node is
 * behind.
 */
async function atCommonHeight(
  { network, witnesses }: OpinionParts,
  a: Answer<Balance>,
  b: Answer<Balance>,
  { address, token }: { address: string; token: Token | null },
): Promise<Settled<Balance>> {
  const pair = [witnesses[a.index]!, witnesses[b.index]!],
    no = { ok: false, about: ['balance'] } as const;
  if (pair.some(({ fetchBalanceAt }) => fetchBalanceAt === undefined)) return no;
  try {
    const heights = await Promise.all(pair.map(async (one) => (await one.getHead()).height)),
      height = Math.min(...heights);
    if (Math.max(...heights) - height > lagBlocksOf(network)) return no;
    const [ours, theirs] = await Promise.all(pair.map((one) => one.fetchBalanceAt!(address, token, height)));
    return sameBalance(ours!, theirs!) ? { ok: true, value: ours! } : no;
  } catch (error) {
    if (chainFailure(error) === null) throw error;
    return no;
  }
}

/** What the two agree on, if the one whose block was not taken has it. */
async function inputsOf(
  { witnesses }: OpinionParts,
  a: Answer<BuildInputs>,
  b: Answer<BuildInputs>,
  agreement: Agreement<BuildInputs>,
): Promise<Settled<BuildInputs>> {
  if (!agreement.ok) return agreement;
  try {
    const upheld = await Promise.all([a, b].map(({ index }) => witnesses[index]!.upholds?.(agreement.inputs) ?? true));
    return upheld.every(Boolean) ? { ok: true, value: agreement.inputs } : { ok: false, about: ['reference block'] };
  } catch (error) {
    if (chainFailure(error) === null) throw error;
    return { ok: false, about: ['reference block'] };
  }
}

/** Who is asked, and who is not waited for. */
class Board {
  readonly #parts: OpinionParts;
  /** Endpoints that did not answer in time; nobody waits for them. */
  readonly #out = new Set<number>();
  readonly #probed = new Set<number>();
  #turn = 0;
  #logged = '';

  constructor(parts: OpinionParts) {
    this.#parts = parts;
  }

  async ask<T>(read: Read<T>, judge: Judge<T>): Promise<T> {
    const { network } = this.#parts;
    for (let tries = 0, silences = 0; ; tries += 1) {
      const order = this.#order();
      this.#probe(read);
      const { answers, silent, reasons } = await this.#hear(order, read, 2);
      if (answers.length === 0) throw new ChainUnavailable(network.slug, reasons.join('; ') || 'no endpoint answers');
      if (answers.length === 1) {
        if (silences > 0 || silent.every(({ isLate }) => isLate)) {
          for (const { index } of silent) this.#become(index, 'out');
          return judge.alone(answers[0]!.value);
        }
        silences += 1; // one failed request does not let the other endpoint decide alone
        await this.#pause(AGAIN_MS);
        continue;
      }
      const settled = await this.#settle(order, read, judge, answers);
      if (settled.ok) return settled.value;
      if (tries - silences >= CONTRADICTED_TRIES) throw this.#contradiction(settled.about, answers);
      await this.#pause(AGAIN_MS);
    }
  }

  /** Two that say the same, with a third one where the first two do not. */
  async #settle<T>(
    order: readonly number[],
    read: Read<T>,
    judge: Judge<T>,
    first: readonly Answer<T>[],
  ): Promise<Settled<T>> {
    const [a, b] = [first[0]!, first[1]!],
      settled = await judge.both(a, b);
    const others = order.filter((index) => index !== a.index && index !== b.index);
    if (settled.ok || others.length === 0) {
      if (settled.ok) this.#agreed();
      return settled;
    }
    const {
      answers: [third],
    } = await this.#hear(others, read, 1);
    for (const one of third === undefined ? [] : [a, b]) {
      const outvoting = await judge.both(one, third!);
      if (!outvoting.ok) continue;
      this.#contradiction(settled.about, first);
      return outvoting;
    }
    return settled;
  }

  /** Endpoints that are waited for, another one first at each turn; all of them where none is. */
  #order(): number[] {
    const { witnesses, counts } = this.#parts,
      all = witnesses.map((_, index) => index);
    const waited = all.filter((index) => counts(index) && !this.#out.has(index));
    const some = waited.length > 0 ? waited : all;
    this.#turn += 1;
    return some.map((_, at) => some[(at + this.#turn) % some.length]!);
  }

  /** Sends the same question to endpoints that are not waited for: one that answers counts again. */
  #probe<T>(read: Read<T>): void {
    for (const index of this.#out) {
      if (this.#probed.has(index)) continue;
      this.#probed.add(index);
      let isLate = false;
      const stop = this.#parts.timer(this.#parts.hedgeMs, () => {
        isLate = true;
      });
      read(this.#parts.witnesses[index]!)
        .then(
          () => {
            if (!isLate) this.#become(index, 'in');
          },
          () => undefined,
        )
        .finally(() => {
          stop();
          this.#probed.delete(index);
        });
    }
  }

  /** Asks in order until so many have answered; the next one is asked as well where one is late, or has none. */
  #hear<T>(order: readonly number[], read: Read<T>, enough: number): Promise<Heard<T>> {
    const { witnesses, hedgeMs, timer } = this.#parts;
    return new Promise((resolve, reject) => {
      const answers: Answer<T>[] = [],
        silent: Silence[] = [],
        reasons: string[] = [],
        timers = new Set<() => void>();
      let next = 0,
        awaited = 0,
        running = 0,
        isDone = false;
      const end = () => {
        isDone = true;
        for (const stop of timers) stop();
      };
      const go = () => {
        while (!isDone && next < order.length && answers.length + awaited < enough) start(order[next++]!);
        if (isDone || (answers.length < enough && (awaited > 0 || (answers.length === 0 && running > 0)))) return;
        end();
        resolve({ answers, silent, reasons });
      };
      const start = (index: number) => {
        awaited += 1;
        running += 1;
        let isLate = false;
        let stop: () => void;
        const watch = () => {
          stop = timer(hedgeMs, late);
          timers.add(stop);
        };
        const late = () => {
          timers.delete(stop);
          // the first to answer is not alone for that
          if (answers.length === 0 && next >= order.length) return watch();
          isLate = true;
          awaited -= 1;
          silent.push({ index, isLate });
          go();
        };
        watch();
        const settled = () => {
          stop();
          timers.delete(stop);
          running -= 1;
          if (!isLate) awaited -= 1;
        };
        read(witnesses[index]!).then(
          (value) => {
            settled();
            answers.push({ index, value });
            go();
          },
          (error: unknown) => {
            settled();
            const reason = chainFailure(error);
            if (reason === null) {
              end();
              return reject(error as Error);
            }
            if (!isLate) silent.push({ index, isLate });
            reasons.push(`endpoint ${index + 1}: ${reason}`);
            go();
          },
        );
      };
      go();
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.timer(ms, resolve);
    });
  }

  /** Logs one line when an endpoint is no longer waited for, and one when it answers again. */
  #become(index: number, place: 'in' | 'out'): void {
    const {
        log,
        network: { slug: chain },
      } = this.#parts,
      endpoint = `${chain}-${index + 1}`;
    if (this.#out.has(index) === (place === 'out')) return;
    if (place === 'out') {
      this.#out.add(index);
      log.warn({ chain, endpoint }, 'an endpoint gives customers no answer in time: the others answer without it');
    } else {
      this.#out.delete(index);
      log.info({ chain, endpoint }, 'an endpoint answers customers again');
    }
  }

  #agreed(): void {
    this.#logged = '';
  }

  /** Logged once, until endpoints agree again. */
  #contradiction(about: readonly string[], answers: readonly Answer<unknown>[]): EndpointsContradict {
    const {
      log,
      metrics,
      network: { slug: chain },
    } = this.#parts;
    const endpoints = answers.map(({ index }) => `${chain}-${index + 1}`).sort(),
      said = `${endpoints.join()} ${about.join()}`;
    metrics.add('svc_reads_contradicted_total', { chain });
    if (this.#logged !== said)
      log.error(
        { chain, endpoints, reason: about.join(', ') },
        'endpoints contradict each other about what customers ask: check which one is wrong',
      );
    this.#logged = said;
    return new EndpointsContradict(chain, about);
  }
}
