/** payments S13, S15–S17: which address a payer is lent, and that unpaid ones cost neither capacity nor the gap. */
import test from 'ava';
import { unpaidMax } from '../../../actors/payment/open.ts';
import type { LentBefore } from '../../../model/account/payment.ts';
import { newId } from '../../../protocol/node/ids.ts';
import {
  adr,
  commands,
  enrolled,
  NOW_MS,
  OTHER_IDENTITY,
  pushedKey,
  rowsOf,
  type Taken,
  type TestAccount,
} from '../../support/account.ts';
import { linkRow } from '../../support/payment-rows.ts';

const account = () => enrolled({ plan: { tier: 'free', band: 'launch' } });

function opening(of: TestAccount, more: { earlier?: LentBefore; resting?: LentBefore; unpaidMax?: number } = {}) {
  const link = linkRow(of.state.accountId);
  return {
    type: 'open_payment' as const,
    link,
    payment: {
      id: newId('pay', NOW_MS),
      amount: null,
      customerEmail: null,
      customerName: null,
      language: null,
      payerKey: 'anyone',
      clientKey: null,
    },
    earlier: null,
    resting: null,
    addressId: adr(),
    ...more,
  };
}

/** What an opening lent, as it rests after its payment expired. */
function rests({ rows, reply }: Taken<'open_payment'>): LentBefore {
  const holder = rowsOf(rows, 'checkout_address').at(-1)!.row;
  return {
    address: { id: reply.addressId, address: reply.address, derivationPath: reply.derivationPath },
    holder,
    payment: { ...reply, status: 'expired' },
  };
}

test('payments S13, S16: 10,000 unpaid payments use as many indexes as may be unpaid, and no place of the plan', (t) => {
  const of = account(),
    limit = unpaidMax(of.state);
  const resting: LentBefore[] = [];
  const lent = new Set<string>();
  for (let nth = 0; nth < 10_000; nth += 1) {
    const [oldest] = resting;
    const taken = of.accept(opening(of, nth < limit || oldest === undefined ? {} : { resting: oldest }));
    of.rows.length = 0;
    of.history.length = 0;
    if (nth >= limit) resting.shift();
    t.is(taken.reply.addressReused, nth >= limit, `${nth}`);
    lent.add(taken.reply.address);
    resting.push(rests(taken));
  }
  t.is(lent.size, limit);
  t.is(of.state.indexes.evm, limit, 'the unused run is within its limit');
  t.is(of.state.activeAddresses, 0, 'capacity is untouched');
  t.is(of.state.unpaid.evm, limit);
  t.like(of.refused(opening(of)), { code: 'PAYMENT_SESSION_LIMIT_EXCEEDED', details: { scope: 'account', limit } });
});

test('payments S13: a deployment sets how many addresses of a family wait unpaid (CHECKOUT_UNPAID_MAX), whatever the plan', (t) => {
  const of = account();
  for (let nth = 0; nth < 3; nth += 1) of.accept(opening(of, { unpaidMax: 3 }));
  t.like(of.refused(opening(of, { unpaidMax: 3 })), {
    code: 'PAYMENT_SESSION_LIMIT_EXCEEDED',
    details: { scope: 'account', limit: 3 },
  });
  of.accept(opening(of, { unpaidMax: 4 }));
});

test('payments S13, S15: a resting address is lent on only at the limit; the payment before is written, so that a deposit that was read meanwhile is decided anew', (t) => {
  const of = account();
  const first = rests(of.accept(opening(of)));
  const fresh = of.accept(opening(of, { resting: first }));
  t.not(fresh.reply.address, first.address.address, 'below the limit an index that nobody ever saw');
  t.false(fresh.reply.addressReused);
  while ((of.state.unpaid.evm ?? 0) < unpaidMax(of.state)) of.accept(opening(of));
  const indexes = of.state.indexes.evm;
  const { reply, rows, events } = of.accept(opening(of, { resting: first }));
  t.is(reply.address, first.address.address);
  t.true(reply.addressReused);
  t.is(of.state.indexes.evm, indexes);
  t.false(events.some(({ type }) => type === 'address_issued'));
  const [before] = rowsOf(rows, 'payment').map(({ row }) => row);
  t.like(before, { id: first.payment!.id, version: first.payment!.version + 1, status: 'expired' });
  const holders = rowsOf(rows, 'checkout_address').map(({ row }) => row);
  t.like(holders, [
    { id: first.holder.id, releasedAtMs: NOW_MS },
    { paymentId: reply.id, reused: true, releasedAtMs: null },
  ]);
});

test('payments S17: an address of a retired identity is lent to nobody again', (t) => {
  const of = account();
  const first = rests(of.accept(opening(of)));
  while ((of.state.unpaid.evm ?? 0) < unpaidMax(of.state)) of.accept(opening(of));
  of.state = { ...of.state, retired: [{ fingerprint: 'f'.repeat(16), atMs: NOW_MS, next: { evm: 50 } }] };
  t.like(of.refused(opening(of, { resting: first })), { code: 'PAYMENT_SESSION_LIMIT_EXCEEDED' });
  t.like(of.refused(opening(of, { earlier: first })), { code: 'PAYMENT_SESSION_LIMIT_EXCEEDED' });
});

test('payments S17: an approved rotation expires what has no money in its own append, forgets the gap of before, and shared links get an address of the new identity', (t) => {
  const of = account();
  const lent = rests(of.accept(opening(of)));
  const link = linkRow(of.state.accountId, {
    mode: 'donation',
    addressMode: 'shared',
    addressId: lent.address.id,
    address: lent.address.address,
    derivationPath: lent.address.derivationPath,
  });
  t.like(of.refused({ type: 'relend_link', known: link, addressId: adr() }), { code: 'CONFLICT' });
  of.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] }));
  const { rows } = of.accept({
    type: 'decide_rotation',
    rotationId: of.state.rotation!.id,
    decision: 'approve',
    byUser: 'usr_1',
    addressIds: Array.from({ length: 40 }, adr),
  } as never);
  t.is(rowsOf(rows, 'payments_retired').length, 1);
  t.deepEqual(of.state.unpaid, {});
  t.false(of.accept(opening(of, { earlier: lent })).reply.addressReused, 'a payer gets a fresh one');
  const { reply, rows: more } = of.accept({ type: 'relend_link', known: link, addressId: adr() });
  t.not(reply.address, link.address);
  t.is(reply.version, 2);
  t.true(Number(/[0-9]+$/.exec(reply.derivationPath!)) >= of.state.retired[0]!.next.evm!);
  t.like(rowsOf(more, 'checkout_address')[0]!.row, { linkId: link.id, addressId: reply.addressId, paymentId: null });
  t.like(of.refused({ type: 'relend_link', known: reply, addressId: adr() }), { code: 'CONFLICT' });
});

test('payments S23: of who opened a payment that nobody paid nothing is kept when its address is lent on', (t) => {
  const of = account();
  const lent = rests(of.accept(opening(of)));
  const known = { ...lent.payment!, customerEmail: 'ada@example.com', customerName: 'Ada', clientKey: 'c' };
  const { rows } = of.accept(opening(of, { earlier: { ...lent, payment: known } }));
  const [before] = rowsOf(rows, 'payment').map(({ row }) => row);
  t.like(before, { id: known.id, customerEmail: null, customerName: null, payerKey: null, clientKey: null });
});
