import test from 'ava';
import { circlesOf } from '../support/circles.ts';
import { codeLines, houseFigures, listsOf, tableOf } from '../support/house.ts';
import type { SourceFile } from '../support/tree.ts';

const file = (path: string, ...lines: string[]): SourceFile => ({ path, text: lines.join('\n'), lines });

test('house 1: every figure is within its target, or no worse than it was', (t) => {
  const figures = houseFigures();
  t.deepEqual(
    figures.filter(({ found, atMost }) => found > atMost),
    [],
  );
  t.true(figures.length >= 12);
});

test('house 1: a figure beyond its target is seen', (t) => {
  t.deepEqual(
    circlesOf(
      new Map([
        ['a', ['b']],
        ['b', ['a']],
      ]),
    ),
    [['a', 'b']],
  );
  t.is(codeLines([file('a.ts', "import b from 'b';", '/** why', ' * so */', '', '// note', 'b();', '')]), 1);
  const areas = ['a', 'b', 'c'].map((name) => file(`protocol/routes/${name}.ts`));
  const naming = (...names: string[]) => names.map((name) => `import x from './routes/${name}.ts';`).join('\n');
  t.deepEqual(
    listsOf([...areas, file('protocol/all.ts', naming('a', 'b', 'c')), file('protocol/two.ts', naming('a', 'b'))]),
    ['protocol/all.ts'],
  );
  const figure = { what: 'circles', unit: 'files', where: 'here', target: 0 };
  const marks = [
    { ...figure, found: 0, atMost: 0 },
    { ...figure, found: 2, atMost: 2 },
    { ...figure, found: 3, atMost: 2 },
  ].map((one) => tableOf([one])[0]);
  t.deepEqual(marks, ['✔', '·', '✗']);
});
