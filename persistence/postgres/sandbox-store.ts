/** The simulated ledgers of sandbox accounts: blocks, balances, counters, timers. */
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type {
  PooledTransaction,
  SandboxBlock,
  SandboxPool,
  SandboxStore,
  SandboxTransaction,
} from '../../model/ports/sandbox-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';

function blockOf(row: Columns): SandboxBlock {
  return {
    ledger: row.ledger,
    height: row.height,
    hash: row.hash,
    parentHash: row.parentHash,
    timeMs: row.time,
    transactions: row.transactions,
  } as SandboxBlock;
}

/** The sandbox's store over PostgreSQL. */
export function createSandboxStore(sql: Sql): SandboxStore {
  return { ...ledgers(sql), ...reads(sql), ...pool(sql), ...tasks(sql) };
}

function pooledOf(row: Columns): PooledTransaction {
  const { txid, fromAddress: from, payload, transaction, since: sinceMs, replacedBy } = row;
  return { txid, from, payload, transaction, sinceMs, replacedBy } as PooledTransaction;
}

function pool(sql: Sql): SandboxPool {
  return {
    async setStuck(ledger, until) {
      await sql`
        insert into sandbox_ledger (ledger, stuck, stuck_until, until_repriced)
          values (${ledger}, ${until !== null}, ${until?.height ?? null}::bigint, ${until?.repriced ?? false})
        on conflict (ledger) do update set stuck = excluded.stuck, stuck_until = excluded.stuck_until,
          until_repriced = excluded.until_repriced`;
    },
    async stuckUntil(ledger) {
      const [row] = await sql<{ stuckUntil: number | null; untilRepriced: boolean }[]>`
        select stuck_until, until_repriced from sandbox_ledger where ledger = ${ledger} and stuck`;
      return row === undefined ? null : { height: row.stuckUntil, repriced: row.untilRepriced };
    },
    async isStuck(ledger) {
      const [row] = await sql<{ stuck: boolean }[]>`
        select stuck and coalesce(height < stuck_until, true) as stuck from sandbox_ledger where ledger = ${ledger}`;
      return row?.stuck ?? false;
    },
    async pooled(ledger, txid) {
      const [row] = await sql<Columns[]>`select * from sandbox_pool where txid = ${txid} and ledger = ${ledger}`;
      return row === undefined ? null : pooledOf(row);
    },
    async pooledOf(ledger, from) {
      const rows = await sql<Columns[]>`
        select * from sandbox_pool where ledger = ${ledger} and from_address = ${from} order by nonce, added`;
      return rows.map(pooledOf);
    },
    async heldInPool(ledger, limit) {
      const rows = await sql<Columns[]>`
        select * from sandbox_pool where ledger = ${ledger} and replaced_by is null
         order by from_address, nonce, added limit ${limit}`;
      return rows.map(pooledOf);
    },
    async takePooled(ledger, expected, { txid, from, payload, transaction, sinceMs }, replaced) {
      const entry = { txid, from, payload, transaction, since: new Date(sinceMs).toISOString() };
      failpoint('take_pooled.before');
      const [row] = await sql<{ taken: boolean }[]>`
        select take_pooled(${ledger}, ${JSON.stringify(expected)}::text::jsonb, ${JSON.stringify(entry)}::text::jsonb, ${[...replaced]}::text[]) as taken`;
      failpoint('take_pooled.after');
      return row!.taken;
    },
    async dropPooled(ledger, txid) {
      await sql`select drop_pooled(${ledger}, ${txid})`;
    },
    async pooledSighting(chain, txid) {
      const [row] = await sql<Columns[]>`
        select * from sandbox_pool where txid = ${txid} and ledger like ${`${chain}@%`} limit 1`;
      return row === undefined ? null : pooledOf(row);
    },
  };
}

