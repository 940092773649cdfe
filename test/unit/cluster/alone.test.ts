import test from 'ava';
import { Alone, type AloneDeps } from '../../../cluster/alone.ts';
import { SHARD_COUNT } from '../../../protocol/node/ids.ts';
import { HandClock } from '../../support/clock.ts';
import { until } from '../../support/until.ts';

interface World {
  owned: number;
  vacant: number;
  renew: 'answers' | 'refuses' | 'hangs';
  claim: 'answers' | 'answer lost';
  durable: string | null;
  calls: string[];
  renewals: number;
}

function present(more: Partial<AloneDeps> = {}) {
  const clock = new HandClock();
  const world: World = {
    owned: SHARD_COUNT,
    vacant: 0,
    renew: 'answers',
    claim: 'answers',
    durable: null,
    calls: [],
    renewals: 0,
  };
  let epoch = 1;
  const all = () => new Map(Array.from({ length: SHARD_COUNT }, (_, shard) => [shard, epoch] as const));
  const presence = new Alone({
    nodeId: 'a/1',
    leaseSeconds: 10,
    log: { info: () => undefined, warn: () => undefined },
    clock,
    durability: async () => world.durable,
    isAway: () => false,
    ownership: {
      async claimShards() {
        return all();
      },
      async claimVacantShards() {
        world.calls.push('claim vacant');
        epoch += 1;
        world.owned = SHARD_COUNT;
        world.vacant = 0;
        if (world.claim === 'answer lost') throw new Error('the connection was lost');
        return all();
      },
      async renewNode() {
        world.renewals += 1;
        if (world.renew === 'hangs') return new Promise(() => undefined);
        if (world.renew === 'refuses') throw Object.assign(new Error('could not extend file'), { code: '53100' });
        return { owned: world.owned, vacant: world.vacant };
      },
      async leaveNode() {
        world.calls.push('leave');
      },
    },
    ...more,
  });
  presence.follow({
    async superseded() {
      world.calls.push('stands back');
    },
    async regained() {
      world.calls.push('goes on');
    },
  });
  return { presence, world, clock };
}

test('found F52: an owner that was superseded has no epochs and serves nothing; when nobody has its shards it claims them and goes on', async (t) => {
  const { presence, world } = present();
  await presence.claim();
  t.is(presence.epochOf(7), 1);
  world.owned = 0;
  await presence.look();
  t.deepEqual([presence.trouble(), presence.epochOf(7)], ['superseded', undefined]);
  await until('the parts follow', () => world.calls.includes('stands back'));
  world.vacant = SHARD_COUNT;
  await presence.look();
  t.deepEqual([presence.trouble(), presence.epochOf(7)], [null, 2]);
  await until('the parts go on', () => world.calls.includes('goes on'));
  t.deepEqual(world.calls, ['stands back', 'claim vacant', 'goes on']);
});

test('found F52: one shard that another node took is enough', async (t) => {
  const { presence, world } = present();
  await presence.claim();
  world.owned = SHARD_COUNT - 1;
  await presence.look();
  t.is(presence.trouble(), 'superseded');
});

test('found F52: the answer of a claim that the database took is lost: the node claims its own again, and serves', async (t) => {
  const { presence, world } = present();
  await presence.claim();
  world.owned = 0;
  world.vacant = SHARD_COUNT;
  world.claim = 'answer lost';
  await presence.look();
  t.is(presence.trouble(), 'database');
  world.claim = 'answers';
  await presence.look();
  t.deepEqual([presence.trouble(), presence.epochOf(7)], [null, 3]);
});

for (const renew of ['refuses', 'hangs'] as const) {
  test(`found F61: a database that ${renew} cuts what is under way short, and serves again when it answers`, async (t) => {
    const { presence, world, clock } = present();
    await presence.claim();
    t.is(await presence.whileServing(Promise.resolve(1)), 1);
    world.renew = renew;
    const underWay = presence.whileServing(new Promise(() => undefined));
    const looked = presence.look();
    if (renew === 'hangs') {
      await until('the limit is armed', () => clock.pending > 0);
      clock.advance(1_200);
    }
    await looked;
    t.is(presence.trouble(), 'database');
    await t.throwsAsync(underWay, { message: /SERVICE_UNAVAILABLE|not/i });
    if (renew === 'hangs') return;
    world.renew = 'answers';
    await presence.look();
    t.is(presence.trouble(), null);
  });
}

test('ecosystem X64 the database is asked one question at a time, however many ask whether the node is ready', async (t) => {
  const { presence, world, clock } = present();
  await presence.claim();
  world.renew = 'hangs';
  const before = world.renewals;
  const looks = Array.from({ length: 50 }, () => presence.look());
  await until('all wait', () => clock.pending >= 50);
  t.is(world.renewals, before + 1);
  clock.advance(1_200);
  await Promise.all(looks);
  t.is(presence.trouble(), 'database');
});

test('found F62: where it is required, nothing is served while an acknowledged commit may be lost; else it is only said', async (t) => {
  for (const [durabilityRequired, trouble] of [
    [true, 'database'],
    [false, null],
  ] as const) {
    const { presence, world, clock } = present({ durabilityRequired });
    await presence.claim();
    world.durable = 'a standby and no synchronous one';
    await presence.look();
    t.is(presence.trouble(), null, 'it is asked now and then');
    clock.advance(30_000);
    await presence.look();
    t.is(presence.trouble(), trouble);
    world.durable = null;
    clock.advance(30_000);
    await presence.look();
    t.is(presence.trouble(), null);
  }
  const { presence, world } = present({ durabilityRequired: true });
  world.durable = 'fsync is off';
  await t.throwsAsync(presence.claim(), { message: 'DATABASE_DURABILITY is required: fsync is off' });
});
