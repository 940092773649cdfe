/** EDGE_VERIFY_RPC_<CHAIN>: no event of a confirmed deposit leaves that the customer's own node does not confirm. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { addressOfHex } from '../../../chains/evm/address.ts';
import { bsc, eth } from '../../../chains/evm/network.ts';
import { readConfig } from '../../../edge/config.ts';
import { isMnemonic } from '../../../edge/keystore/keys.ts';
import { createOwnNodes } from '../../../edge/signing/own-nodes.ts';
import {
  createDepositCheck,
  judgeDelivery,
  takenKeysIn,
  type DepositCheck,
  type Doubt,
} from '../../../edge/webhooks/deposit-check.ts';
import { eventId } from '../../../protocol/node/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { startAnvil, type Anvil } from '../../support/anvil.ts';
import { API_KEYS, eventually, PHRASE, startTestEdge } from '../../support/edge/edges.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { startReceiver } from '../../support/edge/receivers.ts';
import { newStorage } from '../../support/edge/disk.ts';
import { registryIn } from '../../support/edge/registry.ts';

/** The same catalogue at each call, as an edge's registry gives it. */
const TOKENS = registryIn().catalogueOf;

const checkOver = (nodes: ReadonlyMap<Chain, readonly string[]>, monotonicMs: () => number): DepositCheck =>
  createDepositCheck({
    isLentAt: () => false,
    catalogueOf: TOKENS,
    environment: 'live',
    nodes: createOwnNodes({ catalogueOf: TOKENS, nodes, monotonicMs }),
    keys: takenKeysIn(newStorage()),
    monotonicMs,
    holderOf: async (_chain, address) => (address === HELD ? { userRef: 'alice', tag: null } : null),
  });

const [PAYER, SHOP, OTHER, HELD] = [0xa11ce, 0x5a09, 0xb0b, 0xa11].map((number) =>
  addressOfHex(number.toString(16).padStart(40, '0')),
) as [string, string, string, string];
const COIN = 10n ** 18n;

interface Paid {
  readonly txid: string;
  readonly height: number;
  readonly blockHash: string;
}

async function pay(anvil: Anvil, amount: bigint): Promise<Paid> {
  const txid = await anvil.send({ from: PAYER, to: SHOP, value: amount });
  await anvil.mine();
  const head = await anvil.rpc<{ number: string; hash: string }>('eth_getBlockByNumber', 'latest', false);
  return { txid, height: Number(head.number), blockHash: head.hash };
}

/** The event as an honest cloud tells it; `more` and `data` are the lies. */
function told(
  { txid, height, blockHash }: Paid,
  data: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): string {
  const said = {
    depositId: 'dep_1',
    chain: 'eth',
    txid,
    outputIndex: -1,
    address: SHOP,
    amount: COIN.toString(),
    amountFormatted: '1',
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    userRef: null,
    tag: null,
    chainTag: null,
    height,
    blockHash,
    incarnation: 1,
    ...data,
  };
  const { chain, outputIndex, incarnation } = said;
  return JSON.stringify({
    event: 'deposit_confirmed',
    id: eventId(chain, said.txid, outputIndex, incarnation, 'deposit_confirmed'),
    environment: 'live',
    confirmations: 12,
    threshold: 12,
    timestamp: '2026-01-01T00:00:00.000Z',
    data: said,
    ...more,
  });
}

/** A check whose clock turns by seconds with each question, so that nothing that the node said is remembered. */
function checkOf(chain: Chain, url: string): DepositCheck {
  let seconds = 0;
  return checkOver(new Map([[chain, [url]]]), () => (seconds += 1) * 1_000);
}

