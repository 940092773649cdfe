import test from 'ava';
import { documentText } from '../support/documents.ts';
import { ACTED_ON, logDocument, logLines } from '../support/log-document.ts';
import { REMEDIES } from '../support/log-remedies.ts';

const lines = logLines();

test('ecosystem X58 docs/logs.md is what the calls in the sources make of it: npm run -s docs:logs', (t) => {
  t.is(documentText('logs.md'), logDocument());
  t.true(lines.length > 180);
});

test('ecosystem X58 every line that a person should act on says what to do, and no remedy is of a line that is not there', (t) => {
  const wanted = lines.filter(({ level }) => ACTED_ON.has(level)).map(({ message }) => message);
  t.deepEqual([...new Set(wanted.filter((message) => REMEDIES[message] === undefined))], []);
  const there = new Set(lines.map(({ message }) => message));
  t.deepEqual(
    Object.keys(REMEDIES).filter((message) => !there.has(message)),
    [],
  );
});
