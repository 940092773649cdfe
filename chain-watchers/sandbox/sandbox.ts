/**
 * The sandbox's levers (spec §4.7, decisions 8). Each of them mines, replaces or silences blocks of a simulated ledger;
 * what follows (facts, events, webhooks) is the work of the same watcher and account that live chains have.
 */
import { randomBytes } from 'node:crypto';
import type { Token } from '../../chains/chain.ts';
import type { BehindPlace } from '../../model/ports/sandbox-store.ts';
import type { SandboxControl } from '../../model/ports/sandbox-control.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../../protocol/errors.ts';
import { accountOfLedger, chainOfLedger, ledgerOf, type AccountId } from '../../protocol/ids.ts';
import { newUuid } from '../../protocol/node/ids.ts';
import { amountTooLarge, formatAmount, parseDecimal } from '../../protocol/money.ts';
import { FAMILY_OF, type Chain, type Family } from '../../protocol/slugs.ts';
import { confirmationsOf } from '../maturity/confirmations.ts';
import { simulateActivity } from './activity.ts';
import { append, appendEmpty, headOf } from './ledger.ts';
import { minePooled, mineRival, releasePool } from './pool.ts';
import { surroundingLevers, type SurroundingTask } from './surroundings.ts';
import {
  createSandboxLedgers,
  reasonOf,
  type SandboxDeps,
  type SandboxLedger,
  type SandboxLedgers,
} from './ledgers.ts';

/** Confirmations that may be asked for, blocks that may be mined at once. */
const CONFIRMATIONS_MAX = 1_000;
const OUTAGE_SECONDS_MAX = 3_600;
const INT64_MAX = 2n ** 63n - 1n;
/**
 * What one payment can move, smallest unit: all bitcoin, all drops, the amount fields of a ledger. Choice for words of
 * 256 bits: half of one, so that sums of many payments are still amounts.
 */
const PAYMENT_MAX: Readonly<Record<Family, bigint>> = {
  btc: 2_100_000_000_000_000n,
  evm: 2n ** 128n - 1n,
  tron: 2n ** 128n - 1n,
  sol: INT64_MAX,
  xlm: INT64_MAX,
  xrp: 100_000_000_000_000_000n,
};
/** Rows of one statement of a reset, so that nobody waits behind it. */
const RESET_STEP_ROWS = 1_000;
/** How long a request works at a reset, and a sweep at each of some that were left. */
const RESET_MS = 5_000;
const RESET_IN_SWEEP_MS = 250;
const RESETS_PER_SWEEP = 4;
/** A task that is not finished by then is taken again. */
const TASK_LEASE_MS = 30_000;
const TASKS_PER_SWEEP = 200;

type Task =
  | { readonly kind: 'confirm'; readonly chain: Chain; readonly txid: string }
  | { readonly kind: 'tick'; readonly chain: Chain }
  | { readonly kind: 'release'; readonly chain: Chain }
  /** Looks whether a stuck ledger is at the height of its end. */
  | { readonly kind: 'release_due'; readonly chain: Chain };

export interface Sandbox {
  readonly control: SandboxControl;
  readonly ledgers: SandboxLedgers;
  /**
   * Runs due timers, and ticks ledgers that a dead process or an outage left behind. For a schedule: every second or
   * so. Answers how many ledgers it ticked.
   */
  sweep(): Promise<number>;
}

