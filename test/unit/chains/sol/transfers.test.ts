import test from 'ava';
import fc from 'fast-check';
import { ChainUnavailable, MalformedReply, type Block, type Catalogue, type Token } from '../../../../chains/chain.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { outcomesIn, transfersIn, type SolBlock } from '../../../../chains/sol/transfers.ts';
import {
  answer,
  expectedCases,
  sampleTokens,
  type ExpectedCase,
  type ExpectedCredit,
} from '../../../support/vectors.ts';

const sample: Catalogue = new Map(sampleTokens('sol').map((token) => [token.contract, token as Token]));

function blockOf(raw: unknown): Block<SolBlock> {
  const value = raw as Record<string, unknown>;
  return {
    height: 1,
    hash: '',
    parentHash: '',
    parentHeight: 0,
    timeMs: null,
    raw: 'transactions' in value ? value : { transactions: [value] },
  };
}

const decode = (raw: unknown, catalogue: Catalogue = sample) => transfersIn(solana, blockOf(raw), catalogue);

const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

/**
 * Every mint that a case names, so that each of its credits counts; wrapped SOL is never listed (L8). Its one credit in
 * the vectors moves between two accounts of one owner, which is no payment by L4.
 */
function wholeCatalogue(expected: ExpectedCase): Catalogue {
  return new Map(
    expected.credits!.flatMap(({ tokenContract, symbol = 'X', decimals }) =>
      tokenContract === null || tokenContract === WRAPPED_SOL
        ? []
        : [[tokenContract!, { chain: 'sol', contract: tokenContract!, symbol, decimals: decimals! } as Token] as const],
    ),
  );
}

const shapeOf = (credit: ExpectedCredit) => [
  credit.txid,
  credit.address,
  credit.amount,
  credit.decimals,
  credit.tokenContract,
];
const byText = (a: unknown[], b: unknown[]) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

for (const expected of expectedCases('sol')) {
  test(`L1 L2 L3 L4 L6 L8 L9 L10 L12 G3 G23 C2-25 ${expected.case}: exactly the expected credits`, (t) => {
    const raw = answer(expected.files[0]!);
    const all = decode(raw, wholeCatalogue(expected));
    t.deepEqual(
      all.transfers
        .map(({ txid, to, amount, decimals, tokenContract }) => [txid, to, amount.toString(), decimals, tokenContract])
        .sort(byText),
      expected
        .credits!.filter(({ tokenContract }) => tokenContract !== WRAPPED_SOL)
        .map(shapeOf)
        .sort(byText),
    );
    for (const credit of expected.credits!) {
      if (credit.kind !== 'native') continue;
      t.true(all.transfers.some(({ to, outputIndex }) => to === credit.address && outputIndex === credit.accountIndex));
    }
    for (const credit of expected.mustNotCredit!)
      t.true(
        all.ignored.some(({ txid }) => txid === credit.txid),
        credit.why,
      );
    const known = expected.credits!.filter(
      (credit) => credit.tokenContract === null || sample.has(credit.tokenContract!),
    );
    t.deepEqual(
      decode(raw)
        .transfers.map(({ txid, to, amount, decimals, tokenContract }) => [
          txid,
          to,
          amount.toString(),
          decimals,
          tokenContract,
        ])
        .sort(byText),
      known.map(shapeOf).sort(byText),
      'mints outside the catalogue are not credited',
    );
  });
}

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const OURS = 'GabwTHe1P9wLKCqqBNBnAPgD71K8j8Dp4Uk4L6EyFUnK';
const THEIRS = '54r6W445JsjDf5UGzmVtcvpgdn1R8bJ1xMGZBWEDQ5qQ';

const tokenBalance = (accountIndex: number, owner: string | undefined, amount: string, mint = MINT) => ({
  accountIndex,
  mint,
  ...(owner === undefined ? {} : { owner }),
  uiTokenAmount: { amount, decimals: 6, uiAmount: 0.1 },
});

interface Made {
  keys?: string[];
  pre?: unknown[];
  post?: unknown[];
  fee?: unknown;
  err?: unknown;
  preTokens?: unknown[];
  postTokens?: unknown[];
  version?: unknown;
  loaded?: object;
  meta?: object | null;
}

/** A transaction as `getBlock` answers it, from the balances it left. */
function made({
  keys = [THEIRS, OURS, 'acct2', 'acct3', 'acct4'],
  pre,
  post,
  fee = 5_000,
  err = null,
  preTokens = [],
  postTokens = [],
  ...rest
}: Made) {
  const poor = keys.map(() => 0);
  const meta = {
    err,
    fee,
    preBalances: pre ?? [10_000, ...poor.slice(1)],
    postBalances: post ?? [5_000, ...poor.slice(1)],
    preTokenBalances: preTokens,
    postTokenBalances: postTokens,
    ...(rest.loaded === undefined ? {} : { loadedAddresses: rest.loaded }),
    ...rest.meta,
  };
  return {
    meta: rest.meta === null ? null : meta,
    transaction: { signatures: ['sig'], message: { accountKeys: keys } },
    ...('version' in rest ? { version: rest.version } : {}),
  };
}

