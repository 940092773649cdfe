/** The hosted pay page over the wire: what it says in each state, and what it refuses. payments part 5. */
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { PAY_POLICY } from '../../gateway/pages/pay/serve.ts';
import { enrol, eventually, raw, startTestCloud } from '../support/gateway.ts';
import { DONATION, FIXED, merchant } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9', POLYGON_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());

async function shop() {
  const organization = await cloud.organization(),
    { sandbox } = organization;
  await enrol(cloud, sandbox);
  const ask = merchant(cloud, sandbox);
  return {
    ...organization,
    ask,
    link: async (body: object) => {
      const made = await ask('POST', '/v1/payments/links', body);
      if (made.status !== 201) throw new Error(made.text);
      return made.json.data;
    },
  };
}
const get = (path: string, headers = {}) => raw(cloud.url, 'GET', path, { headers });
const post = (path: string, fields: Record<string, string> = {}, headers = {}) =>
  raw(cloud.url, 'POST', path, {
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  });
const hidden = (page: string, part: string): boolean => new RegExp(`data-part="${part}"[^>]* hidden`).test(page);

test('payments H1, H2, S19: a link opens by its form alone; a look opens nothing; the payment is followed to its end', async (t) => {
  const { link, sandbox } = await shop();
  const { slug, id } = await link({
    ...FIXED,
    description: 'Two lines\nof <b>text</b>',
    successUrl: 'https://shop.example/thanks',
  });
  const first = await get(`/pay/${slug}`);
  t.is(first.status, 200);
  t.regex(first.text, /<form method="post"/);
  t.false(first.text.includes('0x'), 'no address before somebody asks for one');
  t.true(first.text.includes('&#60;b&#62;'));
  t.is((await cloud.database.owner`select from payment where link_id = ${id}`).length, 0);
  const opened = await post(`/pay/${slug}`);
  t.is(opened.status, 303);
  const path = opened.headers.get('location')!;
  t.regex(path, new RegExp(`^/pay/${slug}/pay_[a-z2-7]{26}\\?lang=en$`));
  t.is((await post(`/pay/${slug}`)).headers.get('location'), path, 'F16: again is the same payment');
  const waiting = await get(path);
  t.regex(waiting.text, /Send only USDC on Ethereum/);
  t.regex(waiting.text, /http-equiv="refresh" content="20"/, 'F39: it follows without scripts');
  t.false(hidden(waiting.text, 'ask'));
  t.true(hidden(waiting.text, 'wallet'), 'F24: no link that a wallet could misread');
  const address = /data-copy="(0x[0-9A-Fa-f]{40})"/.exec(waiting.text)![1]!;
  t.is(
    /<bdi dir="ltr" class="address">(.*?)<\/bdi>/.exec(waiting.text)![1]!.replace(/<[^>]+>/g, ''),
    address,
    'F30: whole',
  );
  const page = gzipSync(waiting.text).length;
  t.true(page <= 14_336, `H17: ${page} bytes`);
  const { txid } = (await sandbox.client.must('simulateDeposit', {
    body: { address, chain: 'eth', amount: '25', tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' } as never,
  })) as { txid: string };
  const now = async () =>
    (await get(path.replace('?', '/now?'))).json as never as {
      status: string;
      transfers: { text: string }[];
      shop: string | null;
      parts: string[];
    };
  const seen = await eventually('it is seen', now, ({ status }) => status === 'detected');
  t.regex(seen.transfers[0]!.text, /1 of 12 confirmations/);
  t.regex(seen.shop!, /^https:\/\/shop\.example\/thanks\?payment=pay_/);
  await sandbox.client.must('simulateConfirmation', { body: { chain: 'eth', txid, confirmations: 12 } });
  await eventually('it is confirmed', now, ({ status }) => status === 'confirmed');
  const paid = await get(path);
  t.true(hidden(paid.text, 'ask'), 'nobody pays twice');
  t.false(paid.text.includes('http-equiv="refresh"'));
  t.regex((await get(`/pay/${slug}`)).text, /This link was paid/);
});

test('payments H12, H17, T7, F45: every answer has the policy, is indexed by nobody and kept by nobody; assets are named by their content', async (t) => {
  const { link } = await shop();
  const { slug } = await link(FIXED);
  const path = (await post(`/pay/${slug}`)).headers.get('location')!;
  for (const one of [
    `/pay/${slug}`,
    path,
    path.replace('?', '/now?'),
    '/pay/nobody-has-this',
    `/pay/${slug}/pay_aaaaaaaaaaaaaaaaaaaaaaaaaa`,
  ]) {
    const { headers } = await get(one);
    t.is(headers.get('content-security-policy'), PAY_POLICY, one);
    t.is(headers.get('x-robots-tag'), 'noindex, nofollow');
    t.is(headers.get('cache-control'), 'no-store');
    t.is(headers.get('referrer-policy'), 'no-referrer');
    t.is(headers.get('set-cookie'), null);
  }
  const { text } = await get(path);
  t.false(/<script(?![^>]* src=)|<style|style="| on[a-z]+=/.test(text), 'nothing inline');
  const assets = [...text.matchAll(/(?:href|src)="(\/pay\/assets\/[^"]+)"/g)].map(([, name]) => name!);
  t.is(assets.length, 3, 'H17: four requests');
  for (const name of assets) {
    const { status, headers, text: body } = await get(name);
    t.is(status, 200);
    t.regex(headers.get('cache-control')!, /immutable/);
    t.true(gzipSync(body).length <= (name.endsWith('.css') ? 8_192 : 12_288), `H17: ${name}`);
  }
  for (const url of text.match(/(?:href|src|action)="[^"#]*"/g) ?? [])
    t.regex(url, /="(?:\/pay\/|ethereum:)/, 'F49: no other origin');
});

test('payments S22, T11, P7: an unknown slug, a payment of another link and a malformed one are the same page', async (t) => {
  const { link } = await shop();
  const [one, other] = [await link(FIXED), await link(FIXED)];
  const path = (await post(`/pay/${one.slug}`)).headers.get('location')!;
  const strange = [
    await get('/pay/nobody-has-this'),
    await get('/pay/UPPER%20case'),
    await get(path.replace(one.slug, other.slug)),
    await get(`/pay/${one.slug}/pay_aaaaaaaaaaaaaaaaaaaaaaaaaa`),
  ];
  for (const { status, text } of strange) {
    t.is(status, 404);
    t.is(text, strange[0]!.text);
  }
});

test('payments H1, S1, S5: a form of another site opens nothing; what is missing is said on the form, with what was entered', async (t) => {
  const { link, ask } = await shop();
  const donation = await link({ ...DONATION, minAmount: '0.5' });
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site' },
  ])
    t.is(
      (await post(`/pay/${donation.slug}`, { email: 'ada@example.com' }, headers)).status,
      403,
      JSON.stringify(headers),
    );
  const missing = await post(`/pay/${donation.slug}`, { name: 'Ada "<b>"' });
  t.is(missing.status, 400);
  t.regex(missing.text, /Please enter an e-mail address/);
  t.true(missing.text.includes('value="Ada &#34;&#60;b&#62;&#34;"'));
  const small = await post(`/pay/${donation.slug}`, { email: 'ada@example.com', amount: '0.1' });
  t.regex(small.text, /Please enter an amount/);
  t.regex(small.text, /value="ada@example.com"/);
  const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
  t.is(
    (await post(`/pay/${donation.slug}`, { email: 'ada@example.com', name: phrase })).status,
    400,
    'a phrase is kept nowhere',
  );
  t.is((await cloud.database.owner`select from payment where link_id = ${donation.id}`).length, 0);
  const own = await post(
    `/pay/${donation.slug}`,
    { email: 'ada@example.com', amount: '0.75', lang: 'ar' },
    { origin: cloud.url, 'sec-fetch-site': 'same-origin' },
  );
  t.is(own.status, 303);
  const page = await get(own.headers.get('location')!);
  t.regex(page.text, /<html lang="ar" dir="rtl">/);
  t.regex(page.text, /href="ethereum:0x[0-9A-Fa-f]{40}@[0-9]+\?value=750000000000000000"/);
  t.is((await ask('POST', `/v1/payments/links/${donation.id}/pause`)).status, 200);
  t.regex((await get(`/pay/${donation.slug}`)).text, /This link is paused/);
  t.false((await get(`/pay/${donation.slug}`)).text.includes('<form'));
});
