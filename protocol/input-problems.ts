/**
 * What is wrong with an input, in plain words: the field, what was expected of it, and for an unknown field the known
 * ones.
 */
import { z } from 'zod';
import { nearestOf } from './nearest.ts';

export interface InputProblem {
  /** Path of the field in its object, `` for the object itself. */
  readonly field: string;
  readonly message: string;
  /** Names that the object knows, and the one that was meant; of an unknown field only. */
  readonly known?: readonly string[];
  readonly nearest?: string;
}

/** A name that may be repeated: an identifier. Anything else is the sender's text and is not shown. */
const NAME = /^[A-Za-z_$][\w$.-]{0,63}$/;
export const isName = (text: string): boolean => NAME.test(text);
const KNOWN_MAX = 40;
/** Problems that one refusal names. No more are put in words, however many a body has: each takes its time. */
export const PROBLEMS_MAX = 20;
/** Beginnings of zod's own messages: what a schema says itself is plain already. */
const OWN_WORDS = /^(?:Invalid|Too (?:small|big)|Unrecognized)/;

/** The problems of one issue: an unknown field each, of the first PROBLEMS_MAX, else one. */
export function problemsOf(schema: z.ZodType, value: unknown, issue: z.core.$ZodIssue): InputProblem[] {
  const at = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = namesAt(schema, issue.path);
    return issue.keys.slice(0, PROBLEMS_MAX).map((key) => unknownField(at, key, known));
  }
  return [
    { field: at, message: OWN_WORDS.test(issue.message) ? inWords(issue, valueAt(value, issue.path)) : issue.message },
  ];
}

/** An unknown field of an object with these names. */
export function unknownField(at: string, key: string, known: readonly string[]): InputProblem {
  const nearest = nearestOf(key, known);
  const isShown = isName(key),
    listed = known.slice(0, KNOWN_MAX);
  return {
    field: isShown ? [at, key].filter((part) => part !== '').join('.') : at,
    message:
      `unknown field${isShown ? '' : ' (its name is not repeated)'};${nearest === null ? '' : ` did you mean ${nearest}?`}` +
      ` ${listed.length === 0 ? 'no field is known here' : `known: ${listed.join(', ')}`}`,
    known: listed,
    ...(nearest === null ? {} : { nearest }),
  };
}

/** The value at a path of another one; undefined where that has none. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, part) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, part)
        ? (at as Record<PropertyKey, unknown>)[part]
        : undefined,
    value,
  );
}

/** Names of the fields that the objects at a path of a schema have. */
export function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const found = path.reduce<readonly z.core.$ZodType[]>(
    (schemas, part) => schemas.flatMap((one) => partsOf(one, part)),
    [schema],
  );
  return [
    ...new Set(
      found.flatMap((one) =>
        formsOf(one).flatMap(({ _zod: { def } }) =>
          def.type === 'object' ? Object.keys((def as z.core.$ZodObjectDef).shape) : [],
        ),
      ),
    ),
  ];
}

/** Names of the fields of a schema, and of all that is in it. */
export function everyNameIn(schema: z.ZodType): ReadonlySet<string> {
  const names = new Set<string>(),
    seen = new Set<z.core.$ZodType>();
  for (let open: z.core.$ZodType[] = [schema]; open.length > 0;) {
    const forms = open.flatMap(formsOf).filter((one) => !seen.has(one));
    for (const one of forms) seen.add(one);
    open = forms.flatMap(({ _zod: { def } }) => {
      if (def.type === 'array') return [(def as z.core.$ZodArrayDef).element];
      if (def.type === 'record') return [(def as z.core.$ZodRecordDef).valueType];
      if (def.type !== 'object') return [];
      const { shape } = def as z.core.$ZodObjectDef;
      for (const name of Object.keys(shape)) names.add(name);
      return Object.values(shape);
    });
  }
  return names;
}

function partsOf(schema: z.core.$ZodType, part: PropertyKey): readonly z.core.$ZodType[] {
  return formsOf(schema).flatMap(({ _zod: { def } }) => {
    switch (def.type) {
      case 'object': {
        const { shape } = def as z.core.$ZodObjectDef;
        return Object.hasOwn(shape, part) ? [shape[part as string]!] : [];
      }
      case 'array':
        return [(def as z.core.$ZodArrayDef).element];
      case 'record':
        return [(def as z.core.$ZodRecordDef).valueType];
      default:
        return [];
    }
  });
}

/** The schemas inside optional, nullable, piped, lazy and joined schemas. */
function formsOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  const { def } = schema._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'nonoptional':
    case 'catch':
      return formsOf((def as z.core.$ZodOptionalDef).innerType);
    case 'pipe':
      return formsOf((def as z.core.$ZodPipeDef).in);
    case 'lazy':
      return formsOf((def as z.core.$ZodLazyDef).getter());
    case 'union':
      return (def as z.core.$ZodUnionDef).options.flatMap(formsOf);
    case 'intersection':
      return [(def as z.core.$ZodIntersectionDef).left, (def as z.core.$ZodIntersectionDef).right].flatMap(formsOf);
    default:
      return [schema];
  }
}

function inWords(issue: z.core.$ZodIssue, given: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return given === undefined
        ? `missing: send ${named(issue.expected)}`
        : `expected ${named(issue.expected)}, not ${kindOf(given)}`;
    case 'invalid_value':
      return `expected ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `expected ${sized(issue.origin, `at least ${issue.minimum}`, Number(issue.minimum))}`;
    case 'too_big':
      return `expected ${sized(issue.origin, `at most ${issue.maximum}`, Number(issue.maximum))}`;
    case 'invalid_format':
      return `expected ${FORMATS[issue.format] ?? 'another form of text: the API description has its pattern and an example'}`;
    case 'unrecognized_keys':
      return 'unknown field';
    default:
      return 'of none of the forms that the API description lists';
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'an ISO 8601 instant with its offset, as 2026-11-27T09:30:00Z',
  date: 'an ISO 8601 date, as 2026-11-27',
  uuid: 'a UUID',
  email: 'an e-mail address',
  url: 'a URL with its scheme, as https://example.com/hooks',
  base64: 'base64',
  json_string: 'JSON',
};

function sized(origin: string, bound: string, count: number): string {
  switch (origin) {
    case 'string':
      return `${bound} character${count === 1 ? '' : 's'}`;
    case 'array':
    case 'set':
      return `${bound} ${count === 1 ? 'entry' : 'entries'}`;
    default:
      return bound;
  }
}

function named(expected: string): string {
  switch (expected) {
    case 'int':
      return 'a whole number';
    case 'record':
      return 'an object';
    case 'nonoptional':
      return 'a value';
    default:
      return `${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`;
  }
}

function kindOf(given: unknown): string {
  if (given === null) return 'null';
  return named(Array.isArray(given) ? 'array' : typeof given);
}