/** The sandbox of a node. */
export function createSandbox(deps: SandboxDeps): Sandbox {
  const box: Box = { deps, ledgers: createSandboxLedgers(deps), behind: null, resetting: '' };
  const control: SandboxControl = {
    simulateDeposit: (accountId, ask) =>
      onLedger(box, accountId, ask.chain, (ledger) => simulateDeposit(box, ledger, accountId, ask)),
    simulateConfirmation: (accountId, ask) =>
      onLedger(box, accountId, ask.chain, (ledger) => confirm(box, ledger, ask.txid, ask.confirmations)),
    advance: (accountId, chain) =>
      onLedger(box, accountId, chain, async (ledger) => {
        await appendEmpty(ledger.parts, 1);
        await box.ledgers.tick(ledger);
        return null;
      }),
    simulateReorg: (accountId, ask) =>
      onLedger(box, accountId, ask.chain, (ledger) => simulateReorg(box, ledger, ask.depth)),
    simulateChainDown: (accountId, ask) =>
      onLedger(box, accountId, ask.chain, () => simulateChainDown(box, accountId, ask.chain, ask.seconds)),
    simulateActivity: (accountId, ask) =>
      onLedger(box, accountId, ask.chain, (ledger) => simulateActivity(box.ledgers, ledger, ask)),
    simulateStuck: (accountId, ask) =>
      onLedger(box, accountId, ask.chain, (ledger) => simulateStuck(box, ledger, accountId, ask)),
    simulateReplaced: (accountId, ask) =>
      onLedger(box, accountId, ask.chain, (ledger) => simulateReplaced(box, ledger, ask.txid)),
    ...surroundingLevers(deps.sandbox, deps.nowMs),
    async runTimer(accountId, id) {
      const task = (await deps.sandbox.task(id)) as Task | SurroundingTask | null;
      if (task === null) return false;
      await perform(box, accountId, task);
      await deps.sandbox.finish(id);
      return true;
    },
    async sighting(chain, txid) {
      const seen = await deps.sandbox.sighting(chain, txid);
      return seen === null ? null : { ...seen, threshold: deps.networkOf(chain).threshold };
    },
    async readAgain(accountId, chains) {
      for (const chain of chains) await box.ledgers.tick(await box.ledgers.open(accountId, chain));
    },
    pooledSighting: (chain, txid) => deps.sandbox.pooledSighting(chain, txid),
    async reset(accountId) {
      await box.ledgers.close(accountId);
      return resetFor(box, accountId, RESET_MS);
    },
  };
  return { control, ledgers: box.ledgers, sweep: () => sweep(box) };
}

interface Box {
  readonly deps: SandboxDeps;
  readonly ledgers: SandboxLedgers;
  /** Where the last sweep left the ledgers with work left; null at the first of them. */
  behind: BehindPlace | null;
  /** The account whose reset the last sweep went on with, of those that were left. */
  resetting: string;
}

/** Refuses: CHAIN_UNAVAILABLE for a chain without a simulated ledger. */
async function onLedger<T>(
  box: Box,
  accountId: AccountId,
  chain: Chain,
  work: (ledger: SandboxLedger) => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const {
    deps: { sandbox, nowMs },
    ledgers,
  } = box;
  if (!ledgers.isEnabled(chain)) return refuse('CHAIN_UNAVAILABLE', { chain, permanent: true });
  const opened = await ledgers.open(accountId, chain);
  const { ledger } = opened.parts;
  if (((await sandbox.stuckUntil(ledger))?.height ?? null) === null) return work(opened);
  // The work may mine up to the end of a stuck ledger. A process that dies behind it leaves the rest to the sweep.
  const id = `release-due-${ledger}`;
  const task: Task = { kind: 'release_due', chain };
  await sandbox.schedule({ id, accountId, dueAtMs: nowMs() + TASK_LEASE_MS, task });
  const done = await work(opened);
  await releaseIfDue(box, opened);
  await sandbox.finish(id);
  return done;
}

/** Lets the pool of a ledger go that has reached the height at which it is stuck no more. */
async function releaseIfDue({ deps: { sandbox }, ledgers }: Box, opened: SandboxLedger): Promise<void> {
  const { parts } = opened;
  const until = await sandbox.stuckUntil(parts.ledger);
  if (until === null || (await sandbox.isStuck(parts.ledger))) return;
  await releasePool(parts);
  await sandbox.setStuck(parts.ledger, null);
  await ledgers.tick(opened);
}

type DepositAsk = Parameters<SandboxControl['simulateDeposit']>[1];
interface SimulatedDeposit {
  readonly txid: string;
  readonly outputIndex: number;
  readonly height: number;
}

