/** What a decision about deposits on lent addresses needs. payments M2. */
import type { AddressRow } from '../../model/rows/address.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import {
  CHECKOUT_TAG,
  INVOICED_TRANSFERS_MAX,
  NO_CHECKOUT,
  willHaveInvoice,
  type CheckoutAddressRow,
  type CheckoutRows,
  type ConfirmedTransfer,
  type PaymentLinkRow,
  type PaymentRow,
  type PaymentTransferRow,
} from '../../model/rows/payment.ts';
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/**
 * Links, payments and holders of the addresses that facts pay; nothing is read where none of them was ever lent. Of an
 * address only its last holder is read, and of its payments those that are not complete, so that what a shared link
 * received before costs nothing.
 */
export async function checkoutOf(
  sql: Sql,
  accountId: AccountId,
  addresses: readonly AddressRow[],
  deposits: readonly DepositRow[],
  ledgers: readonly LedgerId[],
): Promise<CheckoutRows> {
  const lendable = addresses.filter(({ tag, userRef }) => tag === CHECKOUT_TAG && userRef === null);
  if (lendable.length === 0) return NO_CHECKOUT;
  const [lent, transfers, heads] = await Promise.all([
    lentOf(
      sql,
      accountId,
      lendable.map(({ id }) => id),
    ),
    transfersOf(
      sql,
      accountId,
      deposits.map(({ id }) => id),
    ),
    sql<{ ledger: string; height: number }[]>`
      select ledger, max(height) as height from (
        select ledger, height from chain_cursor where ledger = any(${[...ledgers]}::text[])
        union all select ledger, height from chain_head where ledger = any(${[...ledgers]}::text[])) known
       group by ledger`,
  ]);
  if (lent.length === 0) return NO_CHECKOUT;
  const linkIds = [...new Set([...lent, ...transfers].map(({ linkId }) => linkId))],
    paymentIds = [...new Set([...lent, ...transfers].flatMap(({ paymentId }) => paymentId ?? []))],
    ofPayers = lent.filter(({ paymentId }) => paymentId !== null).map(({ addressId }) => addressId);
  const [links, payments] = await Promise.all([
    linksOf(sql, accountId, linkIds),
    paymentsOf(sql, accountId, paymentIds, ofPayers),
  ]);
  const invoiced = payments.filter((one) => {
    const link = links.find(({ id }) => id === one.linkId);
    return one.confirmed > 0n && link !== undefined && willHaveInvoice(link, one);
  });
  return {
    links,
    payments,
    lent,
    transfers,
    confirmed: await confirmedOf(
      sql,
      accountId,
      invoiced.map(({ id }) => id),
    ),
    heads: Object.fromEntries(heads.map((one) => [one.ledger, one.height])),
    paths: Object.fromEntries(lendable.map(({ id, derivationPath }) => [id, derivationPath])),
  };
}

async function lentOf(sql: Sql, accountId: AccountId, ids: readonly string[]): Promise<CheckoutAddressRow[]> {
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select c.* from unnest(${[...ids]}::text[]) i(id) cross join lateral (
        select h.* from checkout_address h where h.account_id = t.account and h.address_id = i.id
         order by h.account_id, h.address_id, h.lent_at desc, h.id desc limit 1) c`,
    )}`;
  return rows.map(holderOf);
}

export function holderOf({ lentAt, releasedAt, paidAt, ...row }: Columns): CheckoutAddressRow {
  return { ...row, lentAtMs: lentAt, releasedAtMs: releasedAt, paidAtMs: paidAt } as CheckoutAddressRow;
}

async function transfersOf(sql: Sql, accountId: AccountId, ids: readonly string[]): Promise<PaymentTransferRow[]> {
  if (ids.length === 0) return [];
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`select * from payment_transfer where account_id = t.account and deposit_id = any(${[...ids]}::text[])`,
    )}`;
  return rows as unknown as PaymentTransferRow[];
}

async function linksOf(sql: Sql, accountId: AccountId, ids: readonly string[]): Promise<PaymentLinkRow[]> {
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`select * from payment_link where account_id = t.account and id = any(${[...ids]}::text[])`,
    )}`;
  return rows.map(linkOf);
}

async function paymentsOf(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[],
  addressIds: readonly string[],
): Promise<PaymentRow[]> {
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select * from payment where account_id = t.account and id = any(${[...ids]}::text[])
      union
      select * from payment where account_id = t.account and address_id = any(${[...addressIds]}::text[]) and seen < due`,
    )}`;
  return rows.map(paymentOf);
}

/** What came in part before: the last part of it has the invoice. payments I3. */
async function confirmedOf(sql: Sql, accountId: AccountId, ids: readonly string[]): Promise<ConfirmedTransfer[]> {
  if (ids.length === 0) return [];
  const rows = await sql<(Omit<ConfirmedTransfer, 'amount'> & { amount: bigint })[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select c.* from unnest(${[...ids]}::text[]) i(id) cross join lateral (
        select d.id as deposit_id, m.payment_id, d.txid, d.amount, d.created_at as seen_at_ms
          from payment_transfer m
          join deposit d on d.account_id = t.account and d.id = m.deposit_id and d.incarnation = m.incarnation
         where m.account_id = t.account and m.payment_id = i.id and m.role = 'counted' and d.status = 'confirmed'
         order by d.created_at, d.id limit ${INVOICED_TRANSFERS_MAX}) c`,
    )} order by v.seen_at_ms, v.deposit_id`;
  return rows.map((row) => ({ ...row, amount: String(row.amount) }));
}

export function linkOf(row: Columns): PaymentLinkRow {
  const { closesAt, closedAt, monitorUntil, createdAt, updatedAt, ...same } = row;
  return {
    ...same,
    closesAtMs: closesAt,
    closedAtMs: closedAt,
    monitorUntilMs: monitorUntil,
    createdAtMs: createdAt,
    updatedAtMs: updatedAt,
  } as PaymentLinkRow;
}

export function paymentOf(row: Columns): PaymentRow {
  const { expiresAt, openedAt, updatedAt, ...same } = row;
  return { ...same, expiresAtMs: expiresAt, openedAtMs: openedAt, updatedAtMs: updatedAt } as PaymentRow;
}
