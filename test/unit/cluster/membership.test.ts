/** A node among several over a database that loses answers, and after a freeze. */
import test from 'ava';
import { systemClock, type Clock } from '../../../actors/kernel/timers.ts';
import { Membership } from '../../../cluster/membership.ts';
import type { ClusterStore, Holding, Member } from '../../../model/ports/cluster-store.ts';
import type { NodeAbout } from '../../../model/ports/nodes.ts';
import { SHARD_COUNT } from '../../../protocol/node/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { HandClock } from '../../support/clock.ts';
import { rounds, until } from '../../support/until.ts';

const ABOUT: NodeAbout = { version: '1.0.0', protocol: 1, roles: ['gateway', 'watchers'], chains: ['eth'] };
const memberOf = (id: string): Member => ({ id, url: `http://${id}`, about: ABOUT, sinceMs: 0 });

/** The rows, and whose statement loses its answer: it took effect, or it did not. */
class Rows {
  readonly shards: Holding[] = Array.from({ length: SHARD_COUNT }, () => ({ owner: null, epoch: 0, vacant: true }));
  readonly chains = new Map<Chain, Holding>();
  members: Member[] = [memberOf('a')];
  loses: { call: keyof ClusterStore; tookEffect: boolean } | null = null;

  store(node: string): ClusterStore {
    const answered = async <T>(call: keyof ClusterStore, work: () => T): Promise<T> => {
      if (this.loses?.call !== call) return work();
      if (this.loses.tookEffect) work();
      throw new Error('the connection was lost');
    };
    const take = <Key>(rows: { get(key: Key): Holding | undefined; set(key: Key, row: Holding): void }, key: Key) => {
      const row = rows.get(key) ?? { owner: null, epoch: 0, vacant: true };
      if (row.owner !== null && row.owner !== node && !row.vacant) return [];
      rows.set(key, { owner: node, epoch: row.epoch + 1, vacant: false });
      return [[key, row.epoch + 1] as const];
    };
    const free = (row: Holding): Holding =>
      row.owner === node ? { owner: null, epoch: row.epoch + 1, vacant: true } : row;
    const shardRows = {
      get: (shard: number) => this.shards[shard],
      set: (shard: number, row: Holding) => void (this.shards[shard] = row),
    };
    return {
      clusterId: async (fresh) => fresh,
      join: async () => 0,
      beat: () => answered('beat', () => ({ owned: 0, mapVersion: Math.random(), members: this.members })),
      owners: async () => ({ shards: [...this.shards], chains: new Map(this.chains) }),
      claimShards: (_, shards) =>
        answered('claimShards', () => new Map(shards.flatMap((shard) => take(shardRows, shard)))),
      releaseShards: (_, shards) =>
        answered('releaseShards', () => {
          for (const shard of shards) this.shards[shard] = free(this.shards[shard]!);
        }),
      claimChains: (_, chains) =>
        answered('claimChains', () => new Map(chains.flatMap((chain) => take(this.chains, chain)))),
      releaseChains: (_, chains) =>
        answered('releaseChains', () => {
          for (const chain of chains) this.chains.set(chain, free(this.chains.get(chain)!));
        }),
      describe: async () => undefined,
      sharing: async () => [],
      nodes: async () => [],
      leave: async () => undefined,
    };
  }
}

async function joined(
  change: (rows: Rows, store: ClusterStore) => ClusterStore = (_, store) => store,
  timing: { clock?: Clock; leaseSeconds?: number } = {},
) {
  const rows = new Rows(),
    clock = new HandClock(),
    lines: [level: 'info' | 'warn', fields: object, message: string][] = [];
  const node = new Membership({
    store: change(rows, rows.store('a')),
    nodeId: 'a',
    url: 'http://a',
    about: ABOUT,
    doorbell: { ring: () => undefined, onRing: () => undefined },
    leaseSeconds: timing.leaseSeconds ?? 10,
    log: {
      info: (...[fields, message]: unknown[]) => void lines.push(['info', fields as object, String(message)]),
      warn: (...[fields, message]: unknown[]) => void lines.push(['warn', fields as object, String(message)]),
    },
    isAway: () => false,
    clock: timing.clock ?? clock,
  });
  await node.join();
  node.follow({
    lost: async () => undefined,
    leaving: async () => undefined,
    gained: async () => undefined,
    chains: async () => undefined,
  });
  const served = () => rows.shards.filter((_, shard) => node.serves(shard)).length;
  /** Beats until it is so. */
  const comesTo = (what: string, holds: () => boolean) =>
    until(what, () => {
      if (holds()) return true;
      void node.look();
      return false;
    });
  return { rows, clock, node, served, comesTo, lines };
}

