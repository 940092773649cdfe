/** The search: the index is loaded when somebody first asks for it. */
import MiniSearch from 'minisearch';
import { indexedWords, partsOf, SEARCH_FIELDS, STORED_FIELDS, wholeWords } from '../words.ts';

export interface Hit {
  readonly title: string;
  readonly page: string;
  readonly href: string;
  readonly part: string;
}

const HITS_MAX = 12;

/** The index as it was built. */
export function createSearch(index: string): (question: string) => Hit[] {
  const found = MiniSearch.loadJSON(index, {
    fields: SEARCH_FIELDS,
    storeFields: STORED_FIELDS,
    tokenize: indexedWords,
  });
  const ask = (words: readonly string[], combineWith: 'AND' | 'OR') =>
    found.search(words.join(' '), {
      tokenize: wholeWords,
      combineWith,
      prefix: (term, at, terms) => at === terms.length - 1 && term.length > 1,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      boost: { title: 5, page: 2 },
      boostDocument: (_id, _term, stored) => {
        const title = String(stored?.['title'] ?? '').split(' ')[0]!;
        if (words.includes(title)) return 24; // `EDGE_OFFLINE` is the code, `edge_offline` the event
        return words.some((word) => word.toLowerCase() === title.toLowerCase()) ? 12 : 1;
      },
    });
  return (question) => {
    const words = wholeWords(question);
    if (words.length === 0) return [];
    const whole = ask(words, 'AND');
    const parts = words.flatMap((word) => (partsOf(word).length === 0 ? [word] : partsOf(word)));
    const more = whole.length >= HITS_MAX ? [] : [...ask(parts, 'AND'), ...ask(parts, 'OR')];
    const seen = new Set<unknown>();
    const hits = [...whole, ...more].filter(({ id }) => !seen.has(id) && seen.add(id));
    return hits.slice(0, HITS_MAX).map((hit) => ({
      title: String(hit['title']),
      page: String(hit['page']),
      href: String(hit['href']),
      part: String(hit['part']),
    }));
  };
}
