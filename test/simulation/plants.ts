/** Bugs that are planted to prove the checks: each stands in for one part of production code. */
import type { Instructions } from '../../edge/signing/instructions.ts';
import type { Lease } from '../../edge/link/lease.ts';
import type { Outbox } from '../../edge/link/outbox.ts';
import type { SpendClock } from '../../edge/spend/clock.ts';
import type { SpendCaps } from '../../edge/spend/caps.ts';
import type { SpendLedger } from '../../edge/spend/ledger.ts';
import type { Storage } from '../../edge/storage/storage.ts';
import type { UsedValue } from '../../model/rows/withdrawal.ts';
import type { AccountStore } from '../../model/ports/account-store.ts';
import type { DeliveryStore } from '../../model/ports/delivery-store.ts';

export interface Plant {
  readonly lease?: (monotonicMs: () => number) => Lease;
  readonly mayAct?: (leaseEpoch: number) => boolean;
  readonly outbox?: (storage: Storage, settings: { capacity: number; nowMs: () => number }) => Outbox;
  readonly instructions?: (storage: Storage, nowMs: () => number) => Instructions;
  readonly ledger?: (storage: Storage, caps: SpendCaps, clock: SpendClock) => SpendLedger;
  readonly accounts?: (store: AccountStore) => AccountStore;
  /** What the account is told of the counter values that it used. */
  readonly usedValue?: (from: string) => UsedValue | null;
  readonly deliveries?: (store: DeliveryStore) => DeliveryStore;
}
