/** docs/chains/pairs.md, Solana, XRP and TRON: answers that contradict each other in one place prove nothing. */
import test from 'ava';
import { base58 } from '@scure/base';
import { hashes } from 'xrpl';
import type { Block, Catalogue, Endpoint, Token } from '../../../../chains/chain.ts';
import { headerOf as solHeaderOf, HeightLinks, unitOf } from '../../../../chains/sol/block.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../chains/sol/programs.ts';
import { transfersIn as solTransfersIn } from '../../../../chains/sol/transfers.ts';
import { blockFromAnswers as tronBlock } from '../../../../chains/tron/block.ts';
import { createClient as createTronClient } from '../../../../chains/tron/client.ts';
import { tron } from '../../../../chains/tron/network.ts';
import { transfersIn as tronTransfersIn } from '../../../../chains/tron/transfers.ts';
import { assertWhole as assertXrpWhole, blockFromAnswers as xrpBlock } from '../../../../chains/xrp/ledger.ts';
import { xrp } from '../../../../chains/xrp/network.ts';
import { transfersIn as xrpTransfersIn } from '../../../../chains/xrp/transfers.ts';
import { createFailoverTransport } from '../../../../chains/transport/failover.ts';
import { contradict, type Contradiction } from '../../../support/pairs.ts';

type Json = any;

// ── Solana ──────────────────────────────────────────────────────────────────────────────────────────────────────
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const solCatalogue: Catalogue = new Map([
  [USDC, { chain: 'sol', contract: USDC, symbol: 'USDC', decimals: 6 } satisfies Token],
]);
const [PAYER, FROM, TO, OWNER, OTHER] = [1, 2, 3, 4, 5].map((byte) => base58.encode(new Uint8Array(32).fill(byte))) as [
  string,
  string,
  string,
  string,
  string,
];
const bytes = (...values: number[]) => base58.encode(Uint8Array.from(values));
const amount = [5, 0, 0, 0, 0, 0, 0, 0];
const held = (accountIndex: number, owner: string, raw: string) => ({
  accountIndex,
  mint: USDC,
  owner,
  uiTokenAmount: { amount: raw },
});
const KEYS = [PAYER, FROM, TO, USDC, TOKEN_PROGRAM, ASSOCIATED_TOKEN_PROGRAM];
const TRANSFER = { programIdIndex: 4, accounts: [1, 2, 0], data: bytes(3, ...amount) };
const INVOKED = `Program ${TOKEN_PROGRAM} invoke [1]`,
  DONE = `Program ${TOKEN_PROGRAM} success`;

/** A token transfer; `run` puts the instruction where a case wants it. */
function solSaid(): Json {
  return structuredClone({
    blockhash: 'b',
    previousBlockhash: 'a',
    parentSlot: 99,
    blockHeight: 90,
    blockTime: 1_700_000_000,
    transactions: [
      {
        version: 'legacy',
        transaction: { signatures: ['sig'], message: { accountKeys: KEYS, instructions: [TRANSFER] } },
        meta: {
          err: null,
          status: { Ok: null },
          fee: 5_000,
          preBalances: [10_000, 7, 7, 1, 1, 1],
          postBalances: [5_000, 7, 7, 1, 1, 1],
          preTokenBalances: [held(1, PAYER, '5'), held(2, OWNER, '0')],
          postTokenBalances: [held(1, PAYER, '0'), held(2, OWNER, '5')],
          innerInstructions: [],
          logMessages: [INVOKED, DONE],
          loadedAddresses: { writable: [], readonly: [] },
        },
      },
    ],
  });
}
const links = (said: Json) => {
  const known = new HeightLinks(solana);
  known.check(
    solHeaderOf(99, { blockhash: 'a', previousBlockhash: 'z', parentSlot: 98, blockHeight: 89, blockTime: null }),
  );
  known.check(solHeaderOf(100, said));
};
const solRead = (said: Json) => {
  links(said);
  const { transfers } = solTransfersIn(solana, unitOf(100, said), solCatalogue);
  return transfers.length === 1 && transfers[0]!.amount === 5n ? transfers : null;
};

