/** Payers over the wire: sessions, donations, what transfers make of them, the clock. payments parts 2 and 4. */
import test from 'ava';
import { enrol, eventually, jsonOf, raw, startTestCloud, type RawAnswer } from '../support/gateway.ts';
import { DONATION, FIXED, merchant, payer } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9', POLYGON_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());

const LINKS = '/v1/payments/links';
const refusedAs = ({ json }: RawAnswer): string => json.error?.code ?? 'none';
const pay = payer(cloud);

async function shop() {
  const organization = await cloud.organization(),
    { sandbox } = organization;
  await enrol(cloud, sandbox);
  const ask = merchant(cloud, sandbox);
  await sandbox.client.must('createWebhook', {
    body: {
      url: 'http://localhost:9/hook',
      events: [
        'deposit_detected',
        'deposit_confirmed',
        'deposit_reversed',
        'payment_detected',
        'payment_confirmed',
        'payment_underpaid',
        'payment_late',
        'payment_reversed',
        'payment_unmatched',
        'payment_link_created',
        'payment_link_closed',
      ],
    },
  });
  const link = async (body: object) => {
    const made = await ask('POST', LINKS, body);
    if (made.status !== 201) throw new Error(made.text);
    return made.json.data;
  };
  return {
    ...organization,
    ask,
    link,
    linkOf: async (id: string) => (await ask('GET', `${LINKS}/${id}`)).json.data,
    /** Pays an address; `null` confirms nothing. */
    deposit: (address: string, amount: string, more: object = {}) =>
      sandbox.client.must('simulateDeposit', { body: { address, chain: 'eth', amount, ...more } as never }),
    confirm: (txid: string, confirmations = 12) =>
      sandbox.client.must('simulateConfirmation', { body: { chain: 'eth', txid, confirmations } }),
    /** Events in the order in which they were published, with their data. */
    told: async (): Promise<{ event: string; data: Record<string, any> }[]> =>
      (
        await cloud.database.owner<{ body: string }[]>`
          select body from publication where account_id = ${sandbox.accountId} order by seq`
      ).map(({ body }) => JSON.parse(body)),
  };
}
const open = (slug: string, body: object = {}, headers = {}) =>
  pay('POST', `/v1/checkout/links/${slug}/sessions`, body, headers);
const donate = (slug: string, body: object, headers = {}) =>
  pay('POST', `/v1/checkout/links/${slug}/donate`, body, headers);
const session = async (id: string) => (await pay('GET', `/v1/checkout/sessions/${id}`)).json.data;
const reaches = (id: string, status: string) =>
  eventually(
    `payment ${id} is ${status}`,
    () => session(id),
    (one) => one.status === status,
  );
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

/** What no server would take, or what shows as another address than it is. */
const NO_MAILBOXES = ['a\ud800@c.de', 'a<b>@c.de', 'a,b@c.de', 'a@c.de>', 'a\u202eb@c.de', 'a@c,d.de', 'a@[10.0.0.1]'];

