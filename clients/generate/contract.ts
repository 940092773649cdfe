/**
 * The contract: every operation, event and error code of the route table with the shapes of what travels. Clients are
 * generated from it, and a release freezes it.
 */
import { z } from 'zod';
import { ERRORS, statusOf, type ErrorCode } from '../../protocol/errors.ts';
import type { Credential, Method, Route } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import * as account from '../../protocol/schema/account.ts';
import * as addresses from '../../protocol/schema/addresses.ts';
import * as auditLog from '../../protocol/schema/audit-log.ts';
import * as billing from '../../protocol/schema/billing.ts';
import { DETAILS } from '../../protocol/schema/details.ts';
import * as edge from '../../protocol/schema/edge.ts';
import { EVENT_CATALOGUE, exampleOf } from '../../protocol/schema/events.ts';
import * as find from '../../protocol/schema/find.ts';
import * as imports from '../../protocol/schema/imports.ts';
import * as migration from '../../protocol/schema/migration.ts';
import * as passkeys from '../../protocol/schema/passkeys.ts';
import * as payments from '../../protocol/schema/payments.ts';
import * as people from '../../protocol/schema/people.ts';
import * as platform from '../../protocol/schema/platform.ts';
import * as scans from '../../protocol/schema/scans.ts';
import * as sso from '../../protocol/schema/sso.ts';
import * as support from '../../protocol/schema/support.ts';
import * as bridges from '../../protocol/schema/bridges.ts';
import * as sweeps from '../../protocol/schema/sweeps.ts';
import * as tokens from '../../protocol/schema/tokens.ts';
import * as transactions from '../../protocol/schema/transactions.ts';
import * as treasury from '../../protocol/schema/treasury.ts';
import * as webhooks from '../../protocol/schema/webhooks.ts';
import * as wipe from '../../protocol/schema/wipe.ts';
import { EVENTS, type OrgRole } from '../../protocol/slugs.ts';
import { VERSION } from '../../protocol/version.ts';
import { REF, shapeOf, type JsonSchema, type Shape } from './shape.ts';

export interface Operation {
  readonly method: Method;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly where: Route['where'];
  readonly credential: Credential;
  readonly role: OrgRole | null;
  /** It takes an `Idempotency-Key`. */
  readonly keyed: boolean;
  readonly sandboxOnly: boolean;
  readonly status: number;
  readonly params: Shape | null;
  readonly query: Shape | null;
  readonly body: Shape | null;
  /** Null: the answer is a document of the type in `bare`. */
  readonly reply: Shape | null;
  readonly bare: string | null;
}

export interface Contract {
  readonly version: string;
  readonly operations: Readonly<Record<string, Operation>>;
  /** Shape of `data` by event. */
  readonly events: Readonly<Record<string, Shape>>;
  readonly codes: Readonly<Record<string, { readonly status: number; readonly details: Shape }>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

const AREAS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  account,
  addresses,
  auditLog,
  billing,
  edge,
  find,
  imports,
  migration,
  passkeys,
  payments,
  people,
  platform,
  scans,
  sso,
  support,
  bridges,
  sweeps,
  tokens,
  transactions,
  treasury,
  webhooks,
  wipe,
};

const capital = (name: string): string => `${name[0]!.toUpperCase()}${name.slice(1)}`;
/** A schema of values that are written in place: a name for each text would say less than `text`. */
const isNamed = (schema: unknown): schema is z.ZodType =>
  schema instanceof z.ZodObject || schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodRecord;

/** Exported objects by their names; one of a name that is taken has its area before it. */
function namesOf(): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  const taken = new Set<string>();
  for (const [area, schemas] of Object.entries(AREAS)) {
    for (const [exported, schema] of Object.entries(schemas)) {
      if (!isNamed(schema) || names.has(schema) || /(?:Params|Query)$/.test(exported)) continue;
      const name = taken.has(capital(exported)) ? `${capital(area)}${capital(exported)}` : capital(exported);
      taken.add(name);
      names.set(schema, name);
    }
  }
  const events = Map.groupBy(EVENTS, (event): z.ZodType => EVENT_CATALOGUE[event].data);
  for (const [data, of] of events)
    if (!names.has(data)) names.set(data, `${sharedWords(of).map(capital).join('')}Data`);
  return names;
}

/** What events of one shape have in common: `deposit` of `deposit_detected` and `deposit_confirmed`. */
function sharedWords(names: readonly string[]): string[] {
  const [first, ...others] = names.map((name) => name.split('_'));
  const shared = first!.filter((word, at) => others.every((other) => other[at] === word));
  return shared.length > 0 ? shared : first!.slice(0, 1);
}

/** Shapes of one direction. What a route writes in place has no name: it is repeated where it is used. */
function shapesOf(names: ReadonlyMap<z.ZodType, string>, inPlace: Iterable<z.ZodType>, io: 'input' | 'output') {
  const ids = new Map(names);
  for (const schema of inPlace) if (!ids.has(schema)) ids.set(schema, `${IN_PLACE}${ids.size}`);
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of ids) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io, unrepresentable: 'any', uri: (id) => `${REF}${id}` });
  const all = Object.fromEntries(Object.entries(schemas).map(([id, one]) => [id, shapeOf(one as JsonSchema)]));
  const expanded = (shape: Shape): Shape =>
    mapped(shape, (name) => (name.startsWith(IN_PLACE) ? expanded(all[name]!) : `@${name}`));
  return {
    of: (schema: z.ZodType): Shape => expanded(`@${ids.get(schema)!}`),
    named: Object.fromEntries(
      Object.entries(all).flatMap(([id, shape]) => (id.startsWith(IN_PLACE) ? [] : [[id, expanded(shape)]])),
    ),
  };
}
const IN_PLACE = '-';

