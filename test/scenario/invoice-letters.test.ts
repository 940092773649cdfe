/** A cloud that dies between the append of an invoice and its letter: the payer gets one, and its link works. */
import test from 'ava';
import { CONFIRMATIONS, openCompany, patiently } from '../support/company.ts';
import { mailbox } from '../support/letters.ts';

test('payments I2, I5: killed before and after the link of a letter was made, a node sends it all the same, with the number of before and the link that works', async (t) => {
  t.timeout(600_000);
  const letters = mailbox();
  const company = await openCompany({
    cloudEnv: { MAIL_DIR: letters.directory, FLOCK_FAILPOINTS: 'kill:mint_invoice_link.before:1' },
  });
  try {
    const { client, deployment, sql, accountId } = company;
    const link = await client.must('createPaymentLink', {
      body: { mode: 'fixed', chain: 'eth', asset: 'ETH', amount: '1', collectEmail: true },
    });
    const opened = await patiently('a payment is open', async () => {
      const answer = await fetch(`${deployment.cloudUrl}/v1/checkout/links/${link.slug}/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.com', lang: 'fr' }),
      });
      return ((await answer.json()) as { data: { address: string } }).data;
    });
    await company.pay(opened.address, 10n ** 18n);
    await company.mine(1 + CONFIRMATIONS);
    await deployment.cloud.exited;
    const [invoice] = await sql<{ id: string; number: number }[]>`
      select id, number from flock.invoice where account_id = ${accountId}`;
    t.is(invoice!.number, 1, 'the append was whole');
    /** What a claim of two minutes leaves to the next node, now. */
    const again = async (failpoints: string): Promise<void> => {
      await sql`update flock.letter set claimed_until = null where id = ${invoice!.id}`;
      await deployment.restartCloud({ MAIL_DIR: letters.directory, FLOCK_FAILPOINTS: failpoints });
    };
    await again('kill:mint_invoice_link.after:1').catch(() => undefined);
    await deployment.cloud.exited;
    const [lost] = await sql<{ hash: string }[]>`select hash from flock.invoice_link where invoice_id = ${invoice!.id}`;
    t.is(letters.all().length, 0);
    await again('');
    const [letter] = await letters.to('ada@example.com', 'Facture INV-');
    t.regex(letter!.subject, /-000001 de /);
    const path = /(\/invoices\/[a-z2-7]{32})/.exec(letter!.text)![1]!;
    const page = await fetch(deployment.cloudUrl + path);
    t.is(page.status, 200);
    t.regex(await page.text(), /<html lang="fr"/);
    const [works] = await sql<
      { hash: string }[]
    >`select hash from flock.invoice_link where invoice_id = ${invoice!.id}`;
    t.not(works!.hash, lost!.hash, 'the link that nobody got is gone');
    t.is(letters.all().length, 1);
  } finally {
    await company.close();
  }
});