test('payments S1, S2, S3, S12, S22: a fixed link has one payment at a time; a payer sees what is public and nothing else', async (t) => {
  const { ask, link, sandbox } = await shop();
  const made = await link({ ...FIXED, metadata: { secret: 'order' }, successUrl: 'https://shop.example/ok' });
  const shown = (await pay('GET', `/v1/checkout/links/${made.slug}`)).json.data;
  t.like(shown, { open: true, amount: '25', asset: 'USDC', network: 'Ethereum', emailRequired: false, address: null });
  t.is((await ask('GET', `${LINKS}/${made.id}`)).json.data.uses, 0, 'a look opens nothing');
  const first = await open(made.slug);
  t.is(first.status, 201, first.text);
  const { data } = first.json;
  t.like(data, { status: 'awaiting_payment', amount: '25', amountDue: '25', amountPaid: '0', amountRemaining: '25' });
  t.is(data.uri, null, 'a token has no link of a wallet: F24');
  t.is(Date.parse(data.expiresAt) - Date.parse(data.serverTime) > 3_590_000, true);
  const again = await open(made.slug, { name: 'Ada' });
  t.deepEqual([again.status, again.json.data.id, again.json.data.address], [200, data.id, data.address]);
  t.is((await session(data.id)).address, data.address);
  t.false(/secret|derivationPath|customerEmail|org_|m\/44/.test(first.text), first.text);
  t.is(refusedAs(await donate(made.slug, { email: 'ada@example.com' })), 'CONFLICT', 'the wrong door');
  t.is(refusedAs(await open('no-such-slug')), 'NOT_FOUND');
  t.is(refusedAs(await pay('GET', '/v1/checkout/sessions/pay_24pgoiqjq2dgpoqhm7nuhjd5zi')), 'NOT_FOUND');
  const [row] = await cloud.database.owner<{ active: number; unpaid: number }[]>`
    select (state ->> 'activeAddresses')::int as active, (state -> 'unpaid' ->> 'evm')::int as unpaid
      from account where account_id = ${sandbox.accountId}`;
  t.like(row, { active: 0, unpaid: 1 }, 'what is unpaid takes no place of the plan');
});

test('payments M1, M5, M7, V4, V6, S7, S8: a payment is seen, confirmed, told in order, and closes its link; amounts are exact', async (t) => {
  const { ask, link, linkOf, deposit, confirm, told } = await shop();
  const made = await link({ ...FIXED, successUrl: 'https://shop.example/ok', metadata: { order: '1001' } });
  const { id, address } = (await open(made.slug)).json.data;
  const short = await deposit(address, '24', { tokenContract: USDC });
  await reaches(id, 'underpaid');
  t.like(await session(id), { amountPaid: '24', amountRemaining: '1', amountConfirmed: '0', successUrl: null });
  await confirm(short.txid);
  const rest = await deposit(address, '1.5', { tokenContract: USDC });
  t.like(await reaches(id, 'detected'), { amountPaid: '25.5', amountOverpaid: '0.5' });
  t.is((await linkOf(made.id)).amountRaised, '24');
  t.like(await linkOf(made.id), { status: 'active', uses: 1, paymentCount: 0 });
  await confirm(rest.txid);
  const confirmed = await reaches(id, 'confirmed');
  t.like(confirmed, {
    amountConfirmed: '25.5',
    amountRemaining: '0',
    successUrl: `https://shop.example/ok?payment=${id}`,
  });
  t.is(confirmed.transfers.length, 2);
  t.like(await linkOf(made.id), {
    status: 'closed',
    closedReason: 'paid',
    amountRaised: '25.5',
    paymentCount: 1,
    uses: 1,
  });
  const events = await told();
  t.deepEqual(
    events.map(({ event }) => event),
    [
      'payment_link_created',
      'deposit_detected',
      'payment_detected',
      'deposit_confirmed',
      'payment_underpaid',
      'deposit_detected',
      'payment_detected',
      'deposit_confirmed',
      'payment_confirmed',
      'payment_link_closed',
    ],
  );
  t.like(events[8]!.data, {
    paymentId: id,
    linkId: made.id,
    createdVia: 'link',
    metadata: { order: '1001' },
    amountPaid: '25.5',
    amountRemaining: '0',
    asset: 'USDC',
    customerEmail: null,
    address,
  });
  t.like(events[1]!.data, { paymentId: id, linkId: made.id });
  const deliveries = (await ask('GET', '/v1/webhooks/deliveries?size=50')).json.data.content;
  t.deepEqual(
    deliveries.map((one: { event: string }) => one.event).sort(),
    events.map(({ event }) => event).sort(),
    'each is delivered once',
  );
  const list = (await ask('GET', `${LINKS}/${made.id}/payments`)).json.data;
  t.like(list.content[0], { id, status: 'confirmed', derivationPath: "m/44'/60'/0'/0/0", amountConfirmed: '25.5' });
  t.is((await ask('GET', `${LINKS}/${made.id}/payments?status=expired`)).json.data.totalElements, 0);
  t.is(refusedAs(await open(made.slug)), 'CONFLICT');
  const active = await cloud.database.owner<{ n: number; unpaid: number }[]>`
    select (state ->> 'activeAddresses')::int as n, (state -> 'unpaid' ->> 'evm')::int as unpaid
      from account a where exists (select from payment p where p.account_id = a.account_id and p.id = ${id})`;
  t.like(active[0], { n: 1, unpaid: 0 }, 'S16: from its first transfer on');
});

