/** G25, V39: one broadcast at a time of a sender. */
import test from 'ava';
import { SenderLanes } from '../../../edge/signing/sender-lanes.ts';

const ask = (id: string, from = 'alice') => ({ id, chain: 'eth' as const, from });

function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

test('V39 turns of one sender follow each other, however they end; other senders do not wait', async (t) => {
  const lanes = new SenderLanes<string>(),
    log: string[] = [],
    first = gate();
  const work =
    (id: string, until: Promise<void> = Promise.resolve(), error?: Error) =>
    async () => {
      log.push(`${id} begins`);
      await until;
      log.push(`${id} ends`);
      if (error !== undefined) throw error;
      return id;
    };
  const failing = lanes.take(ask('1'), work('1', first.opened, new Error('no disk'))),
    second = lanes.take(ask('2'), work('2')),
    other = lanes.take(ask('3', 'bob'), work('3'));
  t.is(lanes.turnOf('2'), second, 'a call that comes meanwhile shares the turn');
  t.is(await other, '3');
  t.deepEqual(log, ['1 begins', '3 begins', '3 ends'], 'the second waits for the first of its sender alone');
  first.open();
  await t.throwsAsync(failing, { message: 'no disk' });
  t.is(await second, '2');
  t.deepEqual(log.slice(3), ['1 ends', '2 begins', '2 ends']);
});

test('V39 what one turn bound and did not sign is given up by the next, also by one that waits already', async (t) => {
  const lanes = new SenderLanes<readonly string[]>();
  const first = lanes.take(ask('1'), async (lane) => {
    lane.settle(['1']);
    return lane.gaveUp();
  });
  const waiting = lanes.take(ask('2'), async (lane) => lane.gaveUp());
  t.deepEqual([await first, await waiting], [['1'], ['1']]);
  const later = await lanes.take(ask('3'), async (lane) => {
    const gaveUp = lane.gaveUp();
    lane.settle([]);
    return gaveUp;
  });
  t.deepEqual(later, ['1'], 'it is kept while nobody waits');
  t.deepEqual(await lanes.take(ask('4'), async (lane) => lane.gaveUp()), []);
  t.is(lanes.turnOf('1'), undefined);
});
