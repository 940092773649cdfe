import test from 'ava';
import fc from 'fast-check';
import { base, bsc, eth, polygon } from '../../../../chains/evm/network.ts';
import { blockFromAnswers } from '../../../../chains/evm/block.ts';
import { transfersIn } from '../../../../chains/evm/transfers.ts';
import { addressOfHex } from '../../../../chains/evm/address.ts';
import {
  ChainUnavailable,
  MalformedReply,
  type Catalogue,
  type Token,
  type Transfer,
} from '../../../../chains/chain.ts';
import {
  addressOf,
  answersOf,
  topicOf,
  transferLog,
  txidOf,
  unitOfPlans,
  wordOf,
  type TransactionPlan,
} from '../../../support/evm-blocks.ts';

const USDT = addressOfHex('dac17f958d2ee523a2206206994597c13d831ec7');
const token = (more: Partial<Token> = {}): Token => ({
  chain: 'eth',
  contract: USDT,
  symbol: 'USDT',
  decimals: 6,
  ...more,
});
const catalogue: Catalogue = new Map([[USDT, token()]]);
const [payer, shop, other] = [0xa11ce, 0x5a09, 0xb0b].map(addressOf) as [string, string, string];
const brief = (list: readonly Transfer[]) =>
  list.map(({ outputIndex, to, amount, tokenContract }) => [outputIndex, to, amount, tokenContract]);
const read = (
  plans: TransactionPlan[],
  more: Parameters<typeof unitOfPlans>[2] = {},
  network = eth,
  tokens = catalogue,
) => transfersIn(network, unitOfPlans(network, plans, more), tokens);

test('V1 V9 V14 G22 native value counts when it moved: not failed, not zero, not to oneself, not into a creation', (t) => {
  const plans: TransactionPlan[] = [
    { from: payer, to: shop, value: 5n },
    { from: payer, to: shop, value: 6n, status: '0x0' },
    { from: payer, to: shop, value: 0n, nonce: 1 },
    { from: shop, to: shop, value: 7n },
    { from: payer, to: null, value: 8n },
  ];
  const { transfers, ignored } = read(plans);
  t.deepEqual(brief(transfers), [[-1, addressOfHex(shop), 5n, null]]);
  t.deepEqual(transfers[0]!.from, [addressOfHex(payer)]);
  t.deepEqual(ignored, [
    { txid: txidOf(plans[1]!), reason: 'transaction failed' },
    { txid: txidOf(plans[3]!), reason: 'native transfer to oneself' },
  ]);
});

test('V2 V3 C1-2 C1-3 N deposits in one transaction are N deposits, whatever the transaction calls', (t) => {
  const batch = {
    from: payer,
    to: other,
    value: 3n,
    logs: [
      transferLog(USDT, payer, shop, 1n),
      transferLog(addressOf(77), payer, shop, 2n),
      transferLog(USDT, addressOf(0), shop, 2n),
      transferLog(USDT, payer, other, 4n),
    ],
  };
  t.deepEqual(brief(read([batch]).transfers), [
    [-1, addressOfHex(other), 3n, null],
    [0, addressOfHex(shop), 1n, USDT],
    [2, addressOfHex(shop), 2n, USDT],
    [3, addressOfHex(other), 4n, USDT],
  ]);
});

test('V2 V14 V15 C2-25 G23 only the exact shape of a catalogue contract is a transfer', (t) => {
  const good = transferLog(USDT, payer, shop, 9n);
  const wrong = {
    'transfer of an NFT': { ...good, topics: [...good.topics, wordOf(1n)] },
    'token not in the catalogue': { ...good, address: addressOf(0xbad) },
    'zero-value transfer': { ...good, data: wordOf(0n) },
    'token transfer to oneself': transferLog(USDT, shop, shop, 9n),
  };
  for (const [reason, log] of Object.entries(wrong)) {
    const { transfers, ignored } = read([{ from: payer, to: USDT.toLowerCase(), logs: [log] }]);
    t.deepEqual(transfers, [], reason);
    t.is(ignored[0]?.reason, reason);
  }
  for (const log of [
    { ...good, data: `${good.data}00` },
    { ...good, data: '0x' },
    { ...good, topics: good.topics.slice(0, 2) },
    { ...good, topics: [good.topics[0]!, good.topics[1]!, `0x${'1'.repeat(64)}`] },
    { ...good, topics: [good.topics[0]!, `0x1${'0'.repeat(63)}`, good.topics[2]!] },
  ])
    t.is(
      read([{ from: payer, to: USDT.toLowerCase(), logs: [log] }]).ignored[0]?.reason,
      'not the shape of a transfer',
    );
  t.deepEqual(read([{ from: payer, to: shop, logs: [good], status: '0x0' }]).transfers, []);
});

