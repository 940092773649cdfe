/** The behaviour suite of the clients (`clients/suite/cases.json`): its form, and how a run is judged. X12. */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { ROOT } from '../tree.ts';

/** What the scripted service does with one request. */
export interface Reply {
  readonly status?: number;
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: object };
  readonly text?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of the body after which the connection breaks. */
  readonly cut?: number;
  /** Nothing comes any more: no answer at all, or half of its body. */
  readonly hang?: 'head' | 'body';
  readonly reset?: true;
  /** A body that says nothing of its length and ends with the connection. */
  readonly unframed?: true;
}
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}
interface ExpectedRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
}
export interface Case {
  readonly id: string;
  readonly rule: string;
  /** The fault in the client (`faults.ts`) that the case finds. */
  readonly fault: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly call?: {
    readonly operation: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly idempotencyKey?: string;
    readonly abortAfterMs?: number;
  };
  readonly verify?: object;
  readonly units?: object;
  readonly replies?: readonly Reply[];
  /** Each page of a list has one row and the next cursor, for ever. */
  readonly endless?: true;
  /** The first reply comes whole only the second time; before, it breaks off after each of its bytes in turn. */
  readonly cutEach?: true;
  readonly calls?: number;
  /** Languages in which the case cannot be, and why. */
  readonly not?: Readonly<Record<string, string>>;
  readonly expect: {
    readonly requests?: readonly ExpectedRequest[];
    readonly requestCount?: number;
    readonly itemCount?: number;
    readonly key?: string;
    readonly keysDiffer?: true;
    readonly waits?: readonly number[];
    readonly value?: unknown;
    readonly items?: readonly unknown[];
    readonly error?: Readonly<Record<string, unknown>>;
    readonly hidden?: readonly string[];
    readonly event?: unknown;
    readonly creditKey?: string;
    readonly reason?: string;
    readonly refused?: true;
  };
}
/** What a driver reports of one run. */
export interface Result {
  readonly n: number;
  readonly value?: unknown;
  readonly items?: readonly unknown[];
  readonly error?: Readonly<Record<string, unknown>>;
  /** Everything that a program could print of the error and of the client. */
  readonly shown?: string;
  readonly waits?: readonly number[];
  readonly abortedWithinMs?: number;
  readonly event?: unknown;
  readonly creditKey?: string;
  readonly reason?: string;
  readonly refused?: boolean;
  /** The driver itself failed. */
  readonly crashed?: string;
}
export interface Run {
  readonly n: number;
  readonly id: string;
  readonly case: Case;
  readonly base: string;
  /** Folder of the client, where it is another one than the driver's own. */
  readonly client?: string;
}

export const CASES = JSON.parse(readFileSync(join(ROOT, 'clients/suite/cases.json'), 'utf8')) as readonly Case[];

/** The body of a reply as it is sent. */
export function bodyOf({ text, data, error }: Reply): string {
  if (text !== undefined) return text;
  const meta = { requestId: 'req_1', timestamp: '2023-11-14T22:13:20.000Z' };
  return JSON.stringify(
    error === undefined
      ? { success: true, data, meta }
      : { success: false, data: null, error: { ...error, message: error.message }, meta },
  );
}

/** A case as it is run: one that is cut at each byte is as many. */
export function expanded(one: Case): Case[] {
  if (one.cutEach !== true) return [one];
  const [reply] = one.replies!;
  const bytes = Buffer.byteLength(bodyOf(reply!));
  return Array.from({ length: bytes }, (_, cut) => ({ ...one, replies: [{ ...reply, cut }, reply!] }));
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ABORT_MS_MAX = 1_000; // on a busy machine, a fifth of the time limit; ten are what it takes

/** What is not as the case expects; empty where all is. */
export function judge(run: Run, result: Result, requests: readonly SeenRequest[], agent: string): string[] {
  const { expect } = run.case;
  const wrong: string[] = [];
  const same = (what: string, found: unknown, wanted: unknown): void => {
    if (!isDeepStrictEqual(found, wanted))
      wrong.push(`${what}: ${JSON.stringify(found)?.slice(0, 300)}, not ${JSON.stringify(wanted)?.slice(0, 300)}`);
  };
  if (result.crashed !== undefined) return [`crashed: ${result.crashed}`];
  for (const name of ['value', 'items', 'event', 'creditKey', 'reason', 'refused', 'waits'] as const)
    if (expect[name] !== undefined) same(name, result[name], expect[name]);
  if (expect.itemCount !== undefined) same('items', result.items?.length, expect.itemCount);
  if (expect.error === undefined && result.error !== undefined) wrong.push(`an error: ${JSON.stringify(result.error)}`);
  for (const [name, value] of Object.entries(expect.error ?? {}))
    same(`error.${name}`, result.error?.[name], typeof value === 'string' ? value.replace('$base', run.base) : value);
  for (const text of expect.hidden ?? [])
    if (result.shown?.includes(text) !== false) wrong.push(`${text} is in what is shown of the error`);
  if (result.abortedWithinMs !== undefined && result.abortedWithinMs > ABORT_MS_MAX)
    wrong.push(`aborted after ${result.abortedWithinMs} ms`);
  return [...wrong, ...wrongRequests(run.case, requests, agent)];
}

function wrongRequests({ expect }: Case, requests: readonly SeenRequest[], agent: string): string[] {
  const wrong: string[] = [];
  const count = expect.requestCount ?? expect.requests?.length ?? 0;
  if (requests.length !== count) wrong.push(`${requests.length} requests, not ${count}`);
  expect.requests?.forEach((wanted, at) => {
    const found = requests[at];
    if (found === undefined) return;
    const say = (what: string, is: unknown, not: unknown): unknown =>
      isDeepStrictEqual(is, not) ||
      wrong.push(`request ${at} ${what}: ${JSON.stringify(is)}, not ${JSON.stringify(not)}`);
    say('method', found.method, wanted.method);
    say('path', found.path, wanted.path);
    say('query', found.query, wanted.query ?? {});
    for (const [name, value] of Object.entries(wanted.headers ?? {}))
      say(name, found.headers[name] ?? null, value === '$agent' ? agent : value);
    if (wanted.body === '') say('body', found.body, '');
    else if (wanted.body !== undefined) say('body', jsonOf(found.body), wanted.body);
  });
  const keys = [...new Set(requests.map(({ headers }) => headers['idempotency-key']))];
  if (expect.keysDiffer === true && keys.length !== requests.length)
    wrong.push(`one key for two calls: ${keys.join()}`);
  if (expect.key !== undefined) {
    const [key] = keys;
    const fits =
      keys.length === 1 &&
      (expect.key === 'none' ? key === undefined : expect.key === 'uuid' ? UUID.test(key ?? '') : key === expect.key);
    if (!fits) wrong.push(`keys ${JSON.stringify(keys)}, not ${expect.key}`);
  }
  return wrong;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
