/** Which language a page speaks. payments H15. */
import { ar } from './words/ar.ts';
import { de } from './words/de.ts';
import { en, type Word, type Words } from './words/en.ts';
import { es } from './words/es.ts';
import { fa } from './words/fa.ts';
import { fr } from './words/fr.ts';
import { he } from './words/he.ts';
import { hi } from './words/hi.ts';
import { id } from './words/id.ts';
import { it } from './words/it.ts';
import { ja } from './words/ja.ts';
import { ko } from './words/ko.ts';
import { nl } from './words/nl.ts';
import { pl } from './words/pl.ts';
import { pt } from './words/pt.ts';
import { ru } from './words/ru.ts';
import { tr } from './words/tr.ts';
import { uk } from './words/uk.ts';
import { vi } from './words/vi.ts';
import { zhHans } from './words/zh-hans.ts';

export const LANGUAGES = {
  en,
  de,
  fr,
  es,
  pt,
  it,
  nl,
  pl,
  tr,
  ru,
  uk,
  'zh-Hans': zhHans,
  ja,
  ko,
  vi,
  id,
  hi,
  ar,
  he,
  fa,
} as const satisfies Record<string, Words>;
export type Language = keyof typeof LANGUAGES;

const RIGHT_TO_LEFT: ReadonlySet<Language> = new Set(['ar', 'he', 'fa'] as const);
/** What browsers and merchants call a language that has another name here. */
const OTHER_NAMES: Readonly<Record<string, Language>> = { zh: 'zh-Hans', iw: 'he', in: 'id' };

export const directionOf = (language: Language): 'ltr' | 'rtl' => (RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr');

function known(tag: string | null | undefined): Language | null {
  const [primary = ''] = (tag ?? '').trim().toLowerCase().split('-');
  const named = OTHER_NAMES[primary] ?? primary;
  return named in LANGUAGES ? (named as Language) : null;
}

/** The first that is spoken here: what the address asks for, the payment's, the browser's, the merchant's. */
export function languageOf(asked: {
  readonly lang: string | null;
  readonly payment: string | null;
  readonly accepted: string | undefined;
  readonly merchant: string | null;
}): Language {
  const accepted = (asked.accepted ?? '')
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', weight] = part.split(';');
      return { tag, weight: weight === undefined ? 1 : Number(/^\s*q=([0-9.]+)/.exec(weight)?.[1] ?? 0) };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((left, right) => right.weight - left.weight);
  return (
    [asked.lang, asked.payment, ...accepted.map(({ tag }) => tag), asked.merchant]
      .map(known)
      .find((language) => language !== null) ?? 'en'
  );
}

export type Say = (word: Word, values?: Readonly<Record<string, string>>) => string;

/** The words of a language with their places filled in; not escaped. */
export const sayIn =
  (language: Language): Say =>
  (word, values = {}) =>
    LANGUAGES[language][word].replace(/\{([a-z]+)\}/g, (_place, name: string) => values[name] ?? '');