test('G4 G5 property: an amount of any size arrives exactly, with the decimals of its own deployment', (t) => {
  const pegged = addressOfHex('55d398326f99059ff775485246999027b3197955');
  const both: Catalogue = new Map([
    [USDT, token()],
    [pegged, token({ contract: pegged, decimals: 18 })],
  ]);
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt(1n, 2n ** 256n - 1n), fc.bigInt(1n, 2n ** 256n - 1n), (native, tokens) => {
        const logs = [USDT, pegged].map((contract) => transferLog(contract, payer, shop, tokens));
        const { transfers } = read([{ from: payer, to: shop, value: native, logs }], {}, eth, both);
        t.deepEqual(
          transfers.map(({ amount, decimals }) => [amount, decimals]),
          [
            [native, 18],
            [tokens, 6],
            [tokens, 18],
          ],
        );
      }),
    ),
  );
});

test('C2-27 a native payment and a token payment of the same number are two deposits of two assets', (t) => {
  const { transfers } = read([{ from: payer, to: shop, value: 100n, logs: [transferLog(USDT, payer, shop, 100n)] }]);
  t.deepEqual(
    transfers.map(({ tokenContract, decimals, amount }) => [tokenContract, decimals, amount]),
    [
      [null, 18, 100n],
      [USDT, 6, 100n],
    ],
  );
});

test('G1 G2 C2-17 property: a transaction keeps its credit keys when it is included again elsewhere', (t) => {
  const plan = fc.record({
    from: fc.constantFrom(payer, other),
    to: fc.constantFrom(shop, other),
    value: fc.bigInt(0n, 3n),
    nonce: fc.nat(1_000_000),
    logs: fc.array(
      fc
        .tuple(fc.constantFrom(USDT, addressOf(1234)), fc.bigInt(0n, 3n))
        .map(([contract, value]) => transferLog(contract, payer, shop, value)),
      { maxLength: 4 },
    ),
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(plan, fc.array(plan, { maxLength: 4 }), fc.array(plan, { maxLength: 4 }), (own, before, others) => {
        const ownIn = (plans: TransactionPlan[], height: number) =>
          read(plans, { height }).transfers.filter(({ txid }) => txid === txidOf(own));
        fc.pre([...before, ...others].every((one) => txidOf(one) !== txidOf(own)));
        t.deepEqual(
          ownIn([...before, own], 100),
          ownIn([...others, own, ...before.filter((one) => !others.includes(one))], 250),
        );
        t.is(new Set(ownIn([own], 7).map(({ outputIndex }) => outputIndex)).size, ownIn([own], 7).length);
      }),
      { numRuns: 100 },
    ),
  );
});

const frame = (type: string, from: string, to: string, value: bigint, more: object = {}) => ({
  type,
  from,
  to,
  value: `0x${value.toString(16)}`,
  ...more,
});

