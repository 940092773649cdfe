/**
 * `flock scenario NAME|FILE`: plays a written course of events in the sandbox, by the operations that anybody has, and
 * says which step was not as expected. X77.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Flags } from '../../protocol/node/commands.ts';
import { isFlockError, type Flock } from '../typescript/src/index.ts';
import { answer, answerLine, CommandFailed, EXIT, note, running, type Exit, type Running } from './answer.ts';
import { clockTo } from './clock.ts';
import { inputsGiven } from './inputs.ts';
import {
  filled,
  missOf,
  readScenario,
  shippedScenarios,
  type Miss,
  type Scenario,
  type Step,
} from './scenario-file.ts';
import { sessionOf, type Session } from './session.ts';
import { post, secretOf, targetOf } from './target.ts';

const LOOK_MS = 100;
const EXPECT_SECONDS = 10;
const WAIT_SECONDS = 30;
const POST_MS = 30_000;
const PAGE = 100;

type Event = Awaited<ReturnType<Flock['listEvents']>>['content'][number];
type Call = (input?: unknown) => Promise<unknown>;

/** A step that was not as expected. */
class Missed extends Error {
  readonly miss: Miss;
  constructor(miss: Miss) {
    super(`expected ${miss.at === '' ? '' : `${miss.at} `}${shown(miss.expected)}, seen ${shown(miss.seen)}`);
    this.miss = miss;
  }
}
const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 2_000);

export function scenario(args: readonly string[], flags: Flags): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: true,
    options: {
      edge: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      'forward-to': { type: 'string' },
      'secret-file': { type: 'string' },
      'allow-remote': { type: 'boolean', default: false },
    },
  });
  return running(flags, async (run): Promise<Exit | void> => {
    const [which, ...more] = positionals;
    if (which === undefined) return listed(flags);
    if (more.length > 0) throw new CommandFailed('USAGE', 'one scenario');
    const played = readScenario(which);
    const inputs = inputsOf(played, values.set);
    const session = sessionOf(flags, run);
    if (session.environment === 'live' || session.isEdge)
      throw new CommandFailed(
        'SANDBOX_ONLY',
        'a scenario is played in a sandbox: use a profile of the cloud with its key',
      );
    const edge = edgeOf(played, values.edge, flags, run);
    const to = values['forward-to'];
    const target = to === undefined ? null : targetOf(to, session, values['allow-remote']);
    const secret = target === null ? '' : secretOf(values['secret-file'], session.profile, process.env);
    const since = (await session.flock.listEvents({ size: 1 })).content[0]?.id ?? 'start';
    const forward = async (event: Event): Promise<void> => {
      if (target === null || event.body === null) return;
      const posted = await post(target, { id: event.id, body: event.body }, secret, { timeoutMs: POST_MS, ...run });
      note(flags, `${event.event} ${event.id} ${posted.how === 'answered' ? posted.status : posted.reason}`);
    };
    const player = new Player({ cloud: session.flock, edge: edge?.flock ?? null }, since, run, forward);
    return playAll(player, played, inputs, flags);
  });
}

/** Each step in its turn, and what is done afterwards. Answers the exit code. */
async function playAll(
  player: Player,
  { name, steps, afterwards }: Scenario,
  inputs: Readonly<Record<string, string>>,
  flags: Flags,
): Promise<Exit> {
  const known = new Map<string, unknown>(Object.entries(inputs));
  // What several runs in one sandbox must not have in common: who a customer is, what a key of idempotency is.
  known.set('run', crypto.randomUUID());
  const failed = await playSteps(player, steps, known, flags);
  for (const step of afterwards)
    await player.play(step, known).catch((error: unknown) => leftBehind(step, error, flags));
  if (failed !== null) {
    answer(flags, { scenario: name, passed: false, ...failed }, `${name}: step ${failed.step} was not as expected`);
    return EXIT.failed;
  }
  await player.rest();
  answer(flags, { scenario: name, passed: true, steps: steps.length }, `${name}: ${steps.length} steps, as expected`);
  return EXIT.done;
}

/** The step that was not as expected; null where all were. */
async function playSteps(
  player: Player,
  steps: readonly Step[],
  known: Map<string, unknown>,
  flags: Flags,
): Promise<{ readonly step: number } | null> {
  for (const [at, step] of steps.entries()) {
    const said = `${at + 1} ${wordsOf(step)}`;
    try {
      const became = await player.play(step, known);
      if (step.as !== undefined) known.set(step.as, became);
      note(flags, said);
    } catch (error) {
      const failed = failureOf(error);
      if (failed === null || player.isInterrupted) throw error;
      process.stderr.write(`${said}: ${failed.text}\n`);
      return { step: at + 1, ...failed.document };
    }
  }
  return null;
}

function leftBehind(step: Step, error: unknown, flags: Flags): void {
  const failed = failureOf(error);
  if (failed === null) throw error;
  note(flags, `afterwards, ${wordsOf(step)}: ${failed.text}`);
}

function wordsOf(step: Step): string {
  if ('wait' in step) return `wait ${step.wait}`;
  if ('advance' in step) return 'advance';
  return 'expect' in step ? `expect ${step.expect}` : `call ${step.call}`;
}

function failureOf(error: unknown): { text: string; document: object } | null {
  if (error instanceof Missed) return { text: error.message, document: { ...error.miss } };
  if (isFlockError(error)) return { text: error.message, document: { expected: 'an answer', seen: error.toJSON() } };
  if (error instanceof CommandFailed && error.code === 'SCENARIO')
    return { text: error.message, document: { expected: 'a reference', seen: error.message } };
  return null;
}

