/** Honest answers of a migration's routes. */
import { assess } from '../../../protocol/migration/assessment.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Chain } from '../../../protocol/slugs.ts';

const ASKED = {
  mnemonics: 1,
  hasRawKeys: false,
  providerHoldsKeys: false,
  standardWallet: null,
  addressCount: 2_000,
  chains: ['btc', 'eth', 'xrp', 'sol'] as Chain[],
};

/** The rest of an answer, as JSON has it. */
function assessed(): Omit<ReplyOf<'detectCase'>, 'capacity'> {
  return JSON.parse(JSON.stringify(assess(ASKED, { exceeds: true, projected: 2_012 })));
}

export const CASE_SAMPLE: { body: typeof ASKED; data: ReplyOf<'detectCase'> } = {
  body: ASKED,
  data: {
    ...assessed(),
    capacity: {
      band: 'launch',
      limit: 1_000,
      current: 12,
      adopting: 2_000,
      projected: 2_012,
      exceeds: true,
      requiredBand: 'growth',
      monthlyFee: { current: '99.00', required: '499.00' },
    },
  },
};

export const PROJECT: ReplyOf<'createMigrationProject'> = {
  id: newId('mig', 1),
  name: 'old wallet',
  state: 'draft',
  createdAt: '2026-01-01T00:00:00.000Z',
};
export const UPLOAD_ID = newId('upl', 1);
export const CAPACITY: ReplyOf<'getMigrationCapacity'> = CASE_SAMPLE.data.capacity;

const BATCH_ID = newId('imp', 1);
export const BATCH: ReplyOf<'getImport'> = {
  id: BATCH_ID,
  batchId: BATCH_ID,
  projectId: PROJECT.id,
  uploadId: UPLOAD_ID,
  scanId: null,
  state: 'committed',
  dryRunId: newId('dry', 1),
  adopting: 2,
  heights: { eth: 5 },
  review: { reviewId: newId('rvw', 1), state: 'dropped' },
  createdAt: PROJECT.createdAt,
  committedAt: PROJECT.createdAt,
  rollbackUntil: PROJECT.createdAt,
};
export const ISSUE: ReplyOf<'listImportIssues'>['content'][number] = {
  phase: 'derivation',
  severity: 'warning',
  code: 'untraced',
  line: 2,
  column: null,
  field: null,
  message: 'no key',
};
const phase = {
  state: 'passed' as const,
  rows: 2,
  passed: 2,
  skipped: 0,
  warnings: 1,
  errors: 0,
  codes: { untraced: 1 },
};
export const DRY_RUN: ReplyOf<'getDryRun'> = {
  batchId: BATCH.id,
  dryRunId: BATCH.dryRunId,
  state: 'valid',
  byPhase: {
    parse: phase,
    schema: phase,
    chain_format: phase,
    derivation: phase,
    uniqueness: phase,
    spendability: phase,
    projection: phase,
  },
  rows: 2,
  adoptable: 2,
  skipped: 0,
  spendable: 1,
  watchOnly: 1,
  conflicts: 0,
  projection: CAPACITY,
  issues: [ISSUE],
};
export const EXPORT_PLAN: ReplyOf<'getExportPlan'> = {
  projectId: PROJECT.id,
  format: 'DESCRIPTORS',
  rows: 2,
  expressible: 0,
  inexpressible: [{ reason: 'untraced', count: 2 }],
  loses: ['derivation_path'],
  bytes: 14,
};
export const OBSERVED: ReplyOf<'getObserve'> = {
  projectId: PROJECT.id,
  state: 'observe',
  addresses: 2,
  depositsObserved: 1,
  historicalRecorded: 1,
  caughtUp: true,
  chains: [
    {
      chain: 'eth',
      recordedHeight: 5,
      caughtUp: true,
      depositsObserved: 1,
      historicalRecorded: 1,
      confirmed: 1,
      pending: 1,
      reversed: 0,
      straddling: 0,
    },
  ],
};

const SCAN_ID = newId('scn', 1);
export const SCAN: ReplyOf<'getScan'> = {
  id: SCAN_ID,
  scanId: SCAN_ID,
  projectId: PROJECT.id,
  keySourceId: newId('ks', 1),
  chain: 'eth',
  networks: ['eth'],
  state: 'completed',
  gapLimit: 20,
  maxScan: 10_000,
  requestedMaxScan: null,
  review: null,
  scanned: 24,
  found: 2,
  lastUsedIndex: 3,
  largestGap: 2,
  unread: 0,
  truncated: false,
  stoppedBy: 'gap_limit',
  evidence: 'state',
  headHeight: 5,
  etaSeconds: null,
  warnings: ['evm_networks'],
  reason: null,
  estimate: { indexes: 10_000, requests: 300, seconds: 30 },
  createdAt: PROJECT.createdAt,
  endedAt: PROJECT.createdAt,
};
export const SCAN_ADDRESS: ReplyOf<'listScanAddresses'>['content'][number] = {
  index: 3,
  branch: 0,
  address: '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25',
  derivationPath: "[0123456789abcdef/44'/60'/0'/0/3]",
  used: true,
  userRef: 'customer-3',
};
