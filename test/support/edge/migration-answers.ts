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
