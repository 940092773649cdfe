/** What the pay page shows, without a server: codes, amounts, the countdown, languages and markup. payments part 5. */
import test from 'ava';
import fc from 'fast-check';
import { Interface } from 'ethers';
import { encode } from 'uqr';
import { attribute, escaped, shown } from '../../../gateway/pages/pay/html.ts';
import { modelOf, qrTextOf, type Session } from '../../../gateway/pages/pay/model.ts';
import { paymentPage } from '../../../gateway/pages/pay/page.ts';
import { qrOf } from '../../../gateway/pages/pay/qr.ts';
import { formatAmount } from '../../../protocol/money.ts';
import { directionOf, LANGUAGES, languageOf, sayIn, type Language } from '../../../gateway/pages/pay/words.ts';

const ALL = Object.keys(LANGUAGES) as Language[];
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const session = (more: Partial<Session> = {}): Session =>
  ({
    id: 'pay_1' as Session['id'],
    paymentId: 'pay_1' as Session['paymentId'],
    status: 'awaiting_payment',
    link: { slug: 'a', mode: 'fixed', title: 'T', description: null },
    merchant: { name: 'M', supportEmail: null, supportUrl: null },
    chain: 'eth',
    network: 'Ethereum',
    asset: 'USDC',
    tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    decimals: 6,
    address: ADDRESS,
    amount: '1234567.05',
    amountDue: '1234567.05',
    amountPaid: '0',
    amountConfirmed: '0',
    amountRemaining: '1234567.05',
    amountOverpaid: '0',
    amountShort: '0',
    transfers: [],
    notices: [],
    uri: null,
    expiresAt: '2026-01-01T00:10:00.000Z',
    serverTime: '2026-01-01T00:00:00.000Z',
    successUrl: null,
    ...more,
  }) as Session;

test('payments H4: the code of a token is its address alone; of bitcoin in capitals where that means the same', (t) => {
  t.is(qrTextOf(session()), ADDRESS);
  const bech32 = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
  t.is(
    qrTextOf({ address: bech32, uri: `bitcoin:${bech32}?amount=0.1` }),
    `BITCOIN:${bech32.toUpperCase()}?amount=0.1`,
  );
  const old = 'bitcoin:1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2?amount=0.1';
  t.is(qrTextOf({ address: '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', uri: old }), old, 'capitals would be another address');
  const native = `ethereum:${ADDRESS}@1?value=1`;
  t.is(qrTextOf({ address: ADDRESS, uri: native }), native);
});

test('payments H4: the drawn modules are those of the text, with four of margin on each side', (t) => {
  const { size, path } = qrOf(ADDRESS),
    { data } = encode(ADDRESS, { ecc: 'M', border: 4 });
  t.is(size, data.length);
  const dark = new Set<string>();
  for (const [, x, y, width] of path.matchAll(/M(\d+)[ ,](\d+)h(\d+)/g))
    for (let at = 0; at < Number(width); at += 1) dark.add(`${Number(x) + at},${y}`);
  t.true(dark.size > 200);
  data.forEach((row, y) => row.forEach((isDark, x) => void (isDark !== dark.has(`${x},${y}`) && t.fail(`${x},${y}`))));
});

test('payments H6: amounts have a dot, no grouping and all digits in every language', (t) => {
  for (const language of ALL) {
    const { send, amount } = modelOf(session(), sayIn(language), 'live');
    t.is(amount, '1234567.05');
    t.true(send.includes('1234567.05'), `${language}: ${send}`);
    const short = modelOf(session({ status: 'underpaid', amountRemaining: '0.000001' }), sayIn(language), 'live');
    t.true(short.send.includes('0.000001'), `${language}: ${short.send}`);
  }
});

test("payments H8: the countdown is by the server's clock, never below zero, and only while a payment is waited for", (t) => {
  const say = sayIn('en');
  t.is(modelOf(session(), say, 'live').endsInMs, 600_000);
  t.is(modelOf(session({ serverTime: '2026-01-01T00:11:00.000Z' }), say, 'live').endsInMs, 0);
  t.is(modelOf(session({ status: 'detected' }), say, 'live').endsInMs, null);
  t.is(modelOf(session({ expiresAt: null }), say, 'live').endsInMs, null);
});

