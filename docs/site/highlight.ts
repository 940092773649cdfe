/** Colours of code, made when the site is built: no script of the page reads code. */

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** Kinds of a token, in the order in which they are tried; each becomes a class. */
type Rules = readonly (readonly [kind: string, pattern: RegExp])[];

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/;
const NUMBER = /\b\d[\d_]*(?:\.\d+)?\b/;
const words = (text: string): RegExp => new RegExp(`\\b(?:${text.split(' ').join('|')})\\b`);

const SLASHES: readonly [string, RegExp] = ['c', /\/\/[^\n]*|\/\*[\s\S]*?\*\//];
const HASH: readonly [string, RegExp] = ['c', /(?<![\w$"'&])#[^\n]*/];
const TS: Rules = [
  SLASHES,
  ['s', STRING],
  [
    'k',
    words(
      'import from export const let function async await return if else for of in new throw try catch type interface extends class while null true false undefined typeof',
    ),
  ],
  ['n', NUMBER],
];
const PYTHON: Rules = [
  HASH,
  ['s', /"""[\s\S]*?"""|f?"(?:[^"\\\n]|\\.)*"|f?'(?:[^'\\\n]|\\.)*'/],
  [
    'k',
    words(
      'import from def class return if elif else for in while with as try except raise async await not and or is None True False pass lambda',
    ),
  ],
  ['n', NUMBER],
];
const GO: Rules = [
  SLASHES,
  ['s', STRING],
  [
    'k',
    words(
      'package import func return if else for range var const type struct map defer go nil true false error string int64 switch case',
    ),
  ],
  ['n', NUMBER],
];
const SH: Rules = [
  HASH,
  ['s', /"(?:[^"\\]|\\.)*"|'[^']*'/],
  ['v', /\$\{?\w+\}?/],
  ['k', words('if then else fi for do done while until case esac export exec')],
  ['n', /(?<=\s)--?[a-zA-Z][\w-]*/],
];
const JSON_RULES: Rules = [
  ['v', /"(?:[^"\\]|\\.)*"(?=\s*:)/],
  ['s', /"(?:[^"\\]|\\.)*"/],
  ['k', /\b(?:true|false|null)\b/],
  ['n', /-?\b\d+(?:\.\d+)?\b/],
];
const SQL: Rules = [
  ['c', /--[^\n]*/],
  ['s', /'[^']*'/],
  [
    'k',
    /\b(?:select|from|where|and|or|not|insert|into|values|update|set|delete|join|left|on|group|by|order|limit|as|create|table|primary|key|is|null|count|desc)\b/i,
  ],
  ['n', NUMBER],
];
const YAML: Rules = [HASH, ['v', /^[ -]*[\w.-]+(?=:)/m], ['s', STRING], ['k', words('true false null')], ['n', NUMBER]];
const HTML: Rules = [
  ['c', /<!--[\s\S]*?-->/],
  ['s', /"[^"]*"/],
  ['k', /<\/?[a-z][\w-]*|\/?>/],
];

const RULES: Readonly<Record<string, Rules>> = {
  ts: TS,
  js: TS,
  python: PYTHON,
  go: GO,
  sh: SH,
  json: JSON_RULES,
  sql: SQL,
  yaml: YAML,
  html: HTML,
};

/** Code as markup: what a language gives a colour is in a span. A language without rules stays plain. */
export function highlighted(code: string, language: string): string {
  const rules = RULES[language];
  if (rules === undefined) return escaped(code);
  const any = new RegExp(rules.map(([, { source }], at) => `(?<k${at}>${source})`).join('|'), flagsOf(rules));
  let made = '';
  let end = 0;
  for (const match of code.matchAll(any)) {
    const at = rules.findIndex((_, index) => match.groups![`k${index}`] !== undefined);
    made += `${escaped(code.slice(end, match.index))}<span class="t-${rules[at]![0]}">${escaped(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return made + escaped(code.slice(end));
}

const flagsOf = (rules: Rules): string =>
  ['g', ...new Set(rules.flatMap(([, { flags }]) => [...flags]).filter((flag) => flag !== 'g'))].join('');
