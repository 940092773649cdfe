/** How texts and questions become words of the search: identifiers whole, then their parts. X42. For browsers too. */

/** What every text has and nobody looks for; no name of a field or a value is among them. */
const COMMON = new Set(['an', 'and', 'are', 'is', 'it', 'its', 'of', 'that', 'the', 'which']);

/** Words as they are: `deposit_confirmed`, `POST`, `/v1/addresses`, `createAddress`. */
export const wholeWords = (text: string): string[] =>
  text
    .split(/[^\p{L}\p{N}_./-]+/u)
    .map((word) => word.replace(/^[./-]+|[./-]+$/g, ''))
    .filter((word) => word.length > 1 && !COMMON.has(word.toLowerCase()));

/** Parts of an identifier: none of a plain word. */
export function partsOf(word: string): string[] {
  const parts = word
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_./-]+/)
    .filter((part) => part.length > 1);
  return parts.length < 2 ? [] : parts;
}

/** What a text is found by. */
export const indexedWords = (text: string): string[] => wholeWords(text).flatMap((word) => [word, ...partsOf(word)]);

export const SEARCH_FIELDS = ['title', 'page', 'text'];
export const STORED_FIELDS = ['title', 'page', 'href', 'part'];
