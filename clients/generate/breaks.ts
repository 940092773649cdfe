/** What of a contract breaks programs that were written for an earlier one. */
import { ORG_ROLES } from '../../protocol/slugs.ts';
import type { Contract, Operation } from './contract.ts';
import type { Shape } from './shape.ts';

type Shapes = Readonly<Record<string, Shape>>;
/** Which side writes what is compared: what a caller sends may become wider, what it reads may not. */
type Direction = 'sent' | 'read';

/** Each change that breaks, as a sentence that begins with where it is. Empty: programs for `before` run. */
export function breaksBetween(before: Contract, after: Contract): string[] {
  const compare = comparison(before.shapes, after.shapes);
  const found: string[] = [];
  for (const [id, was] of Object.entries(before.operations)) {
    const is = after.operations[id];
    if (is === undefined) found.push(`${id}: the operation is gone`);
    else found.push(...breaksOfOperation(id, was, is, compare));
  }
  for (const [event, data] of Object.entries(before.events)) {
    const now = after.events[event];
    found.push(...(now === undefined ? [`${event}: the event is gone`] : compare('read', `${event} data`, data, now)));
  }
  for (const [code, { status, details }] of Object.entries(before.codes)) {
    const now = after.codes[code];
    if (now === undefined) found.push(`${code}: the code is gone`);
    else {
      if (now.status !== status) found.push(`${code}: status ${status} became ${now.status}`);
      found.push(...compare('read', `${code} details`, details, now.details));
    }
  }
  return [...new Set(found)];
}

/** The role that it takes at least; 0 where it takes none. */
const rankOf = ({ role }: Operation): number =>
  ORG_ROLES.length - (role === null ? ORG_ROLES.length : ORG_ROLES.indexOf(role));

type Compare = (direction: Direction, at: string, before: Shape, after: Shape) => string[];

const FIXED = ['method', 'path', 'credential', 'status', 'bare'] as const satisfies readonly (keyof Operation)[];

function breaksOfOperation(id: string, was: Operation, is: Operation, compare: Compare): string[] {
  const found = FIXED.filter((name) => was[name] !== is[name]).map(
    (name) => `${id}: ${name} ${String(was[name])} became ${String(is[name])}`,
  );
  if (was.where !== is.where && is.where !== 'both') found.push(`${id}: where ${was.where} became ${is.where}`);
  if (was.keyed && !is.keyed) found.push(`${id}: it takes no Idempotency-Key any more`);
  if (rankOf(is) > rankOf(was)) found.push(`${id}: role ${was.role} became ${is.role}`);
  if (!was.sandboxOnly && is.sandboxOnly) found.push(`${id}: it is for the sandbox alone now`);
  for (const part of ['params', 'query', 'body'] as const) {
    const none: Shape = { fields: {} };
    found.push(...compare('sent', `${id} ${part}`, was[part] ?? none, is[part] ?? none));
  }
  if (was.reply !== null && is.reply !== null) found.push(...compare('read', `${id} reply`, was.reply, is.reply));
  return found;
}

