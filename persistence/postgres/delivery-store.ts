/** The publisher's statements: claiming in order, recording attempts, giving claims back. */
import { failpoint } from '../../protocol/node/failpoint.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import type { DeliveryRow } from '../../model/rows/webhook.ts';
import type { DeliveryStore, DeliveryUpkeep, DueDelivery, SendableDelivery } from '../../model/ports/delivery-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/** Deliveries of one statement, so that none of them holds locks for long. */
const PURGED_AT_ONCE = 5_000;
const BACKLOG_AT_ONCE = 1_000;
/** Endpoints, and due deliveries, that one step of releaseAbandoned looks at. */
const LOOKED_AT_ONCE = 5_000;

const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

function dueOf(row: Columns): DueDelivery {
  const delivery = {
    id: row.deliveryId,
    eventId: row.eventId,
    webhookId: row.webhookId,
    replay: row.replay,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAtMs: row.nextAttemptAt,
  } as DeliveryRow;
  return {
    delivery,
    accountId: row.accountId as AccountId,
    url: row.url as string,
    sealedSecrets: row.sealedSecrets as string[],
    body: row.body as string,
    orderKey: row.orderKey as string,
    claimedUntil: row.claimedUntil as string,
  };
}

/** Longer than any claim lasts, and than clocks of nodes differ: `updated_at` is by the node's. */
const CHANGED_SECONDS = 900;

/** Where the instants of a caller count instead of the database's clock: tests that have a clock of their own. */
export interface DeliveryStoreOptions {
  /** The epoch that this node got with a shard, or undefined where the shard is not its own. */
  readonly epochOf: (shard: number) => number | undefined;
  readonly callersClock?: boolean;
}

/**
 * Of a live account only its endpoints are looked at, a few rows for a whole backlog: nothing but an endpoint takes a
 * claimed delivery away there. Of one that was changed since a claim may have begun each delivery is looked at too: it
 * may have been disabled and enabled again, and what it had not got then is held (I16).
 */
/** It was changed lately, or a project of the account holds what is of its addresses. */
const isDoubtful = (endpoint: { readonly isChanged: boolean; readonly isHeld: boolean } | undefined): boolean =>
  endpoint !== undefined && (endpoint.isChanged || endpoint.isHeld);