const empty = { preTokenBalances: [], postTokenBalances: [] };
const meta = (said: Json): Json => said.transactions[0].meta;
const message = (said: Json): Json => said.transactions[0].transaction.message;
/** Empty balances beside one instruction, at the top or inside of another. */
function without(what: string, instruction: Json): Contradiction<Json>[] {
  return [
    {
      pair: 'S1',
      what,
      change: (said) => {
        message(said).instructions = [instruction];
        Object.assign(meta(said), empty);
      },
    },
    {
      pair: 'S1',
      what: `${what}, inside`,
      change: (said) => {
        message(said).instructions = [{ programIdIndex: 5, accounts: [], data: '1' }];
        Object.assign(meta(said), empty, { innerInstructions: [{ index: 0, instructions: [instruction] }] });
      },
    },
  ];
}
const failed = (said: Json) =>
  Object.assign(meta(said), { err: { InstructionError: [0, 'x'] }, status: { Err: { InstructionError: [0, 'x'] } } });

const SOL: Contradiction<Json>[] = [
  ...without('Transfer', TRANSFER),
  ...without('TransferChecked', { programIdIndex: 4, accounts: [1, 3, 2, 0], data: bytes(12, ...amount, 6) }),
  ...without('MintTo', { programIdIndex: 4, accounts: [3, 2, 0], data: bytes(7, ...amount) }),
  ...without('MintToChecked', { programIdIndex: 4, accounts: [3, 2, 0], data: bytes(14, ...amount, 6) }),
  ...without('TransferCheckedWithFee', {
    programIdIndex: 4,
    accounts: [1, 3, 2, 0],
    data: bytes(26, 1, ...amount, 6, ...amount),
  }),
  ...without('parsed transfer', {
    programId: TOKEN_PROGRAM,
    parsed: { type: 'transfer', info: { source: FROM, destination: TO, amount: '5' } },
  }),
  ...without('parsed transferChecked', {
    programId: TOKEN_PROGRAM,
    parsed: { type: 'transferChecked', info: { source: FROM, destination: TO } },
  }),
  ...without('parsed syncNative', {
    programId: TOKEN_PROGRAM,
    parsed: { type: 'syncNative', info: { account: TO } },
  }),
  ...without('SyncNative', { programIdIndex: 4, accounts: [2], data: bytes(17) }),
  ...without('WithdrawWithheldTokensFromMint', { programIdIndex: 4, accounts: [3, 2, 0], data: bytes(26, 2) }),
  ...without('WithdrawWithheldTokensFromAccounts', { programIdIndex: 4, accounts: [3, 2, 0], data: bytes(26, 3, 0) }),
  ...without('a transfer in a batch, behind an approval', {
    programIdIndex: 4,
    accounts: [1, 0, 0, 1, 2, 0],
    data: bytes(255, 3, 9, 4, ...amount, 3, 9, 3, ...amount),
  }),
  {
    pair: 'S1',
    what: 'the other token program',
    change: (said) => {
      message(said).accountKeys[4] = TOKEN_2022_PROGRAM;
      Object.assign(meta(said), empty, { logMessages: [] });
    },
  },
  {
    pair: 'S1',
    what: "the receiver's balance alone is missing",
    change: (said) => {
      Object.assign(meta(said), { preTokenBalances: [held(1, PAYER, '5')], postTokenBalances: [held(1, PAYER, '0')] });
    },
  },
  {
    pair: 'S1',
    what: 'opened on the way and not closed',
    change: (said) => {
      message(said).instructions = [{ programIdIndex: 4, accounts: [2, 3, 0], data: bytes(1) }, TRANSFER];
      Object.assign(meta(said), empty);
    },
  },
  {
    pair: 'S2',
    what: 'the logs name a run that nobody tells',
    change: (said) => {
      message(said).instructions = [{ programIdIndex: 5, accounts: [], data: '1' }];
      Object.assign(meta(said), empty);
    },
  },
  {
    pair: 'S3',
    what: 'no error beside a failed status',
    change: (said) => {
      meta(said).status = { Err: 'AccountInUse' };
    },
  },
  {
    pair: 'S3',
    what: 'an error beside a good status',
    change: (said) => {
      meta(said).err = { InstructionError: [0, 'x'] };
    },
  },
  {
    pair: 'S4',
    what: 'no error, and the last log line says that it failed',
    change: (said) => {
      meta(said).logMessages = [INVOKED, `Program ${TOKEN_PROGRAM} failed: custom program error: 0x1`];
    },
  },
  { pair: 'S5', what: 'failed, and tokens moved', change: failed },
  {
    pair: 'S5',
    what: 'failed, and lamports moved',
    change: (said) => {
      failed(said);
      Object.assign(meta(said), {
        postTokenBalances: meta(said).preTokenBalances,
        postBalances: [5_000, 7, 8, 1, 1, 1],
      });
    },
  },
  { pair: 'S6', what: 'a key too few', change: (said) => message(said).accountKeys.pop() },
  {
    pair: 'S6',
    what: 'loaded keys without balances',
    change: (said) => {
      meta(said).loadedAddresses.writable = [OTHER];
      message(said).accountKeys.push(OTHER);
    },
  },
  { pair: 'S7', what: 'a balance too few after', change: (said) => meta(said).postBalances.pop() },
  {
    pair: 'S8',
    what: 'nothing is recorded of what ran inside',
    change: (said) => {
      message(said).instructions = [{ programIdIndex: 5, accounts: [], data: '1' }];
      Object.assign(meta(said), empty, { innerInstructions: null, logMessages: null });
    },
  },
  {
    pair: 'S10',
    what: 'no balances before, and the accounts were there',
    change: (said) => {
      meta(said).preTokenBalances = [];
    },
  },
  {
    pair: 'S10',
    what: "the receiver's balance before alone is missing",
    change: (said) => {
      meta(said).preTokenBalances = [held(1, PAYER, '5')];
    },
  },
  {
    pair: 'S10',
    what: 'no balances after, and the accounts are there',
    change: (said) => {
      meta(said).postTokenBalances = [];
    },
  },
  {
    pair: 'S10',
    what: "the receiver's balance after alone is missing",
    change: (said) => {
      meta(said).postTokenBalances = [held(1, PAYER, '0')];
    },
  },
  {
    pair: 'S10',
    what: 'opened, and yet there before',
    change: (said) => {
      message(said).instructions = [{ programIdIndex: 4, accounts: [1, 3, 0], data: bytes(1) }, TRANSFER];
      meta(said).preTokenBalances = [held(1, PAYER, '5')];
    },
  },
  {
    pair: 'S10',
    what: 'an account has two balances',
    change: (said) => {
      meta(said).postTokenBalances = [...meta(said).postTokenBalances, held(2, OWNER, '5')];
    },
  },
  {
    pair: 'S9',
    what: 'a height that does not follow',
    change: (said) => {
      said.blockHeight = 91;
    },
  },
  {
    pair: 'S9',
    what: 'a parent that comes later',
    change: (said) => {
      said.parentSlot = 101;
    },
  },
];

