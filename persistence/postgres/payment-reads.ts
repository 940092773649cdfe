/** Payment links as their merchant reads them. payments P8. */
import type { LentBefore } from '../../model/account/payment.ts';
import type { AttestationView, AttestedReach, InvoiceView, ReadStore } from '../../model/ports/read-store.ts';
import { ATTESTED_FAMILIES, type AttestedFamily } from '../../protocol/attestation.ts';
import {
  CHECKOUT_CHAINS,
  FAMILY_OF,
  LINK_MODES,
  LINK_STATUSES,
  type Chain,
  type Family,
} from '../../protocol/slugs.ts';
import type { PaymentTransferView } from '../../model/ports/read-store.ts';
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import { holderOf, linkOf, paymentOf } from './checkout-reads.ts';
import type { Lists } from './list-pool.ts';
import { listPage, pairsOf, type Source } from './list.ts';
import type { Fragment, Sql } from './sql.ts';
import { addressOf, type Columns } from './row-shapes.ts';
import { asTenant, oneOf } from './tenant.ts';

type Area =
  | 'paymentLinks'
  | 'paymentLink'
  | 'paymentLinksAmong'
  | 'headOf'
  | 'checkout'
  | 'openings'
  | 'payment'
  | 'payments'
  | 'paymentTransfers'
  | 'invoices'
  | 'invoice'
  | 'attestedReach'
  | 'unattested'
  | 'attestation'
  | 'restingAddress'
  | 'restingCounts'
  | 'unusedRuns'
  | 'paidAddresses';

/** What payers' requests read. */
function checkoutReads(sql: Sql): Pick<ReadStore, 'checkout' | 'openings' | 'payment' | 'paymentTransfers'> {
  return {
    async checkout(of) {
      const [slug, payment] = 'slug' in of ? [of.slug, null] : [null, of.paymentId];
      const [found] = await sql<{ accountId: AccountId; linkId: string }[]>`
        select account_id, link_id from find_checkout(${slug}, ${payment})`;
      if (found === undefined) return null;
      const { accountId, linkId } = found;
      return oneOf(
        sql,
        accountId,
        sql`select * from payment_link where account_id = t.account and id = ${linkId}`,
        linkOf,
      );
    },
    async openings({ accountId, id }, { payerKey, email, clientKey }, limit, nowMs) {
      const [found] = await sql<
        { waiting: number; ofSameEmail: number; ofSameClient: number; earlier: string | null }[]
      >`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`select * from openings(t.account, ${id}, ${email}, ${clientKey}, ${payerKey}, ${nowMs}::timestamptz, ${limit})`,
        )}`;
      const payment =
        found!.earlier === null
          ? null
          : await oneOf(
              sql,
              accountId,
              sql`select * from payment where account_id = t.account and id = ${found!.earlier}`,
              paymentOf,
            );
      const holder =
        payment === null
          ? null
          : await oneOf(
              sql,
              accountId,
              sql`select * from checkout_address where account_id = t.account and id = ${`${payment.id}/${payment.addressId}`}`,
              holderOf,
            );
      return {
        waiting: Number(found!.waiting),
        ofEmail: Number(found!.ofSameEmail),
        ofClient: Number(found!.ofSameClient),
        earlier:
          payment === null || holder === null
            ? null
            : {
                payment,
                holder,
                address: {
                  id: payment.addressId,
                  address: payment.address,
                  derivationPath: payment.derivationPath,
                },
              },
      };
    },
    async payment(accountId, id) {
      return oneOf(sql, accountId, sql`select * from payment where account_id = t.account and id = ${id}`, paymentOf);
    },
    async paymentTransfers(accountId, paymentIds) {
      if (paymentIds.length === 0) return [];
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select f.payment_id, f.role, d.txid, d.chain, d.amount, d.decimals, d.token_symbol, d.status, d.threshold,
                 d.created_at, d.id,
                 case when d.status <> 'reversed'
                   then greatest(coalesce((select c.height from chain_cursor c where c.ledger = d.ledger), 0) - d.height + 1, 0)
                   else 0 end as confirmations
            from unnest(${[...paymentIds]}::text[]) i(id) cross join lateral (
              select * from payment_transfer m where m.account_id = t.account and m.payment_id = i.id limit ${TRANSFERS_MAX}) f
            join deposit d on d.account_id = t.account and d.id = f.deposit_id and d.incarnation = f.incarnation`,
        )} order by v.created_at, v.id`;
      return rows.map(({ createdAt: _at, id: _id, ...row }) => row as unknown as PaymentTransferView);
    },
  };
}

