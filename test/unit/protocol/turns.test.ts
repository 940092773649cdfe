import test from 'ava';
import { Turns } from '../../../protocol/turns.ts';

test('work of one key is done one after the other, in the order of the asks; other keys do not wait; nothing stays', async (t) => {
  const turns = new Turns<string>();
  const story: string[] = [];
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const step =
    (name: string, waits: Promise<void> = Promise.resolve()) =>
    async () => {
      story.push(`${name} begins`);
      await waits;
      story.push(`${name} ends`);
      return name;
    };
  const first = turns.take('a', step('a1', gate)),
    failing = turns.take('a', async () => {
      story.push('a2 fails');
      throw new Error('a2');
    }),
    third = turns.take('a', step('a3'));
  t.is(await turns.take('b', step('b1')), 'b1');
  t.deepEqual(story, ['a1 begins', 'b1 begins', 'b1 ends']);
  t.is(turns.size, 1);
  open();
  await t.throwsAsync(failing, { message: 'a2' });
  t.deepEqual([await first, await third], ['a1', 'a3']);
  t.deepEqual(story.slice(3), ['a1 ends', 'a2 fails', 'a3 begins', 'a3 ends']);
  t.is(turns.size, 0);
});
