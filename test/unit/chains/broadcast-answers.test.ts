/**
 * What answers a broadcast and is no node's refusal of the transaction: gateways, proxies, overload, pages, empty
 * bodies. Each one must leave the outcome unknown (the same bytes again), whatever its code, its status and the words
 * in it.
 */
import test from 'ava';
import fc from 'fast-check';
import { Transaction } from 'bitcoinjs-lib';
import type { BroadcastResult, Endpoint } from '../../../chains/chain.ts';
import { createClient as createBtcClient } from '../../../chains/btc/client.ts';
import { bitcoin as btc } from '../../../chains/btc/network.ts';
import { explainRejection as explainBtc } from '../../../chains/btc/rejection.ts';
import { txidOf } from '../../../chains/evm/envelope.ts';
import { eth } from '../../../chains/evm/network.ts';
import { explainRejection as explainEvm } from '../../../chains/evm/rejection.ts';
import { SYSTEM_PROGRAM } from '../../../chains/sol/programs.ts';
import { explainRejection as explainSol } from '../../../chains/sol/rejection.ts';
import { explainRejection as explainTron } from '../../../chains/tron/rejection.ts';
import { explainCodes, explainError as explainXlmError, explainStatus } from '../../../chains/xlm/rejection.ts';
import { explainError as explainXrpError, explainResult } from '../../../chains/xrp/rejection.ts';
import { createFailoverTransport } from '../../../chains/transport/failover.ts';
import { readerOf, signedTransfer } from '../../support/evm-client.ts';
import { answersOf } from '../../support/evm-blocks.ts';
import { RECIPIENT } from '../../support/evm-inputs.ts';

/** Texts of gateways, proxies and busy nodes, as operators reported them. */
const GATEWAY = [
  'no backends available',
  'no backend is currently healthy to serve traffic',
  'context deadline exceeded',
  'context canceled',
  'internal error',
  'Internal JSON-RPC error.',
  'Internal server error',
  'service unavailable',
  'Bad Gateway',
  'upstream connect error or disconnect/reset before headers',
  'upstream request timeout',
  'gateway timeout',
  'request timed out',
  'execution timeout',
  'connection reset by peer',
  'EOF',
  'unexpected end of JSON input',
  'i/o timeout',
  'dial tcp 10.0.0.1:8545: connect: connection refused',
  'daily request count exceeded, request rate limited',
  'project ID request rate exceeded',
  'your app has exceeded its compute units per second capacity',
  'capacity exceeded',
  'Too Many Requests',
  'rate limit reached',
  'limit exceeded',
  'request limit reached',
  'monthly capacity limit exceeded',
  'Unauthorized',
  'invalid api key',
  'Must be authenticated!',
  'forbidden',
  'this method is not available on your plan',
  'insufficient funds on your account: top up to go on',
  'plan exhausted: insufficient credits',
  'transaction relay temporarily disabled',
  'Sending transactions is not supported',
  'the node is syncing',
  'no peers',
  'node is not synced',
  'failed to broadcast: quorum not reached',
  'backend response too large',
  'server is busy',
  'could not validate: nonce too low on one backend, insufficient funds on another',
  'error: replacement transaction underpriced was returned by 0 of 3 nodes',
  'cache: already known issue 4711',
  'see our status page: dust has settled',
  'work queue depth exceeded',
  'fee service down: min relay fee not met could not be checked',
  'the transaction was rejected by our firewall',
  'transaction rejected',
  'rejected',
  'invalid request',
  'Invalid params',
  'parse error',
  'unknown error',
  'null',
  '',
  ' ',
  '0',
  'insufficient_funds_in_wallet_of_provider',
  'blocked by policy',
  '<html><body>502 Bad Gateway</body></html>',
  'nonce too low<br>',
  'execution reverted <html>',
  'ünïcode — sorry',
];
const CODES = [
  -32_700,
  -32_600,
  -32_601,
  -32_602,
  -32_603,
  ...Array.from({ length: 100 }, (_, i) => -32_000 - i),
  0,
  1,
  3,
  -1,
  400,
  401,
  402,
  403,
  404,
  408,
  413,
  429,
  500,
  502,
  503,
  504,
  521,
  4_444,
  -26,
  -25,
  -22,
];

