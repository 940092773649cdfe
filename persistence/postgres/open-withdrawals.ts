/**
 * Withdrawals that may still land or be orphaned, page by page, by work that grows with the page alone.
 *
 *   all that are under way fit in the page      by age, then what settled in sight
 *   they do not                                 round after round: of each account the next few, oldest first. Who had
 *                                               more has a place, and another turn; then what settled
 *   behind them                                 what every node refused and nothing proves dead
 */
import type { OpenPlace } from '../../model/ports/watch-store.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { LedgerId } from '../../protocol/ids.ts';
import { withdrawalOf, type Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';

export interface OpenAsk {
  readonly ledger: LedgerId;
  readonly sinceHeight: number;
  readonly limit: number;
}

type Turn = Pick<WithdrawalRow, 'accountId' | 'createdAtMs' | 'id'>;

interface Place extends OpenPlace {
  /** The first round goes on behind this account; null when it is over. */
  readonly account: string | null;
  /** Accounts that are still to come in a later round, and those that have one more turn after it. */
  readonly turns: readonly Turn[];
  readonly later: readonly Turn[];
  readonly settled: { readonly height: number; readonly accountId: string; readonly id: string };
  /** Behind which the refused ones go on; null before what settled has ended. */
  readonly refused: { readonly accountId: string; readonly id: string } | null;
}

/** A turn is this part of a page. */
const TURNS_PER_PAGE = 40;
const START: Place = {
  kind: 'place of open withdrawals',
  account: '',
  turns: [],
  later: [],
  settled: { height: -1, accountId: '', id: '' },
  refused: null,
};

/** A page behind a place, and where the next one begins; null at the end of the pass. */
export async function openPage(
  sql: Sql,
  ask: OpenAsk,
  after: OpenPlace | null,
): Promise<{ rows: WithdrawalRow[]; next: OpenPlace | null }> {
  const open: WithdrawalRow[] = [],
    settled: WithdrawalRow[] = [];
  let place = after as Place | null;
  if (place === null) {
    const all = await byAccount(sql, ask, '', { each: ask.limit + 1, most: ask.limit + 1 });
    if (all.length <= ask.limit) open.push(...all);
    place = all.length <= ask.limit ? { ...START, account: null } : START;
  }
  for (;;) {
    const room = ask.limit - open.length - settled.length;
    if (room === 0) return { rows: [...open.sort(byAge), ...settled], next: place };
    if (place.account !== null || place.turns.length > 0) {
      const step: Step =
        place.account !== null ? await firstRound(sql, ask, place, room) : await laterRound(sql, ask, place, room);
      open.push(...step.rows);
      place = step.place;
    } else if (place.later.length > 0) place = { ...place, turns: place.later, later: [] };
    else if (place.refused === null) {
      const rows = await inSight(sql, ask, place.settled, room);
      settled.push(...rows);
      const last = rows.length < room ? undefined : rows.at(-1);
      place =
        last === undefined
          ? { ...place, refused: { accountId: '', id: '' } }
          : { ...place, settled: { height: last.height!, accountId: last.accountId, id: last.id } };
    } else {
      const rows = await refused(sql, ask, place.refused, room);
      settled.push(...rows);
      if (rows.length < room) return { rows: [...open.sort(byAge), ...settled], next: null };
      const { accountId, id } = rows.at(-1)!;
      place = { ...place, refused: { accountId, id } };
    }
  }
}

interface Step {
  readonly rows: readonly WithdrawalRow[];
  readonly place: Place;
}

async function firstRound(sql: Sql, ask: OpenAsk, place: Place, room: number): Promise<Step> {
  const each = Math.max(1, Math.ceil(ask.limit / TURNS_PER_PAGE));
  const rows = await byAccount(sql, ask, place.account!, { each, most: room });
  const isCut = rows.length === room,
    account = isCut ? rows.at(-1)!.accountId : null;
  return { rows, place: { ...place, account, later: [...place.later, ...turnsAfter(rows, each, isCut)] } };
}

/** A few accounts that are left share the page. */
async function laterRound(sql: Sql, ask: OpenAsk, place: Place, room: number): Promise<Step> {
  const turns = place.turns.slice(0, room),
    each = Math.max(Math.ceil(ask.limit / TURNS_PER_PAGE), Math.ceil(room / turns.length));
  const rows = await behind(sql, ask, turns, { each, most: room });
  const isCut = rows.length === room,
    last = rows.at(-1)?.accountId;
  const taken = isCut ? turns.findIndex(({ accountId }) => accountId === last) + 1 : turns.length;
  const later = [...place.later, ...turnsAfter(rows, each, isCut)];
  return { rows, place: { ...place, turns: place.turns.slice(taken), later } };
}

const byAge = (a: WithdrawalRow, b: WithdrawalRow): number => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);

/** Of accounts that may have more: who had a full turn, and whose turn the page cut short. */
function turnsAfter(rows: readonly WithdrawalRow[], each: number, isCut: boolean): Turn[] {
  const of = Map.groupBy(rows, ({ accountId }) => accountId);
  const last = isCut ? rows.at(-1)!.accountId : null;
  return [...of].flatMap(([accountId, theirs]) => {
    if (theirs.length < each && accountId !== last) return [];
    const { createdAtMs, id } = theirs.at(-1)!;
    return { accountId, createdAtMs, id };
  });
}

interface Bounds {
  /** Of an account. */
  readonly each: number;
  /** In all. */
  readonly most: number;
}

async function byAccount(
  sql: Sql,
  { ledger }: OpenAsk,
  after: string,
  { each, most }: Bounds,
): Promise<WithdrawalRow[]> {
  const rows = await sql<Columns[]>`select * from open_by_account(${ledger}, ${after}, ${each}, ${most})`;
  return rows.map(withdrawalOf);
}

async function behind(
  sql: Sql,
  { ledger }: OpenAsk,
  turns: readonly Turn[],
  { each, most }: Bounds,
): Promise<WithdrawalRow[]> {
  const accounts = turns.map(({ accountId }) => accountId as string),
    ats = turns.map(({ createdAtMs }) => new Date(createdAtMs).toISOString()),
    ids = turns.map(({ id }) => id as string);
  const rows = await sql<Columns[]>`
    select * from open_after(${ledger}, ${accounts}::text[], ${ats}::text[]::timestamptz[], ${ids}::text[], ${each}, ${most})`;
  return rows.map(withdrawalOf);
}

async function inSight(
  sql: Sql,
  { ledger, sinceHeight }: OpenAsk,
  { height, accountId, id }: Place['settled'],
  most: number,
): Promise<WithdrawalRow[]> {
  const rows = await sql<Columns[]>`
    select * from settled_in_sight(${ledger}, ${sinceHeight}, ${height}, ${accountId}, ${id}, ${most})`;
  return rows.map(withdrawalOf);
}

async function refused(
  sql: Sql,
  { ledger }: OpenAsk,
  { accountId, id }: NonNullable<Place['refused']>,
  most: number,
): Promise<WithdrawalRow[]> {
  const rows = await sql<Columns[]>`select * from refused_in_sight(${ledger}, ${accountId}, ${id}, ${most})`;
  return rows.map(withdrawalOf);
}
