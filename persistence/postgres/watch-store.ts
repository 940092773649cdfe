/** What watchers record and read: cursor, blocks, facts, maturity. Each write is one call of one function. */
import { failpoint } from '../../protocol/node/failpoint.ts';
import { chainOfLedger, type AccountId } from '../../protocol/ids.ts';
import type { SeenTransfer } from '../../model/rows/inbox.ts';
import {
  COVERAGE_COUNTED_MAX,
  COVERAGE_HEIGHTS_MAX,
  type AdoptedBehind,
  type BlockLink,
  type BlockRecord,
  type Coverage,
  type Cursor,
  type WatchStore,
  type WatchedAddress,
} from '../../model/ports/watch-store.ts';
import type { Columns } from './row-shapes.ts';
import { openPage } from './open-withdrawals.ts';
import type { Sql } from './sql.ts';

/** Arrays longer than this are split by partition; shorter ones cost less in one round trip. */
const SPLIT_KEYS_MIN = 512;

/** The watchers' store over PostgreSQL. */
export function createWatchStore(sql: Sql): WatchStore {
  return { ...tokens(sql), ...beginnings(sql), ...blocks(sql), ...heights(sql), ...maturity(sql), ...addresses(sql) };
}

type Recorded = { recorded: boolean; accounts: AccountId[] };

function recordedOf(accounts: AccountId[] | null): Recorded {
  return accounts === null ? { recorded: false, accounts: [] } : { recorded: true, accounts };
}

const linkJson = ({ height, hash, parentHash, parentHeight, timeMs }: BlockLink) => ({
  height,
  hash,
  parentHash,
  parentHeight,
  time: timeMs === null ? null : new Date(timeMs).toISOString(),
});

const recordJson = ({ registry = 1, link, previous, transfers, withdrawals, unresolved }: BlockRecord) => ({
  registry,
  link: linkJson(link),
  previous,
  transfers,
  withdrawals,
  unresolved,
});

function tokens(sql: Sql): Pick<WatchStore, 'tokenStarts' | 'tokenCode' | 'noteTokenCode'> {
  return {
    async tokenCode(chain, contract) {
      const [row] = await sql<{ code: string }[]>`
        select code from token_code where chain = ${chain} and contract = ${contract}`;
      return row?.code ?? null;
    },
    async noteTokenCode(chain, contract, code) {
      await sql`
        insert into token_code as c (chain, contract, code) values (${chain}, ${contract}, ${code})
        on conflict (chain, contract) do update set code = excluded.code, noted_at = clock_timestamp()
          where c.code <> excluded.code`;
    },
    async tokenStarts(ledger) {
      const chain = chainOfLedger(ledger);
      return sql<{ contract: string; height: number | null }[]>`
        select t.contract, coalesce(
                 (select min(s.height) from registry_start s where s.ledger = ${ledger} and s.version >= t.version),
                 case when coalesce(c.registry, 1) < t.version then coalesce(c.height + 1, 0) end) as height
          from registry_token t left join chain_cursor c on c.ledger = ${ledger} where t.chain = ${chain}`;
    },
  };
}

function beginnings(sql: Sql): Pick<WatchStore, 'chainStart' | 'beginChain' | 'noteChainStart'> {
  return {
    async chainStart(ledger) {
      const [row] = await sql<
        { since: number; height: number | null }[]
      >`select since, height from chain_start where ledger = ${ledger}`;
      return row === undefined ? null : { sinceMs: row.since, height: row.height };
    },
    async beginChain(ledger, atMs) {
      await sql`select begin_chain(${ledger}, ${atMs}::timestamptz)`;
    },
    async noteChainStart(ledger, height) {
      const [row] = await sql<{ height: number }[]>`select note_chain_start(${ledger}, ${height}) as height`;
      return row!.height;
    },
  };
}

