/** docs/chains/pairs.md, Stellar and Bitcoin: answers that contradict each other in one place prove nothing. */
import test from 'ava';
import type { Catalogue } from '../../../../chains/chain.ts';
import { headerHash, merkleRoot, unitOf } from '../../../../chains/btc/block.ts';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { outcomesIn, transfersIn as btcTransfersIn } from '../../../../chains/btc/transfers.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { transfersIn as xlmTransfersIn } from '../../../../chains/xlm/transfers.ts';
import { contradict, type Contradiction } from '../../../support/pairs.ts';

type Json = any;

// ── Stellar ─────────────────────────────────────────────────────────────────────────────────────────────────────
const US = 'GB3JDWCQJCWMJ3IILWIGDTQJJC5567PGVEVXSCVPEQOTDN64VJBDQBYX',
  PAYER = 'GDVSYYTUAJ3ACHTPQNSTQBDQ4LDHQCMNY4FCEQH5TJUMSSLWQSTG42MV';
const idOf = (operation: bigint) => ((7n << 32n) | (3n << 12n) | operation).toString();
const HASH = 'ab'.repeat(32),
  none: Catalogue = new Map();

function xlmSaid(): Json {
  const operation = (n: bigint, type: string, fields: object) => ({
    id: idOf(n),
    type,
    transaction_hash: HASH,
    transaction_successful: true,
    source_account: PAYER,
    ...fields,
  });
  const effect = (n: bigint, place: number, type: string, account: string, more: object) => ({
    id: `${idOf(n).padStart(19, '0')}-${String(place).padStart(10, '0')}`,
    type,
    account,
    asset_type: 'native',
    ...more,
  });
  return structuredClone({
    operations: [
      operation(1n, 'payment', { asset_type: 'native', from: PAYER, to: US, amount: '1.0000000' }),
      operation(2n, 'create_account', { funder: PAYER, account: US, starting_balance: '2.0000000' }),
      operation(3n, 'account_merge', { account: PAYER, into: US }),
    ],
    effects: [
      effect(1n, 1, 'account_credited', US, { amount: '1.0000000' }),
      effect(1n, 2, 'account_debited', PAYER, { amount: '1.0000000' }),
      effect(2n, 1, 'account_created', US, { starting_balance: '2.0000000' }),
      effect(2n, 2, 'account_debited', PAYER, { amount: '2.0000000' }),
      effect(3n, 1, 'account_debited', PAYER, { amount: '3.0000000' }),
      effect(3n, 2, 'account_credited', US, { amount: '3.0000000' }),
      effect(3n, 3, 'account_removed', PAYER, {}),
    ],
    transactions: [{ hash: HASH, successful: true, memo_type: 'none', fee_charged: '300' }],
  });
}
const xlmRead = (said: Json) => {
  const { transfers } = xlmTransfersIn(
    stellar,
    { height: 7, hash: '', parentHash: '', parentHeight: 6, timeMs: null, raw: said },
    none,
  );
  return transfers.length === 3 ? transfers : null;
};

