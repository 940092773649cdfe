/** Input against the route's schemas: nothing is coerced, stripped or defaulted that the schema does not say. */
import type { z } from 'zod';
import { ERRORS, precedenceOf, refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import type { Route } from '../../protocol/route.ts';

/** Problems that one refusal names. */
const PROBLEMS_MAX = 20;
const MESSAGE_CHARS_MAX = 200;

export interface Input { readonly params: unknown; readonly query: unknown; readonly body: unknown }
export type Validated = { readonly ok: true } & Input;

/** The parsed input. Refuses: INVALID_INPUT, or the code of the value that is wrong; the earliest of the table wins. */
export function validate(route: Route, input: Input): Validated | Refusal {
  const problems: Problem[] = [];
  const read = (where: keyof Input, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (schema === undefined) {
      if (isEmpty(value)) return {};
      problems.push({ code: 'INVALID_INPUT', field: where, message: `this path takes no ${where}` });
      return {};
    }
    const parsed = schema.safeParse(value ?? {});
    if (parsed.success) return parsed.data;
    problems.push(...parsed.error.issues.map((issue) => problemOf(where, issue)));
    return undefined;
  };
  const params = read('params', route.params, input.params);
  const query = read('query', route.query, input.query);
  const body = read('body', route.body, input.body);
  return problems.length === 0 ? { ok: true, params, query, body } : refusalOf(problems);
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

interface Problem { readonly code: ErrorCode; readonly field: string; readonly message: string }

function problemOf(where: keyof Input, issue: z.core.$ZodIssue): Problem {
  const path = issue.path.map(String).join('.');
  const code = Object.hasOwn(ERRORS, issue.message) ? issue.message as ErrorCode : 'INVALID_INPUT';
  // The names of unknown fields are the caller's text: they are not repeated.
  const known = code === 'INVALID_INPUT' ? issue.message : ERRORS[code][1];
  const message = issue.code === 'unrecognized_keys' ? 'unknown field' : known;
  return {
    code, field: path === '' ? where : where === 'body' ? path : `${where}.${path}`,
    message: message.slice(0, MESSAGE_CHARS_MAX),
  };
}

function refusalOf(problems: readonly Problem[]): Refusal {
  const [first] = problems.toSorted((left, right) => precedenceOf(left.code) - precedenceOf(right.code));
  const { code, field } = first!;
  // A path parameter that cannot be an id names nothing: no detail helps whoever guesses.
  if (code === 'NOT_FOUND') return refuse('NOT_FOUND');
  return refuse(code, {
    field, problems: problems.slice(0, PROBLEMS_MAX).map(({ field: name, message }) => ({ field: name, message })),
  });
}
