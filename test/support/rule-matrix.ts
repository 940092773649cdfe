/**
 * Which test holds which rule: the numbered rules of `docs/chains/rules.md` and `docs/migration.md` and the entries of
 * `docs/faults.md` against the titles of all tests. `npm run -s docs:rules` writes it down.
 */
import { writeFileSync } from 'node:fs';
import { isEnabled } from '../../chains/registry.ts';
import { CHAINS, FAMILY_OF, type Family } from '../../protocol/slugs.ts';
import { documentText } from './documents.ts';
import { filesOf, ROOT } from './tree.ts';

export const MATRIX_FILE = 'docs/rules-and-tests.md';

/** What a letter's rules are about; a family's rules count once its chains are enabled. */
const LETTERS: Readonly<Record<string, { readonly about: string; readonly family: Family | null }>> = {
  G: { about: 'all chains', family: null },
  X: { about: 'errors of nodes', family: null },
  K: { about: 'the token catalogue', family: null },
  B: { about: 'btc', family: 'btc' },
  V: { about: 'eth, bsc, polygon, avax, base', family: 'evm' },
  T: { about: 'tron', family: 'tron' },
  L: { about: 'sol', family: 'sol' },
  R: { about: 'xrp', family: 'xrp' },
  M: { about: 'xlm', family: 'xlm' },
  'M-': { about: 'migration', family: null },
};

const PAYMENTS = 'payments run; a test that provokes this report is still to be written';

/** Rules that no test holds yet, and why. An entry whose rule a test cites has to go. */
export const NOT_YET: Readonly<Record<string, string>> = {
  'C10-72': PAYMENTS,
};

export interface Rule {
  readonly id: string;
  readonly text: string;
  readonly letter: string;
  readonly counts: boolean;
}

/** Every rule of a table or a "Rule X1:" line, and every fault, in the order of the documents. */
export function rules(): Rule[] {
  return [...chainRules(), ...migrationRules(), ...faults()];
}

function migrationRules(): Rule[] {
  const rows = documentText('migration.md').matchAll(/^\| (M-[A-Z][0-9]+) \| (.+?) \|/gm);
  return [...rows].map(([, id, text]) => ({ id: id!, text: text!, letter: 'M-', counts: true }));
}

function chainRules(): Rule[] {
  const text = documentText('chains/rules.md');
  const inTables = [...text.matchAll(/^\| ([A-Z])([0-9]+) \| (.+?) \|/gm)];
  const inLines = text
    .split('\n')
    .filter((line) => /^Rules?:? [XK]1?/.test(line))
    .flatMap((line) => line.split(/(?=\b[XK][1-9]\b)/))
    .flatMap((part) => [...part.matchAll(/^([XK])([1-9])[ :]+(.+)$/g)]);
  return [...inTables, ...inLines].map(([, letter, number, says]) => {
    const family = LETTERS[letter!]?.family;
    if (family === undefined) throw new Error(`no rules are known by the letter ${letter}`);
    const counts = family === null || CHAINS.some((chain) => FAMILY_OF[chain] === family && isEnabled(chain));
    return { id: `${letter}${number}`, text: says!, letter: letter!, counts };
  });
}

function faults(): Rule[] {
  let chapter = '';
  return documentText('faults.md')
    .split('\n')
    .flatMap((line) => {
      chapter = /^### (C[0-9]+)/.exec(line)?.[1] ?? chapter;
      const [, number, text] = /^([0-9]+)\. (.+)$/.exec(line) ?? [];
      return number === undefined ? [] : [{ id: `${chapter}-${number}`, text: text!, letter: chapter, counts: true }];
    });
}

