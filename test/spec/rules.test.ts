import { readFileSync } from 'node:fs';
import test from 'ava';
import {
  citations,
  citationsOfPage,
  citedIn,
  citedOfPage,
  MATRIX_FILE,
  NOT_YET,
  PAGES,
  rules,
  rulesOfPage,
} from '../support/rule-matrix.ts';
import { ROOT } from '../support/tree.ts';

const ALL = rules();
const CITED = citations();

test('every letter of the rules and every chapter of the faults is read whole', (t) => {
  const count = (letter: string) => ALL.filter((rule) => rule.letter === letter).length;
  t.deepEqual(['G', 'V', 'X', 'K', 'B', 'T', 'L', 'R', 'M'].map(count), [29, 44, 2, 5, 20, 24, 33, 29, 30]);
  t.is(ALL.filter(({ id }) => id.startsWith('C')).length, 51);
  t.is(new Set(ALL.map(({ id }) => id)).size, ALL.length);
});

test('every rule of an enabled chain and every fault is in the title of a test, or says why not yet', (t) => {
  t.deepEqual(
    ALL.filter(({ id, counts }) => counts && !CITED.has(id) && NOT_YET[id] === undefined).map(
      ({ id, text }) => `${id} ${text.slice(0, 80)}`,
    ),
    [],
  );
});

test('what does not apply yet is a rule, has a reason, and no test holds it', (t) => {
  const known = new Set(ALL.map(({ id }) => id));
  t.deepEqual(
    Object.entries(NOT_YET)
      .filter(([id, reason]) => !known.has(id) || reason.length < 20 || CITED.has(id))
      .map(([id]) => id),
    [],
  );
});

test('no title names a rule that there is none of', (t) => {
  const known = new Set(ALL.map(({ id }) => id));
  const letters = new Set(ALL.map(({ letter }) => letter));
  t.deepEqual(
    [...CITED.keys()].filter((id) => letters.has(/^C[0-9]+(?=-)|^[A-Z]/.exec(id)![0]) && !known.has(id)),
    [],
  );
});

test('a title names one rule, several, or a range', (t) => {
  t.deepEqual(citedIn('G1, G27 and V36–V38: a test'), ['G1', 'G27', 'V36', 'V37', 'V38']);
  t.deepEqual(citedIn('V3–5 of eth: SHA256, ERC-20, C2-26'), ['V3', 'V4', 'V5', 'C2-26']);
  t.deepEqual(citedIn('console B3, B22 and console A17–A19: not those of btc; I26, B7'), ['I26', 'B7']);
});

test('the written matrix has every rule: npm run -s docs:rules makes it anew', (t) => {
  const written = readFileSync(`${ROOT}${MATRIX_FILE}`, 'utf8');
  t.deepEqual(
    ALL.filter(({ id }) => !written.includes(`\n| ${id} | `)).map(({ id }) => id),
    [],
  );
});

for (const page of Object.keys(PAGES)) {
  test(`every rule of the page ${page} is in the title of a test, and no title names one that it does not have`, (t) => {
    const known = rulesOfPage(page),
      cited = citationsOfPage(page);
    t.true(known.length > 0);
    t.is(new Set(known).size, known.length);
    t.deepEqual(
      known.filter((id) => !cited.has(id)),
      [],
    );
    t.deepEqual(
      [...cited].filter((id) => !known.includes(id)),
      [],
    );
  });
}

test('a title names rules of a page after its name', (t) => {
  t.deepEqual(citedOfPage('treasury', 'treasury E1, E2: a test of V36'), ['E1', 'E2']);
  t.deepEqual(citedOfPage('treasury', '§4.5, treasury W5, S7–S9: a test; payments E4'), ['W5', 'S7', 'S8', 'S9']);
});
