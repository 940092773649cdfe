/** Imports of an account, as far as its own count and its cutovers are concerned; the rest is in their tables. */
import type { StoredWrite } from '../rows/stored.ts';
import type { Chain, Family } from '../../protocol/slugs.ts';

export interface MigrationState {
  /**
   * How often a project was cut over or back: facts whose projects were read before the last time wait for another
   * reading.
   */
  cutovers: number;
}

export type Heights = Partial<Record<Chain, number>>;

export type MigrationCommand =
  /** Everything that was read is a predicate of the rows that it writes. */
  | {
      type: 'reserve_import';
      batchId: string;
      dryRunId: string;
      adopting: number;
      chains: Chain[];
      heights: Heights;
      /** Above own paths among the rows: what is issued next. */
      indexes: Partial<Record<Family, number>>;
      acceptBillingChange: boolean;
      /** An owner's bearer asks. */
      byOwner: boolean;
    }
  | { type: 'open_import'; batchId: string; adopting: number }
  | { type: 'undo_import'; batchId: string; adopting: number; becomes: 'rolled_back' | 'conflict' }
  | { type: 'cut_over'; projectId: string; state: 'active' | 'observe'; heights: Heights | null };

export type MigrationEvent =
  | {
      type: 'import_reserved';
      batchId: string;
      adopting: number;
      chains: Chain[];
      indexes: Partial<Record<Family, number>>;
    }
  | { type: 'import_opened'; batchId: string }
  | { type: 'import_undone'; batchId: string; adopting: number; becomes: 'rolled_back' | 'conflict' }
  | { type: 'project_cut_over'; projectId: string; state: 'active' | 'observe' };

export interface MigrationReplies {
  reserve_import: { batchId: string };
  open_import: { batchId: string };
  undo_import: { batchId: string };
  cut_over: { state: 'active' | 'observe' };
}

export type MigrationWrite =
  | StoredWrite<'imports_reserved', { id: string; dryRunId: string; adopting: number; heights: Heights }>
  | StoredWrite<'imports_opened', { id: string; adopting: number; at: string }>
  | StoredWrite<'imports_undone', { id: string; adopting: number; becomes: string }>
  | StoredWrite<'projects_cut_over', { id: string; state: string; heights: Heights | null }>;

export const MIGRATION_INITIAL: MigrationState = { cutovers: 0 };
