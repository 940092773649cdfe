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
