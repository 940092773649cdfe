/** Fields of a line request. Every reader throws `Refused` INVALID_INPUT that names the field and never its value. */
import { refuse, Refused } from '../errors.ts';
import type { Request } from './json-lines.ts';
import { countOf } from '../lossless-json.ts';
import { CHAINS, type Chain } from '../slugs.ts';

/** Throws: Refused INVALID_INPUT. */
export function refuseField(name: string, expected: string): never {
  throw new Refused(refuse('INVALID_INPUT', { field: name }, `${name}: expected ${expected}`));
}

/** A text, possibly empty. Throws: Refused. */
export function textField(request: Request, name: string): string {
  const value = request[name];
  return typeof value === 'string' ? value : refuseField(name, 'a string');
}

/** A text, or the fallback where the field is absent or null. Throws: Refused. */
export function optionalTextField<T extends string | null>(request: Request, name: string, fallback: T): string | T {
  return request[name] === undefined || request[name] === null ? fallback : textField(request, name);
}

/** An integer of [min, max]; the fallback where the field is absent and there is one. Throws: Refused. */
export function integerField(
  request: Request,
  name: string,
  [min, max]: readonly [number, number],
  fallback?: number,
): number {
  if (request[name] === undefined && fallback !== undefined) return fallback;
  // A JSON number only: the text "5" is a mistake of the asker. Long numbers arrive as text and are out of range
  // anyway.
  const value = typeof request[name] === 'number' ? countOf(request[name]) : null;
  return value !== null && value >= min && value <= max ? value : refuseField(name, `an integer from ${min} to ${max}`);
}

/** One of a list of words; the fallback where the field is absent and there is one. Throws: Refused. */
export function wordField<T extends string>(request: Request, name: string, words: readonly T[], fallback?: T): T {
  const value = request[name];
  if (value === undefined && fallback !== undefined) return fallback;
  return words.find((word) => word === value) ?? refuseField(name, `one of ${words.join(', ')}`);
}

/** An object, not a list. Throws: Refused. */
export function objectField(request: Request, name: string): Request {
  const value = request[name];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuseField(name, 'an object');
  return value as Request;
}

/** A list; the fallback where the field is absent and there is one. Throws: Refused. */
export function listField(request: Request, name: string, fallback?: readonly unknown[]): readonly unknown[] {
  const value = request[name];
  if (value === undefined && fallback !== undefined) return fallback;
  return Array.isArray(value) ? value : refuseField(name, 'a list');
}

/** A chain slug. Throws: Refused INVALID_CHAIN. */
export function chainField(request: Request): Chain {
  const chain = CHAINS.find((slug) => slug === request['chain']);
  if (chain === undefined)
    throw new Refused(refuse('INVALID_CHAIN', {}, `chain: expected one of ${CHAINS.join(', ')}`));
  return chain;
}