/**
 * Mines a block that holds a payment from outside: one confirmation; with `autoConfirm` further blocks, now or later.
 * Refuses: INVALID_ADDRESS, INVALID_AMOUNT, TOKEN_NOT_SUPPORTED, TOKEN_NOT_ON_CHAIN.
 */
async function simulateDeposit(
  box: Box,
  ledger: SandboxLedger,
  accountId: AccountId,
  ask: DepositAsk,
): Promise<SimulatedDeposit | Refusal> {
  const {
    parts,
    binding: { module, network },
  } = ledger;
  const {
    deps: { sandbox, nowMs },
    ledgers,
  } = box;
  const parsed = module.parseAddress(network, ask.address);
  if (isRefusal(parsed)) return parsed;
  const token = tokenOf(box.deps, ledger, ask.tokenContract);
  if (isRefusal(token)) return token;
  const decimals = token?.decimals ?? network.nativeDecimals,
    amount = parseDecimal(ask.amount, decimals);
  if (isRefusal(amount)) return amount;
  const maximum = PAYMENT_MAX[FAMILY_OF[ask.chain]];
  if (amount > maximum) return amountTooLarge('amount', ask.amount, formatAmount(maximum, decimals));
  if (amount === 0n) return refuse('INVALID_AMOUNT', { field: 'amount', amount: ask.amount });
  const seed = randomBytes(32),
    to = parsed.canonical;
  const mined = await append<Refusal>(parts, async () => {
    const balance = await sandbox.balance(parts.ledger, to, null);
    const payment = parts.family.deposit(network, { to, amount, token, seed, balance });
    return isRefusal(payment) ? payment : [[payment]];
  });
  if (isRefusal(mined)) return mined;
  const [block] = mined,
    payment = block!.transactions[0]!;
  await ledgers.tick(ledger);
  if (ask.confirmAfterSeconds !== null) {
    const task: Task = { kind: 'confirm', chain: ask.chain, txid: payment.txid };
    // By the account's time, which may be ahead.
    const dueAtMs = nowMs() + (ask.aheadMs ?? 0) + ask.confirmAfterSeconds * 1_000;
    await sandbox.schedule({ id: newUuid(nowMs()), accountId, dueAtMs, task });
  } else if (ask.autoConfirm) await confirm(box, ledger, payment.txid, network.threshold);
  return { txid: payment.txid, outputIndex: payment.transfers[0]!.outputIndex, height: block!.height };
}

function tokenOf({ tokens }: SandboxDeps, { binding }: SandboxLedger, contract: string | null): Token | null | Refusal {
  if (contract === null) return null;
  const { module, network, catalogue } = binding;
  const canonical = module.parseToken(network, contract);
  if (isRefusal(canonical)) return canonical;
  const token = catalogue.get(canonical);
  if (token !== undefined) return token;
  const deployment = tokens.find(network.slug, canonical);
  return isRefusal(deployment)
    ? deployment
    : refuse('TOKEN_NOT_SUPPORTED', { chain: network.slug, reason: 'not monitored' });
}

/**
 * Mines until a transaction has a count of confirmations; every threshold on the way is crossed. One that is or was in
 * the pool of a stuck ledger is mined first: that version wins, the others are gone.
 * Refuses: NOT_FOUND, INVALID_INPUT, CONFLICT when no block can hold it any more.
 */
async function confirm(
  { deps, ledgers }: Box,
  ledger: SandboxLedger,
  txid: string,
  confirmations: number,
): Promise<{ confirmations: number } | Refusal> {
  const { parts } = ledger;
  if (confirmations < 1 || confirmations > CONFIRMATIONS_MAX) {
    return refuse('INVALID_INPUT', { field: 'confirmations', maximum: CONFIRMATIONS_MAX });
  }
  const pooled = await deps.sandbox.pooled(parts.ledger, txid);
  if (pooled !== null) {
    const mined = await minePooled(parts, pooled);
    if (isRefusal(mined)) return mined;
    await ledgers.tick(ledger); // Each version that is in a block must be known as such before it is deep.
  }
  const found = await deps.sandbox.blockOf(parts.ledger, txid);
  if (found === null)
    return notFound('transaction of the simulated chain', txid, { field: 'txid', environment: 'sandbox' });
  const { height } = await headOf(parts);
  await appendEmpty(parts, found.height + confirmations - 1 - height);
  await ledgers.tick(ledger);
  return { confirmations: confirmationsOf((await headOf(parts)).height, found.height) };
}

