import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { bloomOf, doubtOfLogs } from '../../../../chains/evm/bloom.ts';
import { blockFromAnswers } from '../../../../chains/evm/block.ts';
import type { RawReceipt } from '../../../../chains/evm/raw.ts';
import { eth } from '../../../../chains/evm/network.ts';
import { addressOf, answersOf, transferLog, type TransactionPlan } from '../../../support/evm-blocks.ts';

const USDT = addressOf(0xdac17fn);
const plans: TransactionPlan[] = [
  { from: addressOf(1), to: addressOf(2), value: 1n },
  { from: addressOf(3), to: USDT, logs: [transferLog(USDT, addressOf(3), addressOf(4), 5n)] },
  {
    from: addressOf(5),
    to: addressOf(6),
    logs: [{ address: addressOf(6), topics: [`0x${'7'.repeat(64)}`], data: '0x' }],
  },
];
const { block, receipts } = blockFromAnswers(eth, { ...answersOf(5, plans) }).raw;
const without = (change: (receipt: RawReceipt, index: number) => RawReceipt) => receipts.map(change);

test('V5 the bloom of every recorded receipt is that of its logs', (t) => {
  let checked = 0;
  for (const file of [
    'eth/block_18000000',
    'polygon/block_50000000',
    'bsc/tx_usd_6',
    'base/tx_usd_3',
    'eth/tx_poisoning_1',
  ]) {
    const { result } = JSON.parse(
      readFileSync(new URL(`../../../vectors/nodes/evm/${file}.receipts.json`, import.meta.url), 'utf8'),
    );
    for (const { logs, logsBloom } of result as RawReceipt[]) {
      t.is(`0x${Buffer.from(bloomOf(logs)).toString('hex')}`, logsBloom!);
      checked++;
    }
  }
  t.true(checked > 30);
});

test('V5 whole logs are proven, with and without blooms of the receipts', (t) => {
  t.is(doubtOfLogs(block.logsBloom, receipts, [USDT]), null);
  t.is(
    doubtOfLogs(
      block.logsBloom,
      without(({ logsBloom: _bloom, ...receipt }) => receipt),
      [USDT],
    ),
    null,
  );
});

test('V5 C1-6 G8 empty or partial logs, empty blooms and a missing header bloom are doubted', (t) => {
  const zero = `0x${'0'.repeat(512)}`;
  t.truthy(
    doubtOfLogs(
      block.logsBloom,
      without((receipt) => ({ ...receipt, logs: [] })),
      [USDT],
    ),
    'logs gone',
  );
  t.truthy(
    doubtOfLogs(
      block.logsBloom,
      without((receipt) => ({ ...receipt, logs: [], logsBloom: zero })),
      [USDT],
    ),
    'logs and blooms gone',
  );
  t.truthy(
    doubtOfLogs(
      block.logsBloom,
      without(({ logsBloom: _bloom, ...receipt }, i) => (i === 1 ? { ...receipt, logs: [] } : receipt)),
      [USDT],
    ),
  );
  t.truthy(doubtOfLogs(undefined, receipts, [USDT]));
  t.truthy(doubtOfLogs('0x', receipts, [USDT]));
});

test("V5 property: no token transfer that its receipt's bloom shows can be taken out of it unnoticed, beside others of its token or not", (t) => {
  const planned = fc.array(
    fc.array(fc.record({ contract: fc.integer({ min: 1, max: 4 }), to: fc.integer({ min: 1, max: 1_000_000 }) }), {
      maxLength: 5,
    }),
    { minLength: 1, maxLength: 5 },
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(planned, fc.nat(), fc.nat(), (lists, which, at) => {
        const many = lists.map((list, nonce) => ({
          from: addressOf(9),
          to: addressOf(8),
          nonce,
          logs: list.map(({ contract, to }) =>
            transferLog(addressOf(contract * 7919), addressOf(9), addressOf(to), 1n),
          ),
        }));
        const raw = blockFromAnswers(eth, { ...answersOf(6, many) }).raw;
        const tokens = [1, 2, 3, 4].map((contract) => addressOf(contract * 7919));
        t.is(doubtOfLogs(raw.block.logsBloom, raw.receipts, tokens), null);
        const { logs } = raw.receipts[which % raw.receipts.length]!;
        fc.pre(logs.length > 0);
        const gone = logs[at % logs.length]!;
        const left = logs.filter((log) => log !== gone);
        // A bloom cannot show what others of its receipt set too: the same payment twice, or its token and its payee
        // apart.
        fc.pre(Buffer.compare(bloomOf(left), bloomOf(logs)) !== 0);
        const cut = raw.receipts.map((receipt) => (receipt.logs === logs ? { ...receipt, logs: left } : receipt));
        t.truthy(doubtOfLogs(raw.block.logsBloom, cut, tokens));
      }),
    ),
  );
});
