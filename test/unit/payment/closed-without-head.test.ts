/** A link that was closed while no head of its ledger could be read. payments M6. */
import test from 'ava';
import type { Fact, SeenTransfer } from '../../../model/rows/inbox.ts';
import type { TransferRole } from '../../../model/rows/payment.ts';
import { dep, rowsOf } from '../../support/account.ts';
import { CheckoutStory } from '../../support/checkout-story.ts';

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

test('payments M6, F31: the height of another network does not decide what is late on the network of a closed link', (t) => {
  const story = new CheckoutStory({
    mode: 'donation',
    addressMode: 'per_payer',
    minAmount: null,
    thresholdAmount: 1_000n,
    toleranceBps: 0,
  });
  story.step({ kind: 'open' } as never);
  story.step({ kind: 'close' } as never);
  story.store.links.set(story.link.id, { ...story.link, closedAtHeight: null });
  const address = story.addresses[0]!;
  let serial = 0;
  const arrives = (chain: 'eth' | 'polygon', height: number, heads: Record<string, number>): TransferRole => {
    const deposit: SeenTransfer = {
      ledger: chain,
      chain,
      txid: `0x${(serial += 1)}`,
      outputIndex: 0,
      addressId: address.id,
      address: address.address,
      amount: '50',
      decimals: 6,
      tokenContract: USDC,
      tokenSymbol: 'USDC',
      chainTag: null,
      from: ['0x00000000000000000000000000000000000000AA'],
      activates: false,
      threshold: 12,
      confirmations: 1,
      height,
      blockHash: `0xb${height}`,
    };
    const { rows } = story.account.accept({
      type: 'apply_facts',
      inbox: [{ id: String(serial), accountId: address.accountId, fact: { kind: 'seen', deposit } as Fact }],
      deposits: [],
      withdrawals: [],
      addresses: story.addresses,
      depositIds: [dep()],
      checkout: story.store.read([address.id], [], heads),
    });
    story.store.write(rows);
    return rowsOf(rows, 'payment_transfer')[0]!.row.role;
  };
  t.is(arrives('polygon', 70_000_000, { polygon: 70_000_000 }), 'wrong_network');
  t.is(story.link.closedAtHeight, null);
  t.is(arrives('eth', 200, { eth: 200, polygon: 70_000_100 }), 'counted', 'the first head that was read');
  t.is(story.link.closedAtHeight, 200);
  t.is(arrives('eth', 201, { eth: 201 }), 'late');
});
