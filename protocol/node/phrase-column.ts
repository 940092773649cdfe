/**
 * A recovery phrase down a column: one word a row, with addresses between. Tags and names are words too, and some are
 * in the lists, so words are judged only while they say something new.
 *
 *   12 to 24 words in a row, nearly all different and new to the column, with a valid checksum     a phrase
 *   exactly so many new words between old ones, different or not, with a valid checksum            a phrase
 *   20 to 33 words with the checksum of SLIP-39                                                    a share
 */
import { holdsPhrase, PHRASE_WORDS } from './phrases.ts';
import { holdsShare } from '../shares.ts';

/** One word, perhaps numbered: `7. ability`, `ability,` and `(ability)` are one. */
const WORD = /^[\s\d.,;:()#'"-]*(\p{L}[\p{L}\p{M}]{1,15})[\s\d.,;:()#'"-]*$/u;
const CELL_CHARS_MAX = 64;
const RUN_WORDS_MAX = 33;
const SHARE_WORDS_MIN = 20;
/**
 * So many of a phrase's words may be there a second time, and so many may be old; of 24 words of 2,048 three are there
 * twice in one phrase of hundreds of thousands.
 */
const REPEATED_MAX = 2;
/** Longer than a phrase: new words that come again and again in so many rows are tags. */
const NEW_WORDS_MAX = 24;
/** Words of a column that are remembered. Choice: tags are few; a column of more words says something new each time. */
const VOCABULARY_MAX = 4_096;

export class PhraseColumn {
  /** The last words, old ones too; a cell that is no word ends them. */
  #last: { readonly word: string; readonly isOld: boolean }[] = [];
  /** New words in a row. */
  #fresh: string[] = [];
  readonly #old = new Set<string>();

  /** The rule that the column meets with this cell, or null. */
  cell(text: string): 'mnemonic' | 'share' | null {
    const word = text.length > CELL_CHARS_MAX ? undefined : WORD.exec(text)?.[1]?.toLowerCase();
    if (word === undefined) {
      if (text.trim() === '') return null;
      this.#last = [];
      return this.#endFresh();
    }
    const isOld = this.#old.has(word),
      isTag = !isOld && this.#fresh.length >= NEW_WORDS_MAX && this.#fresh.includes(word);
    const wasPhrase = isOld || isTag ? this.#endFresh() : null,
      rule = isTag ? null : wasPhrase;
    if (!isOld && !isTag) this.#fresh.push(word);
    this.#last.push({ word, isOld: isOld || isTag });
    if (this.#last.length > RUN_WORDS_MAX) this.#last.shift();
    return rule ?? this.#judged();
  }

  /** The same when the column ends. */
  end(): 'mnemonic' | null {
    return this.#endFresh();
  }

  #endFresh(): 'mnemonic' | null {
    const words = this.#fresh;
    this.#fresh = [];
    for (const word of words) if (this.#old.size < VOCABULARY_MAX) this.#old.add(word);
    return PHRASE_WORDS.includes(words.length) && holdsPhrase(words.join(' ')) ? 'mnemonic' : null;
  }

  #judged(): 'mnemonic' | 'share' | null {
    for (const count of PHRASE_WORDS) {
      const window = this.#last.slice(-count);
      if (window.length === count && isNew(window) && holdsPhrase(textOf(window))) return 'mnemonic';
    }
    return this.#isShare() ? 'share' : null;
  }

  #isShare(): boolean {
    const window = this.#last.slice(-SHARE_WORDS_MIN);
    return window.length === SHARE_WORDS_MIN && isNew(window) && holdsShare(textOf(this.#last));
  }
}

const textOf = (words: readonly { readonly word: string }[]): string => words.map(({ word }) => word).join(' ');

const isNew = (window: readonly { readonly word: string; readonly isOld: boolean }[]): boolean =>
  new Set(window.map(({ word }) => word)).size >= window.length - REPEATED_MAX &&
  window.filter(({ isOld }) => isOld).length <= REPEATED_MAX;
