/** Bridge transfers over PostgreSQL. */
import type { BridgeStore, DueTransfer } from '../../model/ports/bridge-store.ts';
import type { BridgeTransferRow } from '../../model/rows/bridge.ts';
import { createLists, type Lists } from './list-pool.ts';
import { listPage } from './list.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { oneOf } from './tenant.ts';

/** Lists at once where they have no pool of their own. */
const SHARED_SLOTS = 8;

export function createBridgeStore(sql: Sql, lists: Lists = createLists(sql, { slots: SHARED_SLOTS })): BridgeStore {
  return {
    transfer: (accountId, id) =>
      oneOf(sql, accountId, sql`select * from bridge_transfer where account_id = t.account and id = ${id}`, transferOf),
    transfers(accountId, { policyId }, page) {
      const of = lists.sql`${policyId === undefined ? lists.sql`` : lists.sql`and x.policy_id = ${policyId}`}`;
      return listPage(
        lists,
        accountId,
        {
          list: 'bridge-transfers',
          order: 'time',
          sources: [
            { pairs: [['', '']], range: () => lists.sql`from bridge_transfer x where x.account_id = t.account ${of}` },
          ],
          kept: null,
          shape: transferOf,
          rows: (keys) => lists.sql`
          with k as materialized (${keys})
          select x.*, k.at as key_time, k.id as key_id
            from k join bridge_transfer x on x.account_id = t.account and x.id = k.id`,
        },
        page,
      );
    },
    async dueTransfers(atMs, behind, most) {
      const rows = await sql<DueTransfer[]>`
        select * from due_bridge_transfers(${atMs}::timestamptz, ${behind?.accountId ?? ''}, ${behind?.id ?? ''}, ${most})`;
      return [...rows];
    },
  };
}

function transferOf(row: Columns): BridgeTransferRow {
  const { createdAt: createdAtMs, updatedAt: updatedAtMs } = row;
  return {
    id: row.id,
    version: Number(row['version']),
    policyId: row['policyId'],
    fromChain: row['fromChain'],
    toChain: row['toChain'],
    tokenContract: row.tokenContract,
    source: row['source'],
    recipient: row['recipient'],
    recipientPath: row['recipientPath'],
    amount: row.amount,
    maxFee: row['maxFee'],
    state: row['state'],
    reason: row['reason'],
    stalledReason: row['stalledReason'],
    stalledAtMs: row['stalledAt'],
    blocked: row['blocked'],
    approveId: row['approveId'],
    burnId: row['burnId'],
    mintId: row['mintId'],
    message: row['message'],
    attested: row['attested'],
    attestation: row['attestation'],
    mintFrom: row['mintFrom'] === null ? null : Number(row['mintFrom']),
    attestingAtMs: row['attestingAt'],
    lookAtMs: row['lookAt'],
    received: row['received'],
    createdAtMs,
    updatedAtMs,
    endedAtMs: row['endedAt'],
  } as BridgeTransferRow;
}