/**
 * Replaces the newest blocks by empty ones and one more. Their content is gone: deposits are reversed, withdrawals
 * are submitted again by their tracker. Refuses: INVALID_INPUT beyond the ledger's first block or its reorg window.
 */
async function simulateReorg(
  { ledgers }: Box,
  ledger: SandboxLedger,
  depth: number,
): Promise<{ depth: number } | Refusal> {
  const {
    parts,
    binding: { network },
  } = ledger;
  const { height } = await headOf(parts);
  const maximum = Math.min(height, network.reorgWindow - 1);
  if (depth < 1 || depth > maximum) return refuse('INVALID_INPUT', { field: 'depth', maximum });
  await ledgers.tick(ledger); // What is to be taken back must have been seen, as on a real chain.
  const removed = await parts.store.unmine(parts.ledger, depth);
  await appendEmpty(parts, removed.length + 1);
  await ledgers.tick(ledger);
  return { depth: removed.length };
}

/**
 * Keeps what is broadcast from now on in the ledger's pool, until so many blocks more where it is said, or lets it go:
 * then all that is in the pool is mined at once. A process that dies meanwhile leaves the rest to the next sweep.
 * Refuses: INVALID_INPUT for an end of what is no more.
 */
async function simulateStuck(
  { deps: { sandbox, nowMs }, ledgers }: Box,
  ledger: SandboxLedger,
  accountId: AccountId,
  { stuck, blocks, untilRepriced }: Parameters<SandboxControl['simulateStuck']>[1],
): Promise<{ stuck: boolean; mined: string[] } | Refusal> {
  const {
      parts,
      binding: { network },
    } = ledger,
    id = `release-${parts.ledger}`;
  if (stuck) {
    await sandbox.finish(id);
    const height = blocks === undefined ? null : (await headOf(parts)).height + blocks;
    await sandbox.setStuck(parts.ledger, { height, repriced: untilRepriced ?? false });
    return { stuck, mined: [] };
  }
  const field = blocks === undefined ? (untilRepriced === undefined ? null : 'untilRepriced') : 'blocks';
  if (field !== null) return refuse('INVALID_INPUT', { field, reason: 'only with stuck: true' });
  const task: Task = { kind: 'release', chain: network.slug };
  await sandbox.schedule({ id, accountId, dueAtMs: nowMs() + TASK_LEASE_MS, task });
  await sandbox.setStuck(parts.ledger, null);
  const mined = await releasePool(parts);
  await ledgers.tick(ledger);
  await sandbox.finish(id);
  return { stuck, mined };
}

/**
 * Mines another transaction of the same sender that excludes one of the pool, as if its key were used elsewhere. It
 * moves nothing but its fee. Refuses: NOT_FOUND, CONFLICT for one that is in a block, and for one of a chain where no
 * transaction excludes another.
 */
async function simulateReplaced(
  { deps, ledgers }: Box,
  ledger: SandboxLedger,
  txid: string,
): Promise<{ txid: string; height: number } | Refusal> {
  const { parts } = ledger;
  if ((await deps.sandbox.blockOf(parts.ledger, txid)) !== null)
    return refuse('CONFLICT', { field: 'txid', reason: 'it is in a block' });
  const pooled = await deps.sandbox.pooled(parts.ledger, txid);
  if (pooled === null)
    return notFound('transaction in the pool of the simulated chain', txid, { field: 'txid', environment: 'sandbox' });
  const mined = await mineRival(parts, pooled, randomBytes(32));
  if (isRefusal(mined)) return mined;
  await ledgers.tick(ledger);
  const block = mined.at(-1)!;
  return { txid: block.transactions[0]!.txid, height: block.height };
}