test('V6 G2 internal calls of a call tree: reverted parts, delegate and static calls pay nobody, the top frame not twice', (t) => {
  const wallet = addressOf(0x5afe);
  const plan = { from: payer, to: wallet, value: 10n };
  const tree = frame('CALL', payer, wallet, 10n, {
    calls: [
      frame('STATICCALL', wallet, other, 0n), // 0
      frame('DELEGATECALL', wallet, other, 10n, { calls: [frame('CALL', wallet, shop, 4n)] }), // 1, 2
      // 3, 4
      frame('CALL', wallet, other, 1n, { error: 'execution reverted', calls: [frame('CALL', other, shop, 1n)] }),
      frame('CALL', wallet, addressOf(4), 1n), // a precompile opens no frame
      frame('CALLCODE', wallet, shop, 2n), // 5
      // 6, 7
      frame('CREATE2', wallet, addressOf(0xc0de), 3n, { calls: [frame('SELFDESTRUCT', addressOf(0xc0de), shop, 3n)] }),
      frame('CALL', wallet, shop, 0n), // 8
    ],
  });
  const { transfers } = read([plan], { traces: [{ txHash: txidOf(plan), result: tree }] });
  t.deepEqual(brief(transfers), [
    [-1, addressOfHex(wallet), 10n, null],
    [-2, addressOfHex(shop), 4n, null],
    [-3, addressOfHex(addressOf(0xc0de)), 3n, null],
    [-4, addressOfHex(shop), 3n, null],
  ]);
});

test('V6 G2 trace_block gives the same transfers and keys as callTracer', (t) => {
  const wallet = addressOf(0x5afe),
    plan = { from: payer, to: wallet, value: 10n };
  const flat = (type: string, action: object, traceAddress: number[], more: object = {}) => ({
    type,
    action,
    traceAddress,
    transactionHash: txidOf(plan),
    ...more,
  });
  const call = (from: string, to: string, value: bigint, callType = 'call') => ({
    callType,
    from,
    to,
    value: `0x${value.toString(16)}`,
  });
  const traces = [
    flat('call', call(payer, wallet, 10n), []),
    flat('call', call(wallet, other, 0n, 'staticcall'), [0]),
    flat('call', call(wallet, other, 10n, 'delegatecall'), [1]),
    flat('call', call(wallet, shop, 4n), [1, 0]),
    flat('call', call(wallet, other, 1n), [2], { error: 'Reverted' }),
    flat('call', call(other, shop, 1n), [2, 0]),
    flat('call', call(wallet, shop, 2n, 'callcode'), [3]),
    flat('create', { from: wallet, value: '0x3' }, [4], { result: { address: addressOf(0xc0de) } }),
    flat('suicide', { address: addressOf(0xc0de), refundAddress: shop, balance: '0x3' }, [4, 0]),
    { type: 'reward', action: { author: shop, value: '0x5' }, traceAddress: [], transactionHash: null },
  ];
  t.deepEqual(brief(read([plan], { traces }).transfers), [
    [-1, addressOfHex(wallet), 10n, null],
    [-2, addressOfHex(shop), 4n, null],
    [-3, addressOfHex(addressOf(0xc0de)), 3n, null],
    [-4, addressOfHex(shop), 3n, null],
  ]);
});

/** A tree of frames, and the same with frames beside them that moved nothing, as some client may list them. */
interface Shape {
  readonly kind: 'pays' | 'calls' | 'fails';
  readonly value: number;
  readonly noise: readonly number[];
  readonly calls: readonly Shape[];
}
const shape: fc.Memo<Shape> = fc.memo(
  (depth) =>
    fc.record({
      kind: fc.constantFrom('pays', 'calls', 'fails'),
      value: fc.integer({ min: 1, max: 9 }),
      noise: fc.array(fc.nat(5), { maxLength: 3 }),
      calls: depth <= 1 ? fc.constant([]) : fc.array(shape(depth - 1), { maxLength: 3 }),
    }) as fc.Arbitrary<Shape>,
);

/** Frames that move nothing: failed at once with a value, empty, static, delegated, of a precompile, to oneself. */
const NOISE = (from: string) => [
  frame('CALL', from, other, 7n, { error: 'insufficient balance for transfer' }),
  frame('CALL', from, shop, 0n),
  frame('STATICCALL', from, other, 0n),
  frame('DELEGATECALL', from, other, 5n),
  frame('CALL', from, addressOf(4), 1n),
  frame('CALL', from, from, 3n),
];