const TITLE = /\b(?:test|holds)(?:\.\w+)*\(\s*(?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`|"((?:[^"\\]|\\.)*)")/g;
const RULE = /(?<![\w-])([A-Z])([0-9]{1,2})(?:–\1?([0-9]{1,2}))?(?![\w-])/g;
const FAULT = /\bC[0-9]{1,2}-[0-9]{1,2}\b/g;
const OF_MIGRATION = /\bM-[A-Z][0-9]{1,2}\b/g;

/** Rules of other pages, named after it: `console B3, B22`. Their letters are their own. */
const OF_PAGE = /\b(?:console|treasury|payments|migration|ecosystem) [A-Z][0-9]{1,2}(?:(?:, |–)[A-Z]?[0-9]{1,2})*/g;

/** Pages with rules of their own, by the name that titles cite them with; each rule is a row `| E1 | …`. */
export const PAGES: Readonly<Record<string, string>> = { treasury: 'treasury.md', payments: 'payments.md' };

/** Rules of a page, in its order. */
export function rulesOfPage(page: string): string[] {
  return [...documentText(PAGES[page]!).matchAll(/^\| ([A-Z][0-9]{1,2}) \| /gm)].map(([, id]) => id!);
}

/** Rules of a page that a title names: `treasury E1, E2`, `treasury S5–S7`. */
export function citedOfPage(page: string, title: string): string[] {
  const listed = new RegExp(`\\b${page} ((?:[A-Z][0-9]{1,2})(?:(?:, |–)[A-Z]?[0-9]{1,2})*)`, 'g');
  return [...title.matchAll(listed)].flatMap(([, list]) => citedIn(list!));
}

/** Rules of a page that some title names. */
export function citationsOfPage(page: string): Set<string> {
  const titles = filesOf(['test'], '.ts').flatMap(({ text }) =>
    [...text.matchAll(TITLE)].map(([, plain, template, quoted]) => plain ?? template ?? quoted ?? ''),
  );
  return new Set(titles.flatMap((title) => citedOfPage(page, title)));
}

/** Rules of the chains that a title names; `V36–V40` and `V36–40` are five. */
export function citedIn(title: string): string[] {
  const single = [...title.replaceAll(OF_PAGE, '').matchAll(RULE)].flatMap(([, letter, from, to]) =>
    Array.from(
      { length: Math.max(0, Number(to ?? from) - Number(from)) + 1 },
      (_, n) => `${letter}${Number(from) + n}`,
    ),
  );
  return [...single, ...(title.match(FAULT) ?? []), ...(title.match(OF_MIGRATION) ?? [])];
}

/** Rule → file → how many titles name it. */
export function citations(): Map<string, Map<string, number>> {
  const found = new Map<string, Map<string, number>>();
  for (const { path, text } of filesOf(['test'], '.ts')) {
    for (const [, plain, template, quoted] of text.matchAll(TITLE)) {
      for (const id of new Set(citedIn(plain ?? template ?? quoted ?? ''))) {
        const files = found.get(id) ?? new Map<string, number>();
        found.set(id, files.set(path, (files.get(path) ?? 0) + 1));
      }
    }
  }
  return found;
}

const SUMMARY_CHARACTERS = 90;

function row({ id, text, counts }: Rule, cited: Map<string, Map<string, number>>): string {
  const files = [...(cited.get(id) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  const plain = text.replace(/[`*★|]/g, '').trim();
  const says = plain.length > SUMMARY_CHARACTERS ? `${plain.slice(0, SUMMARY_CHARACTERS).toWellFormed()}…` : plain;
  const held = files.map(([path, count]) => `\`${path}\`${count > 1 ? ` ×${count}` : ''}`).join(', ');
  return `| ${id} | ${says} | ${held || (counts ? `– ${NOT_YET[id] ?? ''}` : '– the chain is not enabled')} |`;
}

/** The document. */
export function matrixText(): string {
  const all = rules(),
    cited = citations();
  const chapters = Map.groupBy(all, ({ letter }) => letter);
  const tables = [...chapters].map(([letter, ofLetter]) => {
    const about = LETTERS[letter]?.about;
    return [
      `## ${letter}${about === undefined ? ', faults' : `: ${about}`}`,
      '',
      '| rule | says | tests |',
      '|---|---|---|',
      ...ofLetter.map((rule) => row(rule, cited)),
      '',
    ].join('\n');
  });
  return [
    '# Rules and their tests',
    '',
    'Made by `npm run -s docs:rules`; `test/spec/rules.test.ts` fails when a rule of an enabled chain is in no title and not in the',
    'list of those that do not apply yet. A number behind a file says how many of its titles name the rule. Rules:',
    '[chains/rules.md](chains/rules.md), [migration.md](migration.md); faults: [faults.md](faults.md).',
    '',
    ...tables,
  ].join('\n');
}

if (import.meta.main) writeFileSync(`${ROOT}${MATRIX_FILE}`, matrixText());
