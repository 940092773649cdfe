import test from 'ava';
import fc from 'fast-check';
import { ChainUnavailable, MalformedReply, type Block, type Catalogue, type Token } from '../../../../chains/chain.ts';
import { tron } from '../../../../chains/tron/network.ts';
import { executionOf } from '../../../../chains/tron/execution.ts';
import { infosIn, outcomesIn, transfersIn, type TronBlock } from '../../../../chains/tron/transfers.ts';
import { parseLossless } from '../../../../protocol/lossless-json.ts';
import { answer, expectedCases, sampleTokens, type ExpectedCredit } from '../../../support/vectors.ts';

const catalogue: Catalogue = new Map(sampleTokens('tron').map((token) => [token.contract, token as Token]));
const USDT = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c';
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SENDER = `41${'11'.repeat(20)}`;
const RECEIVER = `41${'22'.repeat(20)}`;
const RECEIVER_TEXT = 'TD5gsCwxykWsLN9aPrq2TAfNjByuZKYp4E';
const TXID = 'ab'.repeat(32);

const blockOf = (raw: TronBlock): Block<TronBlock> => ({
  height: 1,
  hash: '',
  parentHash: '',
  parentHeight: 0,
  timeMs: null,
  raw,
});
const decode = (raw: TronBlock) => transfersIn(tron, blockOf(raw), catalogue);

const HEADER = { block_header: { raw_data: { number: 5 } } };

/** One transaction with its info, as the node answers them. */
function oneOf(
  type: string,
  value: object,
  { ret = 'SUCCESS', info = {} }: { ret?: string | null; info?: object } = {},
): TronBlock {
  const transaction = {
    txID: TXID,
    ret: ret === null ? [{}] : [{ contractRet: ret }],
    raw_data: { contract: [{ type, parameter: { value } }] },
  };
  return {
    block: { ...HEADER, transactions: [transaction] },
    infos: [{ id: TXID, blockNumber: 5, receipt: {}, ...info }],
  };
}

const transfer = (amount: unknown, options = {}) =>
  oneOf('TransferContract', { owner_address: SENDER, to_address: RECEIVER, amount }, options);
const call = (info: object, ret: string | null = 'SUCCESS') =>
  oneOf(
    'TriggerSmartContract',
    { owner_address: SENDER, contract_address: `41${USDT}` },
    { ret, info: { receipt: { result: 'SUCCESS' }, ...info } },
  );
const word = (account: string) => account.slice(-40).padStart(64, '0');
const logOf = (amount: bigint, fields: object = {}) => ({
  address: USDT,
  topics: [TRANSFER, word(SENDER), word(RECEIVER)],
  data: amount.toString(16).padStart(64, '0'),
  ...fields,
});

const indexOf = (credit: ExpectedCredit) => (credit.kind === 'native' ? -1 : credit.logIndexInTransaction);

test('T1 T2 T3 T4 T6 T8 T11 G2 G3 G20 tron/block_assembled: exactly the expected transfers', (t) => {
  const [expected] = expectedCases('tron').filter((entry) => entry.case === 'tron/block_assembled');
  const [block, infos] = expected!.files.map((file) => answer(file));
  const { transfers, ignored } = decode({ block: block as TronBlock['block'], infos: infosIn(infos) });
  t.deepEqual(
    transfers.map(({ txid, outputIndex, to, from, amount, decimals, tokenContract }) => [
      txid,
      outputIndex,
      to,
      from,
      amount.toString(),
      decimals,
      tokenContract,
    ]),
    expected!.credits!.map((credit) => [
      credit.txid,
      indexOf(credit),
      credit.address,
      [(credit as { from?: string }).from],
      credit.amount,
      6,
      credit.tokenContract,
    ]),
  );
  for (const credit of expected!.mustNotCredit!)
    t.true(
      ignored.some(({ txid }) => txid === credit.txid),
      credit.why,
    );
  t.deepEqual(
    outcomesIn(
      tron,
      blockOf({ block: block as TronBlock['block'], infos: infosIn(infos) }),
      new Set([expected!.mustNotCredit![0]!.txid]),
    ).map(({ success, fee }) => [success, fee]),
    [[false, 299_770n]],
  );
});

