/** An edge cuts an answer above its bound, so that one too large would have the log count as withheld for ever. */
import test from 'ava';
import { OWN_ANSWER_BYTES_MAX } from '../../../edge/link/bounded-answer.ts';
import { firstOf } from '../../../gateway/http/audit-log/audit-log.ts';

const PAGE = 400;
/** Room for the envelope, the checkpoint and headers. */
const AROUND = 4_096;
const rowsOf = (text: string | null) =>
  Array.from({ length: PAGE }, (_, at) => ({ seq: at + 1_000_000, hash: 'f'.repeat(64), text }));

const TEXTS: Readonly<Record<string, string | null>> = {
  'letters of one byte': `{"label":"${'a'.repeat(400)}"}`,
  'letters of three bytes': `{"label":"${'名'.repeat(400)}"}`,
  'quoted quotes': JSON.stringify({ label: '"'.repeat(200) }),
  controls: JSON.stringify({ label: '\u0001'.repeat(200) }),
  'many short ones': '{}',
  'texts past their time': null,
};

test('console U4: whatever people write, an answer is smaller than what the edge reads, and goes on', (t) => {
  for (const [what, text] of Object.entries(TEXTS)) {
    const rows = rowsOf(text),
      entries = firstOf(rows);
    t.true(Buffer.byteLength(JSON.stringify(entries)) + AROUND <= OWN_ANSWER_BYTES_MAX, what);
    t.true(entries.length > 50, what);
    t.deepEqual(entries, rows.slice(0, entries.length), 'none is left out between');
  }
  t.is(firstOf(rowsOf('名'.repeat(70_000))).length, 1, 'one at least');
});
