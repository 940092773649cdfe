/** docs/chains/pairs.md, EVM: a node whose answers contradict each other in one place proves nothing. */
import test from 'ava';
import type { Catalogue, Endpoint } from '../../../../chains/chain.ts';
import { addressOfHex } from '../../../../chains/evm/address.ts';
import { eth, polygon } from '../../../../chains/evm/network.ts';
import { outcomesIn, transfersIn } from '../../../../chains/evm/transfers.ts';
import {
  addressOf,
  answersOf,
  transferLog,
  txidOf,
  unitOfPlans,
  wordOf,
  type TransactionPlan,
} from '../../../support/evm-blocks.ts';
import { readerOf } from '../../../support/evm-client.ts';
import { contradict, type Contradiction } from '../../../support/pairs.ts';

const HEIGHT = 100,
  OTHER_HASH = `0x${'5e'.repeat(32)}`;
const [payer, wallet, shop, other] = [0xa11ce, 0x5afe, 0x5a09, 0xb0b].map(addressOf) as [
  string,
  string,
  string,
  string,
];
const USDT = addressOfHex('dac17f958d2ee523a2206206994597c13d831ec7');
const catalogue: Catalogue = new Map([[USDT, { chain: 'eth', contract: USDT, symbol: 'USDT', decimals: 6 }]]);

const PLANS: TransactionPlan[] = [
  { from: payer, to: wallet, value: 10n, logs: [transferLog(USDT, payer, shop, 7n)], nonce: 1 },
  { from: payer, to: null, value: 3n, nonce: 2 },
  { from: payer, to: wallet, value: 1n, status: '0x0', nonce: 3 },
];

/** Answers are changed in place, as JSON. */
type Json = any;
interface Said {
  block: Json;
  receipts: Json[];
  traces: Json[];
}

function tree(): Json[] {
  return PLANS.map((plan) => ({
    txHash: txidOf(plan),
    result: {
      type: plan.to === null ? 'CREATE' : 'CALL',
      from: plan.from,
      to: plan.to ?? other,
      value: `0x${plan.value!.toString(16)}`,
      ...(plan.status === '0x0' ? { error: 'execution reverted' } : {}),
      calls: plan.status === '0x0' || plan.to === null ? [] : [{ type: 'CALL', from: wallet, to: shop, value: '0x4' }],
    },
  }));
}

function flat(hash: string): Json[] {
  return PLANS.flatMap((plan, transactionPosition): Json[] => {
    const common = { blockHash: hash, blockNumber: HEIGHT, transactionHash: txidOf(plan), transactionPosition };
    const value = `0x${plan.value!.toString(16)}`;
    if (plan.to === null)
      return [
        { ...common, type: 'create', action: { from: plan.from, value }, result: { address: other }, traceAddress: [] },
      ];
    const top = {
      ...common,
      type: 'call',
      action: { callType: 'call', from: plan.from, to: plan.to, value },
      traceAddress: [],
    };
    return plan.status === '0x0'
      ? [{ ...top, error: 'Reverted' }]
      : [
          { ...top, result: {} },
          {
            ...common,
            type: 'call',
            action: { callType: 'call', from: wallet, to: shop, value: '0x4' },
            result: {},
            traceAddress: [0],
          },
        ];
  });
}

function fresh(shape: 'tree' | 'flat'): Said {
  const answers = answersOf(HEIGHT, PLANS);
  const traces = shape === 'tree' ? tree() : flat(answers.block.hash);
  return structuredClone({
    block: { ...answers.block, gasUsed: `0x${(3 * 0x5208).toString(16)}` },
    receipts: answers.receipts,
    traces,
  });
}

function nodeOf(name: string, said: Said, shape: 'tree' | 'flat'): Endpoint {
  const answer = (method: string): unknown => {
    switch (method) {
      case 'eth_getBlockByNumber':
        return said.block;
      case 'eth_getBlockReceipts':
        return said.receipts;
      case 'debug_traceBlockByHash':
        return shape === 'tree' ? said.traces : undefined;
      case 'trace_block':
        return shape === 'flat' ? said.traces : undefined;
      default:
        return undefined;
    }
  };
  const one = ({ id, method }: { id: number; method: string }) => {
    const result = answer(method);
    return result === undefined
      ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'method not found' } }
      : { jsonrpc: '2.0', id, result };
  };
  return {
    name,
    request: async ({ body }) => {
      const asked = JSON.parse(body!);
      return { status: 200, headers: {}, text: JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)) };
    },
  };
}