function comparison(beforeShapes: Shapes, afterShapes: Shapes): Compare {
  /** What was found of a pair: it may be met again, and by another alternative. Empty while it is looked at. */
  const known = new Map<string, readonly string[]>();
  const plain = (shape: Shape, shapes: Shapes): Shape =>
    typeof shape === 'string' && shape.startsWith('@') ? shapes[shape.slice(1)]! : shape;

  const compare: Compare = (direction, at, before, after) => {
    const pair = `${direction} ${JSON.stringify(before)} ${JSON.stringify(after)}`;
    const found = known.get(pair);
    if (found !== undefined) return [...found]; // named by the place where it was first met; a shape may hold itself
    // Without a name in it, it is said at each place.
    if (pair.includes('@')) known.set(pair, []);
    const [was, is] = [plain(before, beforeShapes), plain(after, afterShapes)];
    const breaks = direction === 'sent' ? narrower(at, was, is) : wider(at, was, is);
    if (pair.includes('@')) known.set(pair, breaks);
    return breaks;
  };
  /** A caller sends what it always did: each alternative of before is taken still. */
  const narrower = (at: string, was: Shape, is: Shape): string[] => {
    if (is === 'anything') return [];
    const [alternatives, taken] = [alternativesOf(was, beforeShapes), alternativesOf(is, afterShapes)];
    return alternatives.flatMap((one) => closest(taken.map((other) => within('sent', at, one, other))));
  };
  /** A caller reads what it always did: each alternative of now was one before. New values of an enum may come. */
  const wider = (at: string, was: Shape, is: Shape): string[] => {
    if (was === 'anything') return [];
    const [earlier, now] = [alternativesOf(was, beforeShapes), alternativesOf(is, afterShapes)];
    const gone = enumOf(was).filter((value) => !enumOf(is).includes(value) && !now.includes('text'));
    return [
      ...gone.map((value) => `${at}: the value ${String(value)} is gone`),
      ...now.flatMap((one) => closest(earlier.map((other) => within('read', at, other, one)))),
    ];
  };
  const within = (direction: Direction, at: string, was: Shape, is: Shape): string[] => {
    if (typeof was === 'string' || typeof is === 'string') return literal(direction, at, was, is);
    if ('enum' in was && 'enum' in is)
      return direction === 'read'
        ? []
        : was.enum.filter((value) => !is.enum.includes(value)).map((value) => `${at}: the value ${value} is gone`);
    if ('list' in was && 'list' in is) return compare(direction, `${at}[]`, was.list, is.list);
    if ('record' in was && 'record' in is) return compare(direction, `${at}{}`, was.record, is.record);
    if ('fields' in was && 'fields' in is) return fields(direction, at, was.fields, is.fields);
    return [`${at}: ${nameOf(was)} became ${nameOf(is)}`];
  };
  const fields = (direction: Direction, at: string, was: Shapes, is: Shapes): string[] => [
    ...Object.entries(was).flatMap(([key, shape]) => {
      const name = key.replace(/\?$/, '');
      const now = is[name] ?? is[`${name}?`];
      if (now === undefined) return [`${at}.${name}: the field is gone`];
      const mayMiss = key.endsWith('?');
      const isOptional = is[name] === undefined;
      return [
        ...(direction === 'sent' && mayMiss && !isOptional ? [`${at}.${name}: the field is required now`] : []),
        ...(direction === 'read' && !mayMiss && isOptional ? [`${at}.${name}: the field may be absent now`] : []),
        ...compare(direction, `${at}.${name}`, shape, now),
      ];
    }),
    ...Object.keys(is)
      .filter((key) => direction === 'sent' && !key.endsWith('?') && !(key in was) && !(`${key}?` in was))
      .map((key) => `${at}.${key}: a new field is required`),
  ];
  return compare;
}

function literal(direction: Direction, at: string, was: Shape, is: Shape): string[] {
  if (was === is || (direction === 'sent' ? is : was) === 'anything') return [];
  const [narrow, wide] = direction === 'sent' ? [was, is] : [is, was];
  const isWithin =
    (narrow === 'integer' && wide === 'number') ||
    (typeof narrow === 'object' &&
      'enum' in narrow &&
      narrow.enum.every((one) => typeof one === 'string') &&
      wide === 'text');
  return isWithin ? [] : [`${at}: ${nameOf(was)} became ${nameOf(is)}`];
}

/** The alternatives of a shape, names resolved: `null` is one of them. */
function alternativesOf(shape: Shape, shapes: Shapes): Shape[] {
  const one = typeof shape === 'string' && shape.startsWith('@') ? shapes[shape.slice(1)]! : shape;
  return typeof one === 'object' && 'any' in one ? one.any.flatMap((each) => alternativesOf(each, shapes)) : [one];
}

const enumOf = (shape: Shape): readonly unknown[] =>
  typeof shape !== 'object' ? [] : 'enum' in shape ? shape.enum : 'any' in shape ? shape.any.flatMap(enumOf) : [];

const closest = (tries: readonly string[][]): string[] =>
  tries.reduce<string[] | null>((best, one) => (best === null || one.length < best.length ? one : best), null) ?? [];

function nameOf(shape: Shape): string {
  if (typeof shape === 'string') return shape;
  const [kind] = Object.keys(shape);
  return kind === 'fields' ? 'an object' : `${kind === 'any' ? 'alternatives' : `a ${kind}`}`;
}
