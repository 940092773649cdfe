/** What a form of a link sends, and how far a payment is, in words. payments P3, P4, S6, console C9. */
import test from 'ava';
import {
  asksFor,
  bpsOf,
  changesOf,
  fieldTime,
  newLinkOf,
  percentOf,
  percentTextOf,
  settingsOf,
  stepsOfPayment,
  type Link,
  type Payment,
} from '../../../console/pages/payment-words.ts';

const LINK = {
  mode: 'donation',
  asset: 'ETH',
  amount: null,
  title: 'Help',
  description: null,
  successUrl: null,
  collectEmail: false,
  minAmount: '0.1',
  maxAmount: null,
  thresholdAmount: '5',
  closesAt: '2026-12-24T18:00:31.000Z',
  maxUses: null,
  metadata: { b: 1, a: 2 },
  status: 'active',
} as unknown as Link;
const FORM = {
  title: 'Help',
  description: '',
  successUrl: '',
  minAmount: '0.1',
  maxAmount: '',
  thresholdAmount: '5',
  closesAt: fieldTime(LINK.closesAt),
  maxUses: '',
  metadata: JSON.stringify(LINK.metadata, null, 2),
};

test('payments P1, console C9: a form of a new link sends what was filled in, as it was typed, and refuses by itself only what is no JSON and no date', (t) => {
  const values = {
    mode: 'fixed',
    chain: 'eth',
    asset: 'USDC',
    amount: ' 25.10 ',
    title: '',
    metadata: '{"b":1,"a":2}',
  };
  t.deepEqual(newLinkOf(values), {
    mode: 'fixed',
    chain: 'eth',
    asset: 'USDC',
    amount: '25.10',
    metadata: { b: 1, a: 2 },
  });
  t.deepEqual(
    newLinkOf({ ...FORM, ...{ mode: 'donation', chain: 'btc', asset: 'BTC', maxUses: '3', collectEmail: 'on' } }),
    {
      mode: 'donation',
      chain: 'btc',
      asset: 'BTC',
      title: 'Help',
      minAmount: '0.1',
      thresholdAmount: '5',
      closesAt: '2026-12-24T18:00:00.000Z',
      maxUses: 3,
      collectEmail: true,
      metadata: { b: 1, a: 2 },
    },
  );
  for (const metadata of ['{', '[1]', '"x"', 'null', '1'])
    t.like(newLinkOf({ ...values, metadata }), { code: 'INVALID_INPUT', details: { field: 'metadata' } }, metadata);
  t.like(newLinkOf({ ...values, closesAt: 'soon' }), { code: 'INVALID_INPUT', details: { field: 'closesAt' } });
});

test('payments P3, P4: a change sends the fields that changed and no others; of a closed link four at most', (t) => {
  t.deepEqual(changesOf(FORM, LINK), {}, 'a date of the form has no seconds: it did not change');
  t.deepEqual(changesOf({ ...FORM, title: '', maxAmount: '2', thresholdAmount: '', collectEmail: 'on' }, LINK), {
    title: null,
    maxAmount: '2',
    thresholdAmount: null,
    collectEmail: true,
  });
  t.deepEqual(changesOf({ ...FORM, metadata: '' }, LINK), { metadata: {} });
  const closed = { ...LINK, status: 'closed', collectEmail: true } as Link;
  const { title, successUrl, metadata } = FORM;
  t.deepEqual(changesOf({ title, description: 'Thanks', successUrl, metadata }, closed), { description: 'Thanks' });
});

test('payments S6, S7: the stations of a payment say what is missing, what is too much, and what counts nowhere', (t) => {
  const transfer = { txid: '0x1', amount: '24', confirmations: 3, threshold: 12, status: 'detected', late: false };
  const payment = (status: string, more: object = {}) =>
    stepsOfPayment({
      status,
      asset: 'USDC',
      amountRemaining: '0',
      amountOverpaid: '0',
      transfers: [transfer],
      ...more,
    } as unknown as Payment);
  const said = (steps: ReturnType<typeof payment>) =>
    steps.map(([name, note, state]) => `${name} ${state} ${note ?? ''}`);
  t.deepEqual(said(payment('awaiting_payment', { transfers: [] })).slice(1), [
    'Seen now Waiting for money',
    'Confirming later ',
    'Confirmed later ',
  ]);
  t.deepEqual(said(payment('detected', { amountOverpaid: '0.5' })).slice(1), [
    'Seen done 0.5 USDC too much',
    'Confirming now 3 of 12 confirmations',
    'Confirmed later ',
  ]);
  t.deepEqual(
    said(payment('confirmed', { transfers: [{ ...transfer, status: 'confirmed', confirmations: 40 }] })).slice(2),
    ['Confirming done 12 of 12 confirmations', 'Confirmed done Fulfil the order'],
  );
  t.regex(said(payment('underpaid', { amountRemaining: '1' }))[1]!, /^Underpaid now 1 USDC is missing/);
  t.regex(said(payment('late'))[1]!, /^Came late bad /);
  t.regex(said(payment('expired', { transfers: [] }))[1]!, /^Expired now .*still counts/);
});

test('payments M7, P24, S7: sums are shares by whole numbers, and a tolerance is percents without rounding', (t) => {
  t.is(percentOf('0', '25', 6), 0);
  t.is(percentOf('24.999999', '25', 6), 99);
  t.is(percentOf('26', '25', 6), 100);
  t.is(percentOf('340282366920938463463374607431768211455', '340282366920938463463374607431768211456', 0), 99);
  for (const [percent, bps] of [
    ['0', 0],
    ['0.5', 50],
    ['0,05', 5],
    ['5', 500],
    ['4.29', 429],
  ] as const) {
    t.is(bpsOf(percent), bps);
    t.is(bpsOf(percentTextOf(bps)), bps);
  }
  for (const wrong of ['', '-1', '0.005', '1e1', 'x']) t.like(bpsOf(wrong), { code: 'INVALID_INPUT' }, wrong);
  t.deepEqual(
    settingsOf({ active: 'on', displayName: 'Ada', origins: 'https://a.example\n  https://b.example\n' }).origins,
    ['https://a.example', 'https://b.example'],
  );
  t.is(asksFor({ ...LINK, maxAmount: null }), '0.1 ETH or more');
  t.is(asksFor({ ...LINK, minAmount: null, maxAmount: null }), 'Any amount of ETH');
  t.is(asksFor({ ...LINK, mode: 'fixed', amount: '1234.5' }), '1,234.5 ETH');
});