/** Through the client: the reader's proofs and the decoder's together. */
async function read(said: Said, shape: 'tree' | 'flat') {
  const block = await readerOf(eth, [nodeOf('only', said, shape)], catalogue).client.getBlock(HEIGHT);
  outcomesIn(eth, block, new Set([txidOf(PLANS[0]!)]));
  const { transfers } = transfersIn(eth, block, catalogue);
  return transfers.length === 3 ? transfers : null;
}

const at = <T>(list: T[], index: number): T => list[index]!;

/** Of both shapes of traces; `top(i)` is where a shape states the whole of a transaction. */
function common(top: (said: Said, i: number) => Json, action: (frame: Json) => Json): Contradiction<Said>[] {
  const changed = (pair: string, what: string, change: (said: Said) => void): Contradiction<Said> => ({
    pair,
    what,
    change,
  });
  return [
    changed('E1', 'receipt success, trace reverted', (said) => {
      top(said, 0).error = 'execution reverted';
    }),
    changed('E1', 'receipt success, trace out of gas', (said) => {
      top(said, 1).error = 'out of gas';
    }),
    changed('E1', 'receipt failure, trace success', (said) => {
      delete top(said, 2).error;
    }),
    changed('E1', 'the other way round, of the receipt', (said) => {
      Object.assign(at(said.receipts, 2), { status: '0x1' });
    }),
    changed('E2', 'another sender', (said) => {
      action(top(said, 0)).from = other;
    }),
    changed('E2', 'another recipient', (said) => {
      action(top(said, 0)).to = other;
    }),
    changed('E2', 'another value', (said) => {
      action(top(said, 0)).value = '0xb';
    }),
    changed('E2', 'no value', (said) => {
      action(top(said, 0)).value = '0x0';
    }),
    changed('E2', 'a creation that is a call', (said) => {
      top(said, 1).type = top(said, 1).type === 'create' ? 'call' : 'CALL';
    }),
    changed('E5', 'a receipt too few', (said) => {
      said.receipts.pop();
    }),
    changed('E5', 'a receipt too many', (said) => {
      said.receipts.push(at(said.receipts, 0));
    }),
    changed('E5', 'no receipts', (said) => {
      said.receipts = [];
    }),
    changed('E6', 'a receipt of another block', (said) => {
      at(said.receipts, 0).blockHash = OTHER_HASH;
    }),
    changed('E6', 'a receipt of another height', (said) => {
      at(said.receipts, 0).blockNumber = '0x65';
    }),
    changed('E6', 'a receipt of another transaction', (said) => {
      at(said.receipts, 0).transactionHash = OTHER_HASH;
    }),
    changed('E6', 'receipts out of order', (said) => {
      said.receipts.reverse();
    }),
    changed('E6', 'another index', (said) => {
      at(said.receipts, 1).transactionIndex = '0x2';
    }),
    changed('E6', 'a transaction of another block', (said) => {
      at<Json>(said.block.transactions, 0).blockHash = OTHER_HASH;
    }),
    changed('E7', 'another sender', (said) => {
      at(said.receipts, 0).from = other;
    }),
    changed('E7', 'another recipient', (said) => {
      at(said.receipts, 0).to = other;
    }),
    changed('E8', 'failure with a log', (said) => {
      Object.assign(at(said.receipts, 0), { status: '0x0' });
      top(said, 0).error = 'execution reverted';
    }),
    changed('E8', 'failure and success of one receipt', (said) => {
      at(said.receipts, 0).status = '0x2';
    }),
    changed('E9', 'a log of another block', (said) => {
      at<Json>(at(said.receipts, 0).logs, 0).blockHash = OTHER_HASH;
    }),
    changed('E9', 'a log of another transaction', (said) => {
      at<Json>(at(said.receipts, 0).logs, 0).transactionHash = OTHER_HASH;
    }),
    changed('E9', 'a removed log', (said) => {
      at<Json>(at(said.receipts, 0).logs, 0).removed = true;
    }),
    changed('E14', 'logs in another order', (said) => {
      const own: Json = at(said.receipts, 0);
      own.logs = [1, 0].map((logIndex) => ({ ...own.logs[0], logIndex: `0x${logIndex}` }));
    }),
    changed('E14', 'one log twice', (said) => {
      const own: Json = at(said.receipts, 0);
      own.logs = [0, 0].map((logIndex) => ({ ...own.logs[0], logIndex: `0x${logIndex}` }));
    }),
    changed('E10', 'another receiver than the bloom holds', (said) => {
      at<Json>(at(said.receipts, 0).logs, 0).topics[2] = `0x${other.slice(2).padStart(64, '0')}`;
    }),
    changed('E10', "no logs under the receipt's bloom", (said) => {
      at(said.receipts, 0).logs = [];
    }),
    changed('E11', "no logs and no bloom under the header's", (said) => {
      Object.assign(at(said.receipts, 0), { logs: [], logsBloom: `0x${'0'.repeat(512)}` });
    }),
    changed('E11', 'no bloom in the header', (said) => {
      said.block.logsBloom = `0x${'0'.repeat(512)}`;
    }),
    changed('E12', 'gas that no transaction used', (said) => {
      said.block.transactions = [];
      said.receipts = [];
      said.traces = [];
      said.block.logsBloom = `0x${'0'.repeat(512)}`;
    }),
    changed('E13', 'another height', (said) => {
      said.block.number = '0x65';
    }),
  ];
}

