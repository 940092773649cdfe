/** A statement as a file: rows of a spreadsheet, or a page to print. Pure. Console B11. */
import { csvLine } from '../../../protocol/csv.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';

type Statement = ReplyOf<'getStatement'>;
type Line = Statement['lines'][number];

const escaped = (text: unknown): string => String(text).replace(/[&<>"'`]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** What a line is for, with what it was computed from. */
export function wordsOf(line: Line): string {
  if (line.kind === 'base') return `Base fee: ${line.tier}, ${line.band}`;
  if (line.kind === 'proration')
    return `Change of plan on ${line.at}: ${line.from.tier} ${line.from.band} (${line.from.monthlyFee}) to ${line.to.tier} ${line.to.band} (${line.to.monthlyFee}), ${line.remainingMs} of ${line.periodMs} ms left`;
  return `Overage: ${line.quantity} withdrawals above ${line.included} included at ${line.rate} (${line.band})`;
}

/** A line for each line of it, then the total. A cell that a spreadsheet would run is text. */
export function statementCsv(statement: Statement): string {
  const { number, period, lines, total, currency } = statement;
  return [
    csvLine(['number', 'period', 'kind', 'description', 'quantity', 'rate', 'amount', 'currency']),
    ...lines.map((line) => {
      const [quantity, rate] = line.kind === 'overage' ? [line.quantity, line.rate] : [null, null];
      return csvLine([number, period, line.kind, wordsOf(line), quantity, rate, line.amount, currency]);
    }),
    csvLine([number, period, 'total', '', null, null, total, currency]),
  ].join('');
}

/** A whole page without script; what overage counts links to the withdrawals, at `transactionsUrl`. */
export function statementHtml(statement: Statement, organization: string, transactionsUrl: string): string {
  const { number, period, lines, total, currency, issuedAt, dueAt, paid, left, payment } = statement;
  const rows = lines.map((line) => {
    const words = escaped(wordsOf(line));
    const what = line.kind === 'overage' ? `<a href="${escaped(transactionsUrl)}">${words}</a>` : words;
    return `<tr><td>${what}</td><td class="amount">${escaped(line.amount)}</td></tr>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Statement ${escaped(number)}</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 46rem; color: #111; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid #bbb; padding: .4rem; text-align: left; }
.amount { text-align: right; white-space: nowrap; } tfoot td { font-weight: 600; }
</style></head><body>
<h1>Statement ${escaped(number)}</h1>
<p>${escaped(organization)}<br>${escaped(period)} (UTC)<br>Issued ${escaped(issuedAt)}, due ${escaped(dueAt)}</p>
<table><thead><tr><th>For</th><th class="amount">Amount (${escaped(currency)})</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
<tfoot><tr><td>Total</td><td class="amount">${escaped(total)}</td></tr>
<tr><td>Paid</td><td class="amount">${escaped(paid)}</td></tr>
<tr><td>Left</td><td class="amount">${escaped(left)}</td></tr></tfoot></table>
${howToPay(payment, number)}</body></html>
`;
}

/** Where there is a way: by the page of the provider, by a transfer. */
const howToPay = ({ page, bankDetails }: Statement['payment'], number: string): string =>
  [
    ...(page === null ? [] : [`<p>Pay at <a href="${escaped(page)}">${escaped(page)}</a></p>\n`]),
    ...(bankDetails === null
      ? []
      : [`<p>Pay by transfer, naming ${escaped(number)}:<br>${escaped(bankDetails)}</p>\n`]),
  ].join('');
