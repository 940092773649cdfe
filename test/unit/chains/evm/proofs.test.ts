/**
 * What one EVM node says is held against what it said before, and against another one: behind, forgetful, contradictory
 * nodes.
 */
import test from 'ava';
import { ChainUnavailable, type Endpoint, type Unsigned } from '../../../../chains/chain.ts';
import { addressOfHex } from '../../../../chains/evm/address.ts';
import { eth } from '../../../../chains/evm/network.ts';
import { addressOf, answersOf, txidOf, type TransactionPlan } from '../../../support/evm-blocks.ts';
import { createFailoverTransport } from '../../../../chains/transport/failover.ts';
import { createClient } from '../../../../chains/evm/client.ts';
import { readerOf } from '../../../support/evm-client.ts';

const from = addressOf(0x51),
  to = addressOf(0x52);
const OURS: TransactionPlan = { from, to, value: 5n, nonce: 7 },
  OTHER: TransactionPlan = { from, to, value: 6n, nonce: 7 };
const TXID = txidOf(OURS),
  NONCE_USED_AT = 90,
  HEAD = 110;
const unsigned = {
  chain: 'eth',
  payload: '0x',
  from: addressOfHex(from.slice(2)),
  fromPath: 'm',
  to: addressOfHex(to.slice(2)),
  amount: 5n,
  tokenContract: null,
  tag: null,
  kind: 'payment',
  sendAll: false,
  feeMax: 1n,
  fee: {},
  replayKey: { kind: 'nonce', value: 7 },
  readAtHeight: 80,
} satisfies Unsigned;

interface Said {
  head?: number;
  balance?: string;
  down?: boolean;
  /** The transaction at the height at which the nonce is used; null: the node has no state of that time. */
  user?: TransactionPlan | null;
  receipt?: boolean;
  /** It pruned the receipts below this height. */
  receiptsFrom?: number;
  /** It names the block of our transaction, receipt or not. */
  inBlock?: boolean;
  /** Its own chain id, 1 if absent, and that of the transactions in its blocks, none if absent. */
  chainId?: string;
  signedFor?: string | null;
  /** What it answers to a question for traces, without which it has no such method. */
  traces?: 'all' | { code: number; message: string };
}

const signedFor = (block: ReturnType<typeof answersOf>['block'], chainId: string | null) => ({
  ...block,
  transactions: (block.transactions as object[]).map((one) => ({ ...one, chainId })),
});

/** A node that says what is told; everything else of it is a chain of empty blocks. */
function nodeOf(name: string, said: Said): Endpoint {
  const { user = null } = said;
  const at = (height: number, salt = '') =>
    answersOf(height, height === NONCE_USED_AT && user !== null ? [user] : [], salt);
  const answer = (method: string, params: readonly unknown[]): unknown => {
    const height = params.includes('latest')
      ? (said.head ?? HEAD)
      : Number(params.find((one) => typeof one === 'string' && /^0x[0-9a-f]{1,8}$/.test(one)));
    switch (method) {
      case 'eth_getBlockByNumber':
        if (params[0] === 'finalized') return null;
        return said.signedFor === undefined ? at(height).block : signedFor(at(height).block, said.signedFor);
      case 'eth_getBlockReceipts':
        return height < (said.receiptsFrom ?? 0)
          ? null
          : at(params[0] === at(NONCE_USED_AT).block.hash ? NONCE_USED_AT : height).receipts;
      case 'eth_chainId':
        return said.chainId ?? '0x1';
      case 'eth_getBalance':
        return said.balance ?? '0x0';
      case 'eth_getTransactionByHash':
        return said.inBlock === true
          ? { hash: TXID, blockNumber: '0x5a', blockHash: at(NONCE_USED_AT).block.hash }
          : null;
      case 'eth_getTransactionReceipt':
        return said.receipt === true ? { ...answersOf(NONCE_USED_AT, [OURS]).receipts[0] } : null;
      case 'eth_getTransactionCount':
        if (!params.includes('latest') && height < HEAD - eth.threshold && user === null)
          return new Error('missing trie node');
        return height >= NONCE_USED_AT ? '0x8' : '0x7';
      case 'debug_traceBlockByHash':
        if (said.traces !== 'all') return said.traces ?? new Error('method not found');
        return [
          {
            txHash: TXID,
            result: {
              type: 'CALL',
              from,
              to,
              value: '0x5',
              calls: [{ type: 'CALL', from: to, to: addressOf(0x53), value: '0x4' }],
            },
          },
        ];
      default:
        return new Error(`method not found: ${method}`);
    }
  };
  const reply = ({ id, method, params }: { id: number; method: string; params: unknown[] }) => {
    const result = answer(method, params);
    if (result instanceof Error) return { jsonrpc: '2.0', id, error: { code: -32_000, message: result.message } };
    return typeof result === 'object' && result !== null && 'code' in result
      ? { jsonrpc: '2.0', id, error: result }
      : { jsonrpc: '2.0', id, result };
  };
  return {
    name,
    async request({ body }) {
      if (said.down === true) throw new ChainUnavailable('eth', 'no answer');
      const asked = JSON.parse(body!);
      return { status: 200, headers: {}, text: JSON.stringify(Array.isArray(asked) ? asked.map(reply) : reply(asked)) };
    },
  };
}