const XLM: Contradiction<Json>[] = [
  {
    pair: 'L1',
    what: 'the payment credited with less',
    change: (said) => {
      said.effects[0].amount = '0.9999999';
    },
  },
  { pair: 'L1', what: 'the payment credited to nobody', change: (said) => said.effects.shift() },
  {
    pair: 'L1',
    what: 'the payment credited to its payer',
    change: (said) => {
      said.effects[0].account = PAYER;
    },
  },
  { pair: 'L1', what: 'an account that nobody created', change: (said) => said.effects.splice(2, 1) },
  { pair: 'L1', what: 'a merge that credited nobody', change: (said) => said.effects.splice(5, 1) },
  { pair: 'L1', what: 'a merge without effects', change: (said) => said.effects.splice(4, 3) },
  {
    pair: 'L1',
    what: 'an account created with another balance',
    change: (said) => {
      said.effects[2].starting_balance = '1.9999999';
    },
  },
  {
    pair: 'L1',
    what: 'an operation that names less than was credited and debited',
    change: (said) => {
      said.operations[1].starting_balance = '1.0000000';
    },
  },
  ...[1, 3, 4].map((place): Contradiction<Json> => ({
    pair: 'L1',
    what: `the payer of effect ${place} debited with more`,
    change: (said) => {
      said.effects[place].amount = '9.0000000';
    },
  })),
  {
    pair: 'L1',
    what: 'a path payment of whose payee no effect tells',
    change: (said) => {
      said.operations[0].type = 'path_payment_strict_receive';
      said.effects.shift();
    },
  },
  {
    pair: 'L1',
    what: 'a claim that is credited with another amount',
    change: (said) => {
      said.operations[0] = { ...said.operations[0], type: 'claim_claimable_balance', claimant: US };
      said.effects.push({
        ...said.effects[0],
        type: 'claimable_balance_claimed',
        asset: 'native',
        amount: '2.0000000',
      });
    },
  },
  {
    pair: 'L3',
    what: 'one operation in two amounts',
    change: (said) => said.operations.push({ ...said.operations[0], amount: '1.5000000' }),
  },
  {
    pair: 'L3',
    what: 'one operation in two payees',
    change: (said) => said.operations.unshift({ ...said.operations[0], to: PAYER }),
  },
  {
    pair: 'L2',
    what: 'a failed transaction of operations that succeeded',
    change: (said) => {
      said.transactions[0].successful = false;
    },
  },
  {
    pair: 'L2',
    what: 'one operation failed',
    change: (said) => {
      said.operations[1].transaction_successful = false;
    },
  },
  {
    pair: 'L2',
    what: 'all operations failed, the transaction did not',
    change: (said) => {
      for (const one of said.operations) one.transaction_successful = false;
    },
  },
  {
    pair: 'L2',
    what: 'no word on it',
    change: (said) => {
      delete said.operations[0].transaction_successful;
    },
  },
];

test('found F20 G8 pairs of Stellar: whatever contradicts, nothing is proven', (t) =>
  contradict(t, 'L', xlmSaid, xlmRead, XLM));

test('9.4-4 records that pages repeat are read once, whatever links they came with', (t) => {
  const said = xlmSaid();
  said.operations.push({ ...said.operations[0], _links: { self: { href: 'another page' } } });
  said.effects.push(said.effects[0], said.effects[5]);
  const { transfers, unattributed } = xlmTransfersIn(
    stellar,
    { height: 7, hash: '', parentHash: '', parentHeight: 6, timeMs: null, raw: said },
    none,
  );
  t.deepEqual(
    transfers.map(({ amount }) => amount),
    [10_000_000n, 20_000_000n, 30_000_000n],
  );
  t.is(unattributed, undefined, 'nothing came beside them');
});

// ── Bitcoin ─────────────────────────────────────────────────────────────────────────────────────────────────────
const HEIGHT = 9,
  SCRIPT = `0014${'ab'.repeat(20)}`;

