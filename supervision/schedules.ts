/** What a node does by the clock: sweeps the inbox, purges expired rows, notes the daily peak. */
import { schedule } from 'node-cron';
import { tell, type ActorSystem } from '../actors/kernel/index.ts';
import { REPLAY_WINDOW_DAYS } from '../actors/webhook/decide.ts';
import type { Accounts } from '../model/ports/accounts.ts';
import type { DeadBuild } from '../persistence/postgres/operator-reads.ts';
import type { Stores } from '../persistence/postgres/stores.ts';
import type { AccountId } from '../protocol/ids.ts';
import type { Logger } from 'pino';

export interface ScheduleParts {
  readonly system: Pick<ActorSystem, 'spawnWorker'>;
  readonly stores: Stores;
  readonly accounts: Accounts;
  readonly nowMs: () => number;
  /** How long a build that nobody signs is one, milliseconds. */
  readonly buildTtlMs: number;
  /** Whether an account is this node's to look after: each node does its own. */
  readonly isMine: (accountId: AccountId) => boolean;
  readonly log: Logger;
}

/** A push that was lost is found again within about this time. */
const INBOX_SWEEP_MS = 1_000;
/** Younger facts are on their way by the watcher's own push. */
const INBOX_AGE_MS = 2_000;
const INBOX_ACCOUNTS_MAX = 500;
/** Accounts whose peak is noted together. */
const PEAKS_AT_ONCE = 16;
const DAY_MS = 86_400_000;
/** Decisions 3: idempotency keys are kept for 24 h. */
const IDEMPOTENCY_KEEP_MS = DAY_MS;
/** Mail that was sent holds addresses of people and is kept no longer than questions about it come. */
const SENT_MAIL_KEEP_DAYS = 30;

/** Builds that are expired together. */
const BUILDS_AT_ONCE = 200;

/** Pages of what waits for endpoints that are stopped, at most so many in a row. */
const BACKLOG_SWEEP_MS = 1_000;
const BACKLOG_PAGES_MAX = 200;
/** Nothing is replayed after REPLAY_WINDOW_DAYS; questions about what an event said come for a little longer. */
const BODY_KEEP_DAYS = 30;

/**
 * The daily snapshot of active addresses that billing takes its peak from; asked again, it changes nothing. Spec §8.1.
 */
async function notePeaks({
  stores,
  accounts,
  nowMs,
  isMine,
}: Pick<ScheduleParts, 'stores' | 'accounts' | 'nowMs' | 'isMine'>): Promise<void> {
  const day = new Date(nowMs()).toISOString().slice(0, 10);
  for (let after = ''; ;) {
    const found = await stores.operators.accountsWithAddresses(after, PEAKS_AT_ONCE);
    await Promise.all(found.filter(isMine).map((accountId) => accounts.ask(accountId, { type: 'note_peak', day })));
    if (found.length < PEAKS_AT_ONCE) return;
    after = found.at(-1)!;
  }
}

/** Puts smaller bands into force whose period has begun. Spec §3.8. */
async function settleBands({
  stores,
  accounts,
  nowMs,
  isMine,
}: Pick<ScheduleParts, 'stores' | 'accounts' | 'nowMs' | 'isMine'>): Promise<void> {
  for (let after = ''; ;) {
    const found = await stores.operators.accountsWithPendingBand(nowMs(), after, PEAKS_AT_ONCE);
    await Promise.all(found.filter(isMine).map((accountId) => accounts.ask(accountId, { type: 'settle_band' })));
    if (found.length < PEAKS_AT_ONCE) return;
    after = found.at(-1)!;
  }
}

/**
 * Expires what nobody signed for BUILD_TTL. Every node looks, and asks its own actors: what another node owns is passed
 * by. Answers how many builds ended.
 */
export async function expireBuilds({
  stores,
  accounts,
  nowMs,
  buildTtlMs,
  isMine,
}: Pick<ScheduleParts, 'accounts' | 'nowMs' | 'buildTtlMs' | 'isMine'> & {
  stores: Pick<Stores, 'operators'>;
}): Promise<number> {
  const untilMs = nowMs() - buildTtlMs;
  let expired = 0;
  for (let behind: DeadBuild | null = null; ;) {
    const found: DeadBuild[] = await stores.operators.deadBuilds(untilMs, behind, BUILDS_AT_ONCE);
    for (const [accountId, builds] of Map.groupBy(found, (build) => build.accountId)) {
      if (!isMine(accountId)) continue;
      const answer = await accounts.ask(accountId, { type: 'expire_builds', builds });
      if (answer.ok === true) expired += answer.reply.expired;
    }
    if (found.length < BUILDS_AT_ONCE) return expired;
    behind = found.at(-1)!;
  }
}