function framesOf(shapes: readonly Shape[], from: string, noisy: boolean): object[] {
  return shapes.flatMap(({ kind, value, noise, calls }, index) => {
    const to = addressOf(0x1000 + ((Number.parseInt(from.slice(-4), 16) * 7 + index) % 0xfff));
    const more = { calls: framesOf(calls, to, noisy), ...(kind === 'fails' ? { error: 'execution reverted' } : {}) };
    return [
      ...(noisy ? noise.map((which) => NOISE(from)[which]!) : []),
      frame('CALL', from, to, kind === 'pays' ? BigInt(value) : kind === 'fails' ? 2n : 0n, more),
    ];
  });
}

/** A call tree as the flat list of `trace_block`; precompiles have no entry there. */
function flatOf(
  tree: { type: string; from: string; to: string; value: string; error?: string; calls?: object[] },
  txid: string,
  at: number[] = [],
): object[] {
  const { type, from, to, value, error, calls = [] } = tree;
  if (to === addressOf(4)) return [];
  const own = {
    type: 'call',
    action: { callType: type.toLowerCase(), from, to, value },
    traceAddress: at,
    transactionHash: txid,
    ...(error === undefined ? {} : { error }),
  };
  return [own, ...calls.flatMap((call, index) => flatOf(call as typeof tree, txid, [...at, index]))];
}

test('found F21 G2 property: keys do not depend on which frames that moved nothing a client lists, nor on the shape of its traces', (t) => {
  const wallet = addressOf(0x5afe),
    plan = { from: payer, to: wallet, value: 10n };
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(shape(3), { maxLength: 4 }), (shapes) => {
        const tree = (noisy: boolean) => frame('CALL', payer, wallet, 10n, { calls: framesOf(shapes, wallet, noisy) });
        const plain = brief(read([plan], { traces: [{ txHash: txidOf(plan), result: tree(false) }] }).transfers);
        t.deepEqual(brief(read([plan], { traces: [{ txHash: txidOf(plan), result: tree(true) }] }).transfers), plain);
        t.deepEqual(brief(read([plan], { traces: flatOf(tree(true) as never, txidOf(plan)) }).transfers), plain);
        t.deepEqual(
          plain.map(([outputIndex]) => outputIndex),
          plain.map((_, index) => -1 - index),
          'numbered without a gap',
        );
      }),
      { numRuns: 300 },
    ),
  );
});

/** Spellings of "no error" and of "failed", of both shapes. */
const FINE = [{}, { error: null }, { error: '' }, { error: null, revertReason: '' }],
  FAILED = [{ error: 'Reverted' }, { revertReason: 'paused' }, { error: null, revertReason: '0x' }, { error: {} }];

test('found F20 F21 a frame failed where a client says so, in whatever field; an empty field says nothing', (t) => {
  const wallet = addressOf(0x5afe),
    plan = { from: payer, to: wallet, value: 10n },
    txid = txidOf(plan);
  const told = (top: object, called: object) => [
    [{ txHash: txid, result: frame('CALL', payer, wallet, 10n, { ...top, calls: [inner(called)] }) }],
    flatOf(frame('CALL', payer, wallet, 10n, { calls: [inner({})] }) as never, txid).map((one, index) => ({
      ...one,
      ...[top, called, {}][index],
    })),
  ];
  const inner = (more: object) =>
    frame('CALL', wallet, other, 3n, { ...more, calls: [frame('CALL', other, shop, 2n)] });
  for (const fine of FINE)
    for (const traces of told(fine, fine))
      t.deepEqual(
        brief(read([plan], { traces }).transfers).map(([, , amount]) => amount),
        [10n, 3n, 2n],
        JSON.stringify(fine),
      );
  for (const failed of FAILED) {
    for (const traces of told({}, failed))
      t.deepEqual(
        brief(read([plan], { traces }).transfers).map(([, , amount]) => amount),
        [10n],
        JSON.stringify(failed),
      );
    for (const traces of told(failed, {}))
      t.throws(() => read([plan], { traces }), { instanceOf: ChainUnavailable }, JSON.stringify(failed));
  }
});

