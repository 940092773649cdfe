/** An endpoint that claims a head that cannot be is no measure for the others: of reads, of the next block, of lag. */
import test from 'ava';
import fc from 'fast-check';
import { createHeads as btcHeads } from '../../../chains/btc/heads.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { createSources as btcSources } from '../../../chains/btc/sources.ts';
import { ChainUnavailable, type Endpoint, type Head, type Network, type Transport } from '../../../chains/chain.ts';
import { createHeads as evmHeads } from '../../../chains/evm/heads.ts';
import { eth } from '../../../chains/evm/network.ts';
import { HighestHead } from '../../../chains/highest-head.ts';
import { BLOCKS_AT_ONCE, supportedClaim } from '../../../chains/possible-height.ts';
import { createHeads as solHeads } from '../../../chains/sol/heads.ts';
import { solana } from '../../../chains/sol/network.ts';
import { createFailoverTransport } from '../../../chains/transport/failover.ts';
import { createHeads as tronHeads } from '../../../chains/tron/heads.ts';
import { tron } from '../../../chains/tron/network.ts';
import { createHeads as xlmHeads } from '../../../chains/xlm/heads.ts';
import { stellar } from '../../../chains/xlm/network.ts';
import { createSources as xlmSources } from '../../../chains/xlm/sources.ts';
import { createHeads as xrpHeads } from '../../../chains/xrp/heads.ts';
import { xrp } from '../../../chains/xrp/network.ts';

const BLOCK_MS = 12_000;
const START = 5_000;

function world(count: number, isKnown = true) {
  const clock = { elapsedMs: 1_000_000 };
  const endpoints: Endpoint[] = Array.from({ length: count }, (_, index) => ({
    name: `e${index}`,
    request: () => Promise.reject(new Error('not asked')),
  }));
  const transport = createFailoverTransport({
    chain: 'eth',
    endpoints,
    elapsedMs: () => clock.elapsedMs,
    random: () => 0.5,
    blockTimeMs: BLOCK_MS,
  });
  if (isKnown) transport.knowHead({ height: START, sinceMs: clock.elapsedMs });
  const highest = new HighestHead<{ readonly height: number }>('eth', transport);
  return { clock, endpoints, transport, highest };
}

test('found: a head that cannot be is not the measure of single reads: in any order the honest endpoints are believed and the liar is not', async (t) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('mine' as const), count: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constant('read' as const), count: fc.nat(7) }),
    fc.record({ kind: fc.constant('lie' as const), count: fc.nat(2 ** 40) }),
    fc.record({ kind: fc.constant('head' as const), count: fc.nat(2 ** 40) }),
  );
  await t.notThrowsAsync(() =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 4 }), fc.array(step, { maxLength: 40 }), async (count, steps) => {
        const { clock, endpoints, transport, highest } = world(count),
          liar = endpoints[0]!;
        let height = START;
        for (const { kind, count: by } of steps) {
          // A claim that is near an honest one supports it, and what is possible rises to it: a lie is beyond both.
          const lie = Math.max(transport.headMax(), height + BLOCKS_AT_ONCE) + 1 + by;
          if (kind === 'mine') {
            height += by;
            clock.elapsedMs += by * BLOCK_MS;
          } else if (kind === 'read') highest.accept(endpoints[1 + (by % (count - 1))]!, height, 1);
          else if (kind === 'lie') {
            try {
              highest.accept(liar, lie, 1);
              return false;
            } catch (error) {
              if (!(error instanceof ChainUnavailable)) throw error;
            }
          } else {
            const head = await highest.get((pass) =>
              transport.attempt(async (endpoint) => {
                const own = { height: endpoint === liar ? lie : height };
                transport.report(endpoint, 'ok', own.height);
                return pass(own);
              }),
            );
            if (head.height !== height) return false;
            const bad = transport.health().filter(({ state }) => state !== 'healthy');
            if (bad.some(({ name }) => name !== liar.name)) return false;
          }
          if (highest.seen > height) return false;
        }
        return true;
      }),
      { numRuns: 150 },
    ),
  );
});