test("decisions 6: a cloud that lies about a deposit is found out by the customer's node, field by field; found: by its event id and holder too", async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.fund(PAYER, 100n * COIN);
  const paid = await pay(anvil, COIN),
    other = await pay(anvil, 2n * COIN);
  const check = checkOf('eth', anvil.url);
  t.teardown(() => check.close());
  t.is(await check.doubt(told(paid)), 'not_deep_enough');
  await anvil.mine(9);
  t.is(await check.doubt(told(paid)), 'not_deep_enough', 'eleven confirmations');
  t.is(
    await check.doubt(told(paid, {}, { threshold: 1, confirmations: 400 })),
    'not_deep_enough',
    "the threshold is the chain's own",
  );
  await anvil.mine();
  t.is(await check.doubt(told(paid)), null);
  t.is(await check.doubt(told(paid)), null, 'of a block that is known');
  const lies: [Record<string, unknown>, Doubt][] = [
    [{ amount: (COIN + 1n).toString() }, 'other_amount'],
    [{ address: OTHER }, 'no_such_movement'],
    [{ outputIndex: 0 }, 'no_such_movement'],
    [{ txid: other.txid }, 'no_such_movement'],
    [{ txid: `0x${'12'.repeat(32)}` }, 'no_such_movement'],
    [{ decimals: 6 }, 'other_amount'],
    [{ amountFormatted: '1000' }, 'other_amount'],
    [{ amount: `0${COIN}` }, 'other_amount'],
    [{ chainTag: '7' }, 'no_such_movement'],
    [{ tokenContract: OTHER }, 'other_amount'],
    [{ tokenSymbol: 'USDC' }, 'other_amount'],
    [{ blockHash: other.blockHash }, 'other_block'],
    [{ height: other.height }, 'other_block'],
    [{ height: paid.height + 5_000 }, 'not_deep_enough'],
    [{ chain: 'ETH' }, 'malformed_event'],
    [{ amount: 5 }, 'malformed_event'],
    [{ height: '5' }, 'malformed_event'],
  ];
  for (const [lie, doubt] of lies) t.is(await check.doubt(told(paid, lie)), doubt, JSON.stringify(lie));
  t.is(
    await check.doubt(told(paid, {}, { id: eventId('eth', paid.txid, -1, 2, 'deposit_confirmed') })),
    'other_event_id',
    'found: one fact under a second id',
  );
  t.is(
    await check.doubt(told(paid, {}, { id: `evt_${'a'.repeat(26)}` })),
    'other_event_id',
    'found: an id that is no hash of the fact',
  );
  for (const holder of [{ userRef: 'mallory' }, { userRef: 'alice', tag: 'vip' }])
    t.is(
      await check.doubt(told(paid, { ...holder, address: HELD })),
      'other_holder',
      'found: whose it is was recorded when it was issued',
    );
  t.is(await check.doubt(told(paid, { userRef: 'alice', address: HELD })), 'no_such_movement', 'its holder');
  t.is(await check.doubt(told(other, { amount: (2n * COIN).toString(), amountFormatted: '2' })), 'not_deep_enough');
});

test('decisions 6: a body that a receiver could read in another way is not let through, whatever it calls itself', async (t) => {
  const check = checkOf('eth', 'http://127.0.0.1:1');
  t.teardown(() => check.close());
  const body = told({ txid: '0x1', height: 1, blockHash: '0x2' });
  for (const other of [
    `${body} `,
    body.replace('"event":', '"event":"pool_low","event":'),
    body.replace('{"event":"deposit_confirmed"', '{"event":"deposit_confirmed","event":"pool_low"'),
    body.replace('"event":"deposit_confirmed"', '"Event":"deposit_confirmed"'),
    body.replace('"event":', '"Event":"pool_low","event":'),
    body.replace('"amount":', '"Amount":"9","amount":'),
    body.replace('"data":', '"Data":{},"data":'),
    body.replace('"tokenContract":', '"to\u212aenContract":null,"tokenContract":'),
    body.replace('"data":{', `"data":{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},`),
    body.replace('deposit_confirmed', 'deposit\\u005fconfirmed'),
    'null',
    '[]x',
    '',
  ])
    t.is(await check.doubt(other), 'malformed_event', other.slice(0, 60));
  t.is(await check.doubt(body), 'no_answer');
  for (const event of ['deposit_detected', 'deposit_reversed', 'pool_low'])
    t.is(await check.doubt(body.replace('deposit_confirmed', event)), null, event);
  t.is(
    await check.doubt(
      body
        .replace('"chain":"eth"', '"chain":"base"')
        .replace(/evt_[a-z2-7]+/, eventId('base', '0x1', -1, 1, 'deposit_confirmed')),
    ),
    null,
    "a chain without a node of the customer's",
  );
  for (const incarnation of [0, -1, 1.5, 2 ** 31])
    t.is(
      await check.doubt(told({ txid: '0x1', height: 1, blockHash: '0x2' }, { incarnation })),
      'malformed_event',
      `${incarnation}`,
    );
});

