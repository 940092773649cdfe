/** A command line's code is approved in a real browser. Ecosystem X28. */
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { accessibility, openBrowser, visit } from '../support/browser/browser.ts';
import { hasCome, signIn } from '../support/browser/console.ts';
import { startTestCloud } from '../support/gateway.ts';

const [cloud, browser] = await Promise.all([startTestCloud(), openBrowser()]);
test.after.always(async () => {
  await browser.close();
  await cloud.stop();
});

test('ecosystem X28 the code of a command line is typed at /console/device, and the sandbox stands first', async (t) => {
  const { owner } = await cloud.organization();
  const begun = await createClient({ baseUrl: cloud.url }).must('askDevice', { body: {} });
  const { page, context } = await visit(browser, cloud.url);
  await page.goto('/console/device');
  await signIn(page, owner);
  await page.goto('/console/device');
  await hasCome(page);
  t.deepEqual(await accessibility(page), []);
  t.is(await page.getByLabel('Environment').inputValue(), 'sandbox');
  await page.getByLabel('Code').fill(begun.userCode);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Approved: the command line has its key').waitFor();
  const taken = await createClient({ baseUrl: cloud.url }).must('takeDeviceKey', {
    body: { deviceCode: begun.deviceCode },
  });
  t.regex(taken.key!, /^flk_test_/);
  await context.close();
});
