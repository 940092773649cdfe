import test from 'ava';
import { catalogueOf } from '../../chains/catalogue.ts';
import { transactionPage } from '../../gateway/pages/explorer.ts';
import { enrol, eventually, raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());
const pathOf = (url: string): string => new URL(url).pathname;

test('found F44: explorerUrl of a sandbox transaction leads to a page that shows transaction, block and confirmations, without a credential', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  const { address } = await client.must('createAddress', { body: { chain: 'base', userRef: 'u' } });
  const { txid, height } = await client.must('simulateDeposit', { body: { chain: 'base', address, amount: '1.5' } });
  const [record] = (
    await eventually(
      'it is detected',
      () => client.must('listTransactions'),
      ({ content }) => content.length === 1,
    )
  ).content;
  const path = pathOf(record!.explorerUrl!);
  t.is(path, `/sandbox/explorer/base/${txid}`);
  const page = await raw(cloud.url, 'GET', path);
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  for (const shown of [txid, address, '1.5 ETH', `<b>${height}</b>`, '<b>1</b> of 12', 'Waiting for confirmations'])
    t.true(page.text.includes(shown), shown);
  const policy = page.headers.get('content-security-policy')!;
  t.regex(policy, /^default-src 'none'; style-src 'self';/);
  t.false(/unsafe|script-src|\*/.test(policy));
  t.deepEqual(
    ['x-content-type-options', 'referrer-policy', 'cache-control'].map((name) => page.headers.get(name)),
    ['nosniff', 'no-referrer', 'no-store'],
  );
  t.false(
    /<script|<style|style=|onload=|https?:/i.test(page.text),
    'nothing that the policy forbids, and nothing from elsewhere',
  );
  const [, style] = /<link rel="stylesheet" href="([^"]+)">/.exec(page.text)!;
  t.is((await raw(cloud.url, 'GET', style!)).headers.get('content-type'), 'text/css; charset=utf-8');
  await client.must('simulateConfirmation', { body: { chain: 'base', txid, confirmations: 12 } });
  const confirmed = (await raw(cloud.url, 'GET', path)).text;
  for (const shown of ['<b>12</b> of 12', '>Confirmed<']) t.true(confirmed.includes(shown), shown);
  await client.must('simulateReorg', { body: { chain: 'base', depth: 12 } });
  t.is((await raw(cloud.url, 'GET', path)).status, 404, 'its block is gone');
});

test('found F44: what no sandbox holds is 404 in the same page, whatever the path says', async (t) => {
  for (const path of [
    'eth/0x00',
    'doge/0x00',
    'eth/%3Cscript%3E',
    `eth/${'a'.repeat(129)}`,
    'eth/..%2f..%2fdocs',
    "eth/'%20or%201=1",
  ]) {
    const { status, text, headers } = await raw(cloud.url, 'GET', `/sandbox/explorer/${path}`);
    t.is(status, 404, path);
    if (!headers.get('content-type')!.startsWith('text/html')) continue;
    t.regex(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    t.false(text.includes('script') || text.includes('or 1=1'), path);
  }
});

test('found F44: whoever simulated it writes no markup into the page; a failed transaction and a token say what they are', (t) => {
  const evil = '"><img src=x onerror=alert(1)>`\'&';
  const page = transactionPage(
    'eth',
    {
      height: 7,
      hash: evil,
      timeMs: 0,
      headHeight: 7,
      threshold: 12,
      transaction: {
        txid: evil,
        success: false,
        reason: evil,
        fee: '21000',
        from: evil,
        nonce: 3,
        transfers: [
          { outputIndex: 0, to: evil, amount: '5', tokenContract: evil },
          { outputIndex: 1, to: 'x', amount: '1230000', tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' },
        ],
      },
    },
    catalogueOf('eth'),
  );
  t.false(page.includes('<img') || page.includes(evil));
  for (const shown of ['>Failed<', '5 units of', '1.23 USDC', 'none of these moved'])
    t.true(page.includes(shown), shown);
});
