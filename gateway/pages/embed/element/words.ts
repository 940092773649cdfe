/** Texts of the element: some of the pay page's, and its own. payments H15. */
import type { LANGUAGES } from '../../pay/words.ts';
import type { ELEMENT_WORDS } from '../words.ts';

type Word = (typeof ELEMENT_WORDS)[number] | 'unverified';
/** Put in by the build: each language's texts. */
declare const WORDS: Readonly<Record<keyof typeof LANGUAGES, Readonly<Record<Word, string>>>>;

export type Say = (word: Word, values?: Readonly<Record<string, string>>) => string;

/** The language that the page asks for, the document's, the browser's, English. */
export function languageOf(asked: readonly (string | null | undefined)[]): string {
  const known = Object.keys(WORDS);
  for (const tag of asked) {
    const primary = (tag ?? '').toLowerCase().split('-')[0];
    const found = known.find((language) => primary !== '' && language.toLowerCase().split('-')[0] === primary);
    if (found !== undefined) return found;
  }
  return 'en';
}

export const directionOf = (language: string): string => (/^(ar|he|fa)$/.test(language) ? 'rtl' : 'ltr');

export const sayIn =
  (language: string): Say =>
  (word, values = {}) =>
    (WORDS as Readonly<Record<string, Readonly<Record<string, string>>>>)[language]![word]!.replace(
      /\{(\w+)\}/g,
      (_, name: string) => values[name] ?? '',
    );