for (const name of ['tron/trongrid_account_transactions', 'tron/trongrid_account_transactions_trc10']) {
  test(`T1 T3 T6 T8 ${name}: the transactions of the list, put in one block, credit the TRX transfers only`, (t) => {
    const [expected] = expectedCases('tron').filter((entry) => entry.case === name);
    const list = (answer(expected!.files[0]!) as { data: Record<string, unknown>[] }).data;
    const infos = list.map((record) => {
      const isCall = JSON.stringify(record['raw_data']).includes('TriggerSmartContract');
      return { id: record['txID'], receipt: isCall ? { result: 'SUCCESS' } : {} };
    });
    const { transfers, ignored } = decode({ block: { ...HEADER, transactions: list }, infos });
    t.deepEqual(
      transfers.map(({ txid, to, amount, tokenContract }) => [txid, to, amount.toString(), tokenContract]),
      expected!.credits!.map((credit) => [credit.txid, credit.address, credit.amount, null]),
    );
    for (const credit of expected!.mustNotCredit!) {
      t.false(transfers.some(({ txid }) => txid === credit.txid));
      if (credit.type !== 'TriggerSmartContract')
        t.true(
          ignored.some(({ txid }) => txid === credit.txid),
          credit.why,
        );
    }
  });
}

test('C2-21 tron/trongrid_trc20: the logs of the listed transfers credit each once; a transaction listed twice proves nothing', (t) => {
  const [expected] = expectedCases('tron').filter((entry) => entry.case === 'tron/trongrid_trc20');
  const records = (answer(expected!.files[0]!) as { data: { transaction_id: string; value: string }[] }).data;
  const known = new Map(expected!.credits!.map((credit) => [credit.txid, credit]));
  t.is(records.length, known.size + 1, 'the answer repeats one record');
  for (const { transaction_id: txid, value } of new Map(
    records.map((record) => [record.transaction_id, record]),
  ).values()) {
    const raw = call({ log: [logOf(BigInt(value))] });
    const single = {
      block: JSON.parse(JSON.stringify(raw.block).replaceAll(TXID, txid)) as TronBlock['block'],
      infos: [{ ...(raw.infos[0] as object), id: txid }],
    };
    const [credit, ...rest] = decode(single).transfers;
    t.deepEqual(
      [credit!.amount.toString(), credit!.tokenContract, rest.length],
      [known.get(txid)!.amount, known.get(txid)!.tokenContract, 0],
    );
  }
  const twice = call({ log: [logOf(1n)] });
  const repeated = {
    ...twice,
    block: {
      ...twice.block,
      transactions: [...(twice.block['transactions'] as unknown[]), ...(twice.block['transactions'] as unknown[])],
    },
  };
  t.throws(() => decode(repeated), { instanceOf: ChainUnavailable });
  t.throws(() => decode({ ...repeated, infos: [...twice.infos, ...twice.infos] }), { instanceOf: MalformedReply });
});

