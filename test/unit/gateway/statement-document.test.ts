/** A statement as a file. Console B11. */
import test from 'ava';
import { statementCsv, statementHtml } from '../../../gateway/http/billing/document.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';

const STATEMENT: ReplyOf<'getStatement'> = {
  id: 'stm_1',
  number: 'FLK-2026-000001',
  period: '2026-07',
  lines: [
    { kind: 'base', tier: 'premium', band: 'launch', amount: '99.00' },
    { kind: 'overage', band: 'launch', quantity: 3, included: 1_000, rate: '0.080', amount: '0.24' },
  ],
  total: '99.24',
  currency: 'USD',
  settledTransactions: 1_003,
  issuedAt: '2026-08-01T00:00:00.000Z',
  dueAt: '2026-08-15T00:00:00.000Z',
  paid: '0.00',
  left: '99.24',
  payment: { provider: 'manual', page: null, bankDetails: null },
};

test('console B11: CSV has a row for each line and the total', (t) => {
  t.deepEqual(statementCsv(STATEMENT).split('\r\n'), [
    'number,period,kind,description,quantity,rate,amount,currency',
    'FLK-2026-000001,2026-07,base,"Base fee: premium, launch",,,99.00,USD',
    'FLK-2026-000001,2026-07,overage,Overage: 3 withdrawals above 1000 included at 0.080 (launch),3,0.080,0.24,USD',
    'FLK-2026-000001,2026-07,total,,,,99.24,USD',
    '',
  ]);
});

test('console B11 (faults 34: an exported cell runs as a formula): a cell that begins like one is text', (t) => {
  const number = '=HYPERLINK("http://evil")';
  const [, first] = statementCsv({ ...STATEMENT, number }).split('\r\n');
  t.true(first!.startsWith(`"'=HYPERLINK(""http://evil"")"`), first);
});

test('console B11: the page to print has no script, shows names as text, and its overage leads to the withdrawals', (t) => {
  const url = 'https://flock.example.com/console/o/org_a/live/billing?statement=stm_1&show=transactions';
  const page = statementHtml(STATEMENT, '<img src=x onerror="alert(1)">', url);
  t.false(/<script|<img/i.test(page));
  t.true(page.includes('&#60;img src=x onerror=&#34;alert(1)&#34;&#62;'));
  t.true(page.includes(`<a href="${url.replace('&', '&#38;')}">Overage: 3 withdrawals`));
  t.true(page.includes('<td>Total</td><td class="amount">99.24</td>'));
});

test('console B17: the page to print says how it is paid, where there is a way', (t) => {
  const html = (payment: Partial<(typeof STATEMENT)['payment']>) =>
    statementHtml({ ...STATEMENT, payment: { ...STATEMENT.payment, ...payment } }, 'Acme', 'https://cloud.example/x');
  t.false(html({}).includes('Pay '));
  t.true(html({ page: 'https://pay.example/i_1?a=1&b=2' }).includes('href="https://pay.example/i_1?a=1&#38;b=2"'));
  t.true(html({ bankDetails: 'Bank <of> Acme' }).includes('naming FLK-2026-000001:<br>Bank &#60;of&#62; Acme'));
});