/**
 * Silences the ledger's endpoint; blocks go on, and what happened meanwhile is found when it answers again.
 * Refuses: INVALID_INPUT.
 */
async function simulateChainDown(
  { deps: { sandbox, nowMs } }: Box,
  accountId: AccountId,
  chain: Chain,
  seconds: number,
): Promise<{ untilMs: number } | Refusal> {
  if (seconds < 0 || seconds > OUTAGE_SECONDS_MAX) {
    return refuse('INVALID_INPUT', { field: 'seconds', maximum: OUTAGE_SECONDS_MAX });
  }
  const ledger = ledgerOf(chain, accountId);
  const untilMs = nowMs() + seconds * 1_000;
  await sandbox.setDown(ledger, untilMs);
  const task: Task = { kind: 'tick', chain };
  await sandbox.schedule({ id: `up-${ledger}`, accountId, dueAtMs: untilMs, task });
  return { untilMs };
}

/** Whether nothing is left of the account's rows. */
async function resetFor({ deps: { sandbox, nowMs } }: Box, accountId: AccountId, limitMs: number): Promise<boolean> {
  const untilMs = nowMs() + limitMs;
  for (;;) {
    const more = await sandbox.resetStep(accountId, RESET_STEP_ROWS);
    if (more === false) return true;
    if (more === null || nowMs() >= untilMs) return false; // somebody else is at it
  }
}

/** Goes on with resets that were left before their end: each has its turn. */
async function sweepResets(box: Box): Promise<void> {
  const { sandbox, accounts } = box.deps;
  const due = await sandbox.dueResets(box.resetting, RESETS_PER_SWEEP);
  box.resetting = due.length < RESETS_PER_SWEEP ? '' : due.at(-1)!;
  for (const accountId of due)
    await guarded(box, { accountId }, async () => {
      if (await resetFor(box, accountId, RESET_IN_SWEEP_MS)) await accounts.ask(accountId, { type: 'reset_sandbox' });
    });
}

async function sweep(box: Box): Promise<number> {
  const {
    deps: { sandbox, nowMs },
    ledgers,
  } = box;
  let ticked = 0;
  for (const { id, accountId, task } of await sandbox.takeDue(nowMs(), TASK_LEASE_MS, TASKS_PER_SWEEP)) {
    const due = task as Task | SurroundingTask;
    const done = await guarded(box, { accountId, task: due.kind }, () => perform(box, accountId, due));
    if (done) await sandbox.finish(id);
    ticked += 1;
  }
  const { ledgers: behind, next } = await sandbox.behind(TASKS_PER_SWEEP, box.behind);
  box.behind = next;
  for (const ledger of behind) {
    const accountId = accountOfLedger(ledger);
    const chain = chainOfLedger(ledger);
    if (accountId === null || !ledgers.isEnabled(chain)) continue;
    await guarded(box, { ledger }, async () => ledgers.tick(await ledgers.open(accountId, chain)));
    ticked += 1;
  }
  await sweepResets(box);
  return ticked;
}

async function perform(box: Box, accountId: AccountId, task: Task | SurroundingTask): Promise<void> {
  if (task.kind === 'edge_offline' || task.kind === 'endpoint_failure') return; // Their time is over: they go.
  const ledger = await box.ledgers.open(accountId, task.chain);
  // A payment that a reorg took meanwhile is not confirmed any more: NOT_FOUND ends the task.
  if (task.kind === 'confirm') await confirm(box, ledger, task.txid, ledger.binding.network.threshold);
  else if (task.kind === 'release_due') await releaseIfDue(box, ledger);
  else {
    if (task.kind === 'release') await releasePool(ledger.parts);
    await box.ledgers.tick(ledger);
  }
}

/** One broken ledger never keeps the others waiting. False when the work failed and is to be done again. */
async function guarded({ deps }: Box, what: object, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    deps.log.warn({ ...what, reason: reasonOf(error) }, 'sandbox work failed and is repeated');
    return false;
  }
}