test('found F21 property: a flat list in any order gives the same transfers; with a frame twice, or without its caller, none', (t) => {
  const wallet = addressOf(0x5afe),
    plan = { from: payer, to: wallet, value: 10n };
  const lists = fc
    .array(shape(3), { minLength: 1, maxLength: 3 })
    .map((shapes) =>
      flatOf(frame('CALL', payer, wallet, 10n, { calls: framesOf(shapes, wallet, true) }) as never, txidOf(plan)),
    )
    .chain((list) =>
      fc.record({
        list: fc.constant(list),
        shuffled: fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
        one: fc.nat(list.length - 1),
      }),
    );
  t.notThrows(() =>
    fc.assert(
      fc.property(lists, ({ list, shuffled, one }) => {
        t.deepEqual(
          brief(read([plan], { traces: shuffled }).transfers),
          brief(read([plan], { traces: list }).transfers),
        );
        t.throws(() => read([plan], { traces: [...shuffled, list[one]!] }), { instanceOf: ChainUnavailable });
        const { traceAddress } = list[one] as { traceAddress: number[] };
        const hasCalls = list.some(
          (frame) => (frame as { traceAddress: number[] }).traceAddress.slice(0, -1).join() === traceAddress.join(),
        );
        if (hasCalls && traceAddress.length > 0)
          t.throws(() => read([plan], { traces: list.filter((_, index) => index !== one) }), {
            instanceOf: ChainUnavailable,
          });
      }),
      { numRuns: 100 },
    ),
  );
});

test('found F20 G8 a kind of call that is not known and moves value proves nothing; without one it is noise', (t) => {
  const plan = { from: payer, to: shop, value: 1n };
  const traces = (type: string, value: bigint) => [
    { txHash: txidOf(plan), result: frame('CALL', payer, shop, 1n, { calls: [frame(type, shop, other, value)] }) },
  ];
  for (const type of ['AUTHCALL', 'constructor', 'PAY'])
    t.throws(() => read([plan], { traces: traces(type, 1n) }), { name: 'MalformedReply' });
  t.is(read([plan], { traces: traces('PAY', 0n) }).transfers.length, 1);
  t.is(read([plan], { traces: traces('Call', 2n) }).transfers.length, 2, 'in other letters');
});

test('C1-4 V6 a trace that is missing, foreign or an error envelope leaves the height unproven', (t) => {
  const plan = { from: payer, to: shop, value: 1n };
  for (const traces of [
    [],
    [{ txHash: txidOf(plan), error: 'execution timeout' }],
    [{ txHash: txidOf({ ...plan, value: 2n }), result: frame('CALL', payer, shop, 1n) }],
    [{ action: { callType: 'call' }, type: 'call', traceAddress: [], transactionHash: `0x${'9'.repeat(64)}` }],
    [{ action: { callType: 'call' }, type: 'call', traceAddress: [0], transactionHash: txidOf(plan) }],
  ])
    t.throws(() => read([plan], { traces }), { instanceOf: ChainUnavailable }, JSON.stringify(traces));
});

const nativeLog = (from: string, to: string, amount: bigint, topic = polygon.nativeTransferLog!.topic) => ({
  address: polygon.nativeTransferLog!.emitter,
  topics: [topic, topicOf(polygon.nativeTransferLog!.emitter), topicOf(from), topicOf(to)],
  data: `${wordOf(amount)}${'0'.repeat(256)}`,
});

test('V8 polygon: native logs tell internal transfers, the top-level value once, fee logs nothing', (t) => {
  const feeTopic = '0x4dfe1bbbcf077ddc3e01291eea2d5c70c2b422b415d95645b9adcfd678cb1d63';
  const plan = {
    from: payer,
    to: other,
    value: 10n,
    logs: [
      nativeLog(payer, other, 10n),
      nativeLog(other, shop, 4n),
      nativeLog(payer, shop, 1n, feeTopic),
      nativeLog(other, other, 2n),
      nativeLog(other, shop, 0n),
    ],
  };
  t.deepEqual(brief(read([plan], {}, polygon).transfers), [
    [-1, addressOfHex(other), 10n, null],
    [1, addressOfHex(shop), 4n, null],
  ]);
  const traces = [
    { txHash: txidOf(plan), result: frame('CALL', payer, other, 10n, { calls: [frame('CALL', other, shop, 4n)] }) },
  ];
  t.deepEqual(read([plan], { traces }, polygon).transfers, read([plan], {}, polygon).transfers, 'one source a network');
  t.deepEqual(
    brief(read([plan], {}, bsc).transfers),
    [[-1, addressOfHex(other), 10n, null]],
    'elsewhere that contract means nothing',
  );
});