test('payments S22: the merchant lists payments of all links, unpaid ones only when asked for, and reads one by its id; nobody else does', async (t) => {
  const { ask, link, deposit } = await shop();
  const paid = await link({ ...FIXED, collectEmail: true, metadata: { order: '1001' } }),
    other = await link({ ...FIXED, title: 'Order 1002' });
  const first = (await open(paid.slug, { email: 'ada@example.com', name: 'Ada' })).json.data,
    unpaid = (await open(other.slug)).json.data;
  const { txid } = await deposit(first.address, '25', { tokenContract: USDC });
  await reaches(first.id, 'detected');
  const list = async (query = '') => (await ask('GET', `/v1/payments${query}`)).json.data;
  t.deepEqual(
    (await list()).content.map(({ id }: { id: string }) => id),
    [first.id],
  );
  t.like(await list('?status=awaiting_payment'), { totalElements: 1, content: [{ id: unpaid.id, linkId: other.id }] });
  t.is((await list('?status=expired')).totalElements, 0);
  const one = (await ask('GET', `/v1/payments/${first.id}`)).json.data;
  t.like(one, {
    linkId: paid.id,
    status: 'detected',
    customerEmail: 'ada@example.com',
    customerName: 'Ada',
    metadata: { order: '1001' },
    amountPaid: '25',
    transfers: [{ txid, amount: '25', late: false }],
  });
  t.deepEqual(one, (await list()).content[0]);
  t.is(refusedAs(await ask('GET', '/v1/payments/pay_24pgoiqjq2dgpoqhm7nuhjd5zi')), 'NOT_FOUND');
  t.is(refusedAs(await ask('GET', '/v1/payments/nothing')), 'NOT_FOUND');
  const { ask: another } = await shop();
  t.is(refusedAs(await another('GET', `/v1/payments/${first.id}`)), 'NOT_FOUND');
  t.is((await another('GET', '/v1/payments')).json.data.totalElements, 0);
});

test('payments M6, M8, S6: late money is told as late and adds to nothing; a reorg takes back what it gave and opens nothing', async (t) => {
  const { ask, link, linkOf, deposit, confirm, told, sandbox } = await shop();
  const made = await link(DONATION);
  const donor = (await donate(made.slug, { email: 'ada@example.com', amount: '2' })).json.data;
  t.regex(donor.uri, /^ethereum:0x[0-9a-fA-F]{40}@[0-9]+\?value=2000000000000000000$/);
  const { txid } = await deposit(donor.address, '2');
  await reaches(donor.id, 'detected');
  await confirm(txid);
  await reaches(donor.id, 'confirmed');
  t.like(await linkOf(made.id), { amountRaised: '2', paymentCount: 1, status: 'active' });
  await sandbox.client.must('simulateReorg', { body: { chain: 'eth', depth: 12 } });
  await eventually(
    'it is taken back',
    () => linkOf(made.id),
    ({ amountRaised }) => amountRaised === '0',
  );
  t.like(await linkOf(made.id), { paymentCount: 0, uses: 0 });
  t.true((await told()).some(({ event, data }) => event === 'payment_reversed' && data['paymentId'] === donor.id));
  await ask('POST', `${LINKS}/${made.id}/close`);
  t.is((await session(donor.id)).status, 'expired');
  const late = await deposit(donor.address, '3', { autoConfirm: true });
  t.like(await reaches(donor.id, 'late'), { amountPaid: '3', amountConfirmed: '0' });
  await eventually('it is told', told, (events) => events.some(({ event }) => event === 'payment_late'));
  t.like((await told()).find(({ event }) => event === 'payment_late')!.data, { txid: late.txid, late: true });
  t.like(await linkOf(made.id), { amountRaised: '0', paymentCount: 0, status: 'closed', closedReason: 'manual' });
});

