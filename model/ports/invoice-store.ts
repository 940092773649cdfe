/** Links of invoices: whom they lead to, and how one takes the place of another. payments I4–I6. */
import type { AccountId } from '../../protocol/ids.ts';
import type { AuditRecord } from '../rows/audit.ts';
import type { FirstAnswer } from './identity-store.ts';

/** Another link of an invoice, with the letter that carries it. */
export interface NewInvoiceLink {
  /** SHA-256 of its token, hex. */
  readonly hash: string;
  readonly letterId: string;
  /** The token, sealed for that letter. */
  readonly sealed: string;
}

export interface InvoiceStore {
  /** Whose the invoice of a link is; null where no link has the token now. */
  of(hash: string): Promise<{ accountId: AccountId; invoiceId: string } | null>;
  /** Makes the link of a letter the one that works; false for a letter that is not to be sent any more. */
  mint(letterId: string, hash: string, nowMs: number): Promise<boolean>;
  /**
   * In one statement: the link, its letter, the answer and the entry of the audit log. Answers in how many seconds it
   * may be asked again where it was too often, `used` where the request's key has an answer, null where there is no
   * such invoice.
   */
  resend(
    accountId: AccountId,
    invoiceId: string,
    link: NewInvoiceLink,
    limit: { readonly most: number; readonly windowSeconds: number },
    answer: FirstAnswer | undefined,
    audit: AuditRecord | undefined,
    nowMs: number,
  ): Promise<'done' | 'used' | { readonly afterSeconds: number } | null>;
}