function blocks(
  sql: Sql,
): Pick<WatchStore, 'recordBlock' | 'resolveHeight' | 'recordLate' | 'correctBlock' | 'recordReorg'> {
  return {
    async recordBlock(ledger, record) {
      failpoint('record_block.before');
      const [row] = await sql<{ accounts: AccountId[] | null }[]>`
        select record_block(${ledger}, ${JSON.stringify(recordJson(record))}::text::jsonb) as accounts`;
      failpoint('record_block.after');
      return recordedOf(row!.accounts);
    },
    async resolveHeight(ledger, record) {
      failpoint('resolve_height.before');
      const [row] = await sql<{ accounts: AccountId[] | null }[]>`
        select resolve_height(${ledger}, ${JSON.stringify(recordJson(record))}::text::jsonb) as accounts`;
      failpoint('resolve_height.after');
      return recordedOf(row!.accounts);
    },
    async recordLate(ledger, at, transfers) {
      failpoint('record_late.before');
      const [row] = await sql<{ accounts: AccountId[] }[]>`
        select record_late(${ledger}, ${at.height}, ${at.hash}, ${JSON.stringify(transfers)}::text::jsonb) as accounts`;
      failpoint('record_late.after');
      return row!.accounts;
    },
    async correctBlock(ledger, at, transfers) {
      const [row] = await sql<{ accounts: AccountId[] }[]>`
        select retell_block(${ledger}, ${at.height}, ${at.hash}, ${JSON.stringify(transfers)}::text::jsonb) as accounts`;
      return row!.accounts;
    },
    async recordReorg(ledger, forkPoint, oldHead, branch) {
      failpoint('record_reorg.before');
      const [row] = await sql<{ accounts: AccountId[] | null }[]>`
        select record_reorg(${ledger}, ${JSON.stringify(forkPoint)}::text::jsonb, ${JSON.stringify(oldHead)}::text::jsonb,
                            ${JSON.stringify(branch.map(recordJson))}::text::jsonb) as accounts`;
      failpoint('record_reorg.after');
      return recordedOf(row!.accounts);
    },
  };
}

function heights(
  sql: Sql,
): Pick<
  WatchStore,
  'cursor' | 'links' | 'reopenHeight' | 'noteUnresolved' | 'unresolvedHeights' | 'noteHead' | 'noteHeard' | 'coverage'
> {
  return {
    async cursor(ledger) {
      const [row] = await sql<Cursor[]>`select height, hash from chain_cursor where ledger = ${ledger}`;
      return row === undefined ? null : { height: row.height, hash: row.hash };
    },
    async links(ledger, below, limit) {
      const rows = await sql<(Omit<BlockLink, 'timeMs'> & { time: number | null })[]>`
        select height, hash, parent_hash, parent_height, time from block_link
         where ledger = ${ledger} and height < ${below} and not orphaned order by height desc limit ${limit}`;
      return rows.map(({ height, hash, parentHash, parentHeight, time }) => ({
        height,
        hash,
        parentHash,
        parentHeight,
        timeMs: time,
      }));
    },
    async reopenHeight(ledger, at, reason) {
      await sql`select reopen_height(${ledger}, ${at.height}, ${at.hash}, ${reason})`;
    },
    async noteUnresolved(ledger, height, reason) {
      await sql`select note_unresolved(${ledger}, ${height}, ${reason})`;
    },
    async unresolvedHeights(ledger, limit) {
      const rows = await sql<{ height: number; hash: string; tries: number }[]>`
        select height, hash, tries from unresolved_height where ledger = ${ledger} order by tries, height limit ${limit}`;
      return rows.map(({ height, hash, tries }) => ({ height, hash, tries }));
    },
    async noteHead(ledger, headHeight, atMs) {
      await sql`select note_head(${ledger}, ${headHeight}, ${atMs}::timestamptz)`;
    },
    async noteHeard(ledger, atMs) {
      await sql`select note_heard(${ledger}, ${atMs}::timestamptz)`;
    },
    async coverage(ledger) {
      const [row] = await sql<
        {
          cursor: number | null;
          head: number | null;
          headAt: number | null;
          heardAt: number | null;
          unresolved: Coverage['unresolved'];
          unresolvedCount: number;
        }[]
      >`
        select (select height from chain_cursor where ledger = ${ledger}) as cursor, h.height as head, h.at as head_at, h.heard_at,
               coalesce((select jsonb_agg(jsonb_build_object('height', u.height, 'reason', u.reason, 'tries', u.tries,
                           'sinceMs', floor(extract(epoch from u.since) * 1000)) order by u.height)
                           from (select * from unresolved_height where ledger = ${ledger} order by height limit ${COVERAGE_HEIGHTS_MAX}) u),
                        '[]') as unresolved,
               (select count(*)::int from (select from unresolved_height where ledger = ${ledger} limit ${COVERAGE_COUNTED_MAX}) u) as unresolved_count
          from (select 1) one left join chain_head h on h.ledger = ${ledger}`;
      const { cursor, head, headAt, heardAt, unresolved, unresolvedCount } = row!;
      const completeHeight =
        cursor === null ? null : Math.min(cursor, ...unresolved.slice(0, 1).map(({ height }) => height - 1));
      return {
        ledger,
        completeHeight,
        headHeight: head,
        headAtMs: headAt,
        heardAtMs: heardAt,
        unresolved,
        unresolvedCount,
      };
    },
  };
}

