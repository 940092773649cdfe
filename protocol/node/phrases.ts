/**
 * Recovery phrases in a text: runs of words of a BIP-39 list, in any of its ten languages, written out or cut to four
 * letters, with any separators and numbering between them. reliability.md 3.6.
 */
import { createHash } from 'node:crypto';
import { wordlist as czech } from '@scure/bip39/wordlists/czech.js';
import { wordlist as english } from '@scure/bip39/wordlists/english.js';
import { wordlist as french } from '@scure/bip39/wordlists/french.js';
import { wordlist as italian } from '@scure/bip39/wordlists/italian.js';
import { wordlist as japanese } from '@scure/bip39/wordlists/japanese.js';
import { wordlist as korean } from '@scure/bip39/wordlists/korean.js';
import { wordlist as portuguese } from '@scure/bip39/wordlists/portuguese.js';
import { wordlist as chineseSimplified } from '@scure/bip39/wordlists/simplified-chinese.js';
import { wordlist as spanish } from '@scure/bip39/wordlists/spanish.js';
import { wordlist as chineseTraditional } from '@scure/bip39/wordlists/traditional-chinese.js';

const LATIN = [english, spanish, french, italian, portuguese, czech];
const OTHER = [japanese, korean, chineseSimplified, chineseTraditional];
const LISTS = [...LATIN, ...OTHER];
const LIST_WORDS = 2_048;

/** Lengths of a phrase, in words. Source: BIP-39. */
export const PHRASE_WORDS: readonly number[] = [12, 15, 18, 21, 24];
const WORDS_MIN = 12;
/**
 * No prose has this many list words in a row, and one of so many windows has a valid checksum: it need not be looked
 * for.
 */
const RUN_JUDGED_MAX = 48;

const listOf = (entry: number): number => Math.floor(entry / LIST_WORDS);

/** Normalised word → list × 2048 + index, for every list that has it. */
let known: Map<string, number[]> | null = null;

/** Combining marks are kept apart from their letters by NFKD, so a word typed without its accents is the same word. */
const bare = (word: string) => word.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');

function words(): Map<string, number[]> {
  if (known !== null) return known;
  const map = new Map<string, number[]>();
  const put = (text: string, list: number, index: number) => {
    const entries = map.get(text) ?? [];
    if (entries.some((entry) => listOf(entry) === list)) return;
    map.set(text, [...entries, list * LIST_WORDS + index]);
  };
  LISTS.forEach((list, number) => list.forEach((word, index) => put(bare(word), number, index)));
  // The first four letters are enough in these lists, and are what steel plates carry.
  LATIN.forEach((list, number) =>
    list.forEach((word, index) => {
      if (bare(word).length > 4) put(bare(word).slice(0, 4), number, index);
    }),
  );
  known = map;
  return map;
}

/**
 * An ASCII text below this holds no phrase: a word of the lists has two letters at least, and something separates
 * words.
 */
const ASCII_CHARS_MIN = WORDS_MIN * 3 - 1;
const ASCII = /^[\x00-\x7f]*$/;

/** Whether a text is too short for a phrase: nearly every header and field is. */
const isTooShort = (text: string): boolean =>
  text.length < WORDS_MIN || (text.length < ASCII_CHARS_MIN && ASCII.test(text));

/** Words of a text: runs of letters, without accents; everything else separates. */
function wordsOf(text: string): string[] {
  if (ASCII.test(text)) return text.match(/[A-Za-z]+/g)?.map((word) => word.toLowerCase()) ?? [];
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .match(/\p{L}+/gu)
      ?.map((word) => word.toLowerCase()) ?? []
  );
}

/** Whether every word of a text is in a list, as in a text without words: a run of list words may go on through it. */
export function isOnlyListWords(text: string): boolean {
  const table = words();
  return wordsOf(text).every((word) => table.has(word));
}

/** Whether a text holds 12 or more consecutive list words of which 12, 15, 18, 21 or 24 have a valid checksum. */
export function holdsPhrase(text: string): boolean {
  if (text.length < WORDS_MIN * 2 - 1) return false;
  const tokens = wordsOf(text);
  const table = words();
  if (!hasRun(tokens, table)) return false;
  const runs: number[][] = LISTS.map(() => []);
  for (const token of tokens) {
    const entries = table.get(token) ?? [];
    for (let list = 0; list < runs.length; list += 1) {
      const entry = entries.find((candidate) => listOf(candidate) === list);
      if (entry !== undefined) runs[list]!.push(entry % LIST_WORDS);
      else if (runs[list]!.length > 0 && closes(runs, list)) return true;
    }
  }
  return runs.some((_, list) => closes(runs, list));
}

/** Whether there are enough consecutive words of any list at all: what nearly every text fails at once. */
function hasRun(tokens: readonly string[], table: ReadonlyMap<string, unknown>): boolean {
  for (let count = 0, at = 0; tokens.length - at + count >= WORDS_MIN; at += 1) {
    count = table.has(tokens[at]!) ? count + 1 : 0;
    if (count === WORDS_MIN) return true;
  }
  return false;
}

/** Judges a run that has ended and forgets it. */
function closes(runs: number[][], list: number): boolean {
  const run = runs[list]!;
  runs[list] = [];
  if (run.length > RUN_JUDGED_MAX) return true;
  return (
    run.length >= WORDS_MIN &&
    PHRASE_WORDS.some((count) => {
      for (let start = 0; start + count <= run.length; start += 1) {
        if (hasChecksum(run.slice(start, start + count))) return true;
      }
      return false;
    })
  );
}

/** Whether a text is nothing but a phrase's number of words of one list, whatever their checksum. */
export function isPhraseShaped(text: string): boolean {
  if (isTooShort(text)) return false;
  const tokens = wordsOf(text);
  const table = words();
  const all = (candidates: readonly string[]) =>
    PHRASE_WORDS.includes(candidates.length) &&
    LISTS.some((_, list) => candidates.every((word) => table.get(word)?.some((entry) => listOf(entry) === list)));
  if (all(tokens)) return true;
  // Chinese is often written without separators; any twelve common characters look alike, so the checksum must hold.
  return (
    tokens.length === 1 &&
    /^\p{Script=Han}+$/u.test(tokens[0]!) &&
    all([...tokens[0]!]) &&
    holdsPhrase([...tokens[0]!].join(' '))
  );
}

/** entropy(n × 32 / 3 bits) || first n / 3 bits of SHA-256(entropy), eleven bits a word. Source: BIP-39. */
function hasChecksum(indexes: readonly number[]): boolean {
  const bits = indexes.map((index) => index.toString(2).padStart(11, '0')).join('');
  const checksumBits = indexes.length / 3;
  const entropyBits = bits.slice(0, bits.length - checksumBits);
  const entropy = Uint8Array.from(entropyBits.match(/.{8}/g)!, (byte) => Number.parseInt(byte, 2));
  const digest = createHash('sha256').update(entropy).digest()[0]!.toString(2).padStart(8, '0');
  return bits.slice(-checksumBits) === digest.slice(0, checksumBits);
}