function ledgers(sql: Sql): Pick<SandboxStore, 'mine' | 'amend' | 'unmine' | 'setDown' | 'resetStep' | 'dueResets'> {
  return {
    async mine(ledger, expected, blocks) {
      const rows = blocks.map(({ height, hash, parentHash, timeMs, transactions }) => ({
        height,
        hash,
        parentHash,
        time: new Date(timeMs).toISOString(),
        transactions,
      }));
      failpoint('mine.before');
      const [row] = await sql<{ mined: boolean }[]>`
        select sandbox_mine(${ledger}, ${expected === null ? null : JSON.stringify(expected)}::text::jsonb, ${JSON.stringify(rows)}::text::jsonb) as mined`;
      failpoint('mine.after');
      return row!.mined;
    },
    async amend(ledger, height, added) {
      const [row] = await sql<{ amended: boolean }[]>`
        select sandbox_amend(${ledger}, ${height}::bigint, ${JSON.stringify(added)}::text::jsonb) as amended`;
      return row!.amended;
    },
    async unmine(ledger, depth) {
      failpoint('unmine.before');
      const rows = await sql<Columns[]>`select * from sandbox_unmine(${ledger}, ${depth})`;
      failpoint('unmine.after');
      return rows.map(blockOf);
    },
    async setDown(ledger, untilMs) {
      await sql`
        insert into sandbox_ledger (ledger, down_until) values (${ledger}, ${untilMs}::timestamptz)
        on conflict (ledger) do update set down_until = excluded.down_until`;
    },
    async resetStep(accountId, rows) {
      failpoint('reset.step');
      const [row] = await sql<{ more: boolean | null }[]>`select reset_step(${accountId}, ${rows}) as more`;
      failpoint('reset.stepped');
      return row!.more;
    },
    async dueResets(after, limit) {
      const rows = await sql<{ accountId: AccountId }[]>`select * from due_resets(${after}, ${limit})`;
      return rows.map(({ accountId }) => accountId);
    },
  };
}

function reads(
  sql: Sql,
): Pick<
  SandboxStore,
  | 'head'
  | 'blocks'
  | 'blockOf'
  | 'sighting'
  | 'balance'
  | 'nonce'
  | 'transactionsOf'
  | 'touched'
  | 'isFormer'
  | 'downUntil'
  | 'behind'
