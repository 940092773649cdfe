/**
 * Input against the route's schemas: nothing is coerced, stripped or defaulted that the schema does not say. Cloud and
 * edge read with it.
 */
import type { z } from 'zod';
import { chainMeant } from './chain-names.ts';
import { ERRORS, precedenceOf, refuse, type ErrorCode, type Refusal } from './errors.ts';
import { isName, problemsOf, PROBLEMS_MAX, unknownField, valueAt, type InputProblem } from './input-problems.ts';
import { amountProblem } from './money.ts';
import type { Route } from './route.ts';
import { storable, UNSTORABLE } from './schema/values.ts';
import { CHAINS } from './slugs.ts';

const MESSAGE_CHARS_MAX = 1_000;

export interface Input {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}
export type Validated = { readonly ok: true } & Input;

/** The parsed input. Refuses: INVALID_INPUT, or the code of the value that is wrong; the earliest of the table wins. */
export function validate(route: Pick<Route, 'params' | 'query' | 'body'>, input: Input): Validated | Refusal {
  const problems: Problem[] = [];
  const read = (where: keyof Input, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (schema === undefined) {
      problems.push(
        ...namesOf(value)
          .slice(0, PROBLEMS_MAX)
          .map((name) => ({
            ...at(where, unknownField('', name, [])),
            code: 'INVALID_INPUT' as const,
            message: `this path takes no ${where}`,
          })),
      );
      return {};
    }
    const parsed = schema.safeParse(value ?? {});
    if (parsed.success) return parsed.data;
    problems.push(
      ...namedOf(parsed.error.issues).flatMap((issue) =>
        problemsOf(schema, value ?? {}, issue).map((problem) => coded(at(where, problem), issue, value)),
      ),
    );
    return undefined;
  };
  const params = read('params', route.params, input.params);
  const query = read('query', route.query, input.query);
  const body = read('body', route.body, input.body);
  // A schema's own checks have their codes; what they let through, in a union or a record, is held to the same. Looked
  // at is what was sent: a schema leaves some of it out.
  if (problems.length === 0)
    for (const where of ['query', 'body'] as const) {
      const found = unkeptIn(input[where]);
      if (found !== null) problems.push({ ...at(where, found), code: 'INVALID_INPUT' });
    }
  return problems.length === 0 ? { ok: true, params, query, body } : refusalOf(problems, input);
}

/** A field of this name is left out by every schema without a word, and is another thing than a field to a program. */
const HIDDEN_NAME = '__proto__';

/**
 * The first text or name that is not kept as it was sent; null where there is none. A name that is the sender's own
 * text is not repeated: what has it is named.
 */
function unkeptIn(value: unknown): Pick<InputProblem, 'field' | 'message'> | null {
  const left: { readonly value: unknown; readonly field: string; readonly isShown: boolean }[] = [
    { value, field: '', isShown: true },
  ];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (typeof one.value === 'string' && !storable(one.value)) return { field: one.field, message: UNSTORABLE };
    if (typeof one.value !== 'object' || one.value === null) continue;
    for (const [name, inner] of Object.entries(one.value)) {
      if (!storable(name)) return { field: one.field, message: UNSTORABLE };
      const isShown = one.isShown && (Array.isArray(one.value) || isName(name));
      const field = isShown ? `${one.field}${one.field === '' ? '' : '.'}${name}` : one.field;
      if (name === HIDDEN_NAME) return { field, message: `no field is called ${HIDDEN_NAME}: give it another name` };
      left.push({ value: inner, field, isShown });
    }
  }
  return null;
}

/** The issues that a refusal names, and the one that its code is of. */
function namedOf(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  if (issues.length <= PROBLEMS_MAX) return issues;
  const earliest = issues.reduce((found, issue) =>
    precedenceOf(codeOf(issue)) < precedenceOf(codeOf(found)) ? issue : found,
  );
  const first = issues.slice(0, PROBLEMS_MAX);
  return first.includes(earliest) ? first : [...first, earliest];
}

/** Names of what is sent where nothing is taken; a value that is no object has none, and is named as a whole. */
function namesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : [''];
}

interface Problem extends InputProblem {
  readonly code: ErrorCode;
}

/** A body's field is named by its path alone, any other field with its place. */
function at(where: keyof Input, problem: InputProblem): InputProblem {
  const { field } = problem;
  return { ...problem, field: field === '' ? where : where === 'body' ? field : `${where}.${field}` };
}

const codeOf = ({ message }: z.core.$ZodIssue): ErrorCode =>
  Object.hasOwn(ERRORS, message) ? (message as ErrorCode) : 'INVALID_INPUT';

function coded(problem: InputProblem, issue: z.core.$ZodIssue, value: unknown): Problem {
  const code = codeOf(issue);
  if (code === 'INVALID_CHAIN') return { ...problem, code, ...ofChain(issue, value) };
  return {
    ...problem,
    code,
    message: (code === 'INVALID_INPUT'
      ? problem.message
      : code === 'INVALID_AMOUNT'
        ? amountProblem(valueAt(value, issue.path))
        : ERRORS[code][1]
    ).slice(0, MESSAGE_CHARS_MAX),
  };
}

function ofChain({ path }: z.core.$ZodIssue, value: unknown): Pick<Problem, 'message' | 'known' | 'nearest'> {
  const given = path.reduce<unknown>((inside, part) => (inside as Record<PropertyKey, unknown> | null)?.[part], value);
  const nearest = typeof given === 'string' ? chainMeant(given) : null;
  return {
    message: `unsupported chain slug;${nearest === null ? '' : ` did you mean ${nearest}?`} known: ${CHAINS.join(', ')}`,
    known: CHAINS,
    ...(nearest === null ? {} : { nearest }),
  };
}

function refusalOf(problems: readonly Problem[], { params }: Input): Refusal {
  const [first] = problems.toSorted((left, right) => precedenceOf(left.code) - precedenceOf(right.code));
  const { code, field, message, known, nearest } = first!;
  // A path parameter that cannot be an id names nothing; it is named as it came.
  if (code === 'NOT_FOUND') return notAnId(field, (params as Record<string, unknown>)[field.replace(/^params\./, '')]);
  return refuse(
    code,
    {
      field,
      ...(known === undefined ? {} : { known }),
      ...(nearest === undefined ? {} : { nearest }),
      problems: problems
        .slice(0, PROBLEMS_MAX)
        .map(({ field: name, message: text }) => ({ field: name, message: text })),
    },
    `${field}: ${message}`,
  );
}

const ID_CHARS_MAX = 64;

function notAnId(field: string, value: unknown): Refusal {
  const name = field.replace(/^params\./, ''),
    id = typeof value === 'string' ? value.slice(0, ID_CHARS_MAX) : '';
  return refuse(
    'NOT_FOUND',
    { [name]: id, reason: 'not_an_id', next: 'send an id as the service gave it' },
    `${id} is not the form of this path's {${name}}: nothing has that name`,
  );
}
