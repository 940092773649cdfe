/** An enrolled account with a treasury and one sweep policy, for tests of decisions. */
import type { LeaderParts } from '../../actors/sweep/leader.ts';
import { shippedRegistry } from '../../chains/catalogue.ts';
import type { SweepSettings } from '../../model/account/sweep.ts';
import type { SessionRow } from '../../model/ports/edge-store.ts';
import type { EdgeTreasury } from '../../protocol/frames.ts';
import { newId, newUuid } from '../../protocol/node/ids.ts';
import { enrolled, NOW_MS, type TestAccount } from './account.ts';

/** No leader that said anything, and the registry that ships. */
export const silentLeader: LeaderParts = {
  chains: { tokens: { current: shippedRegistry } },
  edge: { sessions: async () => [] },
  registry: { published: async () => null },
};

/** The same with a leader that said this. */
export const leaderSaying = (treasury: EdgeTreasury | null): LeaderParts => ({
  ...silentLeader,
  edge: { sessions: async () => [{ role: 'leader', endedAtMs: null, treasury } as SessionRow] },
});

/** By hand and native on eth, unless `more` says otherwise. */
export function withPolicy(more: Partial<SweepSettings> = {}): { account: TestAccount; id: string } {
  const account = enrolled(),
    id = newUuid(NOW_MS),
    walletId = newId('wal', NOW_MS);
  account.accept({
    type: 'create_treasury_wallet',
    wallet: { id: walletId, chain: 'eth', source: 'derived', address: null, tag: null, label: null },
  });
  const settings: SweepSettings = {
    chain: 'eth',
    token: null,
    enabled: true,
    triggerMode: 'MANUAL',
    minAmount: null,
    scheduleCron: null,
    scheduleTimeZone: 'UTC',
    treasuryWalletId: walletId,
    gasFundingMode: 'SELF',
    fundingWalletId: null,
    dustFloor: '0',
    maxFeeRatioBps: null,
    abortIfGasExceeds: null,
    pauseOnConsecutiveFailures: 3,
    retainGasFloat: 0,
    closeTokenAccounts: false,
    energy: null,
    ...more,
  };
  account.accept({ type: 'create_sweep_policy', id, settings });
  return { account, id };
}