test('found F26 G8 pairs of Solana: whatever contradicts, nothing is proven', (t) =>
  contradict(t, 'S', solSaid, solRead, SOL));

test('F26 what honest nodes answer is proven: no balances where nothing moved, or where an account lived inside of the transaction only', (t) => {
  const nothing = (change: (said: Json) => void) => {
    const said = solSaid();
    Object.assign(meta(said), empty);
    change(said);
    return solTransfersIn(solana, unitOf(100, said), solCatalogue).transfers;
  };
  t.deepEqual(
    nothing((said) => {
      message(said).instructions = [{ programIdIndex: 4, accounts: [3], data: bytes(0) }];
    }),
    [],
    'a mint is made',
  );
  t.deepEqual(
    nothing((said) => {
      message(said).instructions = [
        { programIdIndex: 4, accounts: [2, 3, 0], data: bytes(18) },
        TRANSFER,
        { programIdIndex: 4, accounts: [2, 0, 0], data: bytes(9) },
      ];
    }),
    [],
  );
  t.deepEqual(
    nothing((said) => {
      message(said).accountKeys = ['a', 'b', 'c', 'd', 'e', 'f'];
      meta(said).logMessages = [];
    }),
    [],
    'no token program',
  );
  t.deepEqual(
    nothing((said) => {
      failed(said);
    }),
    [],
    'a failed transfer moved nothing',
  );
});