test('payments S9, P11: a donation that reaches its threshold by confirmed money is closed; a further gift is a further payment', async (t) => {
  const { ask, link, linkOf, deposit } = await shop();
  const made = await link({ ...DONATION, thresholdAmount: '3' });
  const donor = (await donate(made.slug, { email: 'Ada@example.com' })).json.data;
  await deposit(donor.address, '1', { autoConfirm: true });
  await reaches(donor.id, 'confirmed');
  const again = await donate(made.slug, { email: 'ada@EXAMPLE.com' });
  t.is(again.status, 201, 'after a complete payment another is opened');
  t.not(again.json.data.id, donor.id);
  await deposit(donor.address, '2', { autoConfirm: true });
  await eventually(
    'the link is closed',
    () => linkOf(made.id),
    ({ status }) => status === 'closed',
  );
  t.like(await linkOf(made.id), { closedReason: 'threshold', amountRaised: '3', paymentCount: 2 });
  t.is((await session(again.json.data.id)).status, 'expired', 'what had no money expires with the closing');
  const { content } = (await ask('GET', `${LINKS}/${made.id}/payments`)).json.data;
  t.deepEqual(content.map((one: { amountPaid: string }) => one.amountPaid).sort(), ['1', '2']);
  t.true(content.every((one: { customerEmail: string }) => one.customerEmail === 'Ada@example.com'));
});

test('payments S4, S11: on a shared link each transfer is a payment; another asset or network is told and counted nowhere', async (t) => {
  const { ask, link, linkOf, deposit, told } = await shop();
  const made = await link({ ...DONATION, addressMode: 'shared' });
  const shown = await donate(made.slug, {});
  t.deepEqual([shown.status, shown.json.data.paymentId, shown.json.data.address], [200, null, made.address]);
  await deposit(made.address, '1', { autoConfirm: true });
  await deposit(made.address, '0.5', { autoConfirm: true });
  await eventually(
    'both count',
    () => linkOf(made.id),
    ({ paymentCount }) => paymentCount === 2,
  );
  t.is((await linkOf(made.id)).amountRaised, '1.5');
  const fixed = await link(FIXED);
  const { id, address } = (await open(fixed.slug)).json.data;
  await deposit(address, '1', { autoConfirm: true });
  await deposit(address, '1', { chain: 'polygon', autoConfirm: true });
  const both = await eventually('both are told', told, (events) =>
    ['wrong_asset', 'wrong_network'].every((reason) => events.some(({ data }) => data['reason'] === reason)),
  );
  t.is(both.filter(({ event }) => event === 'payment_unmatched').length, 2);
  t.like(await session(id), { status: 'awaiting_payment', amountPaid: '0' });
  t.deepEqual((await session(id)).notices.map((one: { reason: string }) => one.reason).sort(), [
    'wrong_asset',
    'wrong_network',
  ]);
  t.is((await ask('GET', `${LINKS}/${fixed.id}`)).json.data.status, 'active');
});