function edgeOf(
  { name, needsEdge }: Scenario,
  profile: string | undefined,
  flags: Flags,
  run: Running,
): Session | null {
  if (profile === undefined) {
    if (!needsEdge) return null;
    throw new CommandFailed('NEEDS', `${name} needs an edge that signs: --edge PROFILE of its local key`, EXIT.failed);
  }
  const session = sessionOf({ ...flags, profile }, run);
  if (session.isEdge && session.environment === 'sandbox') return session;
  throw new CommandFailed('KEY_OF_OTHER_SIDE', '--edge is a profile with a local key of an edge in the sandbox');
}

function inputsOf({ name, inputs }: Scenario, set: readonly string[]): Readonly<Record<string, string>> {
  const all = inputsGiven(name, inputs, set);
  const missing = Object.keys(all).find((input) => all[input] === null);
  if (missing !== undefined) throw new CommandFailed('NEEDS', `${name} needs --set ${missing}=VALUE`, EXIT.failed);
  return all as Readonly<Record<string, string>>;
}

/** Plays steps, and follows the events that come of them. */
class Player {
  readonly #sides: { readonly cloud: Flock; readonly edge: Flock | null };
  readonly #signal: AbortSignal;
  readonly #forward: (event: Event) => Promise<void>;
  /** Events since the beginning that no step has waited for. */
  readonly #events: Event[] = [];
  #place: string;

  constructor(
    sides: { readonly cloud: Flock; readonly edge: Flock | null },
    since: string,
    { signal }: Running,
    forward: (event: Event) => Promise<void>,
  ) {
    this.#sides = sides;
    this.#place = since;
    this.#signal = signal;
    this.#forward = forward;
  }

  get isInterrupted(): boolean {
    return this.#signal.aborted;
  }

  /** What the step answered. Throws: Missed, FlockError, CommandFailed. */
  play(step: Step, known: ReadonlyMap<string, unknown>): Promise<unknown> {
    if ('wait' in step) return this.#waited(step.wait, filled(step.where ?? {}, known), step.within ?? WAIT_SECONDS);
    if ('advance' in step) return this.#advanced(step.advance, known);
    if ('expect' in step) {
      const ask = this.#callOf(step.expect, step.on),
        input = filled(step.with ?? {}, known);
      return this.#until(step.within ?? EXPECT_SECONDS, async () => {
        const seen = await ask(input);
        return { seen, miss: missOf(filled(step.is, known), seen) };
      });
    }
    const made = this.#callOf(step.call, step.on)(filled(step.with ?? {}, known));
    return 'refused' in step ? refusedAs(step.refused, made) : made;
  }

  /** Events that came last are forwarded too. */
  async rest(): Promise<void> {
    await this.#look();
  }

  #callOf(operation: string, side: 'cloud' | 'edge' = 'cloud'): Call {
    const flock = this.#sides[side] as Readonly<Record<string, Call>> | null;
    if (flock === null) throw new CommandFailed('NEEDS', 'a step is done by an edge: --edge PROFILE', EXIT.failed);
    const call = Object.hasOwn(flock, operation) ? flock[operation] : undefined;
    if (call === undefined) throw new CommandFailed('SCENARIO', `there is no operation ${operation.slice(0, 60)}`);
    return call;
  }

  async #advanced(
    { seconds = 0, to }: { seconds?: number | undefined; to?: string | undefined },
    known: ReadonlyMap<string, unknown>,
  ) {
    const { cloud } = this.#sides;
    const from = to === undefined ? (await cloud.getSandboxClock()).now : String(filled(to, known));
    return clockTo(cloud, Date.parse(from) + seconds * 1_000);
  }

  #waited(event: string, where: unknown, seconds: number): Promise<unknown> {
    return this.#until(seconds, async () => {
      await this.#look();
      const fits = this.#events.map((one, at) => ({ one, at })).filter(({ one }) => one.event === event);
      for (const { one, at } of fits) {
        const body = one.body === null ? {} : (JSON.parse(one.body) as unknown);
        if (missOf(where, body) !== null) continue;
        this.#events.splice(at, 1);
        return { seen: body, miss: null };
      }
      const seen = fits.map(({ one }) => (one.body === null ? null : (JSON.parse(one.body) as unknown)));
      return { seen, miss: { at: event, expected: where, seen } };
    });
  }

  async #look(): Promise<void> {
    for (;;) {
      const { content, hasMore } = await this.#sides.cloud.listEvents({ since: this.#place, size: PAGE });
      for (const event of content) {
        await this.#forward(event);
        this.#events.push(event);
        this.#place = event.id;
      }
      if (!hasMore) return;
    }
  }

  async #until(seconds: number, look: () => Promise<{ seen: unknown; miss: Miss | null }>): Promise<unknown> {
    const endsAt = performance.now() + seconds * 1_000;
    for (;;) {
      const { seen, miss } = await look();
      if (miss === null) return seen;
      if (performance.now() > endsAt || this.#signal.aborted) throw new Missed(miss);
      await delay(LOOK_MS, null, { signal: this.#signal }).catch(() => undefined);
    }
  }
}

async function refusedAs(code: string, made: Promise<unknown>): Promise<unknown> {
  const seen = await made.then(
    (reply) => ({ reply }),
    (error: unknown) => {
      if (isFlockError(error)) return error.toJSON();
      throw error;
    },
  );
  const miss = missOf({ code }, seen);
  if (miss !== null) throw new Missed(miss);
  return seen;
}

function listed(flags: Flags): void {
  for (const name of shippedScenarios()) {
    const { about, needsEdge, inputs } = readScenario(name);
    if (flags.json) answerLine({ scenario: name, about, needsEdge, inputs });
    else process.stdout.write(`${name}  ${about}${needsEdge ? ' (--edge)' : ''}\n`);
  }
}