test('F26 G8 a balance on one side is proven where the account was opened or closed, and a transfer of nothing contradicts no node', (t) => {
  const read = (change: (said: Json) => void) => {
    const said = solSaid();
    change(said);
    return solTransfersIn(solana, unitOf(100, said), solCatalogue).transfers.map((one) => one.amount);
  };
  const received = (said: Json) => {
    meta(said).preTokenBalances = [held(1, PAYER, '5')];
  };
  t.deepEqual(
    read((said) => {
      received(said);
      meta(said).preBalances[2] = 0;
    }),
    [5n],
    'the account is new',
  );
  for (const [what, instruction] of [
    ['InitializeAccount', { programIdIndex: 4, accounts: [2, 3, 0], data: bytes(1) }],
    ['InitializeAccount3', { programIdIndex: 4, accounts: [2, 3], data: bytes(18) }],
    ['parsed', { programId: TOKEN_PROGRAM, parsed: { type: 'initializeAccount3', info: { account: TO } } }],
    ['in a batch', { programIdIndex: 4, accounts: [3, 2, 3], data: bytes(255, 1, 1, 21, 2, 1, 18) }],
  ] as const)
    t.deepEqual(
      read((said) => {
        received(said);
        message(said).instructions = [{ programIdIndex: 5, accounts: [], data: '1' }];
        meta(said).innerInstructions = [{ index: 0, instructions: [instruction, TRANSFER] }];
      }),
      [5n],
      `lamports were sent to it before it was opened: ${what}`,
    );
  t.deepEqual(
    read((said) => {
      meta(said).postTokenBalances = [held(2, OWNER, '5')];
      meta(said).postBalances[1] = 0;
    }),
    [5n],
    'the payer closed his',
  );
  t.deepEqual(
    read((said) => {
      meta(said).postTokenBalances = [held(2, OWNER, '5')];
      message(said).instructions.push({ programIdIndex: 4, accounts: [1, 0, 0], data: bytes(9) });
    }),
    [5n],
    'and lamports came to the address again',
  );
  for (const instruction of [
    { programIdIndex: 4, accounts: [1, 2, 0], data: bytes(3, 0, 0, 0, 0, 0, 0, 0, 0) },
    { programIdIndex: 4, accounts: [1, 3, 2, 0], data: bytes(12, 0, 0, 0, 0, 0, 0, 0, 0, 6) },
    {
      programId: TOKEN_PROGRAM,
      parsed: { type: 'transfer', info: { source: FROM, destination: TO, amount: '0' } },
    },
  ])
    t.deepEqual(
      read((said) => {
        message(said).instructions = [instruction];
        Object.assign(meta(said), empty);
      }),
      [],
      'accounts of a mint that was closed',
    );
});

// ── XRP ─────────────────────────────────────────────────────────────────────────────────────────────────────────
const RLUSD = '524C555344000000000000000000000000000000',
  ISSUER = 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De',
  US = 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3',
  THEM = 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf';
const xrpCatalogue: Catalogue = new Map([
  [
    `${RLUSD}:${ISSUER}`,
    { chain: 'xrp', contract: `${RLUSD}:${ISSUER}`, symbol: 'RLUSD', decimals: 15 } satisfies Token,
  ],
]);
const root = (Account: string, before: string, after: string) => ({
  ModifiedNode: {
    LedgerEntryType: 'AccountRoot',
    FinalFields: { Account, Balance: after },
    PreviousFields: { Balance: before },
  },
});
const line = (before: string, after: string) => ({
  ModifiedNode: {
    LedgerEntryType: 'RippleState',
    FinalFields: {
      Balance: { currency: RLUSD, issuer: 'rrrrrrrrrrrrrrrrrrrrBZbvji', value: after },
      LowLimit: { issuer: US },
      HighLimit: { issuer: ISSUER },
    },
    PreviousFields: { Balance: { currency: RLUSD, issuer: 'rrrrrrrrrrrrrrrrrrrrBZbvji', value: before } },
  },
});
const issued = (value: string) => ({ currency: RLUSD, issuer: ISSUER, value });
const made = (hash: string, Amount: unknown, nodes: unknown[]) => ({
  TransactionType: 'Payment',
  Account: THEM,
  Destination: US,
  Fee: '12',
  Amount,
  hash: hash.repeat(32),
  metaData: {
    TransactionResult: 'tesSUCCESS',
    AffectedNodes: [root(THEM, '100', '88'), ...nodes],
    delivered_amount: Amount,
  },
});

