/** Open pages of payers, over payments that the test changes, with a clock of the test. payments H7, S20. */
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import test from 'ava';
import { createCheckoutStreams, type Following } from '../../../gateway/http/payment/checkout-stream.ts';
import { isRefusal } from '../../../protocol/errors.ts';

function world(most = 5_000) {
  const marks = new Map([['pay_a', '1.0.0']]);
  const asked: number[] = [];
  let nowMs = 0,
    views = 0,
    isDraining = false;
  const streams = createCheckoutStreams({
    marks: async (ids) => {
      asked.push(ids.length);
      return ids.flatMap((id) => (marks.has(id) ? [{ id, mark: marks.get(id)! }] : []));
    },
    viewOf: async (id) => {
      views += 1;
      return marks.has(id) ? { id, at: marks.get(id) } : null;
    },
    isDraining: () => isDraining,
    log: { warn: () => undefined },
    most,
    elapsedMs: () => nowMs,
  });
  const follow = async (more: Partial<Following> = {}): Promise<Readable> => {
    const out = await streams.follow({
      ...{ paymentId: 'pay_a', client: '192.0.2.1', environment: 'live', seen: null },
      ...more,
    });
    if (isRefusal(out)) throw new Error(out.code);
    return out;
  };
  return {
    marks,
    asked,
    streams,
    follow,
    views: () => views,
    look: () => streams.look(),
    passes: (ms: number) => {
      nowMs += ms;
    },
    stops: () => {
      isDraining = true;
    },
  };
}
const heard = (out: Readable): string => String(out.read() ?? '');
const VIEW = (mark: string) => `id: ${mark}\ndata: {"id":"pay_a","at":"${mark}"}\n\n`;

test('payments H7: the whole view at once, then once for each change, and a comment after twenty quiet seconds', async (t) => {
  const of = world(),
    out = await of.follow();
  t.is(heard(out), `retry: 1000\n\n${VIEW('1.0.0')}`);
  await of.look();
  t.is(heard(out), '', 'nothing changed');
  of.marks.set('pay_a', '2.ab.7');
  await of.look();
  t.is(heard(out), VIEW('2.ab.7'));
  of.passes(19_999);
  await of.look();
  t.is(heard(out), '');
  of.passes(1);
  await of.look();
  t.is(heard(out), ': here\n\n');
});

test('payments H7: who comes back gets what it has not seen, and nothing twice', async (t) => {
  const of = world();
  t.is(heard(await of.follow({ seen: '1.0.0' })), 'retry: 1000\n\n');
  t.is(heard(await of.follow({ seen: '0.0.0' })), `retry: 1000\n\n${VIEW('1.0.0')}`);
});

test('payments H7: all pages of a node are one question a second, and pages of one payment one view', async (t) => {
  const of = world();
  for (let at = 0; at < 12; at += 1) await of.follow();
  const views = of.views();
  of.asked.length = 0;
  of.marks.set('pay_a', '2.0.0');
  await of.look();
  t.deepEqual(of.asked, [1]);
  t.is(of.views(), views + 1);
});

test('payments H7, S20: twelve streams of an address, a hundred of a payment, and no more than the node may have', async (t) => {
  const of = world();
  const open = [];
  for (let at = 0; at < 12; at += 1) open.push(await of.follow());
  t.like(await of.streams.follow({ paymentId: 'pay_a', client: '192.0.2.1', environment: 'live', seen: null }), {
    code: 'RATE_LIMIT_EXCEEDED',
    details: { limit: 12, retryAfterSeconds: 15 },
  });
  open[0]!.destroy();
  await new Promise(setImmediate);
  await of.follow(); // the place of the one that went
  for (let at = 0; at < 88; at += 1) await of.follow({ client: `2001:db8:${at}` });
  t.like(await of.streams.follow({ paymentId: 'pay_a', client: '198.51.100.1', environment: 'live', seen: null }), {
    code: 'RATE_LIMIT_EXCEEDED',
    details: { limit: 100 },
  });
  const small = world(1);
  await small.follow();
  t.like(await small.streams.follow({ paymentId: 'pay_a', client: '192.0.2.9', environment: 'live', seen: null }), {
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'streams_of_node' },
  });
});

test('payments H7: one that reads nothing is let go and holds no more than its bound; one that reads again is told all', async (t) => {
  const of = world(),
    [stuck, slow] = [await of.follow(), await of.follow()];
  const change = async (at: number): Promise<void> => {
    of.marks.set('pay_a', `${at}.0.0`);
    await of.look();
  };
  let at = 2;
  while (stuck.readableLength <= 32_768) await change((at += 1));
  const held = stuck.readableLength;
  await change((at += 1));
  t.is(stuck.readableLength, held, 'nothing more is laid by for it');
  heard(slow);
  await change((at += 1));
  t.is(heard(slow), VIEW(`${at}.0.0`));
  of.passes(30_000);
  await of.look();
  t.true(stuck.destroyed);
  t.false(slow.destroyed);
});

test('payments H7, E8: a stream ends after ten minutes, with its payment, and when the node stops', async (t) => {
  for (const ends of [
    (of: ReturnType<typeof world>) => of.passes(600_000),
    (of: ReturnType<typeof world>) => void of.marks.clear(),
    (of: ReturnType<typeof world>) => of.stops(),
  ]) {
    const of = world(),
      out = await of.follow();
    ends(of);
    await of.look();
    t.is(String(await buffer(out)), `retry: 1000\n\n${VIEW('1.0.0')}`);
  }
});
