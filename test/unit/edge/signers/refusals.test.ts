/**
 * What the edge says to each lie, to the letter: code, text and details are what applications branch on and operators
 * read. Four thousand lies: in the bytes, in the summary, in what was asked for, beyond the edge's own bounds, and
 * against its journal, for every family and kind of instruction. After a wanted change, and after a renewal of
 * known-heights.ts: `node test/support/edge/lies/record.ts`, and read the difference.
 */
import test from 'ava';
import { answersOf, type Answers } from '../../../support/edge/lies/everywhere.ts';
import { STAGES, type Refusals } from '../../../support/edge/lies/refusals.ts';
import { vector } from '../../../support/vectors.ts';

const { texts, families } = vector<Refusals>('refusals.json');

/** `kind: lie` → refusal, with its long texts. */
function byLie(answers: Answers, known: readonly string[]): Map<string, string> {
  return new Map(
    Object.entries(answers).flatMap(([answer, lies]) =>
      Object.entries(lies).flatMap(([lie, kinds]) =>
        kinds
          .split(', ')
          .map((kind) => [
            `${kind}: ${lie}`,
            answer.replace(/"text (\d+)"/g, (_, at: string) => JSON.stringify(known[Number(at)])),
          ]),
      ),
    ),
  );
}

for (const [family, stage] of Object.entries(STAGES)) {
  test(`house 9: every refusal to sign stays as it is, to the letter: ${family}`, (t) => {
    const now: string[] = [],
      today = byLie(answersOf(stage, now), now),
      wanted = byLie(families[family]!, texts);
    t.deepEqual([...today.keys()].toSorted(), [...wanted.keys()].toSorted());
    const differing = [...today].filter(([lie, answer]) => wanted.get(lie) !== answer);
    t.deepEqual(
      differing.map(([lie, answer]) => ({ lie, wanted: wanted.get(lie), answer })),
      [],
    );
    for (const kind of Object.keys(stage.asks)) t.is(today.get(`${kind}: honest`), 'signed', kind);
    t.true([...today.values()].filter((answer) => answer !== 'signed').length > 60, 'most of them are refused');
  });
}