for (const tookEffect of [true, false]) {
  const how = tookEffect ? 'took effect and was not answered' : 'did not arrive';
  for (const call of ['claimShards', 'claimChains'] as const) {
    test(`4.1 row 5, a backend ends in the middle of a statement: ${call} ${how}; the node comes to serve everything`, async (t) => {
      const { rows, node, served, comesTo } = await joined();
      rows.loses = { call, tookEffect };
      for (let beat = 0; beat < 3; beat += 1) await node.look();
      rows.loses = null;
      await comesTo('everything is served', () => served() === SHARD_COUNT && node.follows('eth'));
      for (const [shard, { owner, epoch }] of rows.shards.entries()) {
        t.deepEqual([owner, node.epochOf(shard)], ['a', epoch]);
      }
    });
  }
  for (const call of ['releaseShards', 'releaseChains'] as const) {
    test(`4.1 row 5, a backend ends in the middle of a statement: ${call} ${how}; another node gets its share`, async (t) => {
      const { rows, served, node, comesTo } = await joined();
      await comesTo('everything is served', () => served() === SHARD_COUNT && node.follows('eth'));
      rows.loses = { call, tookEffect };
      rows.members = ['a', 'b', 'c', 'd'].map(memberOf);
      for (let beat = 0; beat < 3; beat += 1) await node.look();
      rows.loses = null;
      await comesTo('the others may take theirs', () => rows.shards.filter(({ owner }) => owner === null).length > 600);
      // They are gone before they took any: what was on its way out is this node's again.
      rows.members = [memberOf('a')];
      await comesTo('everything is served again', () => served() === SHARD_COUNT && node.follows('eth'));
      t.pass();
    });
  }
}

test('4.1 row 2, a freeze past the lease: nothing is taken in by its memory until the next beat', async (t) => {
  const { rows, clock, node, served, comesTo } = await joined();
  await comesTo('everything is served', () => served() === SHARD_COUNT && node.follows('eth'));
  clock.advance(7_900);
  t.is(served(), SHARD_COUNT);
  clock.advance(200);
  t.is(served(), 0, 'two seconds before others may take over');
  t.is(node.ownerOf(7), null);
  t.false(node.follows('eth'));
  t.is(node.trouble(), 'database');
  rows.shards[7] = { owner: 'b', epoch: rows.shards[7]!.epoch + 1, vacant: false };
  await comesTo('the rest is served', () => served() === SHARD_COUNT - 1);
  t.false(node.serves(7));
});

test('4.1 row 34, the event loop of a node stalls past its lease: what waited behind the stall finds nothing served before the next beat', async (t) => {
  const { node, served, comesTo } = await joined(undefined, { clock: systemClock, leaseSeconds: 2 });
  await comesTo('everything is served', () => served() === SHARD_COUNT && node.follows('eth'));
  const waited = new Promise<number>((resolve) => {
    setImmediate(() => resolve(served()));
  });
  const isHeld = Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
  t.is(isHeld, 'timed-out');
  t.is(served(), 0);
  t.is(node.ownerOf(7), null);
  t.is(await waited, 0);
  await comesTo('everything is served again', () => served() === SHARD_COUNT && node.follows('eth'));
});

/** Beats with the version that the database has. */
function trueVersions(rows: Rows, store: ClusterStore): ClusterStore {
  const sum = (holdings: Iterable<Holding>) => [...holdings].reduce((total, { epoch }) => total + epoch, 0);
  return {
    ...store,
    beat: async () => ({ owned: 0, mapVersion: sum(rows.shards) + sum(rows.chains.values()), members: rows.members }),
  };
}

