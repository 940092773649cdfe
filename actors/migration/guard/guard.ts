/**
 * The guard of a file that is on its way in: bytes in, and bytes that hold no part of a secret out. It looks at windows
 * of whole lines. What may be the beginning of a secret is held back until it is judged: the last lines, the last
 * kilobytes, and a run of list words that is still open. Once something was found nothing more comes out.
 *
 *   in a window    keys of every form, phrases, shares, key files
 *   by column      64 hex digits and 64 bytes in base58, unless the column holds hashes; a phrase down a column
 *   by name        a column or key that only secrets have
 */
import { findKeyMaterialInWindow } from '../../../protocol/node/key-material.ts';
import { isOnlyListWords } from '../../../protocol/node/phrases.ts';
import { LINE_BYTES_MAX } from '../formats/limits.ts';
import { Columns, type SecretRule } from './columns.ts';

export interface Secret {
  readonly rule: SecretRule;
  /** Where it ends, from one. */
  readonly line: number;
}
export type Judged = { readonly clean: Buffer } | { readonly secret: Secret };

export interface Guard {
  /** What holds no secret, in the order in which it came; or what was found. */
  push(bytes: Uint8Array): Judged;
  end(): Judged;
}

const WINDOW_BYTES = 65_536;
/** Longer than every key, and than a key file. */
const HELD_BYTES_MIN = 4_096;
/** A phrase down a column has so many rows. */
const HELD_LINES = 24;
/** What is held back at most. What was let out before is erased with the rest when a longer secret is found. */
const HELD_BYTES_MAX = 65_536;

const LF = 10,
  CR = 13;
const NOTHING = Buffer.alloc(0);

export function createGuard(): Guard {
  const columns = new Columns();
  /** Judged and not let out yet, from the beginning of a line on. */
  let held: Buffer = NOTHING,
    /** Number of its first line. */
    line = 1,
    waiting: Buffer[] = [],
    waitingBytes = 0,
    found: Secret | null = null;

  /** Judges what waits up to the end of its last line; `isLast`: all of it. */
  function judge(isLast: boolean): Judged {
    if (found !== null) return { secret: found };
    const bytes = Buffer.concat([held, ...waiting]),
      from = held.length,
      to = isLast ? bytes.length : cutOf(bytes);
    waiting = to < bytes.length ? [bytes.subarray(to)] : [];
    waitingBytes = bytes.length - to;
    const window = bytes.subarray(0, to);
    found = inWindow(window) ?? inColumns(window, from, isLast);
    if (found !== null) {
      held = NOTHING;
      waiting = [];
      return { secret: found };
    }
    const clean = window.subarray(0, isLast ? window.length : releasable(window));
    line += linesIn(clean);
    // A copy: what is let out belongs to the caller.
    held = Buffer.from(window.subarray(clean.length));
    return { clean };
  }

  function inWindow(window: Buffer): Secret | null {
    const text = window.toString('utf8'),
      rule = findKeyMaterialInWindow(text);
    if (rule === null) return null;
    // The shortest beginning of the window that meets a rule ends with the line in which the secret ends.
    const ends = [...text.matchAll(/\r\n|\n|\r/g)].map(({ index, 0: end }) => index + end.length);
    let low = 0,
      high = ends.length;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (findKeyMaterialInWindow(text.slice(0, ends[middle])) === null) low = middle + 1;
      else high = middle;
    }
    return { rule, line: line + low };
  }

  function inColumns(window: Buffer, from: number, isLast: boolean): Secret | null {
    let number = line + linesIn(window.subarray(0, from));
    const texts = window.toString('utf8', from).split(/\r\n|\n|\r/);
    if (texts.at(-1) === '') texts.pop();
    for (const text of texts) {
      const rule = columns.line(text);
      if (rule !== null) return { rule, line: number };
      number += 1;
    }
    const rule = isLast ? columns.end() : null;
    return rule === null ? null : { rule, line: Math.max(1, number - 1) };
  }

  return {
    push(bytes) {
      if (found !== null) return { secret: found };
      waiting.push(Buffer.from(bytes));
      waitingBytes += bytes.length;
      return waitingBytes < WINDOW_BYTES ? { clean: NOTHING } : judge(false);
    },
    end: () => judge(true),
  };
}

/** Where the last line ends; CR and LF are not parted. A line that is longer than any is cut where it is. */
function cutOf(bytes: Buffer): number {
  const cr = bytes.lastIndexOf(CR);
  const end = Math.max(bytes.lastIndexOf(LF), cr === bytes.length - 1 ? bytes.lastIndexOf(CR, -2) : cr) + 1;
  return bytes.length - end > LINE_BYTES_MAX ? bytes.length : end;
}

function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1)
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) count += 1;
  return count;
}

/** How much of a judged window can begin no secret any more: up to the beginning of a line. */
function releasable(window: Buffer): number {
  const most = Math.max(0, window.length - HELD_BYTES_MAX);
  let at = window.length,
    lines = 0;
  while (at > most) {
    const before = lineStart(window, at);
    const isHeld =
      lines < HELD_LINES ||
      window.length - at < HELD_BYTES_MIN ||
      isOnlyListWords(window.toString('utf8', at, lineEnd(window, at)));
    if (!isHeld) return at;
    at = before;
    lines += 1;
  }
  return Math.max(at, most);
}

/** Where the line before a place begins; CR and LF are not parted. */
function lineStart(bytes: Buffer, at: number): number {
  const isPair = bytes[at - 1] === LF && bytes[at - 2] === CR;
  for (let before = at - (isPair ? 3 : 2); before >= 0; before -= 1)
    if (bytes[before] === LF || bytes[before] === CR) return before + 1;
  return 0;
}

function lineEnd(bytes: Buffer, at: number): number {
  for (let end = at; end < bytes.length; end += 1) if (bytes[end] === LF || bytes[end] === CR) return end;
  return bytes.length;
}
