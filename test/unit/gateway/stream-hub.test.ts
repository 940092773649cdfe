/** Everybody who listens: what one costs, and what is told to whom. Console C13, C14. */
import { once } from 'node:events';
import test from 'ava';
import { createHub, hintsOf, SENT_MAX, type Listening } from '../../../gateway/http/stream/hub.ts';
import type { AccountMoves, AccountPlace } from '../../../model/ports/change-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';

const ACCOUNT = 'org_24pgoiqjq2dgpoqhm7nuhjd5zi_live' as AccountId;
const moved = (accountId: AccountId, version: number, from = version - 1): AccountMoves => ({
  accountId,
  ...{ version, delivery: 0, entry: 0 },
  events: Array.from({ length: version - from }, (_, at) => [
    from + at + 1,
    'deposit_detected',
    `dep_${from + at + 1}`,
  ]),
  entries: [],
});

/** A hub over accounts that the test moves, and a clock of the test. */
function world() {
  const versions = new Map<AccountId, number>();
  let nowMs = 0,
    looks = 0,
    isAway = false,
    isDraining = false;
  const hub = createHub({
    store: {
      async since(places: ReadonlyMap<AccountId, AccountPlace>, most) {
        if (isAway) throw new Error('the database is away');
        looks += 1;
        return [...places].flatMap(([accountId, place]) => {
          const version = versions.get(accountId) ?? 0;
          return version === place.version ? [] : [moved(accountId, version, Math.max(place.version, version - most))];
        });
      },
    },
    isDraining: () => isDraining,
    log: { warn: () => undefined },
    elapsedMs: () => nowMs,
  });
  const listen = async (more: Partial<Listening> = {}) => {
    const out = await hub.listen({
      ...{ accountId: ACCOUNT, who: 'usr_x', isPerson: true, place: null, stillGood: async () => true },
      ...more,
    });
    if (typeof out === 'string') throw new Error(out);
    return out;
  };
  return {
    hub,
    listen,
    move: (by = 1, accountId = ACCOUNT) => versions.set(accountId, (versions.get(accountId) ?? 0) + by),
    pass: (ms: number) => (nowMs += ms),
    away: (away: boolean) => (isAway = away),
    drain: () => (isDraining = true),
    looks: () => looks,
  };
}
const textOf = (out: { read(): unknown }): string => String(out.read() ?? '');
const topicsOf = (text: string): string[] => [...text.matchAll(/^event: (.*)$/gm)].map(([, topic]) => topic!);

test('console C13: several changes of one thing are one hint, and a reset or too many say to read everything', (t) => {
  const at = (version: number): AccountPlace => ({ version, delivery: 0, entry: 0 });
  const moves: AccountMoves = {
    ...{ accountId: ACCOUNT, version: 4, delivery: 2, entry: 1 },
    events: [
      [2, 'deposit_detected', 'dep_a'],
      [3, 'deposit_detected', 'dep_b'],
      [4, 'deposit_confirmed', 'dep_a'],
    ],
    entries: [[1, 'removeMember', 'usr_y']],
  };
  t.is(
    hintsOf(moves, { version: 1, delivery: 1, entry: 0 }, true),
    [
      'id: 4-2-1\nevent: deposit\ndata: {"id":"dep_b","status":"detected"}\n\n',
      'id: 4-2-1\nevent: deposit\ndata: {"id":"dep_a","status":"confirmed"}\n\n',
      'id: 4-2-1\nevent: delivery\ndata: {"id":null,"status":"attempted"}\n\n',
      'id: 4-2-1\nevent: member\ndata: {"id":"usr_y","status":"remove"}\n\n',
    ].join(''),
  );
  t.deepEqual(topicsOf(hintsOf(moves, { version: 1, delivery: 1, entry: 0 }, false)), [
    'deposit',
    'deposit',
    'delivery',
  ]);
  t.is(hintsOf(moves, { version: 4, delivery: 2, entry: 0 }, false), '', 'what is of people is told to people alone');
  const reset: AccountMoves = { ...moves, events: [[4, 'sandbox_reset', null]] };
  for (const [what, hints] of [
    ['a reset', hintsOf(reset, { version: 3, delivery: 2, entry: 1 }, true)],
    ['too many', hintsOf(moved(ACCOUNT, SENT_MAX + 2, 1), at(1), true)],
    ['a place that never was', hintsOf(moves, { version: 5, delivery: 2, entry: 1 }, true)],
    ['an event of a newer release', hintsOf({ ...moves, events: [[4, 'x' as never, null]] }, at(3), true)],
  ])
    t.deepEqual(topicsOf(hints!), ['resync'], what);
});

test('console C13: a quiet stream has a comment after 15 s, and none while the database is away', async (t) => {
  const { hub, listen, pass, away } = world();
  const out = await listen();
  textOf(out);
  await hub.look();
  t.is(textOf(out), '');
  pass(15_000);
  away(true);
  await t.throwsAsync(hub.look(), { message: 'the database is away' });
  t.is(textOf(out), '', 'nothing says that all is well');
  away(false);
  await hub.look();
  t.is(textOf(out), ': here\n\n');
  out.destroy();
});

