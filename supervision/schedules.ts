/**
 * What a node does by the clock. What is an account's own (lost pushes, builds that nobody signs) each owner of
 * accounts does for its own; the rest is done once over all nodes, by one that has the role `schedules`. docs/jobs.md.
 */
import { schedule } from 'node-cron';
import { notePeaks, walkUnusedRuns } from '../actors/address/rounds.ts';
import { collectionRound, type MayCollect } from '../actors/billing/collect.ts';
import { closePeriods } from '../actors/billing/rounds.ts';
import { systemClock, tell, type ActorSystem, type Address } from '../actors/kernel/index.ts';
import { expireBuilds } from '../actors/outgoing/rounds.ts';
import { lentRound, paymentRound } from '../actors/payment/rounds.ts';
import { settleBands } from '../actors/plan/rounds.ts';
import { factorResetRound } from '../gateway/http/auth/factor-reset-round.ts';
import { domainRound, type DnsSettings } from '../gateway/http/auth/domain-record.ts';
import { ratesRound, type HasRatesFile } from '../gateway/http/treasury/rates-file.ts';
import { wipeRound } from '../actors/wipe/rounds.ts';
import { SCAN_ROUNDS_AT_ONCE, SCAN_SWEEP_MS, scanRound } from '../actors/migration/discovery/work.ts';
import { resumeImports } from '../actors/migration/imports/work.ts';
import { workBacklogs } from '../actors/webhook/backlog.ts';
import { REPLAY_WINDOW_DAYS } from '../actors/webhook/decide.ts';
import { readReviews } from '../actors/treasury/token-reviews.ts';
import type { Accounts } from '../model/ports/accounts.ts';
import type { RegistryFollower } from '../model/ports/registry-follower.ts';
import type { ChainAccess } from '../model/ports/chain-access.ts';
import type { Stores } from '../persistence/postgres/stores.ts';
import { SESSION_REAP_MS } from '../protocol/frames.ts';
import type { AccountId } from '../protocol/ids.ts';
import type { Logger } from 'pino';
import { once, type Run } from '../cluster/once.ts';

