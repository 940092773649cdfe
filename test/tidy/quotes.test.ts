import test from 'ava';
import { filesOf, sources } from '../support/tree.ts';

const plain = (text: string) => text.replace(/[`*|]/g, '').replace(/\s+/g, ' ').toLowerCase();

test('style 2(e): words quoted from the specification stand in docs/spec.md', (t) => {
  const spec = plain(filesOf(['docs/spec.md'], '.md')[0]!.text);
  const wrong: string[] = [];
  let quotes = 0;
  for (const file of sources()) {
    const text = file.text.replace(/\n\s*(?:\/\/|\*)\s?/g, ' ');
    for (const [, quoted] of text.matchAll(/Spec §[0-9.]+: "([^"]+)"/g)) {
      quotes += 1;
      if (!spec.includes(plain(quoted!).replace(/\.$/, ''))) wrong.push(`${file.path}: ${quoted}`);
    }
  }
  t.true(quotes > 0);
  t.deepEqual(wrong, []);
});

/** What comments cite: `Spec §3.6`, `Decisions 4`, `decision 40`. */
const CITED = /\b(spec §|decisions |decision |design |reliability |style part )([0-9]+)(?:\.([0-9]+))?/gi;

/** Citations of a text that lead nowhere: the document, the section or the record is not in docs/. */
function lost(text: string): string[] {
  const prose = text.replace(/\n\s*(?:\/\/|\*|--) ?/g, ' ');
  return [...prose.matchAll(CITED)].flatMap(([cited, document, section, item]) =>
    exists(document!.toLowerCase().trim(), Number(section), Number(item ?? 0)) ? [] : [cited],
  );
}

function exists(document: string, section: number, item: number): boolean {
  if (document === 'decision')
    return filesOf(['docs/decisions'], '.md').some(({ path }) =>
      path.startsWith(`docs/decisions/${String(section).padStart(4, '0')}-`),
    );
  const [file] = filesOf([`docs/${document === 'spec §' ? 'spec' : document}.md`], '.md');
  const [, body] = new RegExp(`^## ${section}\\. [^\\n]*\\n([^]*?)(?=^## |(?![^]))`, 'm').exec(file?.text ?? '') ?? [];
  if (body === undefined || item === 0) return body !== undefined;
  // A section without headings of its own is cited by its numbered rules.
  const numbers = /^### /m.test(body) ? /^### [0-9]+\.([0-9]+) /gm : /^([0-9]+)\. /gm;
  return [...body.matchAll(numbers)].some(([, number]) => Number(number) === item);
}

test('house 10: what a comment cites exists in docs/', (t) => {
  t.deepEqual(lost('// Reliability 3.9-1, spec §3.6, decisions 4, decision 40'), ['Reliability 3.9']);
  t.deepEqual(lost('/**\n * Design\n * 4. Spec §3.99, decisions 99, decision 9999.\n */'), [
    'Design 4',
    'Spec §3.99',
    'decisions 99',
    'decision 9999',
  ]);
  const files = [...sources(), ...filesOf(['persistence'], '.sql')];
  t.deepEqual(
    files.flatMap(({ path, text }) => lost(text).map((cited) => `${path}: ${cited}`)),
    [],
  );
});
