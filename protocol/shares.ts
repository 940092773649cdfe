/**
 * Shares of a secret that was split (SLIP-39) in a text: 20 to 33 words of its list, written out or cut to four
 * letters, with the checksum of the standard, also when one of them was mistyped: the code corrects one word. F31.
 *
 *   share  identifier, groups, members (4 words) || value (13 to 26 words) || checksum (3 words), ten bits a word
 *
 * Source: SLIP-0039; the checksum is Reed–Solomon over GF(1024) with a customisation string in front.
 */
import { SHARE_WORDS } from './share-words.ts';

/** Words of a share of 128, 160, 192, 224 and 256 bits. */
const SHARE_LENGTHS: readonly number[] = [20, 23, 27, 30, 33];
const WORDS_MIN = 20;
/** No prose has so many list words in a row, or so many windows that may be a share: it need not be judged. */
const RUN_JUDGED_MAX = 200;
const WINDOWS_MAX = 5_000;
/** Words of a share that may be in no list: one that was mistyped. */
const GAPS_MAX = 1;
const PREFIX_LETTERS = 4;
const LETTERS_MAX = 8;

const CUSTOMISATIONS = ['shamir', 'shamir_extendable'].map((text) => [...new TextEncoder().encode(text)]);
const GENERATOR = [
  0xe0e040, 0x1c1c080, 0x3838100, 0x7070200, 0xe0e0009, 0x1c0c2412, 0x38086c24, 0x3090fc48, 0x21b1f890, 0x3f3f120,
];

let known: Map<string, number> | null = null;

/** Word, and its first four letters, → place in the list. */
function places(): Map<string, number> {
  known ??= new Map(
    SHARE_WORDS.flatMap(
      (word, place) =>
        [
          [word, place],
          [word.slice(0, PREFIX_LETTERS), place],
        ] as const,
    ),
  );
  return known;
}

/** What the checksum leaves over: 0 for a share, else what an error leaves, by the place of the error and its size. */
function restOf(share: readonly (number | null)[], customisation: readonly number[]): number {
  let check = 1;
  for (const value of customisation) check = shifted(check) ^ value;
  for (const value of share) check = shifted(check) ^ (value ?? 0);
  return check ^ 1;
}

/** The remainder, one word on. */
function shifted(check: number): number {
  const top = check >>> 20;
  let next = (check & 0xfffff) << 10;
  for (let bit = 0; bit < 10; bit += 1) if (((top >>> bit) & 1) === 1) next ^= GENERATOR[bit]!;
  return next;
}

let mistyped: Map<number, number> | null = null;

/**
 * What one wrong word leaves over → its place from the end, for the longest share. The code distinguishes all of them.
 */
function errors(): ReadonlyMap<number, number> {
  if (mistyped !== null) return mistyped;
  mistyped = new Map();
  for (let size = 1; size < 1_024; size += 1) {
    let rest = size;
    for (let fromEnd = 0; fromEnd < SHARE_LENGTHS.at(-1)!; fromEnd += 1) {
      mistyped.set(rest, fromEnd);
      rest = shifted(rest);
    }
  }
  return mistyped;
}

/** Whether words are a share, or one with one word mistyped: into another word of the list, or into none (null). */
function isShare(words: readonly (number | null)[]): boolean {
  const gap = words.indexOf(null),
    gapFromEnd = gap === -1 ? null : words.length - 1 - gap;
  return CUSTOMISATIONS.some((customisation) => {
    const rest = restOf(words, customisation);
    if (rest === 0) return true;
    const fromEnd = errors().get(rest);
    return fromEnd !== undefined && fromEnd < words.length && (gapFromEnd === null || fromEnd === gapFromEnd);
  });
}

/** Whether a share is among words, of which those that are not in the list are null. */
function judged(words: readonly (number | null)[]): boolean {
  if (words.length < WORDS_MIN) return false;
  // Nothing but a share's number of words of the list is one whatever its checksum.
  if (SHARE_LENGTHS.includes(words.length) && !words.includes(null)) return true;
  let run = 0,
    left = WINDOWS_MAX;
  const gapsUntil = [0];
  for (const word of words) gapsUntil.push(gapsUntil.at(-1)! + (word === null ? 1 : 0));
  for (let end = 1; end <= words.length; end += 1) {
    run = words[end - 1] === null ? 0 : run + 1;
    if (run > RUN_JUDGED_MAX) return true;
    for (const length of SHARE_LENGTHS) {
      if (length > end || gapsUntil[end]! - gapsUntil[end - length]! > GAPS_MAX) break;
      left -= 1;
      if (left < 0 || isShare(words.slice(end - length, end))) return true;
    }
  }
  return false;
}

/** Letters alone, as numbered lists and sentences need it; and with the digits that slipped into a word. */
const TOKENS = [/[A-Za-z]+/g, /[0-9A-Za-z]+/g];

/** Whether a text holds a share, also with one word mistyped, or is nothing but the words of one. */
export function holdsShare(text: string): boolean {
  if (text.length < WORDS_MIN * PREFIX_LETTERS) return false;
  const table = places();
  return TOKENS.some((pattern) => {
    const tokens = text.match(pattern) ?? [];
    if (tokens.length < WORDS_MIN) return false;
    return judged(
      tokens.map((token) =>
        token.length < PREFIX_LETTERS || token.length > LETTERS_MAX ? null : (table.get(token.toLowerCase()) ?? null),
      ),
    );
  });
}