// Bor shows a state sync from before PIP-74 as a legacy transaction from the zero address to itself (bor,
// internal/ethapi, `eth_getTransactionByHash-state-sync-tx.json`); since then it has a type of its own.
for (const type of ['0x7f', '0x0']) {
  test(`V8 V10 polygon: a state sync of type ${type} has no payer; what it mints is unattributed, what a bridge logs is a token deposit`, (t) => {
    const plan = {
      from: addressOf(0),
      to: addressOf(0),
      type,
      logs: [nativeLog(addressOf(0x1010), shop, 4n), transferLog(USDT, addressOf(0), shop, 9n)],
    };
    const { transfers, unattributed } = read([plan], {}, polygon);
    t.deepEqual(brief(transfers), [[1, addressOfHex(shop), 9n, USDT]]);
    t.like(unattributed![0], { to: addressOfHex(shop), amount: 4n, reason: 'state sync', evidence: txidOf(plan) });
  });
}

test('V4 V10 polygon: the receipt of a state sync behind those of the body is read, on no other chain and of no other sender', (t) => {
  const own = { from: payer, to: shop, value: 5n };
  const sync = { from: addressOf(0), to: addressOf(0), type: '0x0', logs: [transferLog(USDT, addressOf(0), shop, 9n)] };
  const answers = (last: TransactionPlan) => {
    const { block, receipts } = answersOf(7, [own, last]);
    return { block: { ...block, transactions: block.transactions.slice(0, 1) }, receipts };
  };
  const moved = (network: typeof eth, last: TransactionPlan) =>
    transfersIn(network, blockFromAnswers(network, answers(last)), catalogue).transfers;
  t.deepEqual(brief(moved(polygon, sync)), [
    [-1, addressOfHex(shop), 5n, null],
    [0, addressOfHex(shop), 9n, USDT],
  ]);
  t.throws(() => moved(bsc, sync), { instanceOf: ChainUnavailable });
  t.throws(() => moved(polygon, { ...sync, from: payer }), { instanceOf: ChainUnavailable });
});

test('V12 C2-29 a token that keeps a part is credited with what arrived; two movements count as logged', (t) => {
  const taxed: Catalogue = new Map([[USDT, token({ feeOnTransfer: true })]]);
  const plans: TransactionPlan[] = [{ from: payer, to: USDT, logs: [transferLog(USDT, payer, shop, 100n)] }];
  const key = `${USDT.toLowerCase()} ${shop}`;
  const amounts = (received: string | undefined, more: TransactionPlan[] = []) =>
    read(
      [...plans, ...more],
      received === undefined ? {} : { received: { [key]: received } },
      eth,
      taxed,
    ).transfers.map(({ amount }) => amount);
  t.deepEqual(amounts('98'), [98n]);
  t.deepEqual(amounts('100'), [100n]);
  t.deepEqual(amounts('150'), [100n]);
  t.deepEqual(amounts('-5'), []);
  t.deepEqual(amounts('0'), []);
  t.deepEqual(amounts('98', [{ from: payer, to: USDT, nonce: 2, logs: [transferLog(USDT, other, shop, 1n)] }]), [
    100n,
    1n,
  ]);
  t.throws(() => amounts(undefined), { instanceOf: ChainUnavailable });
});

test("V13 G24 growth without a Transfer is not in a block's transfers", (t) => {
  const rebase = {
    address: USDT.toLowerCase(),
    topics: ['0x72725a3b1e5bd622d6bcd1339bb31279c351abe8f541ac7fd320f24e1b1641f2', wordOf(5n)],
    data: wordOf(9n),
  };
  t.deepEqual(read([{ from: payer, to: USDT, logs: [rebase] }]).transfers, []);
});