test('found F22: what a gateway says is unknown in every family, under every code', (t) => {
  for (const message of GATEWAY) {
    for (const code of CODES) {
      const at = `${code} ${message}`;
      t.is(explainEvm({ code, message }).kind, 'unknown', at);
      t.is(explainBtc({ code, message }).kind, 'unknown', at);
      t.is(explainSol({ code, message }, [SYSTEM_PROGRAM]).kind, 'unknown', at);
    }
    t.is(explainTron({ code: message, message }).kind, 'unknown', message);
    t.is(explainTron({ message }).kind, 'unknown', message);
    t.is(explainTron({ result: false, message }).kind, 'unknown', message);
    t.is(explainResult({ engineResult: message, isCarried: false }).kind, 'unknown', message);
    t.is(explainXrpError({ token: message, message }).kind, 'unknown', message);
    t.is(explainXlmError(message), null, message);
    t.is(explainStatus(message), null, message);
    t.is(explainCodes({ transaction: message, inner: null, operations: [] }).kind, 'unknown', message);
    t.is(explainCodes({ transaction: 'tx_failed', inner: null, operations: [message] }).kind, 'unknown', message);
  }
});

/** Refusals of nodes, each under the code that it comes with. */
const REFUSED = [
  'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
  'intrinsic gas too low: gas 1, minimum needed 21000',
  'exceeds block gas limit',
  'replacement transaction underpriced',
  'transaction underpriced: gas tip cap 0, minimum needed 1',
  'invalid sender: invalid chain id for signer: have 1 want 56',
];

test("found F22: a node's words inside of another sentence, or under a code of the transport, prove nothing", (t) => {
  const wrapping = fc.tuple(fc.constantFrom(...REFUSED), fc.stringMatching(/^[a-z]{2,12} $/), fc.boolean());
  fc.assert(
    fc.property(wrapping, fc.constantFrom(-32_000, -32_003, -32_010), ([text, words, before], code) => {
      t.is(explainEvm({ code, message: before ? `${words}${text}` : `${text} ${words}<p>` }).kind, 'unknown');
    }),
  );
  for (const message of REFUSED) {
    t.is(explainEvm({ code: -32_000, message }).kind, 'rejected', `the control: ${message}`);
    for (const code of [429, 500, 503, -32_603, -32_601, -32_002, -32_098, 0])
      t.is(explainEvm({ code, message }).kind, 'unknown', `${code} ${message}`);
  }
  for (const message of ['dust', 'min relay fee not met, 0 < 141', 'mandatory-script-verify-flag-failed (x)']) {
    t.is(explainBtc({ code: -26, message }).kind, 'rejected', `the control: ${message}`);
    for (const code of [-32_603, -32_000, -28, -1, 500, 429, -20])
      t.is(explainBtc({ code, message }).kind, 'unknown', `${code} ${message}`);
    t.is(explainBtc({ code: -26, message: `backend: ${message}` }).kind, 'unknown');
    t.is(explainBtc({ code: -26, message: `${message.split(/[ ,]/)[0]!}ed` }).kind, 'unknown');
  }
});

test('found F22: any text that is none of the list is unknown', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.constantFrom(-32_000, -32_003, -26, -25), (message, code) => {
      t.is(explainEvm({ code, message: `x${message}` }).kind, 'unknown');
      t.is(explainBtc({ code, message: `x${message}` }).kind, 'unknown');
    }),
  );
});

type Reply = { status: number; text: string };