export interface ScheduleParts {
  readonly system: Pick<ActorSystem, 'spawnWorker'>;
  /** On the money's connections. */
  readonly stores: Stores;
  /** On connections of its own. */
  readonly background: Stores;
  readonly accounts: Accounts;
  readonly chains: Pick<ChainAccess, 'bind' | 'tokens'>;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** What the owner of accounts does for them. */
export interface OwnParts extends ScheduleParts {
  /** How long a build that nobody signs is one, milliseconds. */
  readonly buildTtlMs: number;
  /** Whether an account is this node's to look after: each node does its own. */
  readonly isMine: (accountId: AccountId) => boolean;
  readonly registry: Pick<RegistryFollower, 'look'>;
}

/** A version of the token registry is in force on every node within a few seconds. Treasury K11. */
const REGISTRY_POLL_MS = 1_000;
/** A push that was lost is found again within about this time. */
const INBOX_SWEEP_MS = 1_000;
/** Younger facts are on their way by the watcher's own push. */
const INBOX_AGE_MS = 2_000;
const INBOX_ACCOUNTS_MAX = 500;
const DAY_MS = 86_400_000;
/** Decisions 3: idempotency keys are kept for 24 h. */
const IDEMPOTENCY_KEEP_MS = DAY_MS;
/** An instruction that nobody touched for so long is built anew; edges refuse older ones long before. */
const INSTRUCTION_KEEP_MS = 7 * DAY_MS;
/** A file that no batch took. Migration M-U4. */
const UPLOAD_KEEP_MS = 7 * DAY_MS;
/** Mail that was sent holds addresses of people and is kept no longer than questions about it come. */
const SENT_MAIL_KEEP_DAYS = 30;
/** Address and client of a login that ended. Console A11. */
const ENDED_LOGIN_KEEP_DAYS = 30;
/** A scan that no batch was made of, and rows of a batch that was not committed. Migration M-I16. */
const SCAN_KEEP_DAYS = 90;
/** How often builds that nobody signs are looked for. */
const BUILD_SWEEP_MS = 60_000;
/** A link is closed within two seconds of its date. payments 3.2. */
const PAYMENT_ROUND_MS = 1_000;

/** Pages of what waits for endpoints that are stopped. */
const BACKLOG_SWEEP_MS = 1_000;
/** Contracts that accounts asked for are read from their chains. Treasury Q4. */
const TOKEN_SWEEP_MS = 5_000;
/** Nothing is replayed after REPLAY_WINDOW_DAYS; questions about what an event said come for a little longer. */
const BODY_KEEP_DAYS = 30;

/** Removes what nobody asks for any more. Spec §6. */
export async function retentionRound({
  stores,
  nowMs,
  log,
}: Pick<ScheduleParts, 'nowMs'> & {
  stores: Pick<Stores, 'deliveries' | 'mail' | 'logins' | 'auditLog' | 'scans' | 'imports'>;
  log: Pick<Logger, 'info'>;
}): Promise<void> {
  const deliveries = await stores.deliveries.purge(nowMs() - REPLAY_WINDOW_DAYS * DAY_MS);
  const bodies = await stores.deliveries.purgeBodies(nowMs() - BODY_KEEP_DAYS * DAY_MS);
  const mails = await stores.mail.purgeSent(nowMs() - SENT_MAIL_KEEP_DAYS * DAY_MS);
  const texts = await stores.auditLog.trim();
  const scans = await stores.scans.forget(nowMs() - SCAN_KEEP_DAYS * DAY_MS);
  const rows = await stores.imports.forgetStaged(nowMs() - SCAN_KEEP_DAYS * DAY_MS);
  const logins = await stores.logins.purge(nowMs() - ENDED_LOGIN_KEEP_DAYS * DAY_MS, nowMs());
  log.info({ deliveries, bodies, mails, logins, scans, rows, texts }, 'rows past their time were deleted');
}

interface Job {
  /** Its name in `background_job` and, behind `schedules/`, of its worker. */
  readonly job: string;
  readonly everySeconds: number;
  work(run: Run): Promise<void>;
}

/** What one node does for all of them, once in each period. */
export function jobsOf({
  background: stores,
  accounts,
  chains,
  nowMs,
  log,
  ...own
}: Omit<ScheduleParts, 'system' | 'stores'> & DnsSettings & MayCollect & HasRatesFile): Job[] {
  const daily = DAY_MS / 1_000;
  return [
    {
      job: 'purge',
      everySeconds: 60,
      async work() {
        const nonces = await stores.purgeOnce(nowMs());
        const keys = await stores.read.purgeIdempotent(nowMs() - IDEMPOTENCY_KEEP_MS);
        const sessions = await stores.edge.reapSessions(nowMs() - SESSION_REAP_MS);
        const instructions = await stores.edge.reapInstructions(nowMs() - INSTRUCTION_KEEP_MS);
        const uploads = await stores.uploads.eraseUploads(nowMs() - UPLOAD_KEEP_MS);
        log.debug({ nonces, count: keys, sessions, instructions, uploads }, 'purged');
      },
    },
    { job: 'wipes', everySeconds: 10, work: (run) => wipeRound({ stores, accounts, nowMs }, run) },
    { job: 'partitions', everySeconds: daily, work: () => stores.maintain(nowMs()) },
    { job: 'peaks', everySeconds: daily, work: (run) => notePeaks({ stores, accounts }, run) },
    { job: 'unused-runs', everySeconds: daily, work: (run) => walkUnusedRuns(stores.payments, run) },
    { job: 'bands', everySeconds: 60, work: (run) => settleBands({ stores, accounts }, nowMs(), run) },
    { job: 'key-letters', everySeconds: 3_600, work: () => stores.writeLetters(nowMs()) },
    {
      job: 'factor-resets',
      everySeconds: 60,
      work: async ({ signal }) => void (await factorResetRound(stores.factorResets, nowMs(), signal)),
    },
    { job: 'domains', everySeconds: 3_600, work: async () => void (await domainRound(stores.sso, own, nowMs())) },
    { job: 'statements', everySeconds: 3_600, work: (run) => closePeriods({ stores, accounts }, nowMs(), run) },
    {
      job: 'collections',
      everySeconds: 60,
      work: (run) => collectionRound({ ...own, stores, accounts, nowMs, log }, run),
    },
    {
      job: 'imports',
      everySeconds: 5,
      work: async () => void (await resumeImports({ ...stores, accounts, chains, nowMs, log })),
    },
    { job: 'rates', everySeconds: 60, work: () => ratesRound({ ...own, stores, chains, nowMs, log }) },
    { job: 'retention', everySeconds: daily, work: () => retentionRound({ stores, nowMs, log }) },
  ];
}

type Spawner = ScheduleParts['system'];

const often = (system: Spawner, path: string, everyMs: number, work: () => Promise<void>) =>
  system.spawnWorker<'look'>({
    path,
    recover: ({ sendSelf }) => void sendSelf('look'),
    receive: async (look, { timers, sendSelf, signal }) => {
      await work();
      if (!signal.aborted) timers.after(everyMs, () => sendSelf(look));
    },
  });

/**
 * Starts what this node does for the accounts that it owns. Only the look for lost pushes is on the money's
 * connections.
 */
export function startOwnSchedules({
  system,
  stores,
  background,
  accounts,
  nowMs,
  buildTtlMs,
  isMine,
  registry,
  log,
}: OwnParts): void {
  often(system, 'schedules/registry', REGISTRY_POLL_MS, () => registry.look());
  often(system, 'schedules/inbox', INBOX_SWEEP_MS, async () => {
    const found = await stores.inbox.accountsWithInbox(nowMs() - INBOX_AGE_MS, INBOX_ACCOUNTS_MAX);
    for (const accountId of found.filter(isMine))
      void accounts
        .wake(accountId)
        .catch((error: unknown) => log.warn({ err: error, accountId }, 'facts wait in the inbox'));
  });
  often(system, 'schedules/payments', PAYMENT_ROUND_MS, async () => {
    await paymentRound({ payments: background.payments, reads: background.read, accounts, nowMs, isMine, log });
  });
  often(system, 'schedules/lent-addresses', PAYMENT_ROUND_MS, async () => {
    await lentRound({ payments: background.payments, reads: background.read, accounts, nowMs, isMine, log });
  });
  often(system, 'schedules/builds', BUILD_SWEEP_MS, async () => {
    const expired = await expireBuilds({ stores: background, accounts, nowMs, buildTtlMs, isMine });
    if (expired > 0) log.info({ count: expired }, 'builds that nobody signed expired');
  });
}

/**
 * Starts what is done once over all nodes, each job as a supervised worker of its own: a long one delays no other.
 * Every node tries each of them at its start, each minute and when a day begins; the claim says which one does it. The
 * answer stops the tries.
 */
export function startSchedules(
  parts: ScheduleParts & DnsSettings & MayCollect & HasRatesFile & { readonly nodeId: string },
): () => void {
  const { system, background, nodeId, log } = parts;
  often(system, 'schedules/backlog', BACKLOG_SWEEP_MS, () => workBacklogs(background));
  often(system, 'schedules/token-requests', TOKEN_SWEEP_MS, async () => {
    await readReviews({ store: background.tokenRequests, chains: parts.chains });
  });
  for (let round = 0; round < SCAN_ROUNDS_AT_ONCE; round += 1)
    often(system, `schedules/scans-${round}`, SCAN_SWEEP_MS, () =>
      scanRound({ ...background, chains: parts.chains, log }),
    );
  const workers = jobsOf(parts).map((job): Address<'now', void> =>
    system.spawnWorker<'now'>({
      path: `schedules/${job.job}`,
      mailboxMax: 2,
      receive: async (_now, { signal }) => {
        await once({ jobs: background.jobs, nodeId, clock: systemClock, log }, job, (run) => job.work(run), signal);
      },
    }),
  );
  const tryAll = (): void => {
    for (const worker of workers) tell(worker, 'now');
  };
  tryAll();
  const triggers = [schedule('17 * * * * *', tryAll), schedule('5 0 0 * * *', tryAll, { timezone: 'UTC' })];
  return () => {
    for (const trigger of triggers) void trigger.stop();
  };
}
