/**
 * Shares of a secret that was split (SLIP-39) in a text: 20 to 33 words of its list, written out or cut to four letters, with
 * the checksum of the standard. F31.
 *
 *   share  identifier, groups, members (4 words) || value (13 to 26 words) || checksum (3 words), ten bits a word
 *
 * Source: SLIP-0039; the checksum is Reed–Solomon over GF(1024) with a customisation string in front.
 */
import { SHARE_WORDS } from './share-words.ts';

/** Words of a share of 128, 160, 192, 224 and 256 bits. */
const SHARE_LENGTHS: readonly number[] = [20, 23, 27, 30, 33];
const WORDS_MIN = 20;
/** No prose has so many list words in a row: it need not be judged. */
const RUN_JUDGED_MAX = 200;
const PREFIX_LETTERS = 4;

const CUSTOMISATIONS = ['shamir', 'shamir_extendable'].map((text) => [...Buffer.from(text)]);
const GENERATOR = [0xe0e040, 0x1c1c080, 0x3838100, 0x7070200, 0xe0e0009, 0x1c0c2412, 0x38086c24, 0x3090fc48, 0x21b1f890, 0x3f3f120];

let known: Map<string, number> | null = null;

/** Word, and its first four letters, → place in the list. */
function places(): Map<string, number> {
  known ??= new Map(SHARE_WORDS.flatMap((word, place) => [[word, place], [word.slice(0, PREFIX_LETTERS), place]] as const));
  return known;
}

function isChecked(share: readonly number[], customisation: readonly number[]): boolean {
  let check = 1;
  for (const value of [...customisation, ...share]) {
    const top = check >>> 20;
    check = ((check & 0xfffff) << 10) ^ value;
    for (let bit = 0; bit < 10; bit += 1) if (((top >>> bit) & 1) === 1) check ^= GENERATOR[bit]!;
  }
  return check === 1;
}

function judged(run: readonly number[], isWhole: boolean): boolean {
  if (run.length < WORDS_MIN) return false;
  // Nothing but a share's number of words is one whatever its checksum: a word was mistyped.
  if (run.length > RUN_JUDGED_MAX || (isWhole && SHARE_LENGTHS.includes(run.length))) return true;
  return SHARE_LENGTHS.some((length) => {
    for (let from = 0; from + length <= run.length; from += 1) {
      const share = run.slice(from, from + length);
      if (CUSTOMISATIONS.some((one) => isChecked(share, one))) return true;
    }
    return false;
  });
}

/** Whether a text holds a share, or is nothing but the words of one. */
export function holdsShare(text: string): boolean {
  if (text.length < WORDS_MIN * PREFIX_LETTERS) return false;
  const tokens = text.match(/[A-Za-z]+/g) ?? [];
  if (tokens.length < WORDS_MIN) return false;
  const table = places();
  let run: number[] = [];
  for (const token of tokens) {
    const place = token.length < PREFIX_LETTERS || token.length > 8 ? undefined : table.get(token.toLowerCase());
    if (place !== undefined) {
      run.push(place);
      continue;
    }
    if (judged(run, false)) return true;
    run = [];
  }
  return judged(run, run.length === tokens.length);
}