const TREE: Contradiction<Said>[] = [
  ...common(
    (said, i) => at(said.traces, i).result,
    (frame) => frame,
  ),
  { pair: 'E3', what: 'traces in another order', change: (said) => said.traces.reverse() },
  {
    pair: 'E3',
    what: 'the trace of another transaction',
    change: (said) => {
      at(said.traces, 0).txHash = OTHER_HASH;
    },
  },
  { pair: 'E4', what: 'a trace too few', change: (said) => said.traces.pop() },
  {
    pair: 'E4',
    what: 'no traces',
    change: (said) => {
      said.traces = [];
    },
  },
  {
    pair: 'E4',
    what: 'a trace that is an error',
    change: (said) => {
      said.traces[0] = { txHash: at(said.traces, 0).txHash, error: 'execution timeout' };
    },
  },
  {
    pair: 'E4',
    what: 'an empty trace',
    change: (said) => {
      said.traces[0] = { txHash: at(said.traces, 0).txHash, result: {} };
    },
  },
];

const topEntry = (said: Said, i: number): Json =>
  said.traces.find((one) => one.transactionPosition === i && one.traceAddress.length === 0);
const FLAT: Contradiction<Said>[] = [
  ...common(topEntry, (entry) => entry.action),
  {
    pair: 'E3',
    what: 'traces of another block',
    change: (said) => {
      for (const one of said.traces) one.blockHash = OTHER_HASH;
    },
  },
  {
    pair: 'E3',
    what: 'one trace of another block',
    change: (said) => {
      at(said.traces, 1).blockHash = OTHER_HASH;
    },
  },
  {
    pair: 'E3',
    what: 'another height',
    change: (said) => {
      at(said.traces, 1).blockNumber = HEIGHT + 1;
    },
  },
  {
    pair: 'E3',
    what: 'another position',
    change: (said) => {
      at(said.traces, 0).transactionPosition = 1;
    },
  },
  {
    pair: 'E3',
    what: 'a foreign transaction',
    change: (said) => {
      at(said.traces, 1).transactionHash = OTHER_HASH;
    },
  },
  {
    pair: 'E4',
    what: 'no traces of a transaction',
    change: (said) => {
      said.traces = said.traces.filter((one) => one.transactionPosition !== 0);
    },
  },
  {
    pair: 'E4',
    what: 'a frame twice',
    change: (said) => said.traces.push(at(said.traces, 1)),
  },
  {
    pair: 'E4',
    what: 'a frame without its caller',
    change: (said) => {
      at(said.traces, 1).traceAddress = [0, 0];
    },
  },
  {
    pair: 'E4',
    what: 'a place that is none',
    change: (said) => {
      at(said.traces, 1).traceAddress = ['0'];
    },
  },
  {
    pair: 'E4',
    what: 'no top frame',
    change: (said) => {
      said.traces.shift();
    },
  },
  {
    pair: 'E4',
    what: 'no traces',
    change: (said) => {
      said.traces = [];
    },
  },
];

test('found F20 G8 pairs of the EVM family, call trees: whatever contradicts, nothing is proven', (t) =>
  contradict(
    t,
    'E',
    () => fresh('tree'),
    (said) => read(said, 'tree'),
    TREE,
  ));
test('found F20 G8 pairs of the EVM family, flat traces: whatever contradicts, nothing is proven', (t) =>
  contradict(
    t,
    'E',
    () => fresh('flat'),
    (said) => read(said, 'flat'),
    FLAT,
  ));