async function atEndpoints(
  sql: Sql,
  accountId: AccountId,
  deliveries: readonly Pick<SendableDelivery, 'id' | 'webhookId'>[],
): Promise<SendableDelivery[]> {
  const rows = await sql<{ id: string; url: string; sealedSecrets: string[]; isChanged: boolean; isHeld: boolean }[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select w.id, w.url, w.sealed_secrets, w.updated_at > clock_timestamp() - ${CHANGED_SECONDS}::int * interval '1 second' as is_changed,
        exists (select from migration_project p where p.account_id = t.account and p.holds) as is_held
        from webhook w
       where w.account_id = t.account and w.id = any (${[...new Set(deliveries.map(({ webhookId }) => webhookId))]}::text[]) and w.status = 'enabled'`,
    )}`;
  const endpoints = new Map(rows.map((row) => [row.id, row]));
  const doubtful = deliveries.filter(({ webhookId }) => isDoubtful(endpoints.get(webhookId)));
  const sendable =
    doubtful.length === 0 ? null : new Set((await eachDelivery(sql, accountId, doubtful)).map(({ id }) => id));
  return deliveries.flatMap(({ id, webhookId }) => {
    const endpoint = endpoints.get(webhookId);
    return endpoint === undefined || (isDoubtful(endpoint) && sendable?.has(id) !== true)
      ? []
      : [{ id, webhookId, url: endpoint.url, sealedSecrets: endpoint.sealedSecrets }];
  });
}

async function eachDelivery(
  sql: Sql,
  accountId: AccountId,
  deliveries: readonly Pick<SendableDelivery, 'id'>[],
): Promise<SendableDelivery[]> {
  const rows = await sql<SendableDelivery[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select d.id, d.webhook_id, w.url, w.sealed_secrets from delivery d join webhook w on w.account_id = d.account_id and w.id = d.webhook_id
       where d.account_id = t.account and d.id = any (${deliveries.map(({ id }) => id)}::text[]) and d.status in ('pending', 'failed') and w.status = 'enabled'
         and (not exists (select from migration_project p where p.account_id = t.account and p.holds)
           or project_holding(d.account_id, d.order_key) is null)`,
    )}`;
  return [...rows];
}

/** The publisher's store over PostgreSQL. What is due, and for how long it is claimed, is by the database's clock. */
export function createDeliveryStore(
  sql: Sql,
  { callersClock = false, epochOf }: DeliveryStoreOptions,
): DeliveryStore & DeliveryUpkeep {
  const now = (nowMs: number) => (callersClock ? sql`${nowMs}::timestamptz` : sql`clock_timestamp()`);
  return {
    async claimDue(accountIds, limit, nowMs, claimMs, busyWebhooks, held) {
      const own = accountIds.flatMap((accountId) => {
        const epoch = epochOf(shardOf(accountId));
        return epoch === undefined ? [] : { accountId, epoch };
      });
      failpoint('claim_due.before');
      const rows = await sql<Columns[]>`
        with t as materialized (
          select n.at, n.at + ${claimMs}::int * interval '1 millisecond' as ends from (select ${now(nowMs)} as at) n)
        select d.*, t.ends::text as claimed_until
          from t cross join lateral claim_in_order(${own.map(({ accountId }) => accountId as string)}::text[], ${own.map(({ epoch }) => String(epoch))}::text[]::bigint[], ${limit}, t.at, t.ends, ${[...busyWebhooks]}::text[], ${held === undefined ? null : [...held]}::text[]::timestamptz[]) d`;
      failpoint('claim_due.after');
      return rows.map(dueOf);
    },
    async standing(accountId, deliveries) {
      return environmentOf(accountId) === 'live'
        ? atEndpoints(sql, accountId, deliveries)
        : eachDelivery(sql, accountId, deliveries);
    },
    async recordAttempts(attempts) {
      if (attempts.length === 0) return;
      const rows = attempts.map(
        ({ accountId, deliveryId, attempt, statusCode, durationMs, error, atMs, next, postedTo }) => ({
          account_id: accountId,
          delivery_id: deliveryId,
          attempt,
          status_code: statusCode,
          duration_ms: Math.round(durationMs),
          error,
          attempted_at: instant(atMs),
          status: next.status,
          next_attempt_at: instant(next.nextAttemptAtMs),
          next_in_ms: callersClock || next.nextAttemptAtMs === null ? null : Math.max(0, next.nextAttemptAtMs - atMs),
          disable_endpoint: next.disableEndpoint,
          posted_to: postedTo,
        }),
      );
      failpoint('record_attempts.before');
      await sql`select record_attempts(${JSON.stringify(rows)}::text::jsonb)`;
      failpoint('record_attempts.after');
    },
    async holdUnreadable(claimed) {
      const rows = claimed.map(({ deliveryId, sealedSecrets }) => ({ id: deliveryId, sealed: sealedSecrets }));
      const [row] = await sql<
        { held: string[] }[]
      >`select hold_unreadable(${JSON.stringify(rows)}::text::jsonb) as held`;
      return row!.held;
    },
    async releaseClaims(claims) {
      if (claims.length === 0) return;
      const ids = claims.map(({ deliveryId }) => deliveryId),
        ends = claims.map(({ claimedUntil }) => claimedUntil);
      await sql`select release_claimed(${ids}::text[], ${ends}::text[]::timestamptz[])`;
    },
    async releaseAbandoned(node, shards) {
      failpoint('release_abandoned.before');
      let released = 0;
      for (let step = FIRST_STEP; ;) {
        const [row] = await releasedClaims(sql, { node, shards }, step);
        released += row!.released;
        if (row!.lastAccount === null) break;
        step = row!;
      }
      failpoint('release_abandoned.after');
      return released;
    },
    async incompletePublications() {
      const [row] = await sql<{ count: number }[]>`select incomplete_publications() as count`;
      return row!.count;
    },
    async workBacklog() {
      failpoint('work_backlog.before');
      const [row] = await sql<{ moved: number | null; resumed: number | null }[]>`
        select work_backlog(${BACKLOG_AT_ONCE}) as moved, resume_held(${BACKLOG_AT_ONCE}) as resumed`;
      failpoint('work_backlog.after');
      const { moved, resumed } = row!;
      return moved === null && resumed === null ? null : (moved ?? 0) + (resumed ?? 0);
    },
    async purgeBodies(olderThanMs) {
      let gone = 0;
      let lastAt: string | null = null,
        lastSeq: string | null = null;
      for (;;) {
        const [page] = await purgedBodies(sql, olderThanMs, lastAt, lastSeq);
        gone += page!.gone;
        if (page!.lastAt === null) return gone;
        ({ lastAt, lastSeq } = page!);
      }
    },
    async purge(olderThanMs) {
      let gone = 0;
      for (;;) {
        const [row] = await sql<
          { count: number }[]
        >`select purge_deliveries(${olderThanMs}::timestamptz, ${PURGED_AT_ONCE}) as count`;
        gone += row!.count;
        if (row!.count < PURGED_AT_ONCE) break;
      }
      await sql`select drop_attempt_partitions(${olderThanMs}::timestamptz)`;
      return gone;
    },
  };
}

/**
 * A page of bodies after the last one of the page before; its time as text, for a JavaScript instant has no
 * microseconds.
 */
function purgedBodies(sql: Sql, olderThanMs: number, lastAt: string | null, lastSeq: string | null) {
  return sql<{ gone: number; lastAt: string | null; lastSeq: string | null }[]>`
    select gone, last_at as "lastAt", last_seq::text as "lastSeq"
      from purge_publications(${olderThanMs}::timestamptz, ${PURGED_AT_ONCE}, ${lastAt}::text::timestamptz, ${lastSeq}::text::bigint)`;
}

interface ReleaseStep {
  readonly released: number;
  /** Where the next step goes on; null after the last one. `lastAt`, `lastSeq`: within that endpoint. */
  readonly lastAccount: string | null;
  readonly lastEndpoint: string;
  readonly lastAt: string | null;
  readonly lastSeq: string | null;
}

const FIRST_STEP: ReleaseStep = { released: 0, lastAccount: '', lastEndpoint: '', lastAt: null, lastSeq: null };

function releasedClaims(
  sql: Sql,
  { node, shards }: { node: string; shards: readonly number[] },
  { lastAccount, lastEndpoint, lastAt, lastSeq }: ReleaseStep,
) {
  return sql<ReleaseStep[]>`
    select * from release_former_claims(${node}, ${[...shards]}::int[], ${LOOKED_AT_ONCE}, ${lastAccount}, ${lastEndpoint},
                                        ${lastAt}::text::timestamptz, ${lastSeq}::text::bigint)`;
}