test('V11 V24 a block without number or hash, or with a state root of zeros, is not a block yet', (t) => {
  const { block, receipts } = answersOf(9, [{ from: payer, to: shop, value: 1n }]);
  for (const change of [{ number: null }, { hash: null }, { stateRoot: `0x${'0'.repeat(64)}` }]) {
    t.throws(
      () => blockFromAnswers(base, { block: { ...block, ...change }, receipts }),
      { instanceOf: ChainUnavailable },
      JSON.stringify(change),
    );
  }
  t.throws(() => blockFromAnswers(base, { block: null, receipts }), { instanceOf: ChainUnavailable }, 'V24');
  for (const answer of [undefined, {}, [], 'x', { ...block, transactions: [txidOf({ from: payer, to: shop })] }]) {
    t.throws(() => blockFromAnswers(base, { block: answer, receipts }), { instanceOf: MalformedReply }, String(answer));
  }
});

test('V19 V20 G6 node text in any case pays the same canonical address; code at an address changes nothing', (t) => {
  const upper = `0x${shop.slice(2).toUpperCase()}`;
  const { transfers } = read(
    [{ from: payer, to: upper, value: 1n, logs: [transferLog(USDT, payer, shop, 2n)] }],
    {},
    base,
  );
  t.deepEqual(
    transfers.map(({ to }) => to),
    [addressOfHex(shop), addressOfHex(shop)],
  );
});

test('V2 V4 G3 G6 property: hex in any case of the letters, of a block and of its receipts each for itself, reads alike', (t) => {
  const plans: TransactionPlan[] = [
    {
      from: payer,
      to: shop,
      value: 5n,
      logs: [
        transferLog(USDT, payer, shop, 0xabcdefn),
        transferLog(USDT, shop, shop, 1n),
        transferLog(other, payer, shop, 1n),
      ],
    },
    { from: shop, to: shop, value: 7n },
    { from: payer, to: other, status: '0x0' },
  ];
  const answers = answersOf(0xabcdef, plans),
    plain = transfersIn(eth, blockFromAnswers(eth, answers), catalogue);
  t.is(plain.transfers.length, 2);
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`;
  const recased = (value: unknown, flips: () => boolean): unknown =>
    typeof value === 'string' && /^0x[0-9a-f]{40,}$/.test(value) && flips()
      ? upper(value)
      : Array.isArray(value)
        ? value.map((one) => recased(one, flips))
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, recased(one, flips)]))
          : value;
  fc.assert(
    fc.property(fc.infiniteStream(fc.boolean()), (coins) => {
      const flips = () => coins.next().value === true;
      t.deepEqual(transfersIn(eth, blockFromAnswers(eth, recased(answers, flips) as typeof answers), catalogue), plain);
    }),
  );
});

test('V4 G9 a receipt of another transaction at the right place of the right block proves nothing', (t) => {
  const answers = answersOf(100, [
    { from: payer, to: shop, value: 1n },
    { from: payer, to: shop, value: 2n, status: '0x0' },
  ]);
  const [first, second] = answers.receipts;
  const swapped = [first, second].map((receipt, i) => ({
    ...receipt!,
    transactionHash: [second, first][i]!.transactionHash,
  }));
  t.throws(() => transfersIn(eth, blockFromAnswers(eth, { block: answers.block, receipts: swapped }), catalogue), {
    instanceOf: ChainUnavailable,
    message: /another transaction/,
  });
});

test('V30 G9 order in a block is by index, and repeated or falling indexes are refused', (t) => {
  const plans = [1n, 2n, 3n].map((value) => ({ from: payer, to: shop, value }));
  t.deepEqual(
    read(plans).transfers.map(({ amount }) => amount),
    [1n, 2n, 3n],
  );
  const unit = unitOfPlans(eth, plans);
  const same = {
    ...unit,
    raw: {
      ...unit.raw,
      block: {
        ...unit.raw.block,
        transactions: unit.raw.block.transactions.map((one) => ({ ...one, transactionIndex: '0x1' })),
      },
      receipts: unit.raw.receipts.map((one) => ({ ...one, transactionIndex: '0x1' })),
    },
  };
  t.throws(() => transfersIn(eth, same, catalogue), { instanceOf: ChainUnavailable, message: /out of order/ });
});