/** A ledger of our own with a right hash: a payment of XRP and one of a token. */
function xrpSaid(): Json {
  const transactions = [made('AB', '5', [root(US, '1', '6')]), made('CD', issued('5'), [line('1', '6')])].map(
    (one, TransactionIndex) => ({ ...one, metaData: { ...one.metaData, TransactionIndex } }),
  );
  const header = {
    ledger_index: 5,
    total_coins: '976',
    parent_hash: 'AA'.repeat(32),
    transaction_hash: 'BB'.repeat(32),
    account_hash: 'CC'.repeat(32),
    parent_close_time: 1,
    close_time: 2,
    close_time_resolution: 10,
    close_flags: 0,
  };
  const ledger_hash = hashes.hashLedgerHeader(header as never);
  return structuredClone({
    validated: true,
    ledger_hash,
    ledger_index: 5,
    ledger: { ...header, ledger_hash, transactions },
  });
}
const xrpRead = (said: Json) => {
  const block = xrpBlock(xrp, { ledger: said });
  assertXrpWhole(block, 1_000n);
  const { transfers } = xrpTransfersIn(xrp, block, xrpCatalogue);
  return transfers.length === 2 ? transfers : null;
};
const paidXrp = (said: Json): Json => said.ledger.transactions[0].metaData,
  paidToken = (said: Json): Json => said.ledger.transactions[1].metaData;

const XRP: Contradiction<Json>[] = [
  {
    pair: 'X1',
    what: 'no line',
    change: (said) => {
      paidToken(said).AffectedNodes = [root(THEM, '100', '88')];
    },
  },
  {
    pair: 'X1',
    what: 'a line that stood still',
    change: (said) => {
      paidToken(said).AffectedNodes[1] = line('6', '6');
    },
  },
  {
    pair: 'X1',
    what: 'a line that shrank',
    change: (said) => {
      paidToken(said).AffectedNodes[1] = line('6', '1');
    },
  },
  {
    pair: 'X1',
    what: 'another issuer',
    change: (said) => {
      paidToken(said).AffectedNodes[1].ModifiedNode.FinalFields.HighLimit.issuer = THEM;
    },
  },
  {
    pair: 'X1',
    what: 'nothing was touched',
    change: (said) => {
      paidToken(said).AffectedNodes = [];
    },
  },
  {
    pair: 'X1',
    what: 'nobody says what was touched',
    change: (said) => {
      delete paidToken(said).AffectedNodes;
    },
  },
  {
    pair: 'X2',
    what: 'nothing was touched',
    change: (said) => {
      paidXrp(said).AffectedNodes = [];
    },
  },
  {
    pair: 'X2',
    what: 'more than the balance grew by',
    change: (said) => {
      paidXrp(said).AffectedNodes[1] = root(US, '1', '5');
    },
  },
  {
    pair: 'X2',
    what: 'a root that is not touched',
    change: (said) => {
      paidXrp(said).AffectedNodes.pop();
    },
  },
  {
    pair: 'X3',
    what: 'a result that claims the fee only',
    change: (said) => {
      paidXrp(said).TransactionResult = 'tecPATH_DRY';
    },
  },
  {
    pair: 'X3',
    what: 'the same without an amount',
    change: (said) => {
      paidXrp(said).TransactionResult = 'tecPATH_DRY';
      delete paidXrp(said).delivered_amount;
    },
  },
  {
    pair: 'X4',
    what: 'two delivered amounts',
    change: (said) => {
      paidXrp(said).DeliveredAmount = '4';
    },
  },
  {
    pair: 'X4',
    what: 'two delivered amounts of a token',
    change: (said) => {
      paidToken(said).DeliveredAmount = issued('4');
    },
  },
  {
    pair: 'X4',
    what: 'more than was asked for',
    change: (said) => {
      said.ledger.transactions[0].Amount = '4';
    },
  },
  {
    pair: 'X5',
    what: 'not validated',
    change: (said) => {
      said.validated = false;
    },
  },
  {
    pair: 'X6',
    what: 'another coin total',
    change: (said) => {
      said.ledger.total_coins = '977';
    },
  },
  {
    pair: 'X6',
    what: 'another parent',
    change: (said) => {
      said.ledger.parent_hash = 'DD'.repeat(32);
    },
  },
  {
    pair: 'X6',
    what: 'two hashes',
    change: (said) => {
      said.ledger_hash = 'DD'.repeat(32);
    },
  },
  {
    pair: 'X7',
    what: 'no transactions',
    change: (said) => {
      said.ledger.transactions = [];
    },
  },
  {
    pair: 'X8',
    what: 'a place that is free',
    change: (said) => {
      paidToken(said).TransactionIndex = 2;
    },
  },
  {
    pair: 'X8',
    what: 'a transaction is missing in front',
    change: (said) => {
      said.ledger.transactions.shift();
    },
  },
  {
    pair: 'X9',
    what: 'a transaction is missing at the end',
    change: (said) => {
      said.ledger.transactions.pop();
    },
  },
  {
    pair: 'X9',
    what: 'another fee',
    change: (said) => {
      said.ledger.transactions[0].Fee = '13';
    },
  },
];

