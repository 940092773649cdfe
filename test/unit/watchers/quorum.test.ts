import test from 'ava';
import {
  conditionOf,
  confirmedBy,
  observeWitness,
  type Opinion,
  SILENT_MS,
  UNKNOWN_WITNESS,
} from '../../../chain-watchers/follow/quorum.ts';
import type { Condition } from '../../../chain-watchers/memory.ts';
import { SimulatedChain } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching } from '../../support/watching.ts';

const holds = (confirmations: number): Opinion => ({ confirmations, holds: true });
const other = (confirmations: number): Opinion => ({ confirmations, holds: false });

test('reliability 4.1-12 with several endpoints none confirms alone, each counts from its own head (G18)', (t) => {
  t.false(confirmedBy([], 12));
  t.true(confirmedBy([holds(12)], 12), 'the only one alive');
  t.false(confirmedBy([holds(11)], 12));
  t.false(confirmedBy([holds(12), holds(11)], 12), 'the other one counts 11');
  t.true(confirmedBy([holds(12), holds(12)], 12));
  t.false(confirmedBy([holds(12), other(0)], 12), 'the other one is below or cannot tell');
  t.false(confirmedBy([holds(12), other(3)], 12), 'the other one holds another block');
  t.true(confirmedBy([holds(12), holds(15), other(3)], 12));
  t.false(confirmedBy([holds(12), holds(15), other(3), other(5)], 12));
});

const ETH = { blockTimeMs: 12_000 };
/**
 * Looks at one endpoint, one a second: `[head, cursor, highest other]`, or null for no answer. Answers the condition
 * after each.
 */
function looks(
  network: { blockTimeMs: number },
  seen: readonly (readonly [number, number, number] | null)[],
  readable = true,
) {
  let memory = UNKNOWN_WITNESS;
  return seen.map((look, second) => {
    const nowMs = second * 1_000;
    const [head, cursorHeight, highestOther] = look ?? [null, 100, 100];
    memory = observeWitness(memory, head, { cursorHeight, highestOther, nowMs }, network);
    if (!readable) memory = { ...memory, unreadableSinceMs: memory.unreadableSinceMs ?? nowMs };
    return conditionOf(memory, nowMs, network);
  });
}
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
/** When the condition is first another one than `alive`, in seconds. */
const endsAt = (conditions: readonly Condition[]) => conditions.findIndex((condition) => condition !== 'alive');

// The table of quorum.ts, and of docs/chains/endpoints.md.
const CELLS: readonly (readonly [string, Condition, number, readonly Condition[]])[] = [
  ['answers nothing since the process began', 'unheard', 10, looks(ETH, times(60, null))],
  ['answered before, answers nothing now', 'silent', 31, looks(ETH, [[100, 100, 100], ...times(60, null)])],
  [
    'far behind our cursor since the process began: a node that syncs anew',
    'behind',
    10,
    looks(
      ETH,
      Array.from({ length: 60 }, (_, n) => [10 + n, 100 + n, 100 + n] as const),
    ),
  ],
  [
    'fell behind our cursor',
    'behind',
    34,
    looks(
      ETH,
      Array.from({ length: 90 }, (_, n) => [100, 100 + n, 100 + n] as const),
    ),
  ],
  [
    'stands still while another one goes on',
    'stuck',
    121,
    looks(
      ETH,
      Array.from({ length: 200 }, (_, n) => [100, 100, 101 + n] as const),
    ),
  ],
  [
    'stands still, Bitcoin',
    'stuck',
    6_001,
    looks(
      { blockTimeMs: 600_000 },
      Array.from({ length: 6_100 }, () => [100, 100, 101] as const),
    ),
  ],
  [
    'stands still, a quick chain',
    'stuck',
    31,
    looks(
      { blockTimeMs: 450 },
      Array.from({ length: 60 }, () => [100, 100, 101] as const),
    ),
  ],
  [
    'once claimed a head far ahead, and goes on',
    'alive',
    -1,
    looks(
      ETH,
      Array.from(
        { length: 1_300 },
        (_, n) => [n === 5 ? 1_100 : 100 + Math.floor(n / 12), 100, 101 + Math.floor(n / 12)] as const,
      ),
    ),
  ],
  [
    'claims a head far ahead now and then, and goes on',
    'alive',
    -1,
    looks(
      ETH,
      Array.from(
        { length: 1_300 },
        (_, n) => [n % 90 === 5 ? 1_100 + n : 100 + Math.floor(n / 12), 100, 101 + Math.floor(n / 12)] as const,
      ),
    ),
  ],
  [
    'once claimed a head far ahead, and stands still',
    'stuck',
    121,
    looks(
      ETH,
      Array.from({ length: 1_300 }, (_, n) => [n === 0 ? 1_100 : 100, 100, 101 + n] as const),
    ),
  ],
  [
    'two that stand still behind one address',
    'stuck',
    121,
    looks(
      ETH,
      Array.from({ length: 1_300 }, (_, n) => [100 - (n % 2), 100, 101 + n] as const),
    ),
  ],
  ['tells its head and proves no block', 'unreadable', 30, looks(ETH, times(60, [100, 100, 100]), false)],
  ['answers, up to our cursor', 'alive', -1, looks(ETH, times(600, [100, 100, 100]))],
  ['the whole chain stands still', 'alive', -1, looks(ETH, times(6_000, [100, 100, 100]))],
  [
    "a moment's blocks below our cursor",
    'alive',
    -1,
    looks(
      ETH,
      Array.from({ length: 600 }, (_, n) => [97 + n, 100 + n, 100 + n] as const),
    ),
  ],
  [
    'another one invents a head: nobody honest is late',
    'alive',
    -1,
    looks(
      ETH,
      Array.from({ length: 600 }, (_, n) => [100 + Math.floor(n / 12), 100 + Math.floor(n / 12), 9e9] as const),
    ),
  ],
  [
    'misses some looks',
    'alive',
    -1,
    looks(
      ETH,
      Array.from({ length: 600 }, (_, n) => (n % 20 === 0 ? ([100, 100, 100] as const) : null)),
    ),
  ],
];