> {
  return {
    async head(ledger) {
      const [row] = await sql<{ height: number; hash: string }[]>`
        select height, hash from sandbox_ledger where ledger = ${ledger} and height is not null`;
      return row === undefined ? null : { height: row.height, hash: row.hash };
    },
    async blocks(ledger, from, limit) {
      const rows = await sql<Columns[]>`
        select * from sandbox_block where ledger = ${ledger} and height >= ${from} order by height limit ${limit}`;
      return rows.map(blockOf);
    },
    async blockOf(ledger, txid) {
      const [row] = await sql<{ height: number; hash: string; transaction: SandboxTransaction }[]>`
        select b.height, b.hash, b.transactions -> x.position as transaction
          from sandbox_transaction x join sandbox_block b on b.ledger = x.ledger and b.height = x.height
         where x.ledger = ${ledger} and x.txid = ${txid}`;
      return row === undefined ? null : { height: row.height, hash: row.hash, transaction: row.transaction };
    },
    async sighting(chain, txid) {
      const [row] = await sql<
        { height: number; hash: string; time: number; headHeight: number; transaction: SandboxTransaction }[]
      >`
        select b.height, b.hash, b.time, l.height as head_height, b.transactions -> x.position as transaction
          from sandbox_transaction x
          join sandbox_block b on b.ledger = x.ledger and b.height = x.height
          join sandbox_ledger l on l.ledger = x.ledger
         where x.txid = ${txid} and x.ledger like ${`${chain}@%`} limit 1`;
      if (row === undefined) return null;
      const { height, hash, time: timeMs, headHeight, transaction } = row;
      return { height, hash, timeMs, headHeight, transaction };
    },
    async balance(ledger, address, tokenContract) {
      const [row] = await sql<{ amount: bigint }[]>`
        select amount from sandbox_balance where ledger = ${ledger} and address = ${address} and token = ${tokenContract ?? ''}`;
      return row?.amount ?? 0n;
    },
    async nonce(ledger, address) {
      const [row] = await sql<{ next: number }[]>`
        select coalesce(max(nonce) + 1, 0) as next from sandbox_transaction
         where ledger = ${ledger} and from_address = ${address} and nonce is not null`;
      return row!.next;
    },
    async transactionsOf(ledger, address) {
      const paid = JSON.stringify([{ transfers: [{ to: address }] }]),
        sent = JSON.stringify([{ from: address }]);
      const rows = await sql<{ height: number; transaction: SandboxTransaction }[]>`
        select b.height, t.value as transaction
          from (select o.* from sandbox_block o
                 where o.transactions @> ${paid}::text::jsonb or o.transactions @> ${sent}::text::jsonb offset 0) b
         cross join lateral jsonb_array_elements(b.transactions) with ordinality t(value, n)
         where b.ledger = ${ledger}
           and (t.value -> 'transfers' @> ${JSON.stringify([{ to: address }])}::text::jsonb or t.value ->> 'from' = ${address})
         order by b.height, t.n`;
      return rows.map(({ height, transaction }) => ({ height, transaction }));
    },
    async touched(ledger, addresses) {
      const rows = await sql<{ address: string }[]>`
        select a.address from unnest(${addresses as string[]}::text[]) a(address)
         where exists (
           select 1 from (
             select o.ledger from sandbox_block o
              where o.transactions @> jsonb_build_array(jsonb_build_object('transfers', jsonb_build_array(
                      jsonb_build_object('to', a.address))))
                 or o.transactions @> jsonb_build_array(jsonb_build_object('from', a.address)) offset 0) b
            where b.ledger = ${ledger})`;
      return rows.map(({ address }) => address);
    },
    async isFormer(ledger, txid) {
      const rows = await sql`select 1 from sandbox_former where txid = ${txid} and ledger = ${ledger}`;
      return rows.length > 0;
    },
    async downUntil(ledger) {
      const [row] = await sql<
        { downUntil: number | null }[]
      >`select down_until from sandbox_ledger where ledger = ${ledger}`;
      return row?.downUntil ?? null;
    },
    async behind(limit, after = null) {
      const { ledger, id } = after ?? { ledger: '', id: '' };
      const rows = await sql<{ ledger: LedgerId | null; nextLedger: string; nextId: string }[]>`
        select * from sandbox_ledgers_behind(${limit}, ${ledger}, ${id})`;
      const end = rows.find((row) => row.ledger === null);
      return {
        ledgers: rows.flatMap((row) => row.ledger ?? []),
        next: end === undefined ? null : { ledger: end.nextLedger, id: end.nextId },
      };
    },
  };
}

function tasks(sql: Sql): Pick<SandboxStore, 'schedule' | 'takeDue' | 'finish' | 'task' | 'changeTask'> {
  return {
    async schedule({ id, accountId, dueAtMs, task }) {
      failpoint('schedule.before');
      await sql`
        insert into sandbox_task (id, account_id, due_at, task)
          values (${id}, ${accountId}, ${dueAtMs}::timestamptz, ${JSON.stringify(task)}::text::jsonb)
        on conflict (id) do update set due_at = excluded.due_at, task = excluded.task`;
      failpoint('schedule.after');
    },
    async takeDue(nowMs, leaseMs, limit) {
      const rows = await sql<{ taskId: string; taskAccount: AccountId; taskBody: unknown }[]>`
        select * from take_sandbox_tasks(${nowMs}::timestamptz, ${nowMs + leaseMs}::timestamptz, ${limit})`;
      return rows.map(({ taskId, taskAccount, taskBody }) => ({ id: taskId, accountId: taskAccount, task: taskBody }));
    },
    async task(id) {
      const [row] = await sql<{ task: unknown }[]>`select task from sandbox_task where id = ${id}`;
      return row?.task ?? null;
    },
    async changeTask(id, expected, task) {
      const rows = await sql`
        update sandbox_task set task = ${JSON.stringify(task)}::text::jsonb
         where id = ${id} and task = ${JSON.stringify(expected)}::text::jsonb returning id`;
      return rows.length > 0;
    },
    async finish(id) {
      await sql`delete from sandbox_task where id = ${id}`;
    },
  };
}
