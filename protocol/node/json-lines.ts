/**
 * Requests and answers as lines of JSON: one answer per request, in order, and an error for one never ends the stream.
 * The operator commands of the cloud and of the edge speak it; reading and writing are the caller's.
 *
 *   {"op":"…","id":…,…}  →  {"id":…,…}  |  {"id":…,"error":{"code":"…","message":"…"}}
 */
import { isRefusal, refuse, Refused, type ErrorCode, type Refusal } from '../errors.ts';
import { parseLossless } from '../lossless-json.ts';

export type Request = Readonly<Record<string, unknown>>;

/** One operation: the fields of its answer, or a refusal. May throw `Refused`. */
export type Operation = (request: Request) => object | Refusal | Promise<object | Refusal>;

export interface JsonLinesOptions {
  readonly operations: Readonly<Record<string, Operation>>;
  /** A longer line is answered with PAYLOAD_TOO_LARGE and is not kept in memory. */
  readonly lineBytesMax: number;
  /** What a thrown fault means to the asker; null hides it behind INTERNAL_ERROR. */
  explainFault?(fault: unknown): Refusal | null;
}

/** An id is a label of the asker, not a place to put a document (or a phrase) that would come back in the answer. */
const ID_CHARACTERS_MAX = 200;
/** Labels that hold no key and no phrase, whatever they say: short ones without the scripts that need few letters. */
const HARMLESS_ID = /^[\x20-\x7e]{0,27}$/;

const LINE_FEED = 0x0a;

type Line = { readonly text: string } | { readonly refusal: Refusal };

/** The lines of a byte stream, blank ones left out; a carriage return before the line feed is white space. */
async function* linesOf(input: AsyncIterable<Uint8Array>, lineBytesMax: number): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); ; end = chunk.indexOf(LINE_FEED, from)) {
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      size += piece.length;
      if (size <= lineBytesMax) parts.push(piece);
      else parts = []; // only the length still matters
      if (end === -1) break;
      yield* lineOf(parts, size, lineBytesMax);
      [parts, size, from] = [[], 0, end + 1];
    }
  }
  yield* lineOf(parts, size, lineBytesMax);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  parts.reduce((at, part) => {
    whole.set(part, at);
    return at + part.length;
  }, 0);
  return whole;
}

function* lineOf(parts: readonly Uint8Array[], size: number, lineBytesMax: number): Generator<Line> {
  if (size > lineBytesMax) {
    yield { refusal: refuse('PAYLOAD_TOO_LARGE', { lineBytesMax }, `a line has at most ${lineBytesMax} bytes`) };
    return;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(joined(parts));
    if (text.trim() !== '') yield { text };
  } catch {
    yield { refusal: refuse('INVALID_INPUT', {}, 'the line is not UTF-8') };
  }
}

/**
 * The answers to the requests of a stream, each without its line feed. Ends with the stream; never throws for a
 * request.
 */
export async function* answersTo(input: AsyncIterable<Uint8Array>, options: JsonLinesOptions): AsyncGenerator<string> {
  for await (const line of linesOf(input, options.lineBytesMax)) {
    yield 'refusal' in line ? answerText(undefined, errorOf(line.refusal)) : await answerLine(line.text, options);
  }
}

/** Where answers go: a writable stream, as far as it is needed. */
export interface LineSink {
  write(text: string): boolean;
  once(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
}

/** Writes the answers as lines, at the pace of the reader; returns early when the reader went away. */
export async function writeAnswers(answers: AsyncIterable<string>, sink: LineSink): Promise<void> {
  let open = true,
    proceed = (): void => {};
  for (const event of ['close', 'error'] as const) {
    sink.once(event, () => {
      open = false;
      proceed();
    });
  }
  for await (const line of answers) {
    if (!open) return;
    if (sink.write(`${line}\n`)) continue;
    await new Promise<void>((resolve) => {
      proceed = resolve;
      sink.once('drain', resolve);
    });
  }
}

async function answerLine(text: string, options: JsonLinesOptions): Promise<string> {
  let request: unknown;
  try {
    request = parseLossless(text);
  } catch {
    return answerText(undefined, errorOf(refuse('INVALID_INPUT', {}, 'the line is not valid JSON')));
  }
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    return answerText(undefined, errorOf(refuse('INVALID_INPUT', {}, 'a request is a JSON object')));
  }
  const id = await idOf(request as Request, text);
  if (isRefusal(id)) return answerText(undefined, errorOf(id));
  return answerText(id, await perform(request as Request, options));
}

async function perform(request: Request, { operations, explainFault }: JsonLinesOptions): Promise<object> {
  const { op } = request;
  if (typeof op !== 'string' || !Object.hasOwn(operations, op)) {
    return errorOf(refuse('INVALID_INPUT', {}, `op: expected one of ${Object.keys(operations).join(', ')}`));
  }
  try {
    const answer = await operations[op]!(request);
    return isRefusal(answer) ? errorOf(answer) : answer;
  } catch (fault) {
    if (fault instanceof Refused) return errorOf(fault.refusal);
    return errorOf(explainFault?.(fault) ?? refuse('INTERNAL_ERROR', {}, 'the operation failed'));
  }
}

function errorOf(refusal: Refusal): { error: { code: ErrorCode; message: string } } {
  const { reason } = refusal.details;
  const message = typeof reason === 'string' ? `${refusal.message}: ${reason}` : refusal.message;
  return { error: { code: refusal.code, message } };
}

/**
 * The request's id as it will be written: a string, null, or a number in its own digits; `undefined` without one.
 * Refuses: INVALID_INPUT for another kind of value, for a text that is no label and for one that holds key material.
 */
async function idOf(request: Request, text: string): Promise<unknown> {
  const { id } = request;
  if (id === undefined || id === null || typeof id === 'number') return id;
  if (typeof id !== 'string' || id.length > ID_CHARACTERS_MAX || (await holdsSecret(id))) {
    return refuse('INVALID_INPUT', {}, 'id: expected a short string or a number');
  }
  // The lossless parser gives a long number as its text; only the engine's own parser distinguishes it from a string.
  const wasNumber = /^-?[0-9]/.test(id) && typeof (JSON.parse(text) as { id: unknown }).id === 'number';
  return wasNumber ? rawJson(id) : id;
}

/**
 * Whether a label holds a key or a phrase. The hash of a transaction is a good label, so it is read as a field of one.
 */
async function holdsSecret(id: string): Promise<boolean> {
  if (HARMLESS_ID.test(id)) return false;
  // The word lists of all languages are loaded only where they are needed.
  const { findKeyMaterialInFields } = await import('./key-material.ts');
  return findKeyMaterialInFields([{ name: 'hash', text: id }]) !== null;
}

function rawJson(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}

function answerText(id: unknown, answer: object): string {
  return JSON.stringify(id === undefined ? answer : { id, ...answer });
}