test('payments S1, S2, S5, E8, E9: what a payer may not is refused by name', async (t) => {
  const { ask, link, owner, id: organizationId } = await shop();
  const given = await link({ ...DONATION, minAmount: '1', maxAmount: '3', maxUses: 1 });
  for (const email of [
    undefined,
    'a',
    'a@b',
    'a b@c.de',
    'a@c.de\n',
    `${'x'.repeat(65)}@c.de`,
    'a@@c.de',
    ...NO_MAILBOXES,
  ])
    t.is(refusedAs(await donate(given.slug, { email })), 'INVALID_INPUT', String(email));
  const email = 'ada@example.com';
  for (const [amount, code] of [
    ['0.5', 'INVALID_AMOUNT'],
    ['4', 'INVALID_AMOUNT'],
    ['1e0', 'INVALID_AMOUNT'],
    [2, 'INVALID_INPUT'],
  ] as const)
    t.is(refusedAs(await donate(given.slug, { email, amount })), code, String(amount));
  t.is(refusedAs(await donate(given.slug, { email, surprise: 1 })), 'INVALID_INPUT');
  t.is(refusedAs(await open(given.slug, { email })), 'CONFLICT');
  t.is(refusedAs(await donate(given.slug, { email, identityFingerprint: '0'.repeat(16) })), 'MERCHANT_SCOPE_VIOLATION');
  const from = (origin: string) => donate(given.slug, { email }, { origin });
  for (const origin of ['https://thief.example', 'null']) {
    const answer = await from(origin);
    t.is(refusedAs(answer), 'ORIGIN_NOT_REGISTERED', origin);
    t.is(answer.headers.get('access-control-allow-origin'), null);
  }
  const token = await cloud.signIn(owner, { organizationId });
  const settings = await raw(cloud.url, 'PUT', '/v1/settings/payments', {
    headers: { authorization: `Bearer ${token}`, 'x-environment': 'sandbox', 'content-type': 'application/json' },
    body: JSON.stringify({ active: true, displayName: 'Ada & Co', origins: ['https://shop.example'] }),
  });
  t.is(settings.status, 200, settings.text);
  const registered = await from('https://shop.example');
  t.is(registered.status, 201, registered.text);
  t.is(registered.headers.get('access-control-allow-origin'), 'https://shop.example');
  t.is(registered.json.data.merchant.name, 'Ada & Co');
  for (let n = 0; n < 2; n += 1) t.is((await donate(given.slug, { email })).status, 200, 'the same payer');
  await ask('POST', `${LINKS}/${given.id}/pause`);
  t.like((await donate(given.slug, { email: 'bob@example.com' })).json.error, {
    code: 'CONFLICT',
    details: { reason: 'paused' },
  });
  await ask('POST', `${LINKS}/${given.id}/close`);
  t.like((await donate(given.slug, { email })).json.error, { code: 'CONFLICT', details: { reason: 'closed' } });
});

test('payments P13, F16: a used link takes no new payment; a double click opens one', async (t) => {
  const { link, deposit, linkOf } = await shop();
  const made = await link({ ...DONATION, maxUses: 1 });
  const clicks = await Promise.all(Array.from({ length: 8 }, () => donate(made.slug, { email: 'ada@example.com' })));
  t.deepEqual(
    [...new Set(clicks.map(({ json }) => json.data?.id))].length,
    1,
    clicks.map(({ text }) => text).join('\n'),
  );
  const { id, address } = clicks[0]!.json.data;
  await deposit(address, '1');
  await reaches(id, 'detected');
  t.is((await linkOf(made.id)).uses, 1);
  t.like((await donate(made.slug, { email: 'bob@example.com' })).json.error, {
    code: 'CONFLICT',
    details: { reason: 'max_uses' },
  });
});