test('§1.7 G10 V24 a node that is behind what was seen tells no balance: its zero is of before the payment', async (t) => {
  const first: Said = { balance: '0x5' },
    { client } = readerOf(eth, [nodeOf('first', first), nodeOf('behind', { head: HEAD - 2, balance: '0x0' })]);
  t.is((await client.getHead()).height, HEAD);
  first.down = true;
  await t.throwsAsync(client.fetchBalance(from, null), { instanceOf: ChainUnavailable, message: /behind 110/ });
  first.down = false;
  t.is((await client.fetchBalance(from, null)).amount, 5n);
});

test('G27 C6-56 a used nonce kills a payment only when another transaction used it: its own, without a receipt, is no proof', async (t) => {
  const own = readerOf(eth, [nodeOf('only', { user: OURS })]).client;
  t.like(await own.getFate(unsigned, TXID), {
    kind: 'unknown',
    reason: 'the transaction is in a block and the node has no receipt of it',
  });
  const other = readerOf(eth, [nodeOf('only', { user: OTHER })]).client;
  t.like(await other.getFate(unsigned, TXID), {
    kind: 'dead',
    proof: `nonce 7 was used by ${txidOf(OTHER)} at height 90, 21 deep`,
  });
});

test('G27 where nobody can name what used the nonce, a second node with a receipt of ours is a contradiction and no death', async (t) => {
  const second: Said = { receipt: true };
  const { client } = readerOf(eth, [nodeOf('first', {}), nodeOf('second', second)]);
  for (let turn = 0; turn < 2; turn += 1) {
    await t.throwsAsync(client.getFate(unsigned, TXID), {
      instanceOf: ChainUnavailable,
      message: /two nodes disagree about a receipt/,
    });
  }
  second.receipt = false;
  t.like(await client.getFate(unsigned, TXID), { kind: 'dead' });
});

test('found G27: a node that pruned receipts and still has the transaction in a block proves no death, and neither does one that keeps none from the build on', async (t) => {
  const kept = readerOf(eth, [nodeOf('only', { inBlock: true })]).client;
  t.like(await kept.getFate(unsigned, TXID), {
    kind: 'unknown',
    reason: 'the node has the transaction in a block, and no receipt of it',
  });
  for (const pruned of [
    { first: { receiptsFrom: 81 }, second: {} },
    { first: {}, second: { receiptsFrom: 81 } },
  ]) {
    const { client } = readerOf(eth, [nodeOf('first', pruned.first), nodeOf('second', pruned.second)]);
    t.like(await client.getFate(unsigned, TXID), { kind: 'unknown', reason: 'a node keeps no receipts of that time' });
  }
  const { client } = readerOf(eth, [nodeOf('first', { receiptsFrom: 80 }), nodeOf('second', { receiptsFrom: 80 })]);
  t.like(await client.getFate(unsigned, TXID), { kind: 'dead' });
  t.like(
    await readerOf(eth, [nodeOf('first', {}), nodeOf('second', { inBlock: true })]).client.getFate(unsigned, TXID),
    { kind: 'unknown' },
  );
});

const HISTORY_GONE = [
  'historical state not available in path scheme yet', // geth, path scheme, below its newest 128 blocks
  'historical state 0xabc is not available',
  'required historical state unavailable (reexec=128)',
  'state at block #90 is not available',
  'missing trie node abc',
];

test('C1-4 V6 a node that traces and no longer has the state of a block leaves it unproven: an internal payment is not given up', async (t) => {
  for (const message of HISTORY_GONE) {
    const said: Said = { user: OURS, traces: { code: -32_000, message } },
      { client } = readerOf(eth, [nodeOf('only', said)]);
    await t.throwsAsync(
      client.getBlock(NONCE_USED_AT),
      { instanceOf: ChainUnavailable, message: /no traces/ },
      message,
    );
    said.traces = 'all';
    t.is((await client.getBlock(NONCE_USED_AT)).raw.traces?.length, 1);
  }
});

