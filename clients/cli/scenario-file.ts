/**
 * Scenarios as they are written: YAML with steps, each of which calls an operation, moves the sandbox's clock, expects
 * an answer, or waits for an event. What a step answered is named by `as`, and is put in place of `${name.field}` in
 * the steps behind it. X77.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { EVENTS } from '../../protocol/slugs.ts';
import { CommandFailed, EXIT } from './answer.ts';

const SHIPPED = fileURLToPath(new URL('./scenarios/', import.meta.url));
/** Of a file that is no scenario. */
const BYTES_MAX = 200_000;

const name = z.string().regex(/^[a-z][A-Za-z0-9]*$/, 'a name begins with a small letter; letters and digits follow');
const seconds = z.number().int().min(1).max(600);
const given = z.record(z.string(), z.unknown());
const side = z.enum(['cloud', 'edge']).optional();

const call = z.strictObject({ call: name, with: given.optional(), on: side, as: name.optional() });
const refused = call.extend({ refused: z.string().regex(/^[A-Z][A-Z0-9_]+$/, 'the code of the refusal') });
const advance = z.strictObject({
  advance: z
    .strictObject({ seconds: z.number().int().min(1).optional(), to: z.string().optional() })
    .refine((one) => one.seconds !== undefined || one.to !== undefined, 'needs `seconds`, `to`, or both'),
  as: name.optional(),
});
const expect = z.strictObject({
  expect: name,
  with: given.optional(),
  on: side,
  is: z.unknown(),
  within: seconds.optional(),
  as: name.optional(),
});
const wait = z.strictObject({
  wait: z.enum(EVENTS),
  where: given.optional(),
  within: seconds.optional(),
  as: name.optional(),
});
/** What a step is known by. */
const KINDS = { call, advance, expect, wait } as const;

const scenario = z.strictObject({
  about: z.string().min(1).max(300),
  needs: z.array(z.enum(['edge'])).optional(),
  inputs: z.record(name, z.string().nullable()).optional(),
  steps: z.array(z.record(z.string(), z.unknown())).min(1).max(200),
  afterwards: z.array(z.record(z.string(), z.unknown())).max(50).optional(),
});

export type Step =
  | z.output<typeof call>
  | z.output<typeof refused>
  | z.output<typeof advance>
  | z.output<typeof expect>
  | z.output<typeof wait>;
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly needsEdge: boolean;
  /** By name; null: it has to be given. */
  readonly inputs: Readonly<Record<string, string | null>>;
  readonly steps: readonly Step[];
  /** Done also where a step was not as expected: what the sandbox is left as. */
  readonly afterwards: readonly Step[];
}

const wrong = (file: string, text: string): CommandFailed => new CommandFailed('SCENARIO', `${file}: ${text}`);

/** Names of those that are shipped. */
export const shippedScenarios = (): string[] =>
  readdirSync(SHIPPED)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();