test('payments P12, S12, S13: the date closes a link, time ends a payment, and who comes back has the same address', async (t) => {
  const { link, linkOf, told } = await shop();
  const made = await link({
    ...DONATION,
    thresholdAmount: null,
    closesAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  t.is((await donate(made.slug, { email: 'ada@example.com' })).status, 201);
  // Its date comes now: on a slow machine one that is seconds ahead passes before somebody pays.
  await cloud.database.owner`update payment_link set closes_at = now() where id = ${made.id}`;
  await eventually(
    'its date closes it',
    () => linkOf(made.id),
    ({ status }) => status === 'closed',
  );
  t.is((await linkOf(made.id)).closedReason, 'date');
  t.is((await told()).filter(({ event }) => event === 'payment_link_closed').length, 1);
  t.like((await donate(made.slug, { email: 'bob@example.com' })).json.error, {
    code: 'CONFLICT',
    details: { reason: 'closed' },
  });
  const fixed = await link(FIXED);
  const first = (await open(fixed.slug)).json.data;
  await cloud.database.owner`update payment set expires_at = now() - interval '1 second' where id = ${first.id}`;
  t.is((await session(first.id)).status, 'expired');
  await eventually(
    'the clock says so too',
    () => cloud.database.owner<{ status: string }[]>`select status from payment where id = ${first.id}`,
    ([row]) => row?.status === 'expired',
  );
  const second = (await open(fixed.slug)).json.data;
  t.not(second.id, first.id);
  t.is(second.address, first.address, 'never paid, so it is lent to the same payer again');
});

test('payments P23: readiness has a row for each checkout chain, with its minimum and what is open', async (t) => {
  const { ask, link, sandbox } = await shop();
  const made = await link(FIXED);
  await open(made.slug);
  const { content } = (await ask('GET', '/v1/payments/readiness')).json.data;
  t.is(content.length, 7);
  const of = (chain: string) => content.find((one: { chain: string }) => one.chain === chain);
  t.like(of('eth'), {
    ready: true,
    reason: null,
    asset: 'ETH',
    threshold: 12,
    unpaidAddresses: { open: 1, resting: 0 },
  });
  t.true(Number(of('eth').nativeMinimum) > 0 && Number(of('eth').estimatedSweepFee) > 0);
  t.deepEqual(of('eth').tokens.find((one: { symbol: string }) => one.symbol === 'USDC').minimum, '10');
  t.like(of('btc'), { ready: false, reason: 'not_ready', nativeMinimum: null, estimatedSweepFee: null });
  await sandbox.client.must('simulateChainDown', { body: { chain: 'base', seconds: 60 } });
  const { content: later } = (await ask('GET', '/v1/payments/readiness')).json.data;
  t.is(later.find((one: { chain: string }) => one.chain === 'eth').ready, true);
});

test('payments S18: readiness has the gap limit that a restored wallet needs, by what was paid', async (t) => {
  const { ask, link, sandbox } = await shop();
  const needed = async (chain: string) => {
    const { content } = (await ask('GET', '/v1/payments/readiness')).json.data;
    return content.find((one: { chain: string }) => one.chain === chain).gapLimitNeeded;
  };
  t.is(await needed('eth'), 20, 'nothing was issued');
  const addresses: string[] = [];
  for (let nth = 0; nth < 4; nth += 1)
    addresses.push((await open((await link({ ...FIXED, title: `order ${nth}` })).slug)).json.data.address);
  t.is(await needed('eth'), 24);
  t.is(await needed('base'), 24, 'one key of all EVM networks');
  t.is(await needed('btc'), 20);
  await sandbox.client.must('simulateDeposit', { body: { chain: 'eth', address: addresses[1]!, amount: '0.1' } });
  await eventually(
    'two behind the one that was paid',
    () => needed('eth'),
    (now) => now === 22,
  );
});

test('payments P22: a fee that rose refuses only a payment that would not pay its own sweep', async (t) => {
  const { link } = await shop();
  const made = await link({ mode: 'fixed', chain: 'eth', asset: 'ETH', amount: '1' });
  /** As a link that was made while a transfer cost less. */
  const ask = (wei: string) =>
    cloud.database.owner.unsafe(`alter table payment_link disable trigger payment_link_immutable;
      update payment_link set amount = ${wei} where id = '${made.id}';
      alter table payment_link enable trigger payment_link_immutable`);
  await ask('1');
  const { error } = (await open(made.slug)).json;
  t.like(error, { code: 'INVALID_AMOUNT', details: { reason: 'below_fee', chain: 'eth', asset: 'ETH' } });
  await ask(`${BigInt(Math.round(Number(error!.details['minimum']) * 1e9))}000000000`);
  t.is((await open(made.slug)).status, 201, 'a tenth of what a new link would have to ask');
});

test('payments S20: openings of one client are counted, in live strictly, and say when to come again', async (t) => {
  const limited = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
  try {
    let last: RawAnswer | null = null;
    for (let n = 0; n < 40; n += 1) {
      last = await raw(limited.url, 'GET', `/v1/checkout/links/nothing-${n}`);
      if (last.status === 429) break;
    }
    t.is(last!.status, 429);
    t.true(Number(last!.headers.get('retry-after')) > 0);
  } finally {
    await limited.stop();
  }
  t.truthy(jsonOf);
});
