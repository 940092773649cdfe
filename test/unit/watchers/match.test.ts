import test from 'ava';
import { type ChainModule, MalformedReply, type Transfer } from '../../../chains/chain.ts';
import { keyed, matchTransfers } from '../../../chain-watchers/follow/match.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import type { WatchedAddress } from '../../../model/ports/watch-store.ts';
import { simulatedModule as module, simulatedNetwork as network } from '../../support/simulated-chain.ts';
import { ACCOUNT } from '../../support/watching.ts';

const block = { height: 7, hash: 'h7' };
const transfer = (partial: Partial<Transfer> = {}): Transfer => ({
  txid: 'tx1',
  outputIndex: 0,
  to: '@a',
  amount: 5n,
  decimals: 18,
  tokenContract: null,
  tokenSymbol: 'ETH',
  tag: null,
  from: ['@x'],
  ...partial,
});
const keyedOf = (...transfers: Transfer[]) => keyed(module as ChainModule, network, 'live', block, transfers);
const address = (text: string, partial: Partial<WatchedAddress> = {}): WatchedAddress => ({
  addressKey: addressKeyOf('live', 'evm', Buffer.from(text)),
  addressId: `adr_${text}`,
  accountId: ACCOUNT,
  address: text,
  purpose: 'deposit',
  ...partial,
});
const watchedOf = (...addresses: WatchedAddress[]) => new Map(addresses.map((one) => [one.addressKey, one]));
const context = { ledger: 'eth', network, only: null } as const;

test('C1-2 N payments in one transaction are N facts, whatever the transaction was sent to', (t) => {
  const facts = matchTransfers(
    context,
    keyedOf(transfer(), transfer({ outputIndex: 1, to: '@b' }), transfer({ outputIndex: 2 })),
    watchedOf(address('@a'), address('@b')),
  );
  t.deepEqual(
    facts.map(({ outputIndex, address: to }) => [outputIndex, to]),
    [
      [0, '@a'],
      [1, '@b'],
      [2, '@a'],
    ],
  );
});

test('C2-21 a movement that the node tells twice is one fact; two movements under one key are a fault', (t) => {
  t.is(keyedOf(transfer(), transfer()).transfers.length, 1);
  t.throws(() => keyedOf(transfer(), transfer({ amount: 6n })), { instanceOf: MalformedReply });
  t.throws(() => keyedOf(transfer(), transfer({ tokenContract: '@t' })), { instanceOf: MalformedReply });
});

test('G6 the whole address is compared on a hit, not its key alone', (t) => {
  const forged = address('@a', { address: '@other' });
  t.deepEqual(matchTransfers(context, keyedOf(transfer()), watchedOf(forged)), []);
  t.is(matchTransfers(context, keyedOf(transfer()), watchedOf(address('@a'))).length, 1);
});

test("G20 G21 gas tank and treasury are not customers'; senders and input addresses go along for the account to judge", (t) => {
  for (const purpose of ['gas_tank', 'treasury'] as const) {
    t.deepEqual(matchTransfers(context, keyedOf(transfer()), watchedOf(address('@a', { purpose }))), []);
  }
  t.deepEqual(
    matchTransfers(context, keyedOf(transfer({ from: ['@tank', '@a'] })), watchedOf(address('@a')))[0]!.from,
    ['@tank', '@a'],
    'G21',
  );
});

test('G22 a zero amount and a payee that is no address are nothing', (t) => {
  t.is(keyedOf(transfer({ amount: 0n }), transfer({ outputIndex: 1, to: 'not an address' })).transfers.length, 0);
});

test('a sandbox ledger pays its own account only', (t) => {
  const only = 'org_other_sandbox' as const;
  t.deepEqual(matchTransfers({ ...context, only }, keyedOf(transfer()), watchedOf(address('@a'))), []);
  t.is(
    matchTransfers({ ...context, only }, keyedOf(transfer()), watchedOf(address('@a', { accountId: only }))).length,
    1,
  );
});

test('G18 a fact is seen at one confirmation and carries its own threshold (B3)', (t) => {
  const [plain, coinbase] = matchTransfers(
    context,
    keyedOf(transfer(), transfer({ txid: 'tx2', threshold: 101 })),
    watchedOf(address('@a')),
  );
  t.like(plain, { confirmations: 1, threshold: 4, height: 7, blockHash: 'h7', amount: '5' });
  t.like(coinbase, { confirmations: 1, threshold: 101 });
});

test('the address key is a uuid of SHA-256(environment ‖ family ‖ bytes), apart per environment', (t) => {
  const key = addressKeyOf('live', 'evm', Buffer.from('00112233', 'hex'));
  t.regex(key, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  t.is(
    new Set([
      key,
      addressKeyOf('sandbox', 'evm', Buffer.from('00112233', 'hex')),
      addressKeyOf('live', 'xrp', Buffer.from('00112233', 'hex')),
    ]).size,
    3,
  );
});