function maturity(
  sql: Sql,
): Pick<WatchStore, 'immature' | 'mature' | 'refute' | 'openWithdrawals' | 'noteWithdrawalFact'> {
  return {
    async immature(ledger, headHeight, limit) {
      const rows = await sql<{ transfer: SeenTransfer }[]>`
        select transfer from immature_facts(${ledger}, ${headHeight}, ${limit}) transfer`;
      return rows.map(({ transfer }) => transfer);
    },
    async mature(ledger, facts) {
      failpoint('mature.before');
      const [row] = await sql<
        { accounts: AccountId[] }[]
      >`select mature_facts(${ledger}, ${JSON.stringify(facts)}::text::jsonb) as accounts`;
      failpoint('mature.after');
      return row!.accounts;
    },
    async refute(ledger, facts) {
      failpoint('refute.before');
      const [row] = await sql<
        { accounts: AccountId[] }[]
      >`select refute_facts(${ledger}, ${JSON.stringify(facts)}::text::jsonb) as accounts`;
      failpoint('refute.after');
      return row!.accounts;
    },
    openWithdrawals: (ledger, sinceHeight, limit, after = null) => openPage(sql, { ledger, sinceHeight, limit }, after),
    async noteWithdrawalFact(accountId, fact) {
      failpoint('note_withdrawal_fact.before');
      await sql`select note_withdrawal_fact(${accountId}, ${JSON.stringify(fact)}::text::jsonb)`;
      failpoint('note_withdrawal_fact.after');
    },
  };
}

/** Keys by the partition of the registry that holds them: their first hexadecimal digit. */
export function keysByPartition(keys: readonly string[]): string[][] {
  if (keys.length < SPLIT_KEYS_MIN) return [[...keys]];
  const parts = new Map<string, string[]>();
  for (const key of keys) {
    const part = parts.get(key[0]!);
    if (part === undefined) parts.set(key[0]!, [key]);
    else part.push(key);
  }
  return [...parts.values()];
}

function watchedOf({ addressKey, addressId, accountId, address, purpose }: Columns): WatchedAddress {
  return { addressKey, addressId, accountId, address, purpose } as WatchedAddress;
}

function addresses(sql: Sql): Pick<WatchStore, 'watched' | 'addressesSince' | 'adoptedBehind' | 'noteAdopted'> {
  return {
    async adoptedBehind(ledger, limit) {
      const rows = await sql<Columns[]>`
        select account_id, batch_id, next_height from import_catch_up
         where ledger = ${ledger} and done_at is null order by ledger, account_id, batch_id limit ${limit}::int`;
      return rows.map(
        ({ accountId, batchId, nextHeight }) =>
          ({ accountId, batchId, nextHeight: Number(nextHeight) }) as AdoptedBehind,
      );
    },
    async noteAdopted(ledger, { accountId, batchId, readFrom, nextHeight, isDone }) {
      await sql`
        update import_catch_up set next_height = ${nextHeight}::bigint,
            done_at = case when ${isDone} then clock_timestamp() end
         where ledger = ${ledger} and account_id = ${accountId} and batch_id = ${batchId}
           and next_height = ${readFrom}::bigint and done_at is null`;
    },
    async watched(environment, addressKeys) {
      if (addressKeys.length === 0) return [];
      const parts = await Promise.all(
        keysByPartition(addressKeys).map(
          (keys) => sql<Columns[]>`select * from watched_addresses(${environment}, ${keys}::uuid[])`,
        ),
      );
      return parts.flatMap((rows) => rows.map(watchedOf));
    },
    async addressesSince(environment, sinceMs, ask) {
      const [most, parts] = 'most' in ask ? [ask.most, [null]] : [null, keysByPartition(ask.keys)];
      const found = await Promise.all(
        parts.map(
          (keys) => sql<Columns[]>`
            select * from young_addresses(${environment}, ${sinceMs}::timestamptz, ${most}::int, ${keys}::uuid[])`,
        ),
      );
      const rows = found.flat(),
        young = rows.filter(({ addressKey }) => addressKey !== null);
      return { addresses: young.map(watchedOf), isAll: young.length === rows.length };
    },
  };
}