/** Answers of an HTTP layer to one request: a status and a body that no node wrote. */
function pages(id: unknown): Reply[] {
  const rpc = (error: unknown, more = {}) => JSON.stringify({ jsonrpc: '2.0', id, error, ...more });
  return [
    ...[200, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 521].flatMap((status) =>
      [
        '',
        ' ',
        '<html><h1>insufficient funds</h1></html>',
        'null',
        '[]',
        '{}',
        '{"message":"already known"}',
        '"ok"',
        '{"error":"nonce too low"}',
        'upstream: insufficient funds for gas * price + value',
      ].map((text) => ({ status, text })),
    ),
    ...CODES.map((code) => ({ status: 200, text: rpc({ code, message: 'no backends available' }) })),
    ...CODES.map((code) => ({ status: 503, text: rpc({ code, message: 'context deadline exceeded' }) })),
    { status: 200, text: rpc({ code: -32_000 }) },
    { status: 200, text: rpc({ message: 'insufficient funds' }) },
    { status: 200, text: rpc({ code: '-32000', message: 'insufficient funds' }) },
  ];
}

const TYPE = 'eth_sendRawTransaction';

/** An EVM node whose every other answer is that of a healthy one. */
function evmNode(name: string, reply: (id: unknown) => Reply): Endpoint {
  return {
    name,
    async request({ body }) {
      const asked = JSON.parse(body!),
        one = ({ id, method }: { id: unknown; method: string }) => ({
          jsonrpc: '2.0',
          id,
          result:
            method === 'eth_getBlockByNumber' ? answersOf(100, []).block : method === 'eth_getBalance' ? '0x0' : null,
        });
      const { status, text } =
        asked.method === TYPE
          ? reply(asked.id)
          : { status: 200, text: JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)) };
      return { status, headers: {}, text };
    },
  };
}

/** What a broadcast comes to; a reply that is malformed is doubt too (`broadcastOrDoubt`). */
const outcome = (result: Promise<BroadcastResult>) =>
  result.then(
    ({ kind }) => kind,
    (error: Error) => (error.name === 'MalformedReply' ? 'unknown' : error.message),
  );

test("found F22: EVM: no page, status or gateway error ends a withdrawal; a node's own refusal does", async (t) => {
  const payload = await signedTransfer(eth, 7, RECIPIENT, 5n),
    signed = { chain: 'eth', payload, txid: txidOf(payload) } as const;
  const said = (reply: (id: unknown) => Reply) =>
    outcome(readerOf(eth, [evmNode('node', reply)]).client.broadcast(signed));
  for (let i = 0; i < pages(0).length; i += 1)
    t.is(await said((id) => pages(id)[i]!), 'unknown', JSON.stringify(pages(0)[i]));
  t.is(
    await said((id) => ({
      status: 200,
      text: JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message: REFUSED[0] } }),
    })),
    'rejected_final',
    'the control',
  );
});

test('found F22: BTC: the same', async (t) => {
  const transaction = new Transaction();
  transaction.addInput(Buffer.alloc(32, 1), 0);
  transaction.addOutput(Buffer.from(`0014${'ab'.repeat(20)}`, 'hex'), 1_000n);
  const signed = { chain: 'btc', payload: transaction.toHex(), txid: transaction.getId() } as const;
  const chain = { blocks: 100, headers: 100, bestblockhash: 'ab'.repeat(32), initialblockdownload: false };
  const said = (reply: (id: unknown) => Reply) => {
    const node: Endpoint = {
      name: 'node',
      async request({ body }) {
        const asked = JSON.parse(body!);
        const one = ({ id, method }: { id: unknown; method: string }) =>
          method === 'getblockchaininfo'
            ? { id, result: chain }
            : { id, error: { code: -5, message: 'No such mempool or blockchain transaction' } };
        const { status, text } =
          asked.method === 'sendrawtransaction'
            ? reply(asked.id)
            : { status: 200, text: JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)) };
        return { status, headers: {}, text };
      },
    };
    const transport = createFailoverTransport({
      chain: 'btc',
      endpoints: [node],
      elapsedMs: () => 0,
      random: () => 0.5,
    });
    return outcome(createBtcClient(btc, transport, new Map()).broadcast(signed));
  };
  for (let i = 0; i < pages(0).length; i += 1)
    t.is(await said((id) => pages(id)[i]!), 'unknown', JSON.stringify(pages(0)[i]));
  t.is(
    await said((id) => ({ status: 200, text: JSON.stringify({ id, error: { code: -26, message: 'dust' } }) })),
    'rejected_final',
    'the control',
  );
});