/** Rows of a thousand indexes on five networks, and one by which a larger account would be known. */
const SMALL_ROWS_MAX = 5_001;
/** Resting addresses that are looked at for one whose ledgers were followed far enough when it began to rest. */
const RESTING_LOOKED_AT = 50;
/** A ledger is followed near its head while a node of it was heard, and the newest block is not older. */
const NEAR_HEAD_SECONDS = 120;

/**
 * Those of the ledgers whose newest blocks are not all known: what a payer sent before its address is lent on would be
 * found afterwards, and taken for the next payer's. A simulated ledger mines by order, and may not have begun.
 */
const farBehind = (sql: Sql, ledgers: readonly LedgerId[]): Fragment => sql`
  select from unnest(${[...ledgers]}::text[]) n(ledger)
    left join chain_cursor c on c.ledger = n.ledger
    left join chain_head h on h.ledger = n.ledger
    left join block_link l on l.ledger = c.ledger and l.height = c.height and l.hash = c.hash
   where case when strpos(n.ledger, '@') > 0 then c.height < h.height
           else not coalesce(
             coalesce(h.heard_at, h.at) >= now() - ${NEAR_HEAD_SECONDS}::int * interval '1 second'
               and (c.height >= h.height or l.time >= now() - ${NEAR_HEAD_SECONDS}::int * interval '1 second'),
             false) end
      or exists (select from unresolved_height u where u.ledger = n.ledger)`;