test('found: heads that rise by thousands a minute are left behind by what two endpoints support, and lift nothing', async (t) => {
  for (const count of [2, 3, 4]) {
    const { clock, endpoints, transport, highest } = world(count),
      liar = endpoints[0]!;
    let height = START,
      climbing = START;
    for (let minute = 0; minute < 30; minute += 1) {
      clock.elapsedMs += 60_000;
      height += 5;
      climbing += 2_500;
      for (const endpoint of endpoints) transport.report(endpoint, 'ok', endpoint === liar ? climbing : height);
      // Alone with the liar, an honest one supports nothing by itself: the bound rises with the time.
      t.true(transport.headMax() <= (count === 2 ? START + 50 * (minute + 1) : height) + 1_000, `minute ${minute}`);
      t.is(transport.health()[0]!.state, 'ahead');
      t.deepEqual(
        new Set(
          transport
            .health()
            .slice(1)
            .map(({ state }) => state),
        ),
        new Set(['healthy'] as const),
      );
      const head = await highest.get((pass) =>
        transport.attempt(async (endpoint) => pass({ height: endpoint === liar ? climbing : height })),
      );
      t.is(head.height, height);
    }
  }
});

test('found: while every other endpoint is away nobody believes the one that claims what cannot be, until it claims what can', async (t) => {
  const { clock, endpoints, transport, highest } = world(2),
    [liar, honest] = endpoints as [Endpoint, Endpoint];
  transport.report(liar, 'ok', 2 ** 52);
  for (let failure = 0; failure < 3; failure += 1) transport.report(honest, 'failed');
  const read = () => transport.attempt(async ({ name }) => name);
  await t.throwsAsync(read, { instanceOf: ChainUnavailable });
  t.is(transport.pick([honest]), liar, 'a look at it alone is possible');
  t.throws(() => highest.accept(liar, 2 ** 52, 1), { instanceOf: ChainUnavailable, message: /further ahead/ });
  clock.elapsedMs += 1_000;
  transport.report(liar, 'ok', START);
  t.is(await read(), 'e0');
});

test('found: the bound of a head is the same as everywhere: 1,000 and ten times the pace more than the highest one known', (t) => {
  const { clock, endpoints, transport, highest } = world(2);
  for (const [waitMs, bound] of [
    [0, 6_000],
    [1_200, 6_001],
    [86_400_000, 6_001 + 72_000],
  ] as const) {
    clock.elapsedMs += waitMs;
    t.is(transport.headMax(), bound);
    t.throws(() => highest.accept(endpoints[0]!, bound + 1, 1), {
      instanceOf: ChainUnavailable,
      message: /further ahead/,
    });
  }
  const bound = transport.headMax();
  highest.accept(endpoints[0]!, bound, 1);
  t.is(highest.seen, bound);
});

test('found: an only endpoint, a chain of which no head is known, and two endpoints that synced are believed', (t) => {
  const only = world(1);
  only.highest.accept(only.endpoints[0]!, 9_000_000, 1);
  t.is(only.highest.seen, 9_000_000);
  const unknown = world(2, false);
  unknown.highest.accept(unknown.endpoints[1]!, 9_000_000, 1);
  t.is(unknown.highest.seen, 9_000_000);
  unknown.highest.accept(unknown.endpoints[1]!, 9_000_001, 1);
  t.throws(() => unknown.highest.accept(unknown.endpoints[0]!, 700, 1), { message: /behind/ });
  t.is(unknown.transport.headMax(), Number.MAX_SAFE_INTEGER, 'one that syncs anew measures nothing');
  const synced = world(2);
  t.throws(() => synced.highest.accept(synced.endpoints[0]!, 9_000_003, 4), { instanceOf: ChainUnavailable });
  synced.highest.accept(synced.endpoints[1]!, 9_000_000, 4);
  synced.highest.accept(synced.endpoints[0]!, 9_000_003, 4);
  t.is(synced.highest.seen, 9_000_003);
});

