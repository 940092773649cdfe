import test from 'ava';
import { MalformedReply } from '../../../chains/chain.ts';
import { balanceOf as btcBalance } from '../../../chains/btc/balance.ts';
import { balanceOf as solBalance, tokenBalanceOf as solToken } from '../../../chains/sol/balance.ts';
import { balanceOf as tronBalance } from '../../../chains/tron/balance.ts';
import { balanceOf as xlmBalance } from '../../../chains/xlm/balance.ts';
import { accountOfRecord } from '../../../chains/xlm/ledger-account.ts';
import { balanceOf as xrpBalance, tokenBalanceOf as xrpToken } from '../../../chains/xrp/balance.ts';
import type { Answer } from '../../../chains/node-answer.ts';
import { answer, expectedCases, vector } from '../../support/vectors.ts';

const parts = ({
  amount,
  reserved,
  available,
  accountExists,
}: {
  amount: bigint;
  reserved: bigint;
  available: bigint;
  accountExists: boolean;
}) => [amount, reserved, available, accountExists];

test('M23 xlm/account: every balance of the recorded account', (t) => {
  const [expected] = expectedCases('xlm').filter(({ balances }) => balances !== undefined);
  const record = answer(expected!.files[0]!) as Answer,
    account = accountOfRecord(record);
  const [native] = expected!.balances as {
    amount: string;
    reserved: string;
    available: string;
    trustlines: { asset: string; amount: string }[];
  }[];
  t.deepEqual(parts(xlmBalance(account, 5_000_000n, null)), [
    BigInt(native!.amount),
    BigInt(native!.reserved),
    BigInt(native!.available),
    true,
  ]);
  for (const { asset, amount } of native!.trustlines) {
    const token = { chain: 'xlm', contract: asset, symbol: 'X', decimals: 7 } as const;
    t.deepEqual(parts(xlmBalance(account, 5_000_000n, token)), [BigInt(amount), 0n, BigInt(amount), true], asset);
  }
  const missing = {
    chain: 'xlm',
    contract: 'USDC:GDVSYYTUAJ3ACHTPQNSTQBDQ4LDHQCMNY4FCEQH5TJUMSSLWQSTG42MV',
    symbol: 'USDC',
    decimals: 7,
  } as const;
  t.deepEqual(parts(xlmBalance(account, 5_000_000n, missing)), [0n, 0n, 0n, false]);
  t.deepEqual(parts(xlmBalance(null, 5_000_000n, null)), [0n, 0n, 0n, false]);
  t.throws(() => accountOfRecord({ ...record, balances: [] }), { instanceOf: MalformedReply });
  t.throws(() => accountOfRecord({}), { instanceOf: MalformedReply });
});

test('R24 C8-64 xrp: reserves come from the ledger; less than the reserve leaves nothing available', (t) => {
  const reserves = { base: 1_000_000n, increment: 200_000n };
  t.deepEqual(parts(xrpBalance({ Balance: '2000000', OwnerCount: 3 }, reserves)), [
    2_000_000n,
    1_600_000n,
    400_000n,
    true,
  ]);
  t.deepEqual(parts(xrpBalance({ Balance: '900000', OwnerCount: 0 }, reserves)), [900_000n, 1_000_000n, 0n, true]);
  t.deepEqual(parts(xrpBalance(null, reserves)), [0n, 0n, 0n, false]);
  for (const account of [{}, { Balance: '1' }, { Balance: 'x', OwnerCount: 0 }])
    t.throws(() => xrpBalance(account, reserves), { instanceOf: MalformedReply });
});

test('R10 R12 xrp: an issued balance is that of the line with its issuer', (t) => {
  const { lines } = vector<{ cases: { response: { result?: { lines?: Answer[] } } }[] }>(
    'nodes/xrp/rpc_shapes.json',
  ).cases.flatMap(({ response }) =>
    response.result?.lines === undefined ? [] : [{ lines: response.result.lines }],
  )[0]!;
  for (const { currency, account, balance } of lines as unknown as {
    currency: string;
    account: string;
    balance: string;
  }[]) {
    t.is(xrpToken(lines, currency, account).amount > 0n, /^[0-9.]*[1-9]/.test(balance), `${currency} ${balance}`);
  }
  const { currency } = lines[0] as { currency: string };
  t.deepEqual(parts(xrpToken(lines, currency, 'rrrrrrrrrrrrrrrrrrrrBZbvji')), [0n, 0n, 0n, false]);
  t.deepEqual(parts(xrpToken([{ account: 'i', currency: 'USD', balance: '-5' }], 'USD', 'i')), [0n, 0n, 0n, true]);
  t.throws(() => xrpToken([{ account: 'i', currency: 'USD', balance: 'x' }], 'USD', 'i'), {
    instanceOf: MalformedReply,
  });
});

test('6.2 G8 tron: an empty object is an account that does not exist, anything else without an address is none', (t) => {
  t.deepEqual(parts(tronBalance({})), [0n, 0n, 0n, false]);
  t.deepEqual(parts(tronBalance({ address: '41' })), [0n, 0n, 0n, true]);
  t.deepEqual(parts(tronBalance({ address: '41', balance: '9007199254740993' })), [
    9_007_199_254_740_993n,
    0n,
    9_007_199_254_740_993n,
    true,
  ]);
  t.throws(() => tronBalance({ Error: 'x' }), { instanceOf: MalformedReply });
});

test('L28 sol: the rent-exempt minimum is reserved while the account exists; tokens sum over accounts', (t) => {
  t.deepEqual(parts(solBalance({ lamports: 1_000_000n, rentExempt: 890_880n })), [
    1_000_000n,
    890_880n,
    109_120n,
    true,
  ]);
  t.deepEqual(parts(solBalance({ lamports: 5n, rentExempt: 890_880n })), [5n, 890_880n, 0n, true]);
  t.deepEqual(parts(solBalance({ lamports: null, rentExempt: 890_880n })), [0n, 0n, 0n, false]);
  const holdings = [
    { amount: 3n, spendable: true },
    { amount: 4n, spendable: true },
    { amount: 5n, spendable: false },
  ];
  t.deepEqual(parts(solToken(holdings, 6)), [12n, 5n, 7n, true], 'what cannot be sent is reserved');
  t.deepEqual(parts(solToken([], 6)), [0n, 0n, 0n, false]);
});

test('B2 B3 btc: unconfirmed outputs are no balance; an immature coinbase is reserved', (t) => {
  const outputs = [
    { amount: 5n, confirmations: 0, coinbase: false },
    { amount: 7n, confirmations: 1, coinbase: false },
    { amount: 11n, confirmations: 100, coinbase: true },
    { amount: 13n, confirmations: 101, coinbase: true },
  ];
  t.deepEqual(parts(btcBalance(outputs)), [31n, 11n, 20n, true]);
  t.deepEqual(parts(btcBalance([])), [0n, 0n, 0n, true]);
});