test('payments H13: what people wrote is text, in content and attributes, and turns nothing around', (t) => {
  t.is(escaped(`<img src=x onerror="a('b')">&\``), '&#60;img src=x onerror=&#34;a(&#39;b&#39;)&#34;&#62;&#38;&#96;');
  t.is(shown('\u202e0x\u2066a\u200bb\ufeff'), '0xab');
  t.is(shown('می\u200cخواهم'), 'می\u200cخواهم', 'joiners stay');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      t.notRegex(escaped(text), /[<>"'`]|[\u202a-\u202e\u2066-\u2069]|&(?!#\d+;)/);
      t.regex(attribute('x', text), /^ x="[^"<>]*"$/);
    }),
  );
  t.is(attribute('x', null), '');
});

test('payments H15: twenty languages have every word with its places; asked, payment, browser and merchant in this order', (t) => {
  t.is(ALL.length, 20);
  const placesOf = (text: string) => [...text.matchAll(/\{[a-z]+\}/g)].map(([place]) => place).sort();
  for (const language of ALL)
    for (const [word, text] of Object.entries(LANGUAGES.en)) {
      const own = LANGUAGES[language][word as keyof typeof LANGUAGES.en];
      t.true(own.trim().length > 0, `${language}.${word}`);
      t.deepEqual(placesOf(own), placesOf(text), `${language}.${word}`);
    }
  t.deepEqual(
    ALL.filter((language) => directionOf(language) === 'rtl'),
    ['ar', 'he', 'fa'],
  );
  const asked = { lang: 'xx', payment: null, accepted: 'nl;q=0.2, zh-TW, de;q=0', merchant: 'fr' };
  t.is(languageOf({ ...asked, lang: 'pt-BR' }), 'pt');
  t.is(languageOf({ ...asked, payment: 'ja' }), 'ja');
  t.is(languageOf(asked), 'zh-Hans');
  t.is(languageOf({ ...asked, accepted: 'de;q=0, constructor, __proto__' }), 'fr');
  t.is(languageOf({ ...asked, accepted: undefined, merchant: null }), 'en');
});

test('payments H10, F23, F31: a wallet of the browser is asked for exactly what the page asks for, on the network that it names; never in a sandbox, never for what has no amount', (t) => {
  const say = sayIn('en'),
    call = (more: Partial<Session>, environment: 'live' | 'sandbox' = 'live') =>
      modelOf(session(more), say, environment).call;
  const erc20 = new Interface(['function transfer(address to, uint256 amount)']);
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 128n - 1n }), (units) => {
      const amount = formatAmount(units, 6),
        asked = call({ amount, amountRemaining: amount })!;
      const [to, value] = erc20.decodeFunctionData('transfer', asked.data!) as unknown as [string, bigint];
      return asked.to === session().tokenContract && asked.value === '0x0' && to === ADDRESS && value === units;
    }),
    { seed: 20_261_130, numRuns: 200 },
  );
  const native = { tokenContract: null, decimals: 18, asset: 'POL', chain: 'polygon' as const, amount: '1.5' };
  t.deepEqual(call(native), { chainId: '0x89', to: ADDRESS, value: '0x14d1120d7b160000' });
  t.like(call({ ...native, status: 'underpaid', amountRemaining: '0.5' }), { value: '0x6f05b59d3b20000' });
  t.is(call(native, 'sandbox'), null);
  for (const more of [{ amount: null }, { status: 'confirmed' }, { status: 'expired' }, { chain: 'tron' }] as const)
    t.is(call({ ...native, ...more }), null, JSON.stringify(more));
});

test('payments H9, S10: bitcoin says before it is paid how long it takes; what is too much, short or late names whom to ask, and offers nothing back', (t) => {
  const say = sayIn('en'),
    reader = { language: 'en', say, environment: 'live', frame: null } as const;
  t.true(modelOf(session({ chain: 'btc', tokenContract: null }), say, 'live').parts.includes('wait'));
  for (const more of [{ chain: 'eth' }, { chain: 'btc', status: 'detected' }] as const)
    t.false(modelOf(session(more), say, 'live').parts.includes('wait'));
  const merchant = { name: 'M', supportEmail: 'help@shop.example', supportUrl: null };
  for (const more of [
    { status: 'confirmed', amountOverpaid: '5' },
    { status: 'late' },
    { status: 'underpaid', amountRemaining: '1' },
  ] as const) {
    const page = paymentPage(session({ merchant, ...more }), '/pay/a/pay_1', reader);
    t.true(page.includes('href="mailto:help@shop.example"'), more.status);
    t.false(/<input|<form/.test(page), 'no field for an address of the payer');
  }
  const over = paymentPage(session({ merchant, status: 'confirmed', amountOverpaid: '5' }), '/pay/a/pay_1', reader);
  t.true(over.includes('5 USDC too much arrived'));
});
