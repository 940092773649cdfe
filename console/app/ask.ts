/**
 * Asks the public API as who is signed in, in one organization and environment. A spent token is replaced and the
 * request made again; a missing second factor opens one dialog. Console C3, C9.
 */
import { signal } from '@preact/signals';
import type { Answered, Call } from '../../protocol/client.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { OperationId, ReplyOf } from '../../protocol/routes.ts';
import type { Environment } from '../../protocol/slugs.ts';
import { answerOf } from './passkey.ts';
import { leaveReading, login, loginFor, open, reading, refresh, signedIn, Unreachable } from './session.ts';

export interface Scope {
  readonly organizationId: string;
  readonly environment: Environment;
}
/** No organization: what is about oneself, and the administrators' paths. */
export type Asking = Scope | null;

const nobody = (): Answered<never> => outcomeOf(refuse('UNAUTHORIZED', { reason: 'signed out' }));
const outcomeOf = (outcome: Refusal): Answered<never> => ({
  status: 401,
  requestId: null,
  replayed: false,
  retryAfterSeconds: null,
  outcome,
});

/** One request. A 401 is followed by one refresh and one repetition. */
export async function ask<O extends OperationId>(
  operationId: O,
  scope: Asking,
  call?: Call<O>,
): Promise<Answered<ReplyOf<O>>> {
  try {
    const held = await loginFor(scope?.organizationId ?? null);
    if (held === null) return nobody();
    const answer = await once(operationId, scope, call, held.accessToken);
    if (answer.status !== 401) return answer;
    if (reading.peek() !== null) {
      leaveReading(true);
      return answer;
    }
    const again = await refresh();
    if (again === null) return answer;
    const right = await loginFor(scope?.organizationId ?? null);
    return right === null ? answer : once(operationId, scope, call, right.accessToken);
  } catch (error) {
    if (error instanceof Unreachable) return { ...outcomeOf(error.refusal), status: 503 };
    throw error;
  }
}

function once<O extends OperationId>(
  operationId: O,
  scope: Asking,
  call: Call<O> | undefined,
  bearer: string,
): Promise<Answered<ReplyOf<O>>> {
  const client = open.with({ bearer, ...(scope === null ? {} : { environment: scope.environment }) });
  // What must be given is given: the compiler holds the callers to it, and cannot follow it through a rest parameter.
  const asked = client.ask as (operationId: O, call?: Call<O>) => Promise<Answered<ReplyOf<O>>>;
  return asked(operationId, call);
}

// ── The second factor ────────────────────────────────────────────────────────────────────────────────────────────

/** What the dialog shows while a code is asked for. */
export interface CodeAsked {
  readonly what: string;
  /** The refusal that it was asked for, or that of the code before. */
  readonly refusal: Refusal;
  /** A code, `PASSKEY` for the answer of a passkey in its place, or null where the reader stepped back. */
  answer(code: string | null): void;
}
export const PASSKEY = 'passkey';
export const codeAsked = signal<CodeAsked | null>(null);

function askForCode(what: string, refusal: Refusal): Promise<string | null> {
  return new Promise((resolve) => {
    codeAsked.value = {
      what,
      refusal,
      answer(code) {
        codeAsked.value = null;
        resolve(code);
      },
    };
  });
}

/**
 * A write that may need a second factor. `inBody`: the code itself goes with the request and is spent by it; otherwise
 * a step-up first. Null when the reader closed the dialog.
 */
export async function askWithFactor<O extends OperationId>(
  what: string,
  operationId: O,
  scope: Asking,
  callOf: (code: string | undefined) => Call<O>,
  {
    inBody = false,
    unless = () => false,
  }: { inBody?: boolean; /** Refusals that the caller answers itself. */ unless?: (refusal: Refusal) => boolean } = {},
): Promise<Answered<ReplyOf<O>> | null> {
  let answer = await ask(operationId, scope, callOf(undefined));
  while (isRefusal(answer.outcome) && answer.outcome.code === 'TOTP_REQUIRED') {
    if (answer.outcome.details['reason'] === 'not_enrolled' || unless(answer.outcome)) return answer;
    const code = await askForCode(what, answer.outcome);
    if (code === null) return null;
    if (inBody) {
      answer =
        code === PASSKEY
          ? await askByPasskey(operationId, scope, callOf(undefined), answer.outcome)
          : await ask(operationId, scope, callOf(code));
      continue;
    }
    const proven =
      code === PASSKEY
        ? await stepUpByPasskey(scope, answer.outcome)
        : await ask('stepUp', scope, { body: { totp: code } });
    if (isRefusal(proven.outcome)) {
      answer = { ...proven, outcome: proven.outcome };
      continue;
    }
    signedIn(proven.outcome);
    answer = await ask(operationId, scope, callOf(undefined));
  }
  return answer;
}

const refused = (outcome: Refusal): Answered<never> => ({ ...outcomeOf(outcome), status: 403 });

/** A step-up by a passkey; the refusal that it was asked for, where the person gave no answer. */
async function stepUpByPasskey(scope: Asking, before: Refusal): Promise<Answered<ReplyOf<'stepUp'>>> {
  const question = await ask('askPasskey', scope, { body: {} });
  if (isRefusal(question.outcome)) return { ...question, outcome: question.outcome };
  const passkey = await answerOf(question.outcome);
  return passkey === null ? refused(before) : ask('stepUp', scope, { body: { passkey } });
}

/** One request with the answer of a passkey that was made for it: its operation, path and body. */
async function askByPasskey<O extends OperationId>(
  operation: O,
  scope: Asking,
  call: Call<O>,
  before: Refusal,
): Promise<Answered<ReplyOf<O>>> {
  const { params = {}, body = {} } = call as { params?: Record<string, string>; body?: Record<string, unknown> };
  const question = await ask('askPasskey', scope, { body: { operation, params, body } });
  if (isRefusal(question.outcome)) return { ...question, outcome: question.outcome };
  const passkey = await answerOf(question.outcome);
  return passkey === null ? refused(before) : ask(operation, scope, { ...call, body: { ...body, passkey } } as Call<O>);
}

/** True where the role of this login allows what needs `needs`. The server decides all the same. */
export function may(needs: 'viewer' | 'editor' | 'owner'): boolean {
  const order = ['viewer', 'editor', 'owner'];
  const role = login.value?.role ?? null;
  return role !== null && order.indexOf(role) >= order.indexOf(needs);
}