/** Names that a shape refers to, itself included, however deep. */
export function reached(from: readonly Shape[], shapes: Readonly<Record<string, Shape>>): Set<string> {
  const seen = new Set<string>();
  const walk = (shape: Shape): void => {
    if (typeof shape === 'string') {
      const name = shape.slice(1);
      if (!shape.startsWith('@') || seen.has(name)) return;
      seen.add(name);
      walk(shapes[name]!);
    } else if ('list' in shape) walk(shape.list);
    else if ('record' in shape) walk(shape.record);
    else if ('any' in shape) shape.any.forEach(walk);
    else if ('fields' in shape) Object.values(shape.fields).forEach(walk);
  };
  from.forEach(walk);
  return seen;
}

/** The shape with each name in it replaced. */
function mapped(shape: Shape, replace: (name: string) => Shape): Shape {
  const go = (one: Shape): Shape => mapped(one, replace);
  if (typeof shape === 'string') return shape.startsWith('@') ? replace(shape.slice(1)) : shape;
  if ('list' in shape) return { list: go(shape.list) };
  if ('record' in shape) return { record: go(shape.record) };
  if ('any' in shape) return { any: shape.any.map(go) };
  if ('fields' in shape)
    return { fields: Object.fromEntries(Object.entries(shape.fields).map(([name, one]) => [name, go(one)])) };
  return shape;
}

/** What this tree serves. A schema that is read in both directions has the name of its request with `Input` behind. */
export function contractNow(): Contract {
  const names = namesOf();
  const asked = ROUTE_LIST.flatMap(({ params, query, body }) => [params, query, body]).filter(
    (one) => one !== undefined,
  );
  const answered = [
    ...ROUTE_LIST.flatMap(({ bare, reply }) => (bare === undefined ? [reply] : [])),
    ...Object.values<z.ZodType>(DETAILS),
    ...EVENTS.map((event) => EVENT_CATALOGUE[event].data),
  ];
  const sent = shapesOf(names, asked, 'input');
  const read = shapesOf(names, answered, 'output');
  const inputs = reached(asked.map(sent.of), sent.named);
  const outputs = reached(answered.map(read.of), read.named);
  const differs = (name: string): boolean => JSON.stringify(sent.named[name]) !== JSON.stringify(read.named[name]);
  const ofInput = (name: string): string => (outputs.has(name) && differs(name) ? `${name}Input` : name);
  const asInput = (shape: Shape): Shape => mapped(shape, (name) => `@${ofInput(name)}`);
  const shapes = new Map<string, Shape>();
  for (const name of outputs) shapes.set(name, read.named[name]!);
  for (const name of inputs) shapes.set(ofInput(name), asInput(sent.named[name]!));
  const detailsOf = (code: string): Shape =>
    code in DETAILS ? read.of(DETAILS[code as keyof typeof DETAILS]) : { fields: {} };
  return {
    version: VERSION,
    operations: Object.fromEntries(
      ROUTE_LIST.map((route) => [route.operationId, operationOf(route, (one) => asInput(sent.of(one)), read.of)]),
    ),
    events: Object.fromEntries(EVENTS.map((event) => [event, read.of(EVENT_CATALOGUE[event].data)])),
    codes: Object.fromEntries(
      Object.keys(ERRORS).map((code) => [code, { status: statusOf(code as ErrorCode), details: detailsOf(code) }]),
    ),
    shapes: Object.fromEntries([...shapes].toSorted(([left], [right]) => (left < right ? -1 : 1))),
  };
}

function operationOf(route: Route, sent: (schema: z.ZodType) => Shape, read: (schema: z.ZodType) => Shape): Operation {
  const { method, path, tag, summary, where, credential, role, status, bare } = route;
  return {
    method,
    path,
    tag,
    summary,
    where,
    credential,
    role,
    keyed: route.idempotent !== undefined,
    sandboxOnly: route.sandboxOnly === true,
    status,
    params: route.params === undefined ? null : sent(route.params),
    query: route.query === undefined ? null : sent(route.query),
    body: route.body === undefined ? null : sent(route.body),
    reply: bare === undefined ? read(route.reply) : null,
    bare: bare ?? null,
  };
}

/** An example of each event, as receivers get it. */
export const examplesNow = (): Readonly<Record<string, unknown>> =>
  Object.fromEntries(EVENTS.map((event) => [event, exampleOf(event)]));

/** The text of a contract: a line for each operation, event, code and shape, so that two changes rarely meet. */
export function contractText({ version, ...parts }: Contract): string {
  const sections = Object.entries(parts).map(([name, entries]) => {
    const lines = Object.entries(entries).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
    return `${JSON.stringify(name)}: {\n${lines.join(',\n')}\n}`;
  });
  return `{\n"version": ${JSON.stringify(version)},\n${sections.join(',\n')}\n}\n`;
}