/** Addresses that are not lent any more, or soon. */
function restingReads(sql: Sql): Pick<ReadStore, 'restingAddress' | 'restingCounts' | 'unusedRuns' | 'paidAddresses'> {
  const lastHolder = (accountId: AccountId, addressId: string) =>
    oneOf(
      sql,
      accountId,
      sql`select * from checkout_address where account_id = t.account and address_id = ${addressId}
       order by account_id desc, address_id desc, lent_at desc, id desc limit 1`,
      holderOf,
    );
  return {
    async restingAddress(accountId, { chain, fromIndex, sinceMs, ledgers }) {
      const found = await oneOf(
        sql,
        accountId,
        sql`
        select r.id, r.address, r.derivation_path from (
          select s.since, s.heads, a.id, a.address, a.derivation_path from resting_address s
            cross join lateral (
              select o.* from address o where o.account_id = t.account and o.id = s.address_id offset 0) a
           where s.account_id = t.account and s.chain = ${chain} and s.since <= ${sinceMs}::timestamptz
             and s.index >= ${fromIndex} and a.status = 'active'
             and (select d.id from deposit d where d.account_id = t.account and d.address_id = a.id limit 1) is null
           order by s.account_id, s.chain, s.since, s.address_id limit ${RESTING_LOOKED_AT}) r
         where not exists (
             select from jsonb_each_text(r.heads) k left join chain_cursor c on c.ledger = k.key
              where coalesce(c.height < k.value::bigint, true)
                 or exists (select from unresolved_height u where u.ledger = k.key and u.height <= k.value::bigint))
           and not exists (${farBehind(sql, ledgers)})
         order by r.since, r.id limit 1`,
        (row) => row as unknown as LentBefore['address'],
      );
      if (found === null) return null;
      const holder = await lastHolder(accountId, found.id);
      if (holder === null) return null;
      const payment =
        holder.paymentId === null
          ? null
          : await oneOf(
              sql,
              accountId,
              sql`select * from payment where account_id = t.account and id = ${holder.paymentId}`,
              paymentOf,
            );
      return { address: found, holder, payment };
    },
    async restingCounts(accountId, limit) {
      const rows = await sql<{ chain: Chain; resting: number }[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select n.chain, (select count(*) from (
              select from resting_address s where s.account_id = t.account and s.chain = n.chain
                 and s.since > coalesce(a.resting_until, '-infinity') limit ${limit}) r) as resting
            from unnest(${[...CHECKOUT_CHAINS]}::text[]) n(chain) cross join account a where a.account_id = t.account`,
        )}`;
      const counts = new Map<Family, number>();
      for (const { chain, resting } of rows) {
        const family = FAMILY_OF[chain];
        counts.set(family, Math.min(limit, (counts.get(family) ?? 0) + resting));
      }
      return counts;
    },
    async unusedRuns(accountId, asked) {
      const small = asked.filter(({ isSmall }) => isSmall);
      const rows = await sql<{ family: Family; run: number | null; countedAt: number | null }[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select f.family, r.run, null::timestamptz as counted_at
            from unnest(${small.map(({ family }) => family)}::text[],
                        ${small.map(({ bounds }) => `{${bounds.join(',')}}`)}::text[]) f(family, bounds)
            cross join lateral run_of_indexes(t.account, f.family, 0, -1, f.bounds::bigint[], ${SMALL_ROWS_MAX}) r
          union all
          select u.family, u.run, u.counted_at from unused_run u
           where u.account_id = t.account and u.run is not null
             and u.family = any (${asked.filter(({ isSmall }) => !isSmall).map(({ family }) => family)}::text[])`,
        )}`;
      return new Map(rows.map(({ family, run, countedAt }) => [family, { run: run ?? 0, countedAtMs: countedAt }]));
    },
    async paidAddresses(accountId, linkId, limit) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select a.* from (
            select c.address_id from checkout_address c
             where c.account_id = t.account and c.link_id = ${linkId} and c.released_at is null
               and c.paid_at is not null) h
            cross join lateral (
              select o.* from address o
               where o.account_id = t.account and o.id = h.address_id and o.status = 'active' offset 0) a
           limit ${limit}`,
        )}`;
      return rows.map(addressOf);
    },
  };
}

/** Newest lent addresses that are looked at for a statement, and indexes ahead that one look names, of a family. */
const SHOWN_LOOKED_AT = 2_000;
const UNATTESTED_MAX = 1_000;

/** Statements of edges about addresses. payments E4, E5. */
function attestationReads(sql: Sql): Pick<ReadStore, 'attestedReach' | 'unattested' | 'attestation'> {
  const familiesWith = (of: Readonly<Record<AttestedFamily, number>>) =>
    sql`unnest(${[...ATTESTED_FAMILIES]}::text[], ${ATTESTED_FAMILIES.map((family) => of[family])}::int[])`;
  return {
    async attestedReach(accountId, publicKey, from) {
      const ofKey = sql`from address_attestation k
         where k.account_id = t.account and k.family = f.family and k.index >= f.from_index and k.public_key = ${publicKey}`;
      return sql<AttestedReach[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select f.family,
                 (select k.index ${ofKey} order by k.account_id, k.family, k.index limit 1) as first,
                 (select k.index ${ofKey} order by k.account_id desc, k.family desc, k.index desc limit 1) as last
            from ${familiesWith(from)} f(family, from_index)`,
        )}`;
    },
    async unattested(accountId, { publicKey, untilMs, from, present }) {
      return sql<{ family: AttestedFamily; index: number }[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          (select e.family, e.index from ${familiesWith(from)} f(family, from_index) cross join lateral (
             select k.family, k.index from address_attestation k
              where k.account_id = t.account and k.family = f.family and k.index >= f.from_index
                and (k.valid_until < ${untilMs}::timestamptz or k.public_key <> ${publicKey})
              order by k.account_id, k.family, k.index limit ${UNATTESTED_MAX}) e)
          union
          (select a.family, a.index from (
             (select c.address_id from checkout_address c
               where c.account_id = t.account and c.released_at is null and (c.paid_at is null or c.payment_id is null)
               order by c.account_id desc, c.lent_at desc, c.id desc limit ${SHOWN_LOOKED_AT})
             union all
             (select p.address_id from payment p
               where p.account_id = t.account and p.status = 'underpaid'
               order by p.account_id desc, p.id desc limit ${SHOWN_LOOKED_AT})) s
             cross join lateral (
               select o.* from address o where o.account_id = t.account and o.id = s.address_id offset 0) a
             join ${familiesWith(present)} p(family, from_index) on p.family = a.family and a.index >= p.from_index
            where not exists (
              select from address_attestation k
               where k.account_id = t.account and k.family = a.family and k.index = a.index
                 and k.address = a.address and k.public_key = ${publicKey}
                 and k.valid_until >= ${untilMs}::timestamptz))`,
        )}`;
    },
    async attestation(accountId, { family, index, address }, nowMs) {
      return oneOf(
        sql,
        accountId,
        sql`
        select k.public_key, k.issued_at, k.valid_until, k.signature from (
          select o.* from address_attestation o
           where o.account_id = t.account and o.family = ${family} and o.index = ${index} offset 0) k
         where k.address = ${address} and k.valid_until > ${nowMs}::timestamptz`,
        ({ publicKey, issuedAt, validUntil, signature }) =>
          ({ publicKey, issuedAtMs: issuedAt, validUntilMs: validUntil, signature }) as AttestationView,
      );
    },
  };
}

/** Transfers of a payment that people are shown. */
const TRANSFERS_MAX = 100;

function paymentList(lists: Lists): Pick<ReadStore, 'payments'> {
  return {
    async payments(accountId, { linkId, statuses }, page) {
      const { sql } = lists;
      const all = sql`from payment x where x.account_id = t.account`;
      return listPage(
        lists,
        accountId,
        {
          list: 'payments',
          order: 'id',
          sources: [
            {
              pairs: pairsOf(linkId ?? '', statuses),
              range: (link, status) =>
                linkId === undefined
                  ? sql`${all} and x.status = ${status}`
                  : sql`${all} and x.link_id = ${link} and x.status = ${status}`,
            },
          ],
          kept: null,
          shape: paymentOf,
          rows: (keys) => sql`
          with k as materialized (${keys})
          select x.*, null::timestamptz as key_time, k.id as key_id from k join payment x on x.account_id = t.account and x.id = k.id`,
        },
        page,
      );
    },
  };
}

const invoiceViewOf = ({ issuedAt, ...row }: Columns): InvoiceView => ({ ...row, issuedAtMs: issuedAt }) as InvoiceView;

function invoiceReads(sql: Sql, lists: Lists): Pick<ReadStore, 'invoices' | 'invoice'> {
  return {
    async invoices(accountId, { linkId }, page) {
      const all = lists.sql`from invoice x where x.account_id = t.account`;
      return listPage(
        lists,
        accountId,
        {
          list: 'invoices',
          order: 'id',
          sources: [
            {
              pairs: [[linkId ?? '', '']],
              range: (link) => (linkId === undefined ? all : lists.sql`${all} and x.link_id = ${link}`),
            },
          ],
          kept: linkId === undefined ? ['invoice'] : null,
          shape: invoiceViewOf,
          rows: (keys) => lists.sql`
          with k as materialized (${keys})
          select x.*, p.status as payment_status, p.invoice_number, null::timestamptz as key_time, k.id as key_id
            from k join invoice x on x.account_id = t.account and x.id = k.id
            join payment p on p.account_id = t.account and p.id = x.payment_id`,
        },
        page,
      );
    },
    async invoice(accountId, id) {
      return oneOf(
        sql,
        accountId,
        sql`select x.*, p.status as payment_status, p.invoice_number from invoice x
              join payment p on p.account_id = t.account and p.id = x.payment_id
             where x.account_id = t.account and x.id = ${id}`,
        invoiceViewOf,
      );
    },
  };
}

/** The part of `ReadStore` about payment links; lists over a pool of their own. */
export function paymentReads(sql: Sql, lists: Lists): Pick<ReadStore, Area> {
  return {
    ...checkoutReads(sql),
    ...attestationReads(sql),
    ...restingReads(sql),
    ...paymentList(lists),
    ...invoiceReads(sql, lists),
    async paymentLinks(accountId, { chain, status, mode, slug }, page) {
      const { sql } = lists;
      const isWhole = chain === undefined && status === undefined && mode === undefined && slug === undefined;
      const all = sql`from payment_link x where x.account_id = t.account`;
      const states = pairsOf(status ?? LINK_STATUSES, mode ?? LINK_MODES).map((pair) => pair.join(' '));
      const range: Source['range'] = (one, state) =>
        sql`${all} and x.chain = ${one} and x.status = split_part(${state}, ' ', 1) and x.mode = split_part(${state}, ' ', 2)`;
      // A slug has one link, which is looked at before it is put in order.
      const ofSlug: Source['range'] = () => sql`from (
        select * from payment_link x where x.account_id = t.account and x.slug = ${slug ?? ''}
           and x.chain = any (${[chain ?? CHECKOUT_CHAINS].flat()}::text[])
           and x.status = any (${[status ?? LINK_STATUSES].flat()}::text[])
           and x.mode = any (${[mode ?? LINK_MODES].flat()}::text[]) offset 0) x where true`;
      const source: Source =
        isWhole || slug !== undefined
          ? { pairs: [['', '']], range: slug === undefined ? () => all : ofSlug }
          : { pairs: pairsOf(chain ?? CHECKOUT_CHAINS, states), range };
      return listPage(
        lists,
        accountId,
        {
          list: 'payment-links',
          order: 'id',
          sources: [source],
          kept: isWhole ? ['payment_link'] : null,
          shape: linkOf,
          rows: (keys) => sql`
          with k as materialized (${keys})
          select x.*, null::timestamptz as key_time, k.id as key_id from k join payment_link x on x.account_id = t.account and x.id = k.id`,
        },
        page,
      );
    },
    async paymentLink(accountId, id) {
      return oneOf(sql, accountId, sql`select * from payment_link where account_id = t.account and id = ${id}`, linkOf);
    },
    async paymentLinksAmong(accountId, ids) {
      if (ids.length === 0) return [];
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`select * from payment_link where account_id = t.account and id = any (${[...ids]}::text[])`,
        )}`;
      return rows.map(linkOf);
    },
    async headOf(ledger) {
      const [row] = await sql<{ height: number | null }[]>`
        select max(height) as height from (
          select height from chain_cursor where ledger = ${ledger}
          union all select height from chain_head where ledger = ${ledger}) known`;
      return row?.height ?? null;
    },
  };
}