for (const [what, condition, second, conditions] of CELLS) {
  test(`found F74: who counts as alive: ${what} → ${condition}${second === -1 ? '' : ` after ${second} s`}`, (t) => {
    t.is(endsAt(conditions), second);
    t.is(conditions.at(-1), condition);
  });
}

test('found F74: an endpoint that is well again counts at once, and a look that is long ago says nothing', (t) => {
  t.is(looks(ETH, [...times(60, null), [100, 100, 100]]).at(-1), 'alive');
  t.is(looks(ETH, [...Array.from({ length: 60 }, () => [10, 100, 100] as const), [100, 100, 100]]).at(-1), 'alive');
  t.is(looks(ETH, [...Array.from({ length: 200 }, () => [100, 100, 101] as const), [101, 101, 101]]).at(-1), 'alive');
  // An hour without a look, then one failure: nobody is dead for that.
  const answered = observeWitness(UNKNOWN_WITNESS, 100, { cursorHeight: 100, highestOther: 100, nowMs: 0 }, ETH);
  const failed = observeWitness(answered, null, { cursorHeight: 100, highestOther: 100, nowMs: 3_600_000 }, ETH);
  t.is(conditionOf(failed, 3_600_000, ETH), 'alive');
  t.is(conditionOf(failed, 3_600_000 + SILENT_MS, ETH), 'silent');
});

test('reliability 4.1-13 never confirmed on the word of one of several endpoints; a dead one is not waited for', async (t) => {
  const chain = new SimulatedChain();
  const [client, first, second] = [chain.client(), chain.client(), chain.client()];
  const self = watching({ client, witnesses: [first, second] });
  self.issue('@a');
  await self.watcher.tick();
  chain.mine([{ txid: 'tx', outputIndex: 0, to: '@a', amount: 5n }]);
  chain.mineEmpty(3);
  second.down = true;
  t.like(await self.watcher.tick(), { recorded: 0, matured: 0, failures: [] }, 'it is waited for');
  second.down = false;
  second.lag = 1;
  t.like(await self.watcher.tick(), { recorded: 3, matured: 0 });
  second.down = true;
  t.like(await self.watcher.tick(), { recorded: 0, matured: 0 });
  self.nowMs += SILENT_MS;
  t.like(await self.watcher.tick(), { recorded: 1, matured: 1 });
  t.deepEqual(
    self.store.inbox(ACCOUNT).map(({ fact }) => fact.kind),
    ['seen', 'matured'],
  );
});

test('found: a head that one endpoint invents, by 1,000 or 10^9, is no head of the coverage; that of a single endpoint ends with the lie', async (t) => {
  for (const ahead of [1_000, 1_000_000_000]) {
    for (const count of [1, 2, 3]) {
      const chain = new SimulatedChain(),
        clients = Array.from({ length: count }, () => chain.client());
      const self = watching({ client: clients[0]!, witnesses: count === 1 ? [] : clients }),
        { store, recorder } = self;
      await self.watcher.tick();
      const noted = async () => {
        const { headHeight, headAtMs } = await store.coverage(self.parts.ledger);
        return { headHeight, gauge: recorder.gauges.get('svc_head_height'), isFresh: headAtMs! >= self.nowMs - 1_000 };
      };
      clients[0]!.ahead = ahead;
      for (let turn = 0; turn < 10; turn += 1) {
        chain.mine();
        self.nowMs += 1_000;
        await self.watcher.tick();
        if (count > 1)
          t.deepEqual(await noted(), { headHeight: chain.tip.height, gauge: chain.tip.height, isFresh: true });
      }
      clients[0]!.ahead = 0;
      for (let turn = 0; turn < 40; turn += 1) {
        chain.mine();
        self.nowMs += 1_000;
        await self.watcher.tick();
      }
      t.deepEqual(
        await noted(),
        { headHeight: chain.tip.height, gauge: chain.tip.height, isFresh: true },
        `${count} endpoints`,
      );
      t.is(recorder.gauges.get('svc_blocks_behind'), 0);
    }
  }
});
