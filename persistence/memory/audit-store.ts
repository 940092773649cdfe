/** Memory twin of the audit's store, over the same state as the watchers' twin. */
import type { AuditStore, DiscrepancyRow, LedgerBalance } from '../../model/ports/audit-store.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { accountOfLedger, type LedgerId } from '../../protocol/ids.ts';
import { ledgerState, type WatchState } from './watch-state.ts';

/** A store over the state of a memory watch store. */
export function createMemoryAuditStore(state: WatchState): AuditStore {
  return {
    async ledgerBalances(ledger, ask, throughHeight, limit) {
      const only = accountOfLedger(ledger);
      const environment = only === null ? 'live' : 'sandbox';
      const rows = state.addresses
        .filter(
          (entry) =>
            entry.environment === environment && !entry.adopted && (only === null || entry.row.accountId === only),
        )
        .map(({ row }) => row)
        .filter((row) =>
          'addressKeys' in ask
            ? ask.addressKeys.includes(row.addressKey)
            : ask.afterKey === null || row.addressKey > ask.afterKey,
        )
        .sort((a, b) => (a.addressKey < b.addressKey ? -1 : 1))
        .slice(0, limit);
      const isCut = !('addressKeys' in ask) && rows.length === limit;
      return {
        balances: rows.flatMap((row) => balancesOf(state, ledger, row, throughHeight)),
        uncounted: [],
        next: isCut ? rows.at(-1)!.addressKey : null,
      };
    },
    count: async () => true,
    recount: async () => null, // Nothing is kept beside the rows.
    async recordDiscrepancy(row) {
      const known = state.discrepancies.findIndex((other) => sameFinding(row, other));
      if (known === -1) state.discrepancies.push(structuredClone(row));
      else if (row.kind === 'shortfall')
        state.discrepancies[known] = { ...structuredClone(row), id: state.discrepancies[known]!.id };
      return known === -1;
    },
    async discrepancies(ledger, limit) {
      return structuredClone(
        state.discrepancies
          .filter((row) => row.ledger === ledger)
          .slice(-limit)
          .reverse(),
      );
    },
  };
}

function sameFinding(a: DiscrepancyRow, b: DiscrepancyRow): boolean {
  return (
    a.ledger === b.ledger &&
    a.addressId === b.addressId &&
    a.tokenContract === b.tokenContract &&
    a.kind === b.kind &&
    (a.kind === 'shortfall' || a.height === b.height)
  );
}

function balancesOf(
  state: WatchState,
  ledger: LedgerId,
  address: WatchState['addresses'][number]['row'],
  throughHeight: number,
): LedgerBalance[] {
  const facts = [...ledgerState(state, ledger).facts.values()].filter(
    ({ status, transfer }) =>
      status !== 'orphaned' && transfer.addressId === address.addressId && transfer.height <= throughHeight,
  );
  const sent = [...state.withdrawals.values()].filter(
    (row) =>
      row.ledger === ledger &&
      row.from === address.address &&
      row.height !== null &&
      row.height <= throughHeight &&
      ['confirming', 'confirmed', 'failed'].includes(row.status),
  );
  const assets = [
    null,
    ...[...new Set(facts.map(({ transfer }) => transfer.tokenContract))].filter((token) => token !== null).sort(),
  ];
  return assets.map((tokenContract) => ({
    ...address,
    tokenContract,
    received: facts
      .filter(({ transfer }) => transfer.tokenContract === tokenContract)
      .reduce((sum, { transfer }) => sum + BigInt(transfer.amount), 0n),
    sent: sent.reduce((sum, row) => sum + sentOf(row, tokenContract), 0n),
    unattributed: state.discrepancies
      .filter(
        (row) =>
          row.ledger === ledger &&
          row.addressId === address.addressId &&
          row.tokenContract === tokenContract &&
          row.kind === 'unattributed' &&
          row.height <= throughHeight,
      )
      .reduce((sum, row) => sum + row.amount, 0n),
  }));
}

/** A failed transaction moved nothing and paid its fee. */
function sentOf(row: WithdrawalRow, tokenContract: string | null): bigint {
  const moved = row.status !== 'failed' && row.tokenContract === tokenContract ? row.amount : 0n;
  return moved + (tokenContract === null ? (row.fee ?? 0n) : 0n);
}
