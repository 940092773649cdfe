import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { csvCell } from '../../../protocol/csv.ts';
import {
  ChainCheck,
  checkpointText,
  isSigned,
  verifyExport,
  type ChainEntry,
  type Checkpoint,
} from '../../../protocol/node/audit-chain.ts';

const ORGANIZATION = `org_${'a'.repeat(26)}`;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const KEYS = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }];

/** A chain of so many entries, the first `trimmed` without their texts. */
function chainOf(count: number, { trimmed = 0, salt = '' } = {}): ChainEntry[] {
  let hash = createHash('sha256').update(ORGANIZATION).digest();
  return Array.from({ length: count }, (_, at) => {
    const text = JSON.stringify({ seq: at + 1, organization: ORGANIZATION, action: `a${at}${salt}` });
    hash = createHash('sha256').update(hash).update(text).digest();
    return { seq: at + 1, hash: hash.toString('hex'), text: at < trimmed ? null : text };
  });
}
function checkpointOf(chain: readonly ChainEntry[], seq = chain.length): Checkpoint {
  const said = { organization: ORGANIZATION, seq, hash: chain[seq - 1]!.hash, at: '2026-01-01T00:00:00.000Z' };
  return {
    ...said,
    kid: 'k1',
    signature: sign(null, Buffer.from(checkpointText(said)), privateKey).toString('base64url'),
  };
}
function problemsOf(chain: readonly ChainEntry[], known: readonly Checkpoint[] = []) {
  const check = new ChainCheck(ORGANIZATION, known);
  for (const entry of chain) check.add(entry);
  check.end();
  return check.problems;
}
async function* linesOf(head: object, chain: readonly ChainEntry[]) {
  yield JSON.stringify(head);
  for (const entry of chain) yield JSON.stringify(entry);
}

test('console U4: a whole chain has no problem, also where its oldest texts are gone', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(39), (count, trimmed) => {
      const chain = chainOf(count, { trimmed: Math.min(trimmed, count) });
      return problemsOf(chain, [checkpointOf(chain)]).length === 0;
    }),
  );
  t.deepEqual(problemsOf([]), []);
});

test('console U4: each of the six manipulations is named with its seq (faults 19: deleted or inserted entries verify)', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 40 }), fc.nat(), (count, random) => {
      const chain = chainOf(count);
      const signed = checkpointOf(chain);
      const at = random % (count - 2);
      const seq = at + 1;
      const entry = chain[at]!;
      const swap = (other: ChainEntry) => chain.with(at, other);
      const first = (manipulated: readonly ChainEntry[]) => problemsOf(manipulated, [signed])[0];
      t.deepEqual(first(swap({ ...entry, text: entry.text!.replace('"a', '"b') })), { seq, problem: 'changed' });
      t.deepEqual(first(swap({ ...entry, text: null })), seq === 1 ? undefined : { seq, problem: 'changed' });
      t.deepEqual(first(chain.toSpliced(at, 1)), { seq, problem: 'missing' }, 'deleted');
      t.is(first(chain.toSpliced(at, 0, { ...entry, text: '{}' }))?.problem, 'changed', 'inserted');
      t.deepEqual(first(chain.with(at, chain[at + 1]!).with(at + 1, entry)), { seq, problem: 'missing' }, 'reordered');
      t.deepEqual(first(chain.slice(0, seq)), { seq: seq + 1, problem: 'cut' });
      t.deepEqual(first(chainOf(count, { salt: 'x' })), { seq: count, problem: 'rewritten' });
    }),
    { numRuns: 100 },
  );
});

test('console U4: a rewritten chain is found by an older checkpoint', (t) => {
  const chain = chainOf(9);
  const rewritten = chainOf(9, { salt: 'x' });
  t.deepEqual(problemsOf(rewritten, [checkpointOf(rewritten)]), []);
  t.deepEqual(problemsOf(rewritten, [checkpointOf(rewritten), checkpointOf(chain, 4)]), [
    { seq: 4, problem: 'rewritten' },
  ]);
});

test('console U6: an export is verified offline: signature, end, an earlier checkpoint, and what is no export', async (t) => {
  const chain = chainOf(5, { trimmed: 2 });
  const checkpoint = checkpointOf(chain);
  const head = { format: 'flock-audit-1', checkpoint };
  t.like(await verifyExport(linesOf(head, chain), { keys: KEYS }), { ok: true, signed: true, problems: [] });
  t.like(await verifyExport(linesOf(head, chain), {}), { ok: true, signed: null });
  const forged = { ...checkpoint, at: '2027-01-01T00:00:00.000Z' };
  t.like(await verifyExport(linesOf({ ...head, checkpoint: forged }, chain), { keys: KEYS }), {
    ok: false,
    signed: false,
  });
  t.false(isSigned(checkpoint, []));
  t.like(await verifyExport(linesOf(head, chain.slice(0, 3)), { keys: KEYS }), {
    ok: false,
    problems: [{ seq: 4, problem: 'cut' }],
  });
  const other = chainOf(5, { salt: 'y' });
  const later = await verifyExport(linesOf(head, chain), { keys: KEYS, earlier: [checkpointOf(other, 3)] });
  t.like(later, { ok: false, problems: [{ seq: 3, problem: 'rewritten' }] });
  const foreign = { ...checkpoint, organization: 'org_b' };
  t.like(await verifyExport(linesOf(head, chain), { earlier: [foreign] }), { ok: false, line: 1 });
  for (const [lines, line] of [
    [[], 0],
    [['{}'], 1],
    [[JSON.stringify(chain[0])], 1],
    [[JSON.stringify(head), 'x'], 2],
    [[JSON.stringify(head), '', JSON.stringify(head)], 3],
    [['{"format":"flock-audit-1","checkpoint":{}}'], 1],
  ] as const) {
    const given = async function* () {
      yield* lines;
    };
    t.like(await verifyExport(given(), {}), { ok: false, line }, JSON.stringify(lines));
  }
});

test('console U6, B11 (faults 34: an exported cell runs as a formula): a cell that begins like a formula is text', (t) => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1'])
    t.true(csvCell(text).replace(/^"/, '').startsWith("'"), text);
  t.is(csvCell('a,"b"'), '"a,""b"""');
  t.is(csvCell('plain'), 'plain');
  t.is(csvCell(-5), '-5', 'a number is one');
  t.is(csvCell(null), '');
});
