/**
 * Node text that is none: whatever one value of a block's answers becomes, it is no fault of ours and credits nobody
 * else.
 */
import test from 'ava';
import fc from 'fast-check';
import {
  ChainUnavailable,
  MalformedReply,
  type Catalogue,
  type Network,
  type Token,
  type Transfer,
} from '../../../../chains/chain.ts';
import { addressOfHex } from '../../../../chains/evm/address.ts';
import { blockFromAnswers } from '../../../../chains/evm/block.ts';
import type { EvmRaw } from '../../../../chains/evm/raw.ts';
import { base, eth, polygon } from '../../../../chains/evm/network.ts';
import { outcomesIn, transfersIn } from '../../../../chains/evm/transfers.ts';
import {
  addressOf,
  answersOf,
  topicOf,
  transferLog,
  txidOf,
  wordOf,
  type TransactionPlan,
} from '../../../support/evm-blocks.ts';

const [payer, shop, other, wallet] = [0xa11ce, 0x5a09, 0xb0b, 0x5afe].map(addressOf) as [
  string,
  string,
  string,
  string,
];
const PLAIN = addressOfHex('dac17f958d2ee523a2206206994597c13d831ec7'),
  KEEPS = addressOfHex('55d398326f99059ff775485246999027b3197955');
const token = (contract: string): Token => ({ chain: 'eth', contract, symbol: 'TKN', decimals: 6 });
const catalogue: Catalogue = new Map([
  [PLAIN, token(PLAIN)],
  [KEEPS, { ...token(KEEPS), feeOnTransfer: true }],
]);
const { emitter, topic } = polygon.nativeTransferLog!;

const plan: TransactionPlan = {
  from: payer,
  to: wallet,
  value: 10n,
  logs: [
    transferLog(PLAIN, payer, shop, 1n),
    transferLog(KEEPS, payer, shop, 5n),
    {
      address: emitter,
      topics: [topic, topicOf(emitter), topicOf(wallet), topicOf(shop)],
      data: `${wordOf(4n)}${'0'.repeat(256)}`,
    },
  ],
};
const hash = txidOf(plan),
  { block, receipts } = answersOf(100, [plan]);
const withdrawals = [{ index: '0x1', address: other, amount: '0x5' }];
const received = { [`${KEEPS.toLowerCase()} ${shop}`]: '4' };
const TREE = [
  {
    txHash: hash,
    result: {
      type: 'CALL',
      from: payer,
      to: wallet,
      value: '0xa',
      calls: [
        { type: 'CALL', from: wallet, to: shop, value: '0x4', calls: [{ type: 'STATICCALL', from: shop, to: other }] },
        { type: 'CALL', from: wallet, to: addressOf(4), value: '0x1' },
      ],
    },
  },
];
const FLAT = [
  {
    type: 'call',
    action: { callType: 'call', from: payer, to: wallet, value: '0xa' },
    traceAddress: [],
    transactionHash: hash,
  },
  {
    type: 'call',
    action: { callType: 'call', from: wallet, to: shop, value: '0x4' },
    traceAddress: [0],
    transactionHash: hash,
  },
  {
    type: 'create',
    action: { from: wallet, value: '0x3' },
    result: { address: other },
    traceAddress: [1],
    transactionHash: hash,
  },
  {
    type: 'suicide',
    action: { address: other, refundAddress: shop, balance: '0x3' },
    traceAddress: [1, 0],
    transactionHash: hash,
  },
];

interface Said {
  block: object;
  receipts: object[];
  traces?: object[];
  received: object;
}
const UNITS: readonly { network: Network; said: Said }[] = [
  { network: eth, said: { block: { ...block, withdrawals }, receipts, traces: TREE, received } },
  { network: eth, said: { block, receipts, traces: FLAT, received } },
  { network: polygon, said: { block, receipts, received } },
  { network: base, said: { block, receipts: receipts.map((one) => ({ ...one, l1Fee: '0x1' })), received } },
];

function read(network: Network, { received: grown, ...answers }: Said): readonly Transfer[] {
  const unit = blockFromAnswers(network, answers);
  const whole = { ...unit, raw: { ...unit.raw, received: grown as NonNullable<EvmRaw['received']> } };
  outcomesIn(network, whole, new Set([hash]));
  return transfersIn(network, whole, catalogue).transfers;
}

/** Every place in a value, as its path. */
function placesIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[key], ...placesIn(inner).map((path) => [key, ...path])]);
}

function withPlace(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(value)) return value.map((one, i) => (String(i) === key ? withPlace(one, rest, put) : one));
  return { ...(value as object), [key]: withPlace((value as Record<string, unknown>)[key], rest, put) };
}

const garbage = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    true,
    7,
    -1,
    1.5,
    '',
    '0x',
    '0X1',
    '0xg',
    '0x-1',
    '-1',
    ' 0x1',
    '1n',
    '0x 1',
    '0x1.5',
    'latest',
    {},
    [],
    [null],
    [{}],
    [[]],
  ),
  fc.string({ maxLength: 70 }),
  fc.string({ maxLength: 64 }).map((text) => `0x${text}`),
  fc.string({ minLength: 64, maxLength: 64 }).map((text) => `0x${text}`),
  fc.string({ minLength: 40, maxLength: 40 }).map((text) => `0x${text}`),
  fc.string({ minLength: 40, maxLength: 40 }).map((text) => `0x${'0'.repeat(24)}${text}`),
);

test("G8 C1-4 property: one value of a block's answers that is garbage is a malformed reply, an unproven block, or without meaning", (t) => {
  const ours = new Set([payer, shop, other, wallet].map(addressOfHex));
  for (const { network, said } of UNITS) {
    t.true(read(network, said).length > 2);
    const places = placesIn(said).filter(([part]) => part !== 'received'); // that is our own sum
    t.notThrows(() =>
      fc.assert(
        fc.property(fc.constantFrom(...places), garbage, (place, put) => {
          try {
            return read(network, withPlace(said, place, put) as Said).every(
              ({ to, from, amount }) => [to, ...from].every((one) => ours.has(one)) && amount >= 0n,
            );
          } catch (error) {
            if (error instanceof ChainUnavailable || error instanceof MalformedReply) return true;
            throw new Error(`${place.join('.')}: ${String(error)}`, { cause: error });
          }
        }),
        { numRuns: 1_500 },
      ),
    );
  }
});

test("G8 C1-4 each value of a block's answers that is of another kind is a malformed reply, an unproven block, or without meaning", (t) => {
  const kinds = [undefined, null, true, 7, '', 'latest', {}, [], [null], ['call'], [['0xa']]];
  for (const { network, said } of UNITS) {
    for (const place of placesIn(said).filter(([part]) => part !== 'received')) {
      for (const put of kinds) {
        try {
          read(network, withPlace(said, place, put) as Said);
        } catch (error) {
          const known = error instanceof ChainUnavailable || error instanceof MalformedReply;
          t.true(known, `${place.join('.')} as ${JSON.stringify(put)}: ${String(error)}`);
        }
      }
    }
  }
});