test('T4 C2-22 C2-23 the full truth table: only three agreeing signs credit, contradictions prove nothing', (t) => {
  const rets = ['SUCCESS', null, 'DEFAULT', 'REVERT', 'OUT_OF_ENERGY', 'OUT_OF_TIME', 'FAILED', 'SOMETHING_NEW'];
  const results = ['SUCCESS', undefined, 'DEFAULT', 'REVERT', 'OUT_OF_ENERGY', 'SOMETHING_NEW'];
  const finals = [undefined, 'SUCESS', 'FAILED', 'SOMETHING_NEW'];
  let credited = 0;
  for (const ret of rets) {
    for (const result of results) {
      for (const final of finals) {
        const rawWith = (log: object[]) =>
          call(
            { log, receipt: result === undefined ? {} : { result }, ...(final === undefined ? {} : { result: final }) },
            ret,
          );
        const raw = rawWith([logOf(7n)]);
        const good = ret === 'SUCCESS' && result === 'SUCCESS' && (final === undefined || final === 'SUCESS');
        const oks = [ret === 'SUCCESS', result === 'SUCCESS', final === undefined || final === 'SUCESS'].filter(
          Boolean,
        ).length;
        const bads = [
          ret !== null && ret !== 'SUCCESS' && ret !== 'DEFAULT',
          result !== undefined && result !== 'SUCCESS' && result !== 'DEFAULT',
          final === 'FAILED' || final === 'SOMETHING_NEW',
        ].filter(Boolean).length;
        const cell = `${ret} ${result} ${final}`;
        if (good) {
          t.deepEqual(
            decode(raw).transfers.map(({ amount }) => amount),
            [7n],
            cell,
          );
          credited += 1;
        } else if (oks === 0 && bads >= 2) {
          t.throws(
            () => decode(raw),
            { instanceOf: ChainUnavailable },
            `found F29: ${cell}: a failed call leaves no log`,
          );
          const decoded = decode(rawWith([]));
          t.deepEqual(decoded.transfers, [], cell);
          t.regex(decoded.ignored[0]!.reason, /^failed/, cell);
        } else {
          t.throws(() => decode(raw), { instanceOf: ChainUnavailable }, cell);
        }
      }
    }
  }
  t.is(credited, 2);
});

test('T1 a TRX transfer needs no receipt result; an absent contractRet counts for contracts older than the virtual machine', (t) => {
  t.is(decode(transfer(5)).transfers[0]!.amount, 5n);
  t.is(decode(transfer(5, { ret: null })).transfers[0]!.amount, 5n);
  t.is(
    executionOf({
      type: 'TriggerSmartContract',
      contractRet: undefined,
      ret: undefined,
      receiptResult: 'SUCCESS',
      result: undefined,
    }).kind,
    'unknown',
  );
  t.throws(() => decode(transfer(5, { info: { result: 'FAILED' } })), { instanceOf: ChainUnavailable });
  t.throws(() => decode(transfer(5, { ret: 'FAILED' })), { instanceOf: ChainUnavailable });
  t.deepEqual(decode(transfer(5, { ret: 'FAILED', info: { result: 'FAILED' } })).transfers, []);
  t.deepEqual(
    decode(transfer(5, { ret: 'REVERT', info: { result: 'FAILED', receipt: { result: 'REVERT' } } })).transfers,
    [],
  );
});

test('T2 G23 C2-25 only catalogued contracts and only the exact shape of a transfer log', (t) => {
  const refused: [string, object][] = [
    ['another contract', { address: '33'.repeat(20) }],
    ['four topics (an NFT)', { topics: [TRANSFER, word(SENDER), word(RECEIVER), word('1')] }],
    ['two topics', { topics: [TRANSFER, word(SENDER)] }],
    ['dirty high bytes', { topics: [TRANSFER, word(SENDER), `01${word(RECEIVER).slice(2)}`] }],
    ['no data', { data: undefined }],
    ['long data', { data: '0'.repeat(128) }],
    ['zero value', { data: '0'.repeat(64) }],
    ['to itself', { topics: [TRANSFER, word(RECEIVER), word(RECEIVER)] }],
    ['another event', { topics: [word('8'), word(SENDER), word(RECEIVER)] }],
  ];
  for (const [name, fields] of refused) t.deepEqual(decode(call({ log: [logOf(9n, fields)] })).transfers, [], name);
  const good = decode(call({ log: [logOf(0n), logOf(9n, { address: `41${USDT}` })] })).transfers;
  t.deepEqual(
    good.map(({ outputIndex, to, amount }) => [outputIndex, to, amount]),
    [[1, RECEIVER_TEXT, 9n]],
  );
});