function btcSaid(): Json {
  const output = (n: number, value: string, hex = SCRIPT) => ({ n, value, scriptPubKey: { hex } });
  const tx = [
    { txid: '01'.repeat(32), vin: [{ coinbase: '00' }], vout: [output(0, '50.00000000')] },
    {
      txid: '02'.repeat(32),
      vin: [
        {
          txid: '03'.repeat(32),
          vout: 0,
          prevout: { value: '1.00000000', scriptPubKey: { hex: `0014${'cd'.repeat(20)}` } },
        },
      ],
      vout: [output(0, '0.50000000'), output(1, '0.49990000')],
      fee: '0.00010000',
    },
  ];
  const fields = {
    version: 1,
    previous: '04'.repeat(32),
    merkleRoot: merkleRoot(tx.map(({ txid }) => txid)),
    time: 1_700_000_000,
    bits: '1d00ffff',
    nonce: 5,
  };
  return structuredClone({
    asked: headerHash(fields),
    hash: headerHash(fields),
    height: HEIGHT,
    confirmations: 1,
    previousblockhash: fields.previous,
    merkleroot: fields.merkleRoot,
    time: fields.time,
    version: fields.version,
    bits: fields.bits,
    nonce: fields.nonce,
    tx,
  });
}
const btcRead = (said: Json) => {
  const block = unitOf(bitcoin, said, { height: HEIGHT, hash: said.asked });
  const [outcome] = outcomesIn(bitcoin, block, new Set(['02'.repeat(32)]));
  const { transfers } = btcTransfersIn(bitcoin, block, none);
  return transfers.length === 3 && outcome?.fee === 10_000n ? transfers : null;
};

const BTC: Contradiction<Json>[] = [
  ...['version', 'time', 'nonce'].map((field): Contradiction<Json> => ({
    pair: 'B1',
    what: `another ${field}`,
    change: (said) => {
      said[field] += 1;
    },
  })),
  {
    pair: 'B1',
    what: 'another parent',
    change: (said) => {
      said.previousblockhash = '05'.repeat(32);
    },
  },
  {
    pair: 'B1',
    what: 'other bits',
    change: (said) => {
      said.bits = '1d00fffe';
    },
  },
  { pair: 'B2', what: 'a transaction too few', change: (said) => said.tx.pop() },
  {
    pair: 'B2',
    what: 'no transactions',
    change: (said) => {
      said.tx = [];
    },
  },
  { pair: 'B2', what: 'transactions in another order', change: (said) => said.tx.reverse() },
  {
    pair: 'B2',
    what: 'another root',
    change: (said) => {
      said.merkleroot = '05'.repeat(32);
    },
  },
  {
    pair: 'B3',
    what: 'another height',
    change: (said) => {
      said.height = HEIGHT + 1;
    },
  },
  {
    pair: 'B3',
    what: 'another hash',
    change: (said) => {
      said.hash = '05'.repeat(32);
    },
  },
  {
    pair: 'B4',
    what: 'a stale block',
    change: (said) => {
      said.confirmations = -1;
    },
  },
  { pair: 'B5', what: 'outputs out of order', change: (said) => said.tx[1].vout.reverse() },
  { pair: 'B5', what: 'an output that is missing', change: (said) => said.tx[1].vout.shift() },
  {
    pair: 'B6',
    what: 'another fee',
    change: (said) => {
      said.tx[1].fee = '0.00020000';
    },
  },
  {
    pair: 'B6',
    what: 'more paid than spent',
    change: (said) => {
      said.tx[1].vout[0].value = '0.60000000';
    },
  },
  {
    pair: 'B6',
    what: 'another output',
    change: (said) => {
      delete said.tx[1].fee;
      said.tx[1].vout[0].value = '5.00000000';
    },
  },
  // The tree of an odd number repeats its last leaf, so that the root alone does not see it (CVE-2012-2459).
  {
    pair: 'B7',
    what: 'the same transaction twice under the same root',
    change: (said) => {
      const third = { ...said.tx[1], txid: '06'.repeat(32) };
      said.tx = [said.tx[0], said.tx[1], third];
      const fields = {
        version: 1,
        previous: said.previousblockhash,
        merkleRoot: merkleRoot(said.tx.map((one: Json) => one.txid)),
        time: said.time,
        bits: said.bits,
        nonce: said.nonce,
      };
      Object.assign(said, { merkleroot: fields.merkleRoot, hash: headerHash(fields), asked: headerHash(fields) });
      said.tx.push(third);
    },
  },
];

test('found F72 G8 pairs of Bitcoin: whatever contradicts, nothing is proven', (t) =>
  contradict(t, 'B', btcSaid, btcRead, BTC));