test("found: each event of a deposit has the id of what it tells and its holder: a difference is an alarm, also where no node of the customer's is asked", async (t) => {
  const paid = { txid: `0x${'ab'.repeat(32)}`, height: 5, blockHash: `0x${'cd'.repeat(32)}` };
  const alarms: string[] = [];
  const live = createDepositCheck({
    isLentAt: () => false,
    catalogueOf: TOKENS,
    nodes: null,
    environment: 'live',
    keys: takenKeysIn(newStorage()),
    monotonicMs: () => 0,
    onDifference: (reason, event) => {
      alarms.push(`${event?.event} ${reason}`);
    },
    holderOf: async (_chain, address) => (address === HELD ? { userRef: 'alice', tag: null } : null),
  });
  for (const event of ['deposit_detected', 'deposit_confirmed', 'deposit_reversed', 'address_activated']) {
    const idOf = (incarnation: number, chain = 'eth', txid = paid.txid, outputIndex = -1) =>
      eventId(chain, txid, outputIndex, incarnation, event);
    const difference = async (data: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => {
      alarms.length = 0;
      t.is(await live.doubt(told(paid, data, { event, id: idOf(1), ...more })), null, 'it leaves');
      return alarms[0] ?? null;
    };
    t.is(await difference(), null, event);
    for (const [data, id] of [
      [{}, idOf(2)],
      [{ incarnation: 2 }, idOf(1)],
      [{ outputIndex: 3 }, idOf(1)],
      [{ chain: 'base' }, idOf(1)],
      [{ txid: '0x12' }, idOf(1)],
      [{}, `evt_${'a'.repeat(26)}`],
    ] as const) {
      t.is(await difference(data, { id }), `${event} other_event_id`, `${JSON.stringify(data)} ${id}`);
    }
    t.is(await difference({ address: HELD, userRef: 'mallory' }), `${event} other_holder`);
    t.is(await difference({}, { environment: 'sandbox' }), `${event} other_environment`);
  }
});

test("decisions 6: a block that left the customer's node is believed no more; a node of another network says nothing", async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.fund(PAYER, 100n * COIN);
  const snapshot = await anvil.rpc<string>('evm_snapshot');
  const paid = await pay(anvil, COIN);
  await anvil.mine(20);
  const check = checkOf('eth', anvil.url),
    foreign = checkOf('bsc', anvil.url);
  t.teardown(() => Promise.all([check.close(), foreign.close()]));
  t.is(await check.doubt(told(paid)), null);
  await anvil.rpc('evm_revert', snapshot);
  await anvil.mine(30);
  t.is(await check.doubt(told(paid)), 'other_block');
  t.is(await foreign.doubt(told(paid, { chain: 'bsc', tokenSymbol: 'BNB' })), 'no_answer');
});