test('L1 C1-3 keys loaded through lookup tables are writable first, then readonly', (t) => {
  const { transfers } = decode(
    made({
      keys: [THEIRS],
      loaded: { writable: ['w1', OURS], readonly: ['r1'] },
      pre: [10_000, 0, 0, 0],
      post: [4_990, 3, 7, 0],
      fee: 5_000,
      version: 0,
    }),
  );
  t.deepEqual(
    transfers.map(({ to, outputIndex, amount }) => [to, outputIndex, amount]),
    [
      ['w1', 1, 3n],
      [OURS, 2, 7n],
    ],
  );
  t.throws(() => decode(made({ keys: [THEIRS], pre: [1, 2], post: [1, 2] })), { instanceOf: MalformedReply });
});

test('L2 a failed transaction moves its fee only; balances that say otherwise prove nothing', (t) => {
  const err = { InstructionError: [0, { Custom: 1 }] };
  t.throws(() => decode(made({ err, post: [100, 5_000_100, 100, 100, 100] })), { instanceOf: ChainUnavailable });
  const decoded = decode(made({ err, pre: [5_100, 100, 100, 100, 100], post: [100, 100, 100, 100, 100] }));
  t.deepEqual(decoded, { transfers: [], ignored: [{ txid: 'sig', reason: 'failed: only the fee moved' }] });
});

test('L3 G20 the fee payer gets its fee back before its change is judged', (t) => {
  const paid = decode(made({ pre: [10_000, 0, 0, 0, 0], post: [5_000, 0, 0, 0, 0] })).transfers;
  t.deepEqual(paid, []);
  const gained = decode(made({ pre: [10_000, 50, 0, 0, 0], post: [5_050, 0, 0, 0, 0] })).transfers;
  t.deepEqual(
    gained.map(({ outputIndex, amount, from }) => [outputIndex, amount, from]),
    [[0, 50n, [OURS]]],
  );
});

test('L4 L7 C2-29 tokens count by owner over all of its accounts, before and after separately', (t) => {
  const { transfers } = decode(
    made({
      preTokens: [tokenBalance(2, OURS, '40'), tokenBalance(3, THEIRS, '100')],
      postTokens: [tokenBalance(2, OURS, '10'), tokenBalance(3, OURS, '100'), tokenBalance(4, OURS, '5')],
    }),
  );
  t.deepEqual(
    transfers.map(({ to, amount, outputIndex, from }) => [to, amount, outputIndex, from]),
    [[OURS, 75n, 3, [THEIRS]]],
  );
});

test('L5 G1 G2 C2-27 the index is the token account that gained most, the lowest on ties; native and token give two keys', (t) => {
  const { transfers } = decode(
    made({
      pre: [10_000, 0, 0, 0, 0],
      post: [4_000, 1_000, 0, 0, 0],
      postTokens: [tokenBalance(4, OURS, '5'), tokenBalance(2, OURS, '5'), tokenBalance(3, OURS, '1')],
    }),
  );
  t.deepEqual(
    transfers.map(({ outputIndex, tokenContract, amount }) => [outputIndex, tokenContract, amount]),
    [
      [1, null, 1_000n],
      [2, MINT, 11n],
    ],
  );
});

test('L6 L8 rent and wrapped SOL stay with the token account', (t) => {
  const { transfers, ignored } = decode(
    made({
      pre: [3_000_000, 0, 0, 0, 0],
      post: [955_720, 0, 2_039_280, 0, 0],
      postTokens: [tokenBalance(2, OURS, '0', 'So11111111111111111111111111111111111111112')],
    }),
  );
  t.deepEqual(transfers, []);
  t.regex(ignored[0]!.reason, /rent or wrapped SOL/);
});

test('L9 C2-29 a Token-2022 fee is not credited: the change of the balance counts, not the instruction', (t) => {
  const { transfers } = decode(
    made({
      preTokens: [tokenBalance(3, THEIRS, '384000000')],
      postTokens: [tokenBalance(3, THEIRS, '0'), tokenBalance(2, OURS, '368640000')],
    }),
  );
  t.deepEqual(
    transfers.map(({ amount }) => amount),
    [368_640_000n],
  );
});

test('L10 a confidential transfer moves no public amount: it is not seen, and credits nobody', (t) => {
  // The pending balance of the extension is encrypted; the account's own amount stays as it was on both sides.
  const same = [tokenBalance(2, OURS, '500'), tokenBalance(3, THEIRS, '900')];
  t.deepEqual(decode(made({ preTokens: same, postTokens: same })).transfers, []);
  // What is then made public by its owner comes from nobody, and is the owner's own growth like any other.
  const applied = decode(made({ preTokens: same, postTokens: [tokenBalance(2, OURS, '507'), same[1]!] })).transfers;
  t.deepEqual(
    applied.map(({ to, amount, from }) => [to, amount, from]),
    [[OURS, 7n, []]],
  );
});