test('found F28 G8 pairs of the XRP Ledger: whatever contradicts, nothing is proven', (t) =>
  contradict(t, 'X', xrpSaid, xrpRead, XRP));

// ── TRON ────────────────────────────────────────────────────────────────────────────────────────────────────────
const USDT_HEX = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c',
  USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const tronCatalogue: Catalogue = new Map([
  [USDT, { chain: 'tron', contract: USDT, symbol: 'USDT', decimals: 6 } satisfies Token],
]);
const SENDER = `41${'11'.repeat(20)}`,
  RECEIVER = `41${'22'.repeat(20)}`,
  word = (account: string) => account.slice(-40).padStart(64, '0');
const tronTransaction = (txID: string, type: string, value: object) => ({
  txID: txID.repeat(32),
  ret: [{ contractRet: 'SUCCESS' }],
  raw_data: { contract: [{ type, parameter: { value } }] },
});
const TRON_HEIGHT = 5,
  TRON_ID = `${TRON_HEIGHT.toString(16).padStart(16, '0')}${'ee'.repeat(24)}`;

function tronSaid(): Json {
  const log = {
    address: USDT_HEX,
    topics: ['ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word(SENDER), word(RECEIVER)],
    data: '7'.padStart(64, '0'),
  };
  const internal = {
    caller_address: `41${USDT_HEX}`,
    transferTo_address: RECEIVER,
    callValueInfo: [{ callValue: 3 }],
    note: '63616c6c',
  };
  return structuredClone({
    block: {
      blockID: TRON_ID,
      block_header: {
        raw_data: {
          number: TRON_HEIGHT,
          parentHash: `${'0'.repeat(15)}4${'dd'.repeat(24)}`,
          timestamp: 1,
          txTrieRoot: 'ab'.repeat(32),
        },
      },
      transactions: [
        tronTransaction('ab', 'TransferContract', { owner_address: SENDER, to_address: RECEIVER, amount: 5 }),
        tronTransaction('cd', 'TriggerSmartContract', { owner_address: SENDER, contract_address: `41${USDT_HEX}` }),
      ],
    },
    infos: [
      { id: 'ab'.repeat(32), blockNumber: TRON_HEIGHT, receipt: { net_usage: 1 } },
      {
        id: 'cd'.repeat(32),
        blockNumber: TRON_HEIGHT,
        receipt: { result: 'SUCCESS' },
        contract_address: `41${USDT_HEX}`,
        log: [log],
        internal_transactions: [internal],
      },
    ],
  });
}
const tronRead = async (said: Json) => {
  const node: Endpoint = {
    name: 'tron',
    request: async ({ path }) => ({
      status: 200,
      headers: {},
      text: JSON.stringify(
        path === '/wallet/gettransactioninfobyblocknum'
          ? said.infos
          : path.endsWith('/getblock')
            ? { ...said.block, transactions: undefined }
            : said.block,
      ),
    }),
  };
  const transport = createFailoverTransport({
    chain: 'tron',
    endpoints: [node],
    elapsedMs: () => 0,
    random: () => 0.5,
  });
  const block = await createTronClient(tron, transport, tronCatalogue).getBlock(TRON_HEIGHT);
  tronBlock(tron, said);
  const { transfers } = tronTransfersIn(tron, block, tronCatalogue);
  return transfers.length === 3 ? transfers : null;
};
const called = (said: Json): Json => ({ transaction: said.block.transactions[1], info: said.infos[1] });
const revert = (said: Json) => {
  called(said).transaction.ret[0].contractRet = 'REVERT';
  Object.assign(called(said).info, { result: 'FAILED', receipt: { result: 'REVERT' } });
};

const TRON: Contradiction<Json>[] = [
  {
    pair: 'T1',
    what: 'contractRet failed, receipt success',
    change: (said) => {
      called(said).transaction.ret[0].contractRet = 'REVERT';
    },
  },
  {
    pair: 'T1',
    what: 'contractRet success, receipt failed',
    change: (said) => {
      called(said).info.receipt.result = 'OUT_OF_ENERGY';
    },
  },
  {
    pair: 'T1',
    what: 'both success, result failed',
    change: (said) => {
      called(said).info.result = 'FAILED';
    },
  },
  {
    pair: 'T1',
    what: 'a receipt without a result',
    change: (said) => {
      delete called(said).info.receipt.result;
    },
  },
  {
    pair: 'T1',
    what: 'a contractRet that is not known',
    change: (said) => {
      called(said).transaction.ret[0].contractRet = 'NEW';
    },
  },
  {
    pair: 'T1',
    what: 'a transfer whose result failed',
    change: (said) => {
      said.infos[0].result = 'FAILED';
    },
  },
  {
    pair: 'T2',
    what: 'ret FAILED beside success',
    change: (said) => {
      called(said).transaction.ret[0].ret = 'FAILED';
    },
  },
  {
    pair: 'T2',
    what: 'ret FAILED of a transfer',
    change: (said) => {
      said.block.transactions[0].ret[0].ret = 'FAILED';
    },
  },
  {
    pair: 'T2',
    what: 'a ret that is not known',
    change: (said) => {
      called(said).transaction.ret[0].ret = 'NEW';
    },
  },
  {
    pair: 'T3',
    what: 'failed, with logs',
    change: (said) => {
      revert(said);
      delete called(said).info.internal_transactions;
    },
  },
  {
    pair: 'T3',
    what: 'failed, with an internal transaction that is not rejected',
    change: (said) => {
      revert(said);
      delete called(said).info.log;
    },
  },
  { pair: 'T4', what: 'an info too few', change: (said) => said.infos.pop() },
  {
    pair: 'T4',
    what: 'no infos',
    change: (said) => {
      said.infos = {};
    },
  },
  { pair: 'T5', what: 'infos in another order', change: (said) => said.infos.reverse() },
  {
    pair: 'T5',
    what: 'the info of another transaction',
    change: (said) => {
      said.infos[1].id = 'ef'.repeat(32);
    },
  },
  {
    pair: 'T6',
    what: 'an info of another block',
    change: (said) => {
      said.infos[1].blockNumber = TRON_HEIGHT + 1;
    },
  },
  {
    pair: 'T6',
    what: 'another height in the header',
    change: (said) => {
      said.block.block_header.raw_data.number = TRON_HEIGHT + 1;
    },
  },
  {
    pair: 'T9',
    what: 'an info of another block of this height',
    change: (said) => {
      said.infos[0].blockTimeStamp = 4;
    },
  },
  {
    pair: 'T9',
    what: 'another time in the header',
    change: (said) => {
      said.infos[0].blockTimeStamp = 1;
      said.block.block_header.raw_data.timestamp = 4;
    },
  },
  {
    pair: 'T7',
    what: 'no receipt',
    change: (said) => {
      delete called(said).info.receipt;
    },
  },
  {
    pair: 'T8',
    what: 'no transactions under a root',
    change: (said) => {
      delete said.block.transactions;
      said.infos = {};
    },
  },
];

test('found F29 G8 pairs of TRON: whatever contradicts, nothing is proven', (t) =>
  contradict(t, 'T', tronSaid, tronRead, TRON));

test('F29 a call that failed and whose signs all say so is no payment, and no contradiction', async (t) => {
  const said = tronSaid();
  revert(said);
  called(said).transaction.ret[0].ret = 'FAILED';
  Object.assign(called(said).info, {
    log: [],
    internal_transactions: [{ ...called(said).info.internal_transactions[0], rejected: true }],
  });
  t.is(tronTransfersIn(tron, tronBlock(tron, said) as Block<never>, tronCatalogue).transfers.length, 1);
});