/** A node that answers as another one does, and says of methods that start so that it has none. */
async function nodeWithout(t: ExecutionContext, behind: string, lacks: (method: string) => boolean): Promise<string> {
  const answer = async (asked: { id: number; method: string }): Promise<unknown> =>
    lacks(asked.method)
      ? { jsonrpc: '2.0', id: asked.id, error: { code: -32_601, message: 'method not found' } }
      : (
          await fetch(behind, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(asked),
          })
        ).json();
  const server = createServer(
    (request, response) =>
      void text(request).then(async (body) => {
        const asked = JSON.parse(body) as { id: number; method: string } | { id: number; method: string }[];
        response.end(JSON.stringify(await (Array.isArray(asked) ? Promise.all(asked.map(answer)) : answer(asked))));
      }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("decisions 6 V6: a node of the customer's that traces no more is asked anew for what it can after five minutes, as the cloud's are", async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.fund(PAYER, 100n * COIN);
  const before = await pay(anvil, COIN),
    after = await pay(anvil, COIN);
  await anvil.mine(20);
  let traces = true,
    nowMs = 0;
  const url = await nodeWithout(t, anvil.url, (method) => !traces && /^(?:debug|trace)_/.test(method));
  const check = checkOver(new Map([['eth' as const, [url]]]), () => nowMs);
  t.teardown(() => check.close());
  t.is(await check.doubt(told(before)), null);
  traces = false;
  t.is(await check.doubt(told(after)), 'no_answer', 'it may only be so for a moment');
  nowMs += 300_000;
  t.is(await check.doubt(told(after)), null, 'this movement needs no traces');
});

test('decisions 6: where the network has finality, depth alone does not confirm', async (t) => {
  const anvil = await startAnvil(t, bsc, { automine: false });
  await anvil.fund(PAYER, 100n * COIN);
  const paid = await pay(anvil, COIN);
  await anvil.mine(20);
  const check = checkOf('bsc', anvil.url);
  t.teardown(() => check.close());
  const body = told(paid, { chain: 'bsc', tokenSymbol: 'BNB' });
  t.is(await check.doubt(body), 'not_deep_enough', 'deep enough and not final');
  await anvil.mine(200);
  t.is(await check.doubt(body), null);
});

test('decisions 6: what the node does not have yet leaves when it has it; a lie does not leave, and is recorded as unverified', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.fund(PAYER, 100n * COIN);
  const paid = await pay(anvil, COIN);
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const receiver = await startReceiver(t);
  const edge = await startTestEdge(t, cloud.url, {
    env: {
      EDGE_CHAINS: 'eth',
      EDGE_VERIFY_RPC_ETH: anvil.url,
      EDGE_WEBHOOK_ALLOWLIST: new URL(receiver.url).host,
    },
  });
  await eventually('the edge is welcomed', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  const deliver = (deliveryId: string, body: string) =>
    cloud.deliver([{ deliveryId, attempt: 1, url: receiver.url, headers: {}, body, timeoutMs: 15_000 }]);
  const recorded = () =>
    cloud.attempts.map(({ deliveryId, outcome, statusCode }) => `${deliveryId} ${outcome} ${statusCode}`);
  await deliver('dlv_early', told(paid));
  await deliver('dlv_lie', told(paid, { blockHash: `0x${'ab'.repeat(32)}` }));
  await deliver('dlv_other', '{"event":"pool_low"}');
  await eventually('what waits for nothing is recorded', () => cloud.attempts.length === 2);
  t.deepEqual(recorded().sort(), ['dlv_lie unverified null', 'dlv_other answered 200']);
  await anvil.mine(11);
  await eventually('the node has it', () => cloud.attempts.length === 3);
  t.is(recorded()[2], 'dlv_early answered 200');
  t.deepEqual(
    receiver.hits.map(({ body }) => body),
    ['{"event":"pool_low"}', told(paid)],
  );
  const doubts = edge.logged.filter(({ msg }) => msg === 'deposit_unverified');
  t.deepEqual(
    doubts.map(({ reason, alarm = false }) => [reason, alarm]),
    [['other_block', true]],
  );
  t.false(JSON.stringify(edge.logged).includes(anvil.url), 'no address of a node in the log');
});

test('decisions 6: a node that stays behind costs no attempt: the delivery makes way and comes again; a stop does not wait for it', async (t) => {
  let nowMs = 0,
    asked = 0;
  const log = {
    info: () => undefined,
    warn: () => undefined,
    alarm: () => t.fail('an alarm'),
    fault: () => t.fail('a fault'),
    alarms: 0,
  };
  const judge = (doubts: (Doubt | null)[], isStopping = () => false) =>
    judgeDelivery(
      { doubt: async () => doubts[Math.min(asked++, doubts.length - 1)]!, close: async () => undefined },
      { deliveryId: 'dlv_1', body: '{}' },
      {
        log,
        timers: {
          pause: async (ms) => {
            nowMs += ms;
          },
        },
        monotonicMs: () => nowMs,
        isStopping,
      },
    );
  t.is(await judge(['not_deep_enough']), 'later');
  t.true(asked > 10 && nowMs <= 66_000);
  asked = 0;
  t.is(await judge(['no_answer', 'not_deep_enough', null]), 'post');
  t.is(asked, 3);
  t.is(await judge(['no_answer'], () => true), 'later');
  asked = 0;
  const slow = judgeDelivery(
    {
      doubt: async () => {
        nowMs += 90_000;
        return null;
      },
      close: async () => undefined,
    },
    { deliveryId: 'dlv_1', body: '{}' },
    { log, timers: { pause: async () => undefined }, monotonicMs: () => nowMs, isStopping: () => false },
  );
  t.is(await slow, 'later', 'by then its claim may be over');
});

test('EDGE_VERIFY_RPC: misspelt, in the sandbox, or no address: the edge does not start', (t) => {
  const problemsOf = (more: Record<string, string>, environment: 'live' | 'sandbox' = 'live') => {
    const error = t.throws(() =>
      readConfig(
        { API_KEY: API_KEYS[environment], CLOUD_URL: 'https://cloud.example', MNEMONIC: PHRASE, ...more },
        isMnemonic,
      ),
    );
    return error!.message;
  };
  t.regex(problemsOf({ EDGE_VERIFY_RPC_ETHER: 'https://node.example' }), /EDGE_VERIFY_RPC_ETHER: names no chain/);
  t.regex(problemsOf({ EDGE_VERIFY_RPC_ETH: 'node.example' }), /EDGE_VERIFY_RPC_ETH: must be http or https/);
  t.regex(problemsOf({ EDGE_VERIFY_RPC_ETH: ' , ' }), /EDGE_VERIFY_RPC_ETH: must be http or https/);
  t.regex(problemsOf({ EDGE_VERIFY_RPC_ETH_FILE: '/nowhere' }), /EDGE_VERIFY_RPC_ETH_FILE: cannot be read/);
  t.regex(problemsOf({ EDGE_VERIFY_RPC_ETH: 'https://node.example' }, 'sandbox'), /on no node/);
  for (const count of ['0', '-1', '1.5', '1e2', '10001'])
    t.regex(problemsOf({ EDGE_VERIFY_CONFIRMATIONS_ETH: count }), /EDGE_VERIFY_CONFIRMATIONS_ETH: /, count);
  const { config } = readConfig(
    {
      API_KEY: API_KEYS.live,
      CLOUD_URL: 'https://cloud.example',
      MNEMONIC: PHRASE,
      EDGE_VERIFY_RPC_ETH: 'https://a.example, http://b.example/x',
      EDGE_VERIFY_CONFIRMATIONS_ETH: '3',
    },
    isMnemonic,
  );
  t.deepEqual([...config.verifyNodes], [['eth', ['https://a.example', 'http://b.example/x']]]);
  t.deepEqual([...config.verifyConfirmations], [['eth', 3]]);
});
