/** Token requests over PostgreSQL. Treasury Q. */
import type {
  Asked,
  ReviewAsked,
  SandboxToken,
  TokenRequest,
  TokenRequestStore,
  TokenReview,
  UnreadReview,
} from '../../model/ports/token-request-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { recordingOf } from './audit-log-store.ts';
import type { Columns } from './row-shapes.ts';
import { writtenWithin, type Fragment, type Sql } from './sql.ts';

/** Requests of a contract that its review shows the claims of. */
const CLAIMS_READ = 50;
/** Accounts whose log has a decision. */
const ASKED_BY_MAX = 1_000;

export function createTokenRequestStore(sql: Sql): TokenRequestStore {
  const requestsOf = (where: Fragment) =>
    sql<Columns[]>`
      select v.*, r.id as request_id, r.symbol as claimed_symbol, r.decimals as claimed_decimals,
             r.created_at as requested_at
        from token_request r join token_review v on v.id = r.review_id where ${where} order by r.id desc`;
  const reviewed = (inner: Fragment) =>
    sql<Columns[]>`
      select v.*, (select json_agg(c) from (
               select distinct f.symbol, f.decimals from (
                 select r.symbol, r.decimals from token_request r where r.review_id = v.id limit ${CLAIMS_READ}) f) c) as claims
        from (${inner}) v order by v.id`;
  const decided = async (statement: Fragment): Promise<boolean> => (await statement).count > 0;

  return {
    async ask(
      accountId,
      { id, ledger, chain, contract, symbol, decimals, listedVersion, openMax, allMax },
    ): Promise<Asked> {
      const [done] = await sql<{ outcome: Asked['outcome']; reviewId: string }[]>`
        select * from ask_for_token(${accountId}, ${id}, ${ledger}, ${chain}, ${contract}, ${symbol}, ${decimals},
                                    ${listedVersion}, ${openMax}, ${allMax})`;
      const { outcome, reviewId } = done!;
      if (outcome === 'limit') return { outcome };
      const [row] = await requestsOf(sql`r.account_id = ${accountId} and r.review_id = ${reviewId}`);
      return { outcome, request: requestOf(row!) };
    },
    async ofAccount(accountId) {
      return (await requestsOf(sql`r.account_id = ${accountId}`)).map(requestOf);
    },
    async reviews(state, after, limit) {
      const inner = sql`select * from token_review where ${state === null ? sql`true` : sql`state = ${state}`}
                           and id > ${after} order by id limit ${limit}`;
      return (await reviewed(inner)).map(askedReviewOf);
    },
    async review(id) {
      const inner = sql`
        select w.* from token_review w
         where w.id = coalesce((select r.review_id from token_request r where r.id = ${id}), ${id})`;
      const [row] = await reviewed(inner);
      return row === undefined ? null : askedReviewOf(row);
    },
    async askedBy(reviewId) {
      const rows = await sql<{ accountId: AccountId }[]>`
        select account_id from token_request where review_id = ${reviewId} order by id limit ${ASKED_BY_MAX}`;
      return rows.map(({ accountId }) => accountId);
    },
    async takeUnread(againMs, limit) {
      const rows = await sql<Columns[]>`
        select v.*, t.asked_by from take_unread_reviews(${againMs}, ${limit}) t join token_review v on v.id = t.review_id`;
      return rows.map((row): UnreadReview => ({ ...reviewOf(row), askedBy: row['askedBy'] as AccountId }));
    },
    async recordFacts(id, facts, otherwise) {
      const claimed = sql`exists (select from token_request r where r.review_id = v.id and r.decimals = ${facts.decimals})`;
      await sql`
        update token_review v set facts = ${JSON.stringify(facts)}::text::jsonb, read_at = clock_timestamp(), trouble = null,
               state = case when ${claimed} then state else 'declined' end,
               outcome = case when ${claimed} then null else ${otherwise} end, updated_at = clock_timestamp()
         where id = ${id} and state = 'under_review'`;
    },
    async recordAbsent(id, outcome) {
      await sql`
        update token_review set state = 'declined', outcome = ${outcome}, trouble = null, updated_at = clock_timestamp()
         where id = ${id} and state = 'under_review'`;
    },
    async recordTrouble(id, trouble) {
      await sql`update token_review set trouble = ${trouble} where id = ${id} and state = 'under_review'`;
    },
    accept: (id, by, hazardsKnown, audit) =>
      decided(sql`
        with changed as materialized (
          update token_review set state = 'accepted', accepted_by = ${by}, hazards_known = ${hazardsKnown as string[]},
                 outcome = null, updated_at = clock_timestamp()
           where id = ${id} and state in ('under_review', 'declined') and facts is not null returning id
        )
        select ${recordingOf(sql, ...audit)} from changed`),
    decline: (id, by, reason, audit) =>
      decided(sql`
        with changed as materialized (
          update token_review set state = 'declined', declined_by = ${by}, outcome = ${reason}, updated_at = clock_timestamp()
           where id = ${id} and state in ('under_review', 'accepted') returning id
        )
        select ${recordingOf(sql, ...audit)} from changed`),
    async saveSandboxToken(accountId, { chain, contract, symbol, decimals, hazards }, most) {
      const saving = sql`
        insert into sandbox_token (account_id, chain, contract, symbol, decimals, hazards)
          select ${accountId}, ${chain}, ${contract}, ${symbol}, ${decimals}::int, ${hazards as string[]}::text[]
           where (select count(*) from sandbox_token where account_id = ${accountId}) < ${most}
              or exists (select from sandbox_token where account_id = ${accountId} and chain = ${chain}
                                                     and contract = ${contract})
        on conflict (account_id, chain, contract) do update
          set symbol = excluded.symbol, decimals = excluded.decimals, hazards = excluded.hazards`;
      return (await writtenWithin('sandbox_token_limit', saving)) > 0;
    },
    async sandboxToken(accountId, chain, contract) {
      const [row] = await sql<Columns[]>`
        select chain, contract, symbol, decimals, hazards from sandbox_token
         where account_id = ${accountId} and chain = ${chain} and contract = ${contract}`;
      return row === undefined ? null : sandboxTokenOf(row);
    },
  };
}

function reviewOf(row: Columns): TokenReview {
  return {
    id: row.id,
    accountId: row.accountId,
    chain: row.chain,
    contract: row.contract,
    state: row.state,
    facts: row.facts,
    readAtMs: row.readAt,
    trouble: row.trouble,
    outcome: row.outcome,
    acceptedBy: row.acceptedBy,
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
  } as TokenReview;
}

function requestOf(row: Columns): TokenRequest {
  return {
    id: row.requestId,
    symbol: row.claimedSymbol,
    decimals: row.claimedDecimals,
    createdAtMs: row.requestedAt,
    review: reviewOf(row),
  } as TokenRequest;
}

const sandboxTokenOf = ({ chain, contract, symbol, decimals, hazards }: Columns): SandboxToken =>
  ({ chain, contract, symbol, decimals, hazards }) as SandboxToken;

const askedReviewOf = (row: Columns): ReviewAsked =>
  ({ ...reviewOf(row), requestedBy: Number(row['asked']), claims: row['claims'] ?? [] }) as ReviewAsked;
