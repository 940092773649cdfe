/**
 * Bodies: read whole within their limit, compared with the signed digest, looked through for keys, and only then
 * parsed.
 */
import { isDigestOf } from '../../protocol/node/http-signature.ts';
import {
  findKeyMaterial,
  findKeyMaterialInFields,
  type Field,
  type KeyMaterialRule,
} from '../../protocol/node/key-material.ts';
import { Refused, refuse } from '../../protocol/errors.ts';
import { parsedBody } from '../../protocol/json-body.ts';
import type { Caller } from './context.ts';

/**
 * Headers that have their own grammar and their own check, or are consumed before: digests, signatures, credentials.
 */
const UNSCANNED_HEADERS = new Set([
  'signature',
  'signature-input',
  'content-digest',
  'repr-digest',
  'authorization',
  'x-api-key',
  'cookie',
]);

/** Throws: Refused KEY_MATERIAL_REJECTED with the rule's name and nothing of what was found. */
function reject(rule: KeyMaterialRule | null): void {
  if (rule !== null) throw new Refused(refuse('KEY_MATERIAL_REJECTED', { rule }));
}

/** Looks through path, query and headers. Throws: Refused KEY_MATERIAL_REJECTED, INVALID_INPUT for broken encoding. */
export function guardHead(
  url: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): void {
  const [path = '', ...rest] = url.split('?');
  const fields: Field[] = Object.entries(headers)
    .filter(([name, value]) => value !== undefined && !UNSCANNED_HEADERS.has(name))
    .map(([name, value]) => ({ name, text: String(value) }));
  if (rest.length > 0) fields.push(...[...new URLSearchParams(rest.join('?'))].map(([name, text]) => ({ name, text })));
  reject(findKeyMaterialInFields(fields));
  reject(findKeyMaterialInFields(path.split('/').map((part) => ({ name: '', text: decoded(part) }))));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Refused(refuse('INVALID_INPUT', { field: 'path' }, 'the path is not valid percent-encoding'));
  }
}

const NOTHING = new Uint8Array(0);

/** Compares a body with the digest that the caller signed. Throws: Refused EDGE_SIGNATURE_INVALID. */
export function checkDigest(caller: Caller, body: Uint8Array = NOTHING): void {
  if (caller.signature !== null && !isDigestOf(caller.signature.contentDigest, body)) {
    throw new Refused(refuse('EDGE_SIGNATURE_INVALID', { reason: 'content digest' }));
  }
}

/**
 * The JSON value of a body; undefined for an empty one. A body that is refused is overwritten.
 * Throws: Refused KEY_MATERIAL_REJECTED, INVALID_INPUT.
 */
export function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const rule = findKeyMaterial(body);
  if (rule !== null) body.fill(0);
  reject(rule);
  let value: unknown;
  try {
    value = parsedBody(body);
  } catch {
    throw new Refused(refuse('INVALID_INPUT', { field: 'body' }, 'the body is not valid JSON'));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refused(refuse('INVALID_INPUT', { field: 'body' }, 'the body is not a JSON object'));
  }
  return value;
}
