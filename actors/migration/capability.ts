/** Commits, cutovers and ways back of imports. */
import type { MigrationSees } from '../../model/account/capabilities.ts';
import type { MigrationCommand, MigrationState } from '../../model/account/migration.ts';
import type { Capability, Folds } from '../account/decision.ts';
import { cutOver, openImport, reserveImport, undoImport } from './decide.ts';

const folds: Folds<MigrationState, MigrationState> = {
  import_opened: ({ cutovers }) => ({ cutovers: cutovers + 1 }),
  project_cut_over: ({ cutovers }) => ({ cutovers: cutovers + 1 }),
};

export const migration: Capability<MigrationCommand, MigrationSees, MigrationState> = {
  owns: ['cutovers'],
  decide: {
    reserve_import: reserveImport,
    open_import: openImport,
    undo_import: undoImport,
    cut_over: cutOver,
  },
  folds,
};
