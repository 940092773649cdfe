/** Payment links as their merchant reads them. payments P8. */
import type { ReadStore } from '../../model/ports/read-store.ts';
import { CHECKOUT_CHAINS, LINK_MODES, LINK_STATUSES } from '../../protocol/slugs.ts';
import { linkOf } from './checkout-reads.ts';
import type { Lists } from './list-pool.ts';
import { listPage, pairsOf, type Source } from './list.ts';
import type { Sql } from './sql.ts';
import { oneOf } from './tenant.ts';

/** The part of `ReadStore` about payment links; lists over a pool of their own. */
export function paymentReads(sql: Sql, lists: Lists): Pick<ReadStore, 'paymentLinks' | 'paymentLink' | 'headOf'> {
  return {
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
    async headOf(ledger) {
      const [row] = await sql<{ height: number | null }[]>`
        select max(height) as height from (
          select height from chain_cursor where ledger = ${ledger}
          union all select height from chain_head where ledger = ${ledger}) known`;
      return row?.height ?? null;
    },
  };
}