// java-tron's Util.convertLogAddressToTronAddress: an answer with `visible: true` has the emitter of a log in
// Base58Check too.
test('T2 G6 a log counts in each form that nodes write its emitter in; what is no address is a fault, not a log to pass over', (t) => {
  for (const address of [USDT, USDT.toUpperCase(), `41${USDT}`, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t']) {
    t.deepEqual(
      decode(call({ log: [logOf(9n, { address })] })).transfers.map(({ amount, tokenContract }) => [
        amount,
        tokenContract,
      ]),
      [[9n, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t']],
      address,
    );
  }
  for (const address of ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T', `0x${USDT}`, 'x']) {
    t.throws(() => decode(call({ log: [logOf(9n, { address })] })), { instanceOf: MalformedReply }, address);
  }
});

test('T3 C1-2 C1-3 C2-18 a token moved by any contract in any call counts by its log, each log once', (t) => {
  const { transfers } = decode(
    oneOf(
      'TriggerSmartContract',
      { contract_address: `41${'44'.repeat(20)}` },
      {
        info: { receipt: { result: 'SUCCESS' }, log: [logOf(1n), logOf(2n), logOf(1n)] },
      },
    ),
  );
  t.deepEqual(
    transfers.map(({ outputIndex, amount }) => [outputIndex, amount]),
    [
      [0, 1n],
      [1, 2n],
      [2, 1n],
    ],
  );
});

test('T5 G2 TRX inside calls: value, receiver and ordinal; rejected ones and stakes move nothing', (t) => {
  const internal = (fields: object) => ({
    caller_address: SENDER,
    transferTo_address: RECEIVER,
    note: '63616c6c',
    callValueInfo: [{ callValue: 3 }],
    ...fields,
  });
  const { transfers, ignored } = decode(
    call({
      internal_transactions: [
        internal({}),
        internal({ rejected: true }),
        internal({ callValueInfo: [{}] }),
        internal({ callValueInfo: [{ callValue: 4, tokenId: '1002000' }] }),
        internal({ note: Buffer.from('delegateResourceOfEnergy').toString('hex') }),
        internal({ transferTo_address: SENDER }),
        internal({
          note: Buffer.from('suicide').toString('hex'),
          callValueInfo: [{ callValue: 5 }, { callValue: 6, tokenId: '1' }],
        }),
      ],
    }),
  );
  t.deepEqual(
    transfers.map(({ outputIndex, to, amount, tokenContract }) => [outputIndex, to, amount, tokenContract]),
    [
      [-2, RECEIVER_TEXT, 3n, null],
      [-8, RECEIVER_TEXT, 5n, null],
    ],
  );
  t.is(ignored.length, 4);
});

test('T6 a TRC-10 amount is never read as TRX', (t) => {
  const { transfers, ignored } = decode(
    oneOf('TransferAssetContract', { owner_address: SENDER, to_address: RECEIVER, amount: 1, asset_name: '1002000' }),
  );
  t.deepEqual(transfers, []);
  t.regex(ignored[0]!.reason, /TRC-10/);
});

test('T7 T9 a transfer says nothing of activation on this chain', (t) => {
  t.is(decode(transfer(1)).transfers[0]!.activates, undefined);
});

test('T10 G8 a block without transactions is empty only with its header and without infos', (t) => {
  t.deepEqual(decode({ block: HEADER, infos: infosIn([]) }), { transfers: [], ignored: [] });
  t.deepEqual(decode({ block: HEADER, infos: infosIn({}) }), { transfers: [], ignored: [] });
  t.throws(() => decode({ block: {}, infos: [] }), { instanceOf: MalformedReply });
  t.throws(() => decode({ block: HEADER, infos: [{ id: TXID }] }), { instanceOf: ChainUnavailable });
  t.throws(() => infosIn(null), { instanceOf: MalformedReply });
});

test('T11 G9 counts and ids of the two answers are those of one block', (t) => {
  const { block, infos } = transfer(1);
  t.throws(() => decode({ block, infos: [] }), { instanceOf: ChainUnavailable });
  t.throws(() => decode({ block, infos: [...infos, ...infos] }), { instanceOf: ChainUnavailable });
  t.throws(() => decode({ block, infos: [{ ...(infos[0] as object), id: 'cd'.repeat(32) }] }), {
    instanceOf: ChainUnavailable,
  });
  t.throws(() => decode({ block, infos: [{ ...(infos[0] as object), blockNumber: 6 }] }), {
    instanceOf: ChainUnavailable,
  });
  t.throws(() => decode({ block, infos: [{ id: TXID }] }), { instanceOf: ChainUnavailable }, 'no receipt: pending');
});

test('G5 C9-68 decimals belong to the deployment, not to the symbol', (t) => {
  const twin = `41${'55'.repeat(20)}`;
  const twinText = 'THkQfRopincF6emzbk6VMC7jTHqJ8MP8g7';
  const both: Catalogue = new Map([
    ...catalogue,
    [twinText, { chain: 'tron', contract: twinText, symbol: 'USDT', decimals: 18 } as Token],
  ]);
  const raw = call({ log: [logOf(5n), logOf(5n, { address: twin.slice(2) })] });
  t.deepEqual(
    transfersIn(tron, blockOf(raw), both).transfers.map(({ decimals, tokenSymbol }) => [decimals, tokenSymbol]),
    [
      [6, 'USDT'],
      [18, 'USDT'],
    ],
  );
});

test('T12 dust is credited like any other amount', (t) => {
  t.is(decode(transfer(1)).transfers[0]!.amount, 1n);
});

test('G22 zero and self transfers are none; a missing amount is the default, zero', (t) => {
  t.deepEqual(decode(transfer(undefined)).ignored, [{ txid: TXID, reason: 'zero amount' }]);
  t.deepEqual(decode(oneOf('TransferContract', { owner_address: SENDER, to_address: SENDER, amount: 1 })).ignored, [
    { txid: TXID, reason: 'to itself' },
  ]);
});

test('G13 an unknown contract type is carried, not fatal', (t) => {
  t.deepEqual(decode(oneOf('BrandNewContract', {})), {
    transfers: [],
    ignored: [{ txid: TXID, reason: 'BrandNewContract: no transfer' }],
  });
});

test('T8 what an owner takes back, earns or trades for itself credits nobody', (t) => {
  const owned = {
    owner_address: RECEIVER,
    unfreeze_balance: 5_000_000,
    amount: 9,
    quant: 9,
    tokenID: '_',
    call_value: 9,
  };
  for (const type of [
    'WithdrawBalanceContract',
    'WithdrawExpireUnfreezeContract',
    'UnfreezeBalanceContract',
    'UnfreezeBalanceV2Contract',
    'CancelAllUnfreezeV2Contract',
    'FreezeBalanceV2Contract',
    'VoteWitnessContract',
    'ExchangeTransactionContract',
    'ExchangeWithdrawContract',
    'UnDelegateResourceContract',
    'AccountCreateContract',
  ]) {
    const info = {
      withdraw_amount: 7_000_000,
      withdraw_expire_amount: 7_000_000,
      unfreeze_amount: 7_000_000,
      exchange_received_amount: 7_000_000,
    };
    t.deepEqual(
      decode(oneOf(type, owned, { info })),
      { transfers: [], ignored: [{ txid: TXID, reason: `${type}: no transfer` }] },
      type,
    );
  }
});

test('G6 the three spellings of an address in node answers are one', (t) => {
  const spelt = (to: string) =>
    decode(oneOf('TransferContract', { owner_address: SENDER, to_address: to, amount: 1 })).transfers[0]!.to;
  t.deepEqual(
    [spelt(RECEIVER), spelt(RECEIVER.slice(2)), spelt(RECEIVER_TEXT)],
    [RECEIVER_TEXT, RECEIVER_TEXT, RECEIVER_TEXT],
  );
  t.throws(() => spelt('T41'), { instanceOf: MalformedReply });
});

test('G4 property: any amount of sun is read exactly', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (amount) => {
        t.is(decode(transfer((parseLossless(`[${amount}]`) as unknown[])[0])).transfers[0]!.amount, amount);
      }),
    ),
  );
});