test('found F20: a trace that the receipt denies is asked of another endpoint, and again of the same one later', async (t) => {
  const lying = fresh('tree'),
    honest = fresh('tree');
  at(lying.traces, 0).result.error = 'execution reverted';
  const two = readerOf(eth, [nodeOf('lying', lying, 'tree'), nodeOf('honest', honest, 'tree')], catalogue).client;
  for (let turn = 0; turn < 3; turn += 1)
    t.is(
      transfersIn(eth, await two.getBlock(HEIGHT), catalogue).transfers.length,
      3,
      'the payment inside is credited, whoever is asked first',
    );
  const one = readerOf(eth, [nodeOf('only', lying, 'tree')], catalogue).client;
  await t.throwsAsync(one.getBlock(HEIGHT), { message: /the receipt says success and the trace failure/ });
  delete at(lying.traces, 0).result.error;
  t.is((await one.getBlock(HEIGHT)).raw.traces?.length, 3, 'traced again, it agrees');
});

/** Receipts of the whole block that fail, beside receipts of the single transactions that are fine. */
const SHORT: readonly (readonly [what: string, receipts: (own: Json[]) => unknown])[] = [
  ['one short', (own) => own.slice(0, -1)],
  ['none', () => []],
  ['null', () => null],
  ['no list', () => ({})],
  ['a null among them', (own) => [null, ...own.slice(1)]],
  ['another order', (own) => own.toReversed()],
  ['of another block', (own) => own.map((one) => ({ ...one, blockHash: OTHER_HASH }))],
  ['without logs', (own) => own.map((one) => ({ ...one, logs: [] }))],
  ['an error', () => new Error('context deadline exceeded')],
  ['an error of a limit', () => new Error('response size exceeded')],
];

test('found F23: where the receipts of the whole block fail, those of its transactions are read, for that block only', async (t) => {
  for (const [what, spoil] of SHORT) {
    const said = fresh('tree'),
      asked: string[] = [];
    const plain = nodeOf('only', said, 'tree');
    let spoilt = true;
    const node: Endpoint = {
      name: 'only',
      request: async (call) => {
        const one = ({ id, method, params }: Json) => {
          asked.push(method);
          if (method === 'eth_getTransactionReceipt')
            return {
              jsonrpc: '2.0',
              id,
              result: said.receipts.find((receipt) => receipt.transactionHash === params[0]) ?? null,
            };
          const answer = spoil(said.receipts);
          return answer instanceof Error
            ? { jsonrpc: '2.0', id, error: { code: -32_000, message: answer.message } }
            : { jsonrpc: '2.0', id, result: answer };
        };
        const body = JSON.parse(call.body!),
          list = [body].flat(),
          own = list[0].method === 'eth_getTransactionReceipt' || (spoilt && list[0].method === 'eth_getBlockReceipts');
        return own
          ? { status: 200, headers: {}, text: JSON.stringify(Array.isArray(body) ? list.map(one) : one(body)) }
          : plain.request(call);
      },
    };
    const { client } = readerOf(eth, [node], catalogue);
    t.is(transfersIn(eth, await client.getBlock(HEIGHT), catalogue).transfers.length, 3, what);
    t.is(asked.filter((method) => method === 'eth_getTransactionReceipt').length, PLANS.length, what);
    spoilt = false;
    await client.getBlock(HEIGHT);
    t.is(
      asked.filter((method) => method === 'eth_getTransactionReceipt').length,
      PLANS.length,
      `${what}: whole again, they are asked for together again`,
    );
  }
});

test('E8 on Polygon a failed transaction has the log of its fee, and no other', (t) => {
  const { emitter } = polygon.nativeTransferLog!;
  const fee = { address: emitter, topics: [`0x${'4d'.repeat(32)}`, ...Array(3).fill(wordOf(1n))], data: wordOf(1n) };
  const failed = (logs: Json[]) => {
    const unit = unitOfPlans(polygon, [{ from: payer, to: wallet, value: 1n, status: '0x0' }]);
    const receipts = unit.raw.receipts.map((receipt) => ({
      ...receipt,
      logs: logs.map((log) => ({ ...log, blockHash: receipt.blockHash })),
    }));
    return () => transfersIn(polygon, { ...unit, raw: { ...unit.raw, receipts } }, catalogue);
  };
  t.deepEqual(failed([fee])().transfers, []);
  t.throws(failed([fee, transferLog(USDT, payer, shop, 7n)]));
});
