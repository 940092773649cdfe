/** Links of invoices over PostgreSQL. */
import type { InvoiceStore } from '../../model/ports/invoice-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { answerRow } from './first-answer.ts';
import type { Sql } from './sql.ts';

export function createInvoiceStore(sql: Sql): InvoiceStore {
  return {
    async of(hash) {
      const [found] = await sql<{ accountId: AccountId; invoiceId: string }[]>`
        select account_id, invoice_id from find_invoice(${hash})`;
      return found === undefined ? null : { accountId: found.accountId, invoiceId: found.invoiceId };
    },
    async mint(letterId, hash, nowMs) {
      failpoint('mint_invoice_link.before');
      const [row] = await sql<{ minted: boolean }[]>`
        select mint_invoice_link(${letterId}, ${hash}, ${nowMs}::timestamptz) as minted`;
      failpoint('mint_invoice_link.after');
      return row!.minted;
    },
    async resend(accountId, invoiceId, { hash, letterId, sealed }, { most, windowSeconds }, answer, audit, nowMs) {
      failpoint('resend_invoice.before');
      const kept = answer === undefined ? null : JSON.stringify(answerRow(answer));
      const [row] = await sql<{ done: number | null }[]>`
        select resend_invoice(${accountId}, ${invoiceId}, ${hash}, ${letterId}, ${sealed}, ${nowMs}::timestamptz,
          ${most}::int, ${windowSeconds}::int, ${kept}::text::jsonb,
          ${JSON.stringify(audit === undefined ? [] : [audit])}::text::jsonb) as done`;
      failpoint('resend_invoice.after');
      const { done } = row!;
      if (done === null) return null;
      return done === 0 ? 'done' : done < 0 ? 'used' : { afterSeconds: done };
    },
  };
}
