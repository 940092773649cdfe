/** What the recorded facts say addresses hold, and the differences that were found. V7, G24. */
import { failpoint } from '../../protocol/node/failpoint.ts';
import { accountOfLedger, chainOfLedger } from '../../protocol/ids.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import type {
  AuditStore,
  DiscrepancyRow,
  LedgerBalance,
  Uncounted,
  WrongTotal,
} from '../../model/ports/audit-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';

/** Addresses of all families that one step of a walk looks at. */
const LOOKED_AT_MAX = 2_000;
/** Rows of one side of an address that are read beside its total: 25 addresses a round have three sides each. */
const ROWS_MAX = 1_000;
/** Rows of one side that one step counts. */
const COUNTED_MAX = 20_000;
/** The same of what is counted again: it goes on for ever, each round. */
const RECOUNTED_MAX = 5_000;

function balanceOf(row: Columns): LedgerBalance {
  return {
    addressKey: row.addressKey,
    addressId: row.addressId,
    accountId: row.accountId,
    address: row.address,
    purpose: row.purpose,
    tokenContract: row.tokenContract,
    received: row.received,
    sent: row.sent,
    unattributed: row.unattributed,
  } as LedgerBalance;
}

function discrepancyOf(row: Columns): DiscrepancyRow {
  return {
    id: row.id,
    ledger: row.ledger,
    accountId: row.accountId,
    addressId: row.addressId,
    address: row.address,
    tokenContract: row.tokenContract,
    kind: row.kind,
    amount: row.amount,
    expected: row.expected,
    found: row.found,
    height: row.height,
    evidence: row.evidence,
    atMs: row.recordedAt,
  } as DiscrepancyRow;
}

/** The audit's store over PostgreSQL. */
export function createAuditStore(sql: Sql): AuditStore {
  return {
    async ledgerBalances(ledger, ask, throughHeight, limit) {
      const only = accountOfLedger(ledger);
      const [after, keys] = 'addressKeys' in ask ? [null, [...ask.addressKeys]] : [ask.afterKey, null];
      const rows = await sql<Columns[]>`
        select * from balances_of_facts(${ledger}, ${only === null ? 'live' : 'sandbox'}, ${only}, ${FAMILY_OF[chainOfLedger(ledger)]},
                                       ${after}::uuid, ${keys}::uuid[], ${throughHeight}, ${limit}, ${LOOKED_AT_MAX}, ${ROWS_MAX})`;
      const end = rows.find(({ addressId }) => addressId === null),
        behind = rows.filter(({ uncounted }) => uncounted !== null);
      return {
        balances: rows.filter((row) => row !== end && row['uncounted'] === null).map(balanceOf),
        uncounted: behind.map(({ addressKey, uncounted }) => ({ addressKey, sides: uncounted }) as Uncounted),
        next: end === undefined ? null : String(end['addressKey']),
      };
    },
    async count(ledger, { sides }, throughHeight) {
      let isCounted = true;
      for (const { side, subject } of sides) {
        failpoint('count_audit_total.before');
        await sql`select count_audit_total(${ledger}, ${side}, ${subject}, ${throughHeight}, ${COUNTED_MAX})`;
        const [total] = await sql<{ through: number }[]>`
          select through from audit_total where ledger = ${ledger} and side = ${side} and subject = ${subject}`;
        isCounted &&= total !== undefined && total.through >= throughHeight;
      }
      return isCounted;
    },
    async recount(ledger) {
      failpoint('recount_audit_total.before');
      const [row] = await sql<WrongTotal[]>`select * from recount_audit_total(${ledger}, ${RECOUNTED_MAX})`;
      return row === undefined ? null : { ...row };
    },
    async recordDiscrepancy(row) {
      const finding = {
        id: row.id,
        ledger: row.ledger,
        account_id: row.accountId,
        address_id: row.addressId,
        address: row.address,
        token_contract: row.tokenContract,
        kind: row.kind,
        amount: row.amount.toString(),
        expected: row.expected.toString(),
        found: row.found.toString(),
        height: row.height,
        evidence: row.evidence,
        recorded_at: new Date(row.atMs).toISOString(),
      };
      failpoint('record_discrepancy.before');
      const [answer] = await sql<
        { isNew: boolean }[]
      >`select record_discrepancy(${JSON.stringify(finding)}::text::jsonb) as is_new`;
      failpoint('record_discrepancy.after');
      return answer!.isNew;
    },
    async discrepancies(ledger, limit) {
      const rows = await sql<Columns[]>`
        select * from discrepancy where ledger = ${ledger} order by recorded_at desc, id desc limit ${limit}`;
      return rows.map(discrepancyOf);
    },
  };
}
