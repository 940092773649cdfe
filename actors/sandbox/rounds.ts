/**
 * What falls due for a sandbox account by its own time (ecosystem X75):
 *
 *   POST /v1/sandbox/clock ──▶ the earliest that is due until then ──▶ the clock is at its instant ──▶ it is done
 *              ▲                                                                                        │
 *              └──────────────── what follows of it is on its way, or delivered ◀───────────────────────┘
 *
 * so that each happens at its own moment and in order. What cannot go on (no edge is there, a chain is down) is left as
 * it is, and is due. Beside it a look at each clock that was moved: real time goes on, and theirs with it. Asked again,
 * or twice at once, it changes nothing that is done.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { ClockStore, DueItem } from '../../model/ports/clock-store.ts';
import type { PaymentStore } from '../../model/ports/payment-store.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { SandboxControl } from '../../model/ports/sandbox-control.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { ActorSystem } from '../kernel/index.ts';
import { archivePaid, closeDue } from '../payment/rounds.ts';
import { firePolicy, type FireParts } from '../sweep/fire.ts';
import { timeOf } from './time.ts';

export interface ClockParts extends FireParts {
  readonly stores: { readonly clocks: ClockStore; readonly payments: Pick<PaymentStore, 'release'> };
  readonly reads: Pick<ReadStore, 'paymentLink' | 'headOf' | 'paidAddresses'>;
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly sandbox: Pick<SandboxControl, 'runTimer'>;
  /** The real time. */
  readonly nowMs: () => number;
  readonly log: { warn(facts: object, text: string): void };
}

export interface Ran {
  readonly atMs: number;
  readonly what: DueItem['what'];
  readonly id: string;
}

/** What one call does at most; the next one goes on. */
const RAN_MAX = 1_000;
const CALL_MS_MAX = 15_000;
/** How long webhooks of what happened are waited for, and how often they are looked at. */
const QUIET_MS_MAX = 5_000;
const LOOK_EVERY_MS = 50;
/** How often a node looks at the clocks that were moved. */
const ROUND_EVERY_MS = 1_000;
/** Accounts of one look of the schedule, and what is done for each. */
const ACCOUNTS_AT_ONCE = 200;
const ITEMS_AT_ONCE = 50;

/** Moves the clock, and does on the way what falls due. Where it got is the answer. Refuses: SANDBOX_ONLY. */
export async function advance(
  parts: ClockParts,
  accountId: AccountId,
  toMs: number,
): Promise<{ nowMs: number; ran: readonly Ran[] } | Refusal> {
  const { nowMs } = parts,
    { clocks } = parts.stores,
    untilMs = nowMs() + CALL_MS_MAX,
    ran: Ran[] = [],
    stuck = new Set<string>();
  for (;;) {
    if (ran.length === RAN_MAX || nowMs() >= untilMs) break;
    const limitMs = Math.max(toMs, await timeOf(parts, accountId));
    const next = (await clocks.due(accountId, limitMs, stuck.size + 1)).find((item) => !stuck.has(keyOf(item)));
    if (next === undefined) {
      const refused = await moveTo(parts, accountId, toMs);
      if (refused !== null) return refused;
      break;
    }
    const refused = await moveTo(parts, accountId, next.atMs);
    if (refused !== null) return refused;
    if (await perform(parts, accountId, next)) ran.push({ atMs: next.atMs, what: next.what, id: next.id });
    else stuck.add(keyOf(next));
  }
  await quiet(parts, accountId, Math.min(untilMs, nowMs() + QUIET_MS_MAX));
  return { nowMs: await timeOf(parts, accountId), ran };
}

const keyOf = ({ what, id, atMs }: DueItem): string => `${what} ${id} ${atMs}`;

async function moveTo({ accounts, nowMs }: ClockParts, accountId: AccountId, toMs: number): Promise<Refusal | null> {
  const answer = await accounts.ask(accountId, { type: 'advance_clock', toAheadMs: Math.ceil(toMs - nowMs()) });
  return isRefusal(answer) ? answer : null;
}

/** False where it is due as before: it waits for something else than time. */
async function perform(parts: ClockParts, accountId: AccountId, item: DueItem): Promise<boolean> {
  try {
    await WORK[item.what](parts, accountId, item);
  } catch (error) {
    parts.log.warn(
      { err: error, accountId, what: item.what, subject: item.id },
      'what was due in a sandbox could not go on',
    );
    return false;
  }
  const again = await parts.stores.clocks.due(accountId, item.atMs, ITEMS_AT_ONCE);
  return again.every((one) => keyOf(one) !== keyOf(item));
}

type Work = (parts: ClockParts, accountId: AccountId, item: DueItem) => Promise<unknown>;

const WORK: Readonly<Record<DueItem['what'], Work>> = {
  confirmation: ({ sandbox }, accountId, { work }) => sandbox.runTimer(accountId, work),
  payment_expiry: ({ stores }, accountId, { id, atMs }) => stores.clocks.expirePayment(accountId, id, atMs),
  link_end: (parts, accountId, { id }) => closeDue(parts, accountId, id),
  link_monitored: async (parts, accountId, { id }) =>
    archivePaid({ ...parts, ...parts.stores }, accountId, id, await timeOf(parts, accountId)),
  sweep_policy: (parts, accountId, { id, work, atMs }) =>
    firePolicy(parts, { accountId, id, fired: Number(work), due: new Date(atMs).toISOString() }),
  // The publisher sends it, now that it is due; without an edge it waits as it would.
  async delivery_retry(parts, accountId, item) {
    const untilMs = parts.nowMs() + QUIET_MS_MAX;
    while (parts.nowMs() < untilMs && (await parts.edges.anyLive(accountId))) {
      const due = await parts.stores.clocks.due(accountId, item.atMs, ITEMS_AT_ONCE);
      if (due.every((one) => keyOf(one) !== keyOf(item))) return;
      await pause(LOOK_EVERY_MS);
    }
  },
};

/** Waits for the webhooks of what happened, where an edge is there to take them. */
async function quiet(parts: ClockParts, accountId: AccountId, untilMs: number): Promise<void> {
  while (parts.nowMs() < untilMs && (await parts.edges.anyLive(accountId))) {
    if (!(await parts.stores.clocks.isDelivering(accountId, await timeOf(parts, accountId)))) return;
    await pause(LOOK_EVERY_MS);
  }
}

/** Starts the looks at clocks that were moved. */
export function startClocks(system: Pick<ActorSystem, 'spawnWorker'>, parts: ClockParts): void {
  system.spawnWorker<'look'>({
    path: 'schedules/sandbox-clocks',
    recover: ({ sendSelf }) => void sendSelf('look'),
    receive: async (message, { timers, sendSelf, signal }) => {
      await clockRound(parts);
      if (!signal.aborted) timers.after(ROUND_EVERY_MS, () => sendSelf(message));
    },
  });
}

/** One look at the clocks that were moved: what is due by now is done, each kind as a call would. */
export async function clockRound(parts: ClockParts): Promise<void> {
  for (const accountId of await parts.stores.clocks.claim(ACCOUNTS_AT_ONCE)) {
    try {
      for (const item of await parts.stores.clocks.due(accountId, await timeOf(parts, accountId), ITEMS_AT_ONCE))
        if (item.what !== 'delivery_retry') await perform(parts, accountId, item);
    } catch (error) {
      parts.log.warn({ err: error, accountId }, 'what was due in a sandbox could not be looked at');
    }
  }
}