/** A shipped one by its name, or a file. Throws: CommandFailed that names the place and what is wrong there. */
export function readScenario(nameOrFile: string): Scenario {
  if (shippedScenarios().includes(nameOrFile))
    return scenarioOf(nameOrFile, textOf(join(SHIPPED, `${nameOrFile}.yaml`)));
  if (!/\.ya?ml$/.test(nameOrFile))
    throw new CommandFailed(
      'USAGE',
      `no scenario ${nameOrFile.slice(0, 60)}: a file that ends in .yaml, or one of ${shippedScenarios().join(', ')}`,
    );
  return scenarioOf(basename(nameOrFile).replace(/\.ya?ml$/, ''), textOf(nameOrFile), nameOrFile);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrong(file, `is not read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Throws: CommandFailed. */
export function scenarioOf(called: string, text: string, file = called): Scenario {
  if (text.length > BYTES_MAX) throw wrong(file, `is longer than ${BYTES_MAX} characters`);
  const document = parseDocument(text, { schema: 'core', version: '1.2' });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) throw wrong(file, fault.message.split('\n')[0]!);
  const read = scenario.safeParse(document.toJS({ maxAliasCount: 0 }));
  if (!read.success) throw wrong(file, problemOf(read.error, ''));
  const { about, needs = [], inputs = {}, steps, afterwards = [] } = read.data;
  return {
    name: called,
    about,
    needsEdge: needs.includes('edge'),
    inputs,
    steps: steps.map((step, at) => stepOf(file, step, `step ${at + 1}`)),
    afterwards: afterwards.map((step, at) => stepOf(file, step, `afterwards ${at + 1}`)),
  };
}

function stepOf(file: string, step: Readonly<Record<string, unknown>>, place: string): Step {
  const kinds = Object.keys(KINDS).filter((kind) => Object.hasOwn(step, kind)) as (keyof typeof KINDS)[];
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) throw wrong(file, `${place}: is one of ${Object.keys(KINDS).join(', ')}`);
  const read = (Object.hasOwn(step, 'refused') && kind === 'call' ? refused : KINDS[kind]).safeParse(step);
  if (!read.success) throw wrong(file, problemOf(read.error, `${place}: `));
  return read.data;
}

function problemOf({ issues: [issue] }: z.ZodError, place: string): string {
  const { path, message } = issue!;
  return `${place}${path.length === 0 ? '' : `${path.join('.')}: `}${message}`;
}

const REFERENCE = /\$\{([^}]*)\}/g;
const WHOLE = /^\$\{([^}]*)\}$/;

/** A value with what its references name in their places. Throws: CommandFailed for one that names nothing. */
export function filled(value: unknown, known: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, known));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, filled(one, known)]));
  if (typeof value !== 'string') return value;
  const whole = WHOLE.exec(value);
  if (whole !== null) return named(whole[1]!, known);
  return value.replace(REFERENCE, (_, reference: string) => String(named(reference, known)));
}

function named(reference: string, known: ReadonlyMap<string, unknown>): unknown {
  const [first = '', ...rest] = reference.split('.');
  let value = known.get(first);
  for (const part of rest)
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined;
  if (value === undefined)
    throw new CommandFailed('SCENARIO', `\${${reference}} is nothing that a step before named`, EXIT.failed);
  return value;
}

/**
 * Where a value is not as expected: the path, what was expected there and what was seen; null where it is. An object is
 * expected in part; `$length` counts an array, `$some` is expected of one of its rows.
 */
export interface Miss {
  readonly at: string;
  readonly expected: unknown;
  readonly seen: unknown;
}
export function missOf(expected: unknown, seen: unknown, at = ''): Miss | null {
  if (typeof expected !== 'object' || expected === null) return expected === seen ? null : { at, expected, seen };
  const inner = (field: string | number) => (at === '' ? String(field) : `${at}.${field}`);
  if (Array.isArray(expected)) {
    if (!Array.isArray(seen) || seen.length !== expected.length) return { at, expected, seen };
    return first(expected.map((one, row) => missOf(one, seen[row], inner(row))));
  }
  const { $length, $some, ...fields } = expected as Readonly<Record<string, unknown>>;
  if ($length !== undefined || $some !== undefined) {
    const rows = Array.isArray(seen) ? (seen as unknown[]) : null;
    if (rows === null || ($length !== undefined && rows.length !== $length)) return { at, expected, seen };
    if ($some !== undefined && !rows.some((row) => missOf($some, row) === null)) return { at, expected, seen };
    return null;
  }
  if (typeof seen !== 'object' || seen === null) return { at, expected, seen };
  return first(
    Object.entries(fields).map(([field, one]) =>
      missOf(one, Object.hasOwn(seen, field) ? Reflect.get(seen, field) : undefined, inner(field)),
    ),
  );
}

const first = (misses: readonly (Miss | null)[]): Miss | null => misses.find((one) => one !== null) ?? null;
