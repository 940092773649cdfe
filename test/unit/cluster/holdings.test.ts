import test from 'ava';
import fc from 'fast-check';
import { Holdings } from '../../../cluster/holdings.ts';
import { placeOf } from '../../../cluster/place.ts';
import type { Holding } from '../../../model/ports/cluster-store.ts';

const KEYS = Array.from({ length: 12 }, (_, key) => key);

test('a key has one place, whatever the order of the nodes; only what is a new or gone node’s own moves', (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 }),
      fc.string(),
      (nodes, key) => {
        const place = placeOf(key, nodes);
        t.true(nodes.includes(place!));
        t.is(placeOf(key, [...nodes].reverse()), place);
        t.true([place, 'joined'].includes(placeOf(key, [...nodes, 'joined'])!));
        const gone = nodes.find((node) => node !== place);
        if (gone !== undefined)
          t.is(
            placeOf(
              key,
              nodes.filter((node) => node !== gone),
            ),
            place,
          );
      },
    ),
  );
  t.is(placeOf('any', []), null);
});

test('places are spread: of 1,024 shards each of four nodes has its share', (t) => {
  const nodes = ['a', 'b', 'c', 'd'];
  const counts = Map.groupBy(
    Array.from({ length: 1_024 }, (_, shard) => placeOf(`shard ${shard}`, nodes)),
    String,
  );
  for (const node of nodes) t.true(Math.abs(counts.get(node)!.length - 256) < 80);
});

/** The database: one row a key. Mints every epoch; takes a claim of what nobody serves alone. */
class Owners {
  readonly rows = new Map<number, { owner: string | null; epoch: number }>(
    KEYS.map((key) => [key, { owner: null, epoch: 0 }]),
  );
  readonly dead = new Set<string>();

  read(): ReadonlyMap<number, Holding> {
    return new Map(
      [...this.rows].map(([key, { owner, epoch }]) => [
        key,
        { owner, epoch, vacant: owner === null || this.dead.has(owner) },
      ]),
    );
  }
  claim(node: string, keys: readonly number[]): Map<number, number> {
    const claimed = new Map<number, number>();
    for (const key of keys) {
      const row = this.rows.get(key)!;
      // A node claims what it does not hold: a row that names it is a claim whose answer was lost.
      if (row.owner !== null && row.owner !== node && !this.dead.has(row.owner)) continue;
      this.rows.set(key, { owner: node, epoch: row.epoch + 1 });
      claimed.set(key, row.epoch + 1);
    }
    return claimed;
  }
  release(node: string, keys: readonly number[]): void {
    for (const key of keys) {
      const row = this.rows.get(key)!;
      if (row.owner === node) this.rows.set(key, { owner: null, epoch: row.epoch + 1 });
    }
  }
}

class Node {
  readonly holdings = new Holdings<number>();
  map: ReadonlyMap<number, Holding> = new Map();
  leaving: number[] = [];
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
  /** `isLost`: the database takes the claim, and its answer never comes. */
  round(owners: Owners, members: readonly string[], isLost = false): void {
    const plan = this.holdings.plan(KEYS, {
      self: this.id,
      placeOf: (key) => placeOf(`shard ${key}`, members),
      ownerOf: (key) => this.map.get(key),
      mayTakeOver: true,
    });
    this.holdings.forget(plan.lost);
    this.holdings.leaving(plan.handOver);
    this.leaving = [...plan.handOver];
    const claimed = owners.claim(this.id, plan.claim);
    if (!isLost) this.holdings.claimed(claimed);
  }
  /** `how`: the answer of the release is lost, or the release itself; then nothing of it is known here. */
  finish(owners: Owners, how: 'told' | 'answer lost' | 'lost' = 'told'): void {
    if (how !== 'lost') owners.release(this.id, this.leaving);
    if (how === 'told') this.holdings.forget(this.leaving);
    this.leaving = [];
  }
}

const IDS = ['a', 'b', 'c'];
const step = fc.record({
  node: fc.constantFrom(...IDS),
  act: fc.constantFrom('look', 'round', 'round lost', 'finish', 'answer lost', 'lost', 'die', 'wake'),
});

test('under any story of joining, dying, looking late, handing over and losing answers of the database no key is written by two nodes, and it ends with every key served', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const owners = new Owners(),
        nodes = new Map(IDS.map((id) => [id, new Node(id)]));
      const alive = () => IDS.filter((id) => !owners.dead.has(id));
      const check = () => {
        for (const key of KEYS) {
          const { owner, epoch } = owners.rows.get(key)!;
          // Who believes in the newest epoch is the owner: everybody else's writes are fenced.
          for (const node of nodes.values()) {
            const own = node.holdings.writingEpochOf(key);
            if (own !== undefined) t.true(own < epoch || (own === epoch && owner === node.id));
          }
        }
      };
      for (const { node: id, act } of steps) {
        const node = nodes.get(id)!;
        if (act === 'die') owners.dead.add(id);
        else if (act === 'wake') owners.dead.delete(id);
        else if (act === 'look') node.map = owners.read();
        else if (act === 'round' || act === 'round lost')
          node.round(owners, alive().includes(id) ? alive() : [...alive(), id], act === 'round lost');
        else node.finish(owners, act === 'finish' ? 'told' : act);
        check();
      }
      owners.dead.clear();
      for (let round = 0; round < 4; round += 1) {
        for (const node of nodes.values()) {
          node.map = owners.read();
          node.round(owners, IDS);
          node.finish(owners);
          check();
        }
      }
      for (const key of KEYS) {
        const place = placeOf(`shard ${key}`, IDS)!;
        t.is(owners.rows.get(key)!.owner, place);
        t.is(nodes.get(place)!.holdings.epochOf(key), owners.rows.get(key)!.epoch);
      }
    }),
  );
});

test('a node that just came back itself believes nobody silent', (t) => {
  const holdings = new Holdings<number>();
  const view = { self: 'a', placeOf: () => 'a', ownerOf: () => ({ owner: 'b', epoch: 3, vacant: true }) };
  t.deepEqual(holdings.plan([1], { ...view, mayTakeOver: false }).claim, []);
  t.deepEqual(holdings.plan([1], { ...view, mayTakeOver: true }).claim, [1]);
  const left = { ...view, ownerOf: () => ({ owner: null, epoch: 4, vacant: true }) };
  t.deepEqual(holdings.plan([1], { ...left, mayTakeOver: false }).claim, [1], 'what was released is free');
});
