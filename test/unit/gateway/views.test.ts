import test from 'ava';
import { addressView, transactionView } from '../../../gateway/http/views.ts';
import type { TransactionView } from '../../../model/ports/transaction-view.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import { CHAINS, FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';

const row = (chain: Chain): AddressRow => ({
  id: 'adr_1',
  accountId: 'org_1_live',
  chain,
  family: FAMILY_OF[chain],
  address: 'a',
  addressKey: '',
  derivationPath: 'm/0',
  purpose: 'deposit',
  index: 0,
  userRef: null,
  tag: null,
  label: null,
  status: 'active',
  createdAtMs: 0,
});

const never = () => false;

test('§2.3 `reserveDrops` is the published minimum first deposit of an `xlm` address, and nobody else has it', (t) => {
  t.is(addressView({ retired: [] }, row('xlm'), never).reserveDrops, '10000000');
  for (const chain of CHAINS.filter((other) => other !== 'xlm'))
    t.false('reserveDrops' in addressView({ retired: [] }, row(chain), never), chain);
});

test('found F70: a record says where each signed version is: sent, at a node, in a block, or replaced', (t) => {
  const record = (more: Partial<TransactionView>): TransactionView => ({
    id: 'txn_1',
    direction: 'out',
    kind: 'withdrawal',
    role: null,
    operationId: null,
    chain: 'eth',
    status: 'broadcast',
    txid: 'b',
    outputIndex: null,
    address: 'a',
    counterparty: 'c',
    amount: 1n,
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    userRef: null,
    tag: null,
    chainTag: null,
    height: null,
    blockHash: null,
    confirmations: 0,
    threshold: 12,
    incarnation: null,
    fee: null,
    failure: null,
    versions: [],
    createdAtMs: 0,
    updatedAtMs: 0,
    ...more,
  });
  const a = { txid: 'a', doubtful: true, taken: true } as const,
    b = { txid: 'b' } as const;
  const placesOf = (more: Partial<TransactionView>) =>
    transactionView('https://cloud.example', 'org_1_live', record(more)).versions.map(({ at }) => at);
  for (const [more, places] of [
    [{ direction: 'in', versions: [] }, []],
    [{ status: 'signing', versions: [{ ...b, taken: false }] }, ['signed']],
    [{ status: 'signing', versions: [{ ...b, taken: false, doubtful: true }] }, ['submitted']],
    [{ versions: [a] }, ['node']],
    [{ versions: [a, { ...b, taken: false }] }, ['node', 'signed']],
    [{ versions: [a, { ...b, taken: false, doubtful: true }] }, ['node', 'submitted']],
    [{ versions: [a, { ...b, taken: true }] }, ['replaced', 'node']],
    [{ versions: [a, { ...b, taken: true }], height: 7, txid: 'a', status: 'confirming' }, ['block', 'replaced']],
    [{ versions: [{ txid: 'a', doubtful: true }] }, ['node']], // from before it was kept
  ] satisfies [Partial<TransactionView>, string[]][])
    t.deepEqual(placesOf(more), places, JSON.stringify(more));
});