test('found: a lie that was believed while nothing was known falls with the first two that agree, and with a known head', async (t) => {
  for (const settle of [
    ({ transport, endpoints }: ReturnType<typeof world>) => {
      for (const honest of endpoints.slice(1)) transport.report(honest, 'ok', START);
    },
    ({ transport, clock }: ReturnType<typeof world>) => transport.knowHead({ height: START, sinceMs: clock.elapsedMs }),
  ]) {
    const one = world(3, false);
    one.highest.accept(one.endpoints[0]!, 2 ** 52, 1);
    t.is(one.highest.seen, 2 ** 52);
    settle(one);
    t.is(one.transport.health()[0]!.state, 'ahead');
    t.true(one.highest.seen <= START);
    one.highest.accept(one.endpoints[1]!, START, 1);
    t.is(one.highest.seen, START);
  }
});

test('found: all that show less are believed: a rollback lowers what heads are measured by', (t) => {
  const { endpoints, transport } = world(2);
  transport.report(endpoints[0]!, 'ok', 4_000);
  t.is(transport.headMax(), 6_000);
  transport.report(endpoints[1]!, 'ok', 3_999);
  t.is(transport.headMax(), 4_999);
});

test('a claim that another one is near is the highest that counts', (t) => {
  for (const [claims, expected] of [
    [[], null],
    [[5_000], null],
    [[5_000, 5_000], 5_000],
    [[5_000, 5_002], 5_000],
    [[5_000, 6_000], 5_000],
    [[5_000, 6_001], null],
    [[5_000, 9_000_000], null],
    [[9_000_001, 5_000, 9_000_000], 9_000_000],
    [[2 ** 52, 5_001, 5_000], 5_000],
  ] as const)
    t.is(supportedClaim(claims), expected, String(claims));
});

// ── Every family ─────────────────────────────────────────────────────────────────────────────────────────────────

type Answering = (path: string, method: string) => unknown;

/** An endpoint that answers each question by its path and method; a batch of JSON-RPC call by call. */
const endpointOf = (name: string, answer: Answering): Endpoint => ({
  name,
  async request({ path, body = '{}' }) {
    const asked = JSON.parse(body) as { id?: number; method?: string } | { id?: number; method?: string }[];
    const one = ({ id, method }: { id?: number; method?: string }) => {
      const result = answer(path, method ?? '');
      return path === '' ? { jsonrpc: '2.0', id, result } : result;
    };
    const text = JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked), (_, value: unknown) =>
      typeof value === 'number' && Number.isNaN(value) ? 'NaN' : value,
    );
    return { status: 200, headers: {}, text };
  },
});

interface Family {
  readonly network: Network;
  /** A node's answer to each question about its head, which is as claimed, whatever that is. */
  answer(claimed: unknown): Answering;
  open(transport: Transport): { getHead(): Promise<Head> };
}

const HASH = 'ab'.repeat(32);
const hexOf = (claimed: unknown): unknown =>
  typeof claimed === 'number' && Number.isInteger(claimed) && claimed >= 0 ? `0x${claimed.toString(16)}` : claimed;
const header = (hash: string, claimed: unknown) => ({
  number: claimed,
  hash,
  parentHash: hash,
  timestamp: '0x65000000',
  transactions: [],
});
const tronId = (claimed: unknown): string =>
  (typeof claimed === 'number' && Number.isInteger(claimed) && claimed >= 0 ? claimed : 0)
    .toString(16)
    .padStart(16, '0')
    .slice(-16) + HASH.slice(16);

