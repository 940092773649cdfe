/** Payments and links by the clock, over PostgreSQL. */
import type { DueLink, EndedPage, PaymentStore } from '../../model/ports/payment-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Fragment, Sql } from './sql.ts';

export function createPaymentStore(sql: Sql): PaymentStore {
  const behindOf = (behind: DueLink | null) =>
    sql`${behind?.at ?? '-infinity'}::text::timestamptz, ${behind?.accountId ?? ''}, ${behind?.id ?? ''}`;
  const linksOf = async (query: Fragment): Promise<DueLink[]> =>
    (await sql<DueLink[]>`${query}`).map(({ accountId, id, at }) => ({ accountId, id, at }));
  return {
    async expire(nowMs, limit) {
      failpoint('expire_payments.before');
      const [row] = await sql<{ expired: number }[]>`
        select expire_payments(${nowMs}::timestamptz, ${limit}) as expired`;
      failpoint('expire_payments.after');
      return row!.expired;
    },
    due: (nowMs, behind, limit) =>
      linksOf(sql`select * from links_due(${nowMs}::timestamptz, ${behindOf(behind)}, ${limit})`),
    monitored: (nowMs, behind, limit) =>
      linksOf(sql`select * from links_monitored(${nowMs}::timestamptz, ${behindOf(behind)}, ${limit})`),
    retired: (behind, limit) => linksOf(sql`select * from links_retired(${behindOf(behind)}, ${limit})`),
    async erase(beforeMs, limit) {
      failpoint('erase_payers.before');
      const [row] = await sql<{ erased: number }[]>`
        select erase_payers(${beforeMs}::timestamptz, ${limit}) as erased`;
      failpoint('erase_payers.after');
      return row!.erased;
    },
    async expireEnded(limit, passed) {
      failpoint('expire_ended.before');
      const [row] = await sql<EndedPage[]>`select * from expire_ended(${limit}, ${[...passed]}::text[])`;
      failpoint('expire_ended.after');
      return row ?? null;
    },
    async forgetResting(limit) {
      failpoint('forget_resting.before');
      const [row] = await sql<{ gone: number }[]>`select forget_resting(${limit}) as gone`;
      failpoint('forget_resting.after');
      return row!.gone;
    },
    async walkUnused(after, limit, begunMs) {
      failpoint('walk_unused.before');
      const [row] = await sql<{ accountId: AccountId; isLeft: boolean }[]>`
        select * from walk_unused(${after}, ${limit}, ${begunMs}::timestamptz)`;
      failpoint('walk_unused.after');
      return row ?? null;
    },
    async keepAttestations(accountId, { family, publicKey, issuedAtMs, validUntilMs, rows }) {
      failpoint('keep_attestations.before');
      await sql`
        select keep_attestations(${accountId}, ${family}, ${publicKey}, ${issuedAtMs}::timestamptz,
          ${validUntilMs}::timestamptz, ${rows.map(({ index }) => index)}::int[],
          ${rows.map(({ address }) => address)}::text[], ${rows.map(({ signature }) => signature)}::text[])`;
      failpoint('keep_attestations.after');
    },
    async release(accountId, linkId, nowMs) {
      failpoint('release_link.before');
      const [row] = await sql<{ done: boolean }[]>`
        select release_link(${accountId}, ${linkId}, ${nowMs}::timestamptz) as done`;
      failpoint('release_link.after');
      return row!.done;
    },
  };
}