test('4.1 row 1, a node that is killed right after a claim, which its silence outlives by a moment: its shards and chains are taken over', async (t) => {
  const { rows, clock, node, served, comesTo } = await joined(trueVersions);
  await comesTo('everything is served', () => served() === SHARD_COUNT && node.follows('eth'));
  clock.advance(5_000); // by now it believes that others are silent
  const theirs: Holding = { owner: 'b', epoch: 7, vacant: false };
  rows.shards[7] = theirs;
  rows.chains.set('eth', theirs);
  rows.members = ['a', 'b'].map(memberOf);
  await comesTo('the other one owns two', () => !node.serves(7) && !node.follows('eth'));
  // Its last beat is older than the lease, its claim is not: it is no member any more, and what it owns not vacant yet.
  rows.members = [memberOf('a')];
  for (let beat = 0; beat < 3; beat += 1) await node.look();
  t.false(node.serves(7));
  rows.shards[7] = { ...theirs, vacant: true };
  rows.chains.set('eth', { ...theirs, vacant: true });
  for (let beat = 0; beat < 3; beat += 1) await node.look();
  await comesTo('it is taken over', () => node.serves(7) && node.follows('eth'));
});

test('a beat that finds a change reads who owns what after it, and shares no answer that was asked for before', async (t) => {
  let hold: Promise<void> | null = null;
  const { rows, node, served, comesTo } = await joined((of, store) => ({
    ...trueVersions(of, store),
    owners: async (leaseSeconds) => {
      const held = hold,
        map = await store.owners(leaseSeconds);
      await held;
      return map;
    },
  }));
  rows.members = [memberOf('a'), { ...memberOf('b'), url: null, about: null }]; // nothing is placed there
  await comesTo('everything is served', () => served() === SHARD_COUNT && node.follows('eth'));
  await node.look();
  const { promise, resolve } = Promise.withResolvers<void>();
  hold = promise;
  const before = node.refresh(); // a router looks
  rows.shards[7] = { owner: 'b', epoch: rows.shards[7]!.epoch + 1, vacant: false };
  const beat = node.look();
  hold = null;
  await rounds(3);
  resolve();
  await Promise.all([before, beat]);
  for (let more = 0; more < 3; more += 1) await node.look();
  t.false(node.serves(7));
});

test('issue 10: the log says which nodes came and went, and whose shards and chains this one has now', async (t) => {
  const { rows, clock, node, served, comesTo, lines } = await joined();
  await comesTo('everything is served', () => served() === SHARD_COUNT && node.follows('eth'));
  clock.advance(5_000); // by now it believes that others are silent
  t.deepEqual(lines.splice(0), [
    ['info', { count: SHARD_COUNT, from: [] }, 'this node owns more shards'],
    ['info', { chains: ['eth'], from: [] }, 'this node follows more chains'],
  ]);
  // Another one has a shard and the chain, and dies.
  rows.members = ['a', 'cloud-2/1'].map(memberOf);
  rows.shards[7] = { owner: 'cloud-2/1', epoch: 9, vacant: false };
  rows.chains.set('eth', { owner: 'cloud-2/1', epoch: 9, vacant: false });
  await comesTo('both are its', () => !node.serves(7) && !node.follows('eth'));
  await until('what is its by the hash is handed over', () =>
    lines.some(([, , message]) => /handed over/.test(message)),
  );
  rows.members = [memberOf('a')];
  rows.shards[7] = { owner: 'cloud-2/1', epoch: 9, vacant: true };
  rows.chains.set('eth', { owner: 'cloud-2/1', epoch: 9, vacant: true });
  await comesTo('everything is served again', () => served() === SHARD_COUNT && node.follows('eth'));
  const said = lines.map(([level, fields, message]) => `${level} ${JSON.stringify(fields)} ${message}`);
  for (const line of [
    'info {"names":["cloud-2"]} other nodes are there',
    'warn {"count":1} other nodes own shards that were of this one',
    'warn {"chains":["eth"]} other nodes follow chains that were of this one',
    'warn {"names":["cloud-2"]} nodes are gone: they stopped, or were silent for their lease; the others share theirs',
    'info {"chains":["eth"],"from":["cloud-2"]} this node follows more chains',
  ])
    t.true(said.includes(line), `${line}\n${said.join('\n')}`);
  t.true(said.some((line) => /^info \{"count":\d+,"from":\["cloud-2"\]\} this node owns more shards$/.test(line)));
});