test('L11 G5 C9-68 the raw amount counts, never the displayed one', (t) => {
  const balance = {
    ...tokenBalance(2, OURS, '7'),
    uiTokenAmount: { amount: '7', decimals: 6, uiAmount: 999, uiAmountString: '999' },
  };
  t.is(decode(made({ postTokens: [balance] })).transfers[0]!.amount, 7n);
});

test('L13 L15 rewards of the block are no transactions and credit nobody', (t) => {
  t.deepEqual(decode({ transactions: [], rewards: [{ pubkey: OURS, lamports: 5, rewardType: 'Fee' }] }), {
    transfers: [],
    ignored: [],
  });
});

test('L14 L17 one lamport is a payment', (t) => {
  t.is(decode(made({ pre: [10_000, 0, 0, 0, 0], post: [4_999, 1, 0, 0, 0] })).transfers[0]!.amount, 1n);
});

test('L16 no activation on this chain', (t) => {
  t.is(decode(made({ pre: [10_000, 0, 0, 0, 0], post: [4_999, 1, 0, 0, 0] })).transfers[0]!.activates, undefined);
});

test('L22 C1-8 versions legacy, 0, 1 and none are read; another one stops the block and is named', (t) => {
  for (const version of ['legacy', 0, 1]) t.notThrows(() => decode(made({ version })));
  t.notThrows(() => decode(made({})));
  for (const version of [2, 'v2', null]) {
    const error = t.throws(() => decode({ transactions: [made({ version: 0 }), made({ version })] }), {
      instanceOf: ChainUnavailable,
    });
    t.true(error!.message.includes(JSON.stringify(version)));
  }
});

test('G8 missing metadata, balances, owners or transactions prove nothing', (t) => {
  t.throws(() => decode(made({ meta: null })), { instanceOf: ChainUnavailable });
  t.throws(() => decode(made({ postTokens: [tokenBalance(2, undefined, '5')] })), { instanceOf: ChainUnavailable });
  t.notThrows(() => decode(made({ postTokens: [tokenBalance(2, undefined, '5', 'Other')] })));
  for (const raw of [
    { transactions: null },
    { transactions: ['sig'] },
    { transactions: [{ transaction: ['AQ==', 'base64'], meta: {} }] },
  ]) {
    t.throws(() => decode(raw), { instanceOf: MalformedReply });
  }
  for (const meta of [{ preBalances: null }, { postBalances: [1] }, { preTokenBalances: null }, { fee: 'x' }]) {
    t.throws(() => decode(made({ meta })), { instanceOf: MalformedReply });
  }
  const { err: _, ...withoutResult } = made({}).meta as Record<string, unknown>;
  t.throws(() => decode({ ...made({}), meta: withoutResult }), { instanceOf: MalformedReply });
  t.throws(() => decode({ transactions: [made({}), made({})] }), { instanceOf: MalformedReply });
});

// Answers of slots 5632752 and 5543556 have neither field (trustwallet/blockatlas
// platform/solana/mocks/getConfirmedTransaction.json); nodes wrote them, and write them, for transactions that name a
// token program (agave, collect_token_balances).
test('G8 L4 token balances from before nodes recorded them: SOL is proven where no token program is named, nothing where one is', (t) => {
  const program = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    other = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
  const {
    preTokenBalances: _before,
    postTokenBalances: _after,
    ...unrecorded
  } = made({ pre: [9_000, 0, 0, 0, 0], post: [0, 4_000, 0, 0, 0] }).meta as Record<string, unknown>;
  for (const meta of [unrecorded, { ...unrecorded, preTokenBalances: null, postTokenBalances: null }]) {
    t.deepEqual(
      decode({ ...made({}), meta }).transfers.map(({ to, amount }) => [to, amount]),
      [[OURS, 4_000n]],
    );
    for (const named of [program, other]) {
      t.throws(() => decode({ ...made({ keys: [THEIRS, OURS, 'acct2', 'acct3', named] }), meta }), {
        instanceOf: ChainUnavailable,
      });
    }
    t.throws(
      () => decode({ ...made({}), meta: { ...meta, postTokenBalances: [] } }),
      { instanceOf: MalformedReply },
      'one of them alone',
    );
  }
});

test('G4 property: lamports above 2^53 are exact', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 1n, max: 2n ** 63n }), (pre, gain) => {
        const { transfers } = decode(
          made({ pre: ['0', String(pre), 0, 0, 0], post: ['0', String(pre + gain), 0, 0, 0], fee: 0 }),
        );
        t.deepEqual(
          transfers.map(({ amount }) => amount),
          [gain],
        );
      }),
    ),
  );
});

test('G26 outcomes name success, reason and fee', (t) => {
  const failed = made({ err: { InstructionError: [2, 'Custom'] } });
  t.deepEqual(outcomesIn(solana, blockOf(failed), new Set(['sig'])), [
    { txid: 'sig', success: false, reason: '{"InstructionError":[2,"Custom"]}', fee: 5_000n },
  ]);
  t.deepEqual(outcomesIn(solana, blockOf(made({})), new Set(['other'])), []);
});