test('C1-4 V6 a node that was seen to trace and now says that nobody may is asked anew only after its identity was', async (t) => {
  for (const refusal of [
    { code: 403, message: 'http 403' },
    { code: -32_601, message: 'the method does not exist/is not available' },
  ]) {
    const said: Said = { user: OURS, traces: 'all' },
      { client } = readerOf(eth, [nodeOf('only', said)]);
    await client.getBlock(NONCE_USED_AT);
    said.traces = refusal;
    for (let round = 0; round < 3; round += 1)
      await t.throwsAsync(client.getBlock(NONCE_USED_AT), { instanceOf: ChainUnavailable, message: /no traces/ });
    t.true(await client.seesInternal());
    await client.checkIdentity();
    t.is((await client.getBlock(NONCE_USED_AT)).raw.traces, undefined, 'learnt: it offers none');
    t.false(await client.seesInternal());
  }
});

test('C1-4 V6 an endpoint that traced and does not any more is told of once, and once more when it traces again', async (t) => {
  for (const refusal of [401, 402, 403].map((code) => ({ code, message: `http ${code}` }))) {
    const said: Said = { user: OURS, traces: 'all' },
      told: string[] = [];
    const transport = createFailoverTransport({
      chain: 'eth',
      endpoints: [nodeOf('only', said)],
      elapsedMs: () => 0,
      random: () => 0.5,
      onTraces: ({ name }, offered) => told.push(`${name} ${offered}`),
    });
    const client = createClient(eth, transport, new Map());
    await client.getBlock(NONCE_USED_AT);
    t.deepEqual(told, [], 'that it traces is nothing new');
    said.traces = refusal;
    for (let round = 0; round < 3; round += 1)
      await t.throwsAsync(client.getBlock(NONCE_USED_AT), { instanceOf: ChainUnavailable });
    await client.checkIdentity();
    await client.getBlock(NONCE_USED_AT);
    t.deepEqual(told, ['only false']);
    said.traces = 'all';
    await client.checkIdentity();
    t.is((await client.getBlock(NONCE_USED_AT)).raw.traces?.length, 1);
    t.deepEqual(told, ['only false', 'only true']);
  }
});

test('C1-4 V6 where traces are required, a block that no endpoint traces is not whole, however often the identity was checked', async (t) => {
  const said: Said = { user: OURS },
    { client } = readerOf({ ...eth, tracesRequired: true }, [nodeOf('a', said), nodeOf('b', { user: OURS })]);
  for (let round = 0; round < 3; round += 1) {
    await t.throwsAsync(client.getBlock(NONCE_USED_AT), {
      instanceOf: ChainUnavailable,
      message: /no traces: no endpoint offers any, and they are required/,
    });
    await client.checkIdentity();
  }
  t.true(await client.seesInternal(), 'what is not traced waits: no balance needs an explanation');
  t.is((await client.getBlock(NONCE_USED_AT + 1)).raw.traces?.length, 0, 'a block without transactions has no traces');
  said.traces = 'all';
  await client.checkIdentity();
  t.is((await client.getBlock(NONCE_USED_AT)).raw.traces?.length, 1);
  t.is(
    (await readerOf(eth, [nodeOf('c', { user: OURS })]).client.getBlock(NONCE_USED_AT)).raw.traces,
    undefined,
    'by default it is taken',
  );
});

test('found F75 G14: a node that becomes one of another chain is found out by the first block that shows it, not at the next look', async (t) => {
  for (const own of ['0x2105', '0x38']) {
    const said: Said = { user: OURS, signedFor: '0x1' },
      { client, transport } = readerOf(eth, [nodeOf('a', said), nodeOf('b', { user: OURS })]);
    await client.checkIdentity();
    await client.getBlock(NONCE_USED_AT);
    Object.assign(said, { chainId: own, signedFor: own });
    for (let round = 0; round < 2; round += 1) await client.getBlock(NONCE_USED_AT);
    t.deepEqual(
      transport.health().map(({ state }) => state),
      ['wrong_network', 'healthy'],
    );
  }
});

test('found F75 G14: a transaction with another chain id, none or zero is a question and no verdict: the node that says our id stays', async (t) => {
  for (const id of ['0x2105', '0x0', null, 'no number']) {
    const { client, transport } = readerOf(eth, [nodeOf('a', { user: OURS, signedFor: id })]);
    await client.getBlock(NONCE_USED_AT);
    t.is(transport.health()[0]!.state, 'healthy', String(id));
  }
});