test('console C14: one look a second for all, whatever they listen to, and one place for each account', async (t) => {
  const { hub, listen, move, looks } = world();
  const outs = await Promise.all([1, 2, 3, 4, 5].map(() => listen()));
  const before = looks();
  move();
  await hub.look();
  t.is(looks(), before + 1);
  for (const out of outs) t.deepEqual(topicsOf(textOf(out)), ['open', 'deposit']);
  for (const out of outs) out.destroy();
});

test('console C13: who does not read costs a bounded number of bytes, reads everything when it is back, and is let go after half a minute', async (t) => {
  const { hub, listen, move, pass } = world();
  const [slow, dead, fast] = [await listen(), await listen({ who: 'usr_y' }), await listen({ who: 'usr_z' })];
  let most = 0;
  for (let at = 0; at < 20; at += 1) {
    move(SENT_MAX);
    await hub.look();
    most = Math.max(most, slow.readableLength);
    t.true(topicsOf(textOf(fast)).length >= SENT_MAX, 'the others hear all of it');
  }
  t.true(most < 80_000, `${most} bytes`);
  while (textOf(slow) !== '') continue;
  move(SENT_MAX);
  await hub.look();
  t.deepEqual(topicsOf(textOf(slow)), ['resync']);
  move();
  await hub.look();
  t.deepEqual(topicsOf(textOf(slow)), ['deposit'], 'and goes on');
  pass(30_000);
  await hub.look();
  t.true(dead.destroyed);
  t.false(slow.destroyed);
  for (const out of [slow, fast]) out.destroy();
});

test('console A13: a credential is asked for again every 10 s, at once where it is in doubt, and its end is that of the stream', async (t) => {
  const { hub, listen, pass } = world();
  let asked = 0,
    isGood = true;
  const out = await listen({
    async stillGood() {
      asked += 1;
      return isGood;
    },
  });
  await hub.look();
  t.is(asked, 1, 'what let it in may have been remembered for 15 s');
  await hub.look();
  t.is(asked, 1);
  pass(10_000);
  await hub.look();
  t.is(asked, 2);
  hub.doubt('usr_other');
  await hub.look();
  t.is(asked, 2);
  hub.doubt('org_24pgoiqjq2dgpoqhm7nuhjd5zi');
  await hub.look();
  t.is(asked, 3);
  isGood = false;
  hub.doubt('usr_x');
  await hub.look();
  const closed = once(out, 'end');
  out.resume();
  await closed;
  t.pass();
});

test('console A13, C13: a credential that cannot be asked for holds up nobody else, and is told nothing until it was', async (t) => {
  const { hub, listen, move } = world();
  let isAway = true;
  const [doubted, other] = await Promise.all([
    listen({ who: 'usr_a', stillGood: async () => (isAway ? Promise.reject(new Error('the issuer is away')) : true) }),
    listen({ who: 'usr_b' }),
  ]);
  for (const out of [doubted, other]) textOf(out);
  move();
  await t.throwsAsync(hub.look(), { message: 'the issuer is away' }, 'which is a line of the log');
  t.deepEqual([topicsOf(textOf(doubted)), topicsOf(textOf(other))], [[], ['deposit']]);
  isAway = false;
  await hub.look();
  t.deepEqual(topicsOf(textOf(doubted)), ['deposit'], 'from where it was');
  for (const out of [doubted, other]) out.destroy();
});

test('console C13: a node that stops ends all streams', async (t) => {
  const { hub, listen, drain } = world();
  const out = await listen();
  drain();
  await hub.look();
  const closed = once(out, 'end');
  out.resume();
  await closed;
  t.pass();
});

test.serial(
  'console C14: 500 streams in 100 accounts, each of which moves each second, take less than a tenth of a core',
  async (t) => {
    const { hub, listen, move } = world();
    const accounts = Array.from({ length: 100 }, (_, at) => `org_${String(at).padStart(26, 'a')}_live` as AccountId);
    const outs = await Promise.all(
      accounts.flatMap((accountId, of) => [1, 2, 3, 4, 5].map((nth) => listen({ accountId, who: `usr_${of}_${nth}` }))),
    );
    for (const out of outs) out.resume();
    const before = process.cpuUsage();
    const LOOKS = 20;
    for (let at = 0; at < LOOKS; at += 1) {
      for (const accountId of accounts) move(5, accountId);
      await hub.look();
    }
    const { user, system } = process.cpuUsage(before);
    const share = (user + system) / 1_000 / (LOOKS * 1_000);
    t.log(`${(share * 100).toFixed(2)} % of a core`);
    t.true(share < 0.1);
    for (const out of outs) out.destroy();
  },
);