/** What a node does at its start and at the first seconds of each day, UTC; doing it again changes nothing. */
export async function dailyRound(
  parts: Pick<ScheduleParts, 'stores' | 'accounts' | 'nowMs' | 'isMine'>,
): Promise<void> {
  await parts.stores.maintain(parts.nowMs());
  await notePeaks(parts);
  await settleBands(parts);
}

/** Purges expired rows. Daily too, but in a worker of its own: a day of deliveries takes a while. Spec §6. */
export async function retentionRound({
  stores,
  nowMs,
  log,
}: Pick<ScheduleParts, 'nowMs'> & {
  stores: Pick<Stores, 'deliveries' | 'mail' | 'identity'>;
  log: Pick<Logger, 'info'>;
}): Promise<void> {
  const deliveries = await stores.deliveries.purge(nowMs() - REPLAY_WINDOW_DAYS * DAY_MS);
  const bodies = await stores.deliveries.purgeBodies(nowMs() - BODY_KEEP_DAYS * DAY_MS);
  const mails = await stores.mail.purgeSent(nowMs() - SENT_MAIL_KEEP_DAYS * DAY_MS);
  const sessions = await stores.identity.purgeRefreshTokens(nowMs());
  log.info({ deliveries, bodies, mails, sessions }, 'rows past their time were deleted');
}

/** Pages of endpoints' backlogs, until there is none or the rest is locked. */
async function workBacklogs({ deliveries }: Pick<Stores, 'deliveries'>): Promise<void> {
  for (let page = 0; page < BACKLOG_PAGES_MAX; page += 1) {
    if (!((await deliveries.workBacklog()) ?? 0)) return;
  }
}

/**
 * Starts the schedules, each as a supervised worker of its own: a long one delays no other. Only the look for lost
 * pushes is on the money's connections; `background` has its own. The answer stops the cron jobs.
 */
export function startSchedules({
  system,
  stores,
  background,
  accounts,
  nowMs,
  buildTtlMs,
  isMine,
  log,
}: ScheduleParts & { background: Stores }): () => void {
  const often = (path: string, everyMs: number, work: () => Promise<void>) =>
    system.spawnWorker<'look'>({
      path,
      recover: ({ sendSelf }) => void sendSelf('look'),
      receive: async (look, { timers, sendSelf, signal }) => {
        await work();
        if (!signal.aborted) timers.after(everyMs, () => sendSelf(look));
      },
    });
  const seldom = (path: string, work: () => Promise<void>) =>
    system.spawnWorker<'now'>({ path, mailboxMax: 2, receive: work });
  often('schedules/inbox', INBOX_SWEEP_MS, async () => {
    const found = await stores.inbox.accountsWithInbox(nowMs() - INBOX_AGE_MS, INBOX_ACCOUNTS_MAX);
    for (const accountId of found.filter(isMine))
      void accounts
        .wake(accountId)
        .catch((error: unknown) => log.warn({ err: error, accountId }, 'facts wait in the inbox'));
  });
  often('schedules/backlog', BACKLOG_SWEEP_MS, () => workBacklogs(background));
  const purge = seldom('schedules/purge', async () => {
    const nonces = await background.edge.purgeNonces(nowMs());
    const keys = await background.read.purgeIdempotent(nowMs() - IDEMPOTENCY_KEEP_MS);
    log.debug({ nonces, count: keys }, 'purged');
  });
  const peaks = seldom('schedules/daily', () => dailyRound({ stores: background, accounts, nowMs, isMine }));
  const retention = seldom('schedules/retention', () => retentionRound({ stores: background, nowMs, log }));
  const builds = seldom('schedules/builds', async () => {
    const expired = await expireBuilds({ stores: background, accounts, nowMs, buildTtlMs, isMine });
    if (expired > 0) log.info({ count: expired }, 'builds that nobody signed expired');
  });
  const daily = (): void => {
    tell(peaks, 'now');
    tell(retention, 'now');
  };
  daily();
  const jobs = [
    schedule('17 * * * * *', () => {
      tell(purge, 'now');
    }),
    schedule('37 * * * * *', () => {
      tell(builds, 'now');
    }),
    schedule('5 0 0 * * *', daily, { timezone: 'UTC' }),
  ];
  return () => {
    for (const job of jobs) void job.stop();
  };
}