const FAMILIES: Readonly<Record<string, Family>> = {
  evm: {
    network: eth,
    answer: (claimed) => () => header(`0x${HASH}`, hexOf(claimed)),
    open: (transport) => evmHeads(eth, transport),
  },
  btc: {
    network: bitcoin,
    answer: (claimed) => () => ({
      blocks: claimed,
      headers: claimed,
      bestblockhash: HASH,
      initialblockdownload: false,
    }),
    open: (transport) => btcHeads(bitcoin, btcSources(bitcoin, transport)),
  },
  tron: {
    network: tron,
    answer: (claimed) => () => ({
      blockID: tronId(claimed),
      block_header: { raw_data: { number: claimed, parentHash: HASH, timestamp: 1_700_000_000_000 } },
    }),
    open: (transport) => tronHeads(tron, transport),
  },
  sol: {
    network: solana,
    answer: (claimed) => (_, method) =>
      method === 'getSlot'
        ? claimed
        : { context: { slot: claimed }, value: { blockhash: HASH, lastValidBlockHeight: claimed } },
    open: (transport) => solHeads(solana, transport),
  },
  xrp: {
    network: xrp,
    answer: (claimed) => () => ({
      status: 'success',
      info: {
        server_state: 'full',
        network_id: 0,
        complete_ledgers: '1-2',
        validated_ledger: {
          seq: claimed,
          hash: HASH,
          age: 1,
          base_fee_xrp: 0.00001,
          reserve_base_xrp: 1,
          reserve_inc_xrp: 0.2,
        },
      },
    }),
    open: (transport) => xrpHeads(xrp, transport),
  },
  'xlm rpc': {
    network: stellar,
    answer: (claimed) => () => ({ status: 'healthy', latestLedger: claimed, oldestLedger: 2 }),
    open: (transport) => xlmHeads(xlmSources(transport), async () => ({ hash: HASH }) as never),
  },
};

/** What an endpoint may claim when the chain is at a height, by turn. */
const CLAIMS: Readonly<Record<string, (height: number, turn: number) => unknown>> = {
  'the highest safe integer': () => Number.MAX_SAFE_INTEGER,
  'two to the 53rd': () => 2 ** 53,
  'ten years ahead': (height) => height + 10 * 365 * 7_200 * 60,
  'thousands a minute': (height, turn) => height + 20_000 * (turn + 1),
  'fifty back': (height) => height - 50,
  zero: () => 0,
  'minus one': () => -1,
  'a text': () => 'latest',
  'not a number': () => Number.NaN,
  null: () => null,
  'a half': (height) => height + 0.5,
  true: () => true,
  'a list': (height) => [height],
  'an object': () => ({}),
  infinity: () => Number.POSITIVE_INFINITY,
  '1e300': () => 1e300,
};

for (const [family, { network, answer, open }] of Object.entries(FAMILIES)) {
  test(`found: ${family}: whatever one endpoint claims of its head, in whichever place, the others say where the chain is`, async (t) => {
    for (const [claim, claimedAt] of Object.entries(CLAIMS)) {
      for (const place of [0, 1, 2]) {
        let elapsedMs = 0,
          height = 4_000_000,
          turn = 0;
        const endpoints = [0, 1, 2].map((index) =>
          endpointOf(`e${index}`, (path, method) =>
            answer(index === place ? claimedAt(height, turn) : height)(path, method),
          ),
        );
        const transport = createFailoverTransport({
          chain: network.slug,
          endpoints,
          elapsedMs: () => elapsedMs,
          random: () => 0.5,
          blockTimeMs: network.blockTimeMs,
        });
        transport.knowHead({ height, sinceMs: elapsedMs });
        const heads = open(transport);
        // One that is behind is not found out before another one was read.
        for (const _ of [0, 1]) await heads.getHead();
        for (; turn < 9; turn += 1) {
          const head = await heads.getHead();
          t.is(head.height, height, `${claim}, place ${place}, turn ${turn}`);
          height += 1;
          elapsedMs += network.blockTimeMs;
        }
        t.true(transport.headMax() < height + 1_100, `${claim}, place ${place}`);
      }
    }
  });
}
