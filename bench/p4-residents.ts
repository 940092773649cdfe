/** P4: resident accounts: memory of 100,000, an idle one against a bare nact actor, activation of a passivated one. */
import * as nact from 'nact';
import { createAccountEntity } from '../actors/account/account.ts';
import { createChainBook } from '../actors/account/chain-book.ts';
import { initialAccount } from '../model/account/state.ts';
import { ask, createSystem, systemClock } from '../actors/kernel/index.ts';
import type { AccountEvent, AccountState, RowWrite } from '../model/account/capabilities.ts';
import type { EntityStore } from '../model/entity.ts';
import type { AccountId } from '../protocol/ids.ts';
import { shardOf } from '../protocol/node/ids.ts';
import { ENTITY_RESTARTS, restartPolicy, WORKER_RESTARTS } from '../actors/kernel/restart-policy.ts';
import { percentile, type Figure } from './figure.ts';

const ACCOUNTS = 100_000;
const BARE = 100_000;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));
const heap = (): number => {
  globalThis.gc!();
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
};

const idOf = (n: number): AccountId => `org_${n.toString(36).padStart(26, 'a')}_sandbox`;

/** A store as fast as can be: what is measured is the actor, with the state that a real account has after enrolment. */
const store: EntityStore<AccountState, AccountEvent, RowWrite> = {
  async load(entityId) {
    const state = initialAccount({
      accountId: entityId as AccountId,
      organizationId: entityId.slice(0, -8),
      environment: 'sandbox',
      plan: { tier: 'premium', band: 'launch', subscription: 'active', paymentsActive: false },
    });
    return { state, version: 1, ownerEpoch: 1 };
  },
  async append() {
    return { kind: 'appended' };
  },
};

async function bareActor(): Promise<number> {
  const system = nact.start();
  const before = heap();
  const kept = [];
  const count = async (state: number | undefined): Promise<number> => (state ?? 0) + 1;
  for (let n = 0; n < BARE; n += 1) kept.push(nact.spawn(system, count, `a${n}`));
  const bytes = (heap() - before) / kept.length;
  nact.stop(system);
  return bytes;
}

async function main(): Promise<void> {
  const bare = await bareActor();
  const system = createSystem({
    log: { warn: () => undefined, error: () => undefined },
    clock: systemClock,
    random: Math.random,
    policies: { entity: restartPolicy(ENTITY_RESTARTS), worker: restartPolicy(WORKER_RESTARTS) },
  });
  const accounts = system.entities({
    entity: createAccountEntity({ book: createChainBook([]) }),
    store,
    shardOf,
    residentsMax: ACCOUNTS,
  });
  const before = heap();
  const rssBefore = process.memoryUsage().rss;
  for (let n = 0; n < ACCOUNTS; n += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, (_, k) => ask(accounts.address(idOf(n + k)), { type: 'inspect' })));
  }
  const bytes = (heap() - before) / accounts.residents;
  const rssMb = (process.memoryUsage().rss - rssBefore) / 2 ** 20;
  emit({
    id: 'P4a',
    what: '100,000 resident accounts',
    ours: rssMb,
    limit: 1_024,
    unit: 'MiB',
    better: 'lower',
    goal: 1,
    note: 'growth of the process; the limit is the goal of 1 GB',
  });
  emit({
    id: 'P4b',
    what: 'idle account',
    ours: bytes,
    limit: bare,
    unit: 'bytes',
    better: 'lower',
    goal: 4,
    note: 'heap, against a bare nact actor',
  });

  const activationsMs: number[] = [];
  for (let n = 0; n < 2_000; n += 1) {
    const at = performance.now();
    await ask(accounts.address(idOf(ACCOUNTS + n)), { type: 'inspect' }); // evicts the oldest, activates a new one
    activationsMs.push(performance.now() - at);
  }
  emit({
    id: 'P4c',
    what: 'activation of a passivated account, p99, full node',
    ours: percentile(activationsMs, 0.99),
    limit: 20,
    unit: 'ms',
    better: 'lower',
    goal: 1,
    note: 'the kernel alone; with the database it is P4d',
  });
  await system.stop(5_000);
}

await main();
