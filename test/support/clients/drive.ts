/** Starts a driver and has it run cases of the suite. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { openScriptedServer } from './scripted-server.ts';
import { expanded, judge, type Case, type Result, type Run } from './suite.ts';

export interface Driver {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What the client calls itself. */
  readonly agent: string;
}
export interface Asked {
  readonly case: Case;
  readonly client?: string;
}
export interface Judged extends Asked {
  readonly wrong: readonly string[];
}

/**
 * Every case with what was wrong in it, in order; a case of many runs has what was wrong in the first that failed.
 * `every`: of a case that breaks off at each byte, only each such byte.
 */
export async function drive(driver: Driver, asked: readonly Asked[], every = 1): Promise<Judged[]> {
  const judged = await driven(driver, asked, every);
  // On a busy machine a limit of 60 ms can be over before the request has left: what rests on time gets more, once.
  const again = judged.filter((one) => one.wrong.length > 0 && one.client === undefined && restsOnTime(one.case));
  if (again.length === 0) return judged;
  const patient = await driven(
    driver,
    again.map(({ case: one }) => ({ case: patiently(one) })),
    every,
  );
  return judged.map((one) => {
    const at = again.indexOf(one);
    return at < 0 ? one : { ...one, wrong: patient[at]!.wrong };
  });
}

type Limits = Readonly<Record<string, unknown>>;
const LIMITS = ['timeoutMs', 'deadlineMs'];
const SHORT_MS = 60;
const PATIENT_MS = 700; // still before the scripted service gives up

function restsOnTime({ options, call }: Case): boolean {
  return call !== undefined && ('abort' in call || [options, call as Limits].some((from) => isShort(from)));
}
function isShort(from: Limits | undefined): boolean {
  return LIMITS.some((name) => from?.[name] === SHORT_MS);
}
function patiently(one: Case): Case {
  const longer = <T extends object>(from: T): T =>
    Object.fromEntries(
      Object.entries(from).map(([name, value]) => [
        name,
        LIMITS.includes(name) && value === SHORT_MS ? PATIENT_MS : (value as unknown),
      ]),
    ) as T;
  return {
    ...one,
    ...(one.options === undefined ? {} : { options: longer(one.options) }),
    // A request of a loaded machine may be on its way for longer than it is waited for at first.
    ...(one.call === undefined ? {} : { call: { ...longer(one.call), abortAfterMs: PATIENT_MS } }),
  };
}

async function driven(driver: Driver, asked: readonly Asked[], every: number): Promise<Judged[]> {
  const server = await openScriptedServer();
  try {
    const runs = asked.flatMap(({ case: one, client }, of) =>
      expanded(one)
        .filter((_, at) => at % every === 0)
        .map((each) => ({
          of,
          run: { ...server.add(each), id: one.id, case: each, ...(client === undefined ? {} : { client }) } as Run,
        })),
    );
    const results = await resultsOf(
      driver,
      runs.map(({ run }) => run),
    );
    const wrong = asked.map((): readonly string[] => []);
    for (const { of, run } of runs) {
      const result = results.get(run.n) ?? { n: run.n, crashed: 'the driver said nothing of it' };
      if (wrong[of]!.length === 0) wrong[of] = judge(run, result, server.requestsOf(run.n), driver.agent);
    }
    return asked.map((one, at) => ({ ...one, wrong: wrong[at]! }));
  } finally {
    await server.close();
  }
}

async function resultsOf({ command, args, cwd, env }: Driver, runs: readonly Run[]): Promise<Map<number, Result>> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const results = new Map<number, Result>();
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
  child.stdin.end(runs.map((run) => `${JSON.stringify(run)}\n`).join(''));
  for await (const line of createInterface({ input: child.stdout })) {
    const result = JSON.parse(line) as Result;
    results.set(result.n, result);
  }
  await ended;
  return results;
}
