/**
 * The sandbox's levers (spec §4.7, decisions 8). Each of them mines, replaces or silences blocks of a simulated ledger;
 * what follows (facts, events, webhooks) is the work of the same watcher and account that live chains have.
 */
import type { Token } from '../../chains/chain.ts';
import type { SandboxControl } from '../../gateway/ports.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { accountOfLedger, chainOfLedger, ledgerOf, newUuid, type AccountId } from '../../protocol/ids.ts';
import { parseDecimal } from '../../protocol/money.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { randomBytes } from 'node:crypto';
import { append, appendEmpty, headOf } from './ledger.ts';
import { createSandboxLedgers, reasonOf, type SandboxDeps, type SandboxLedger, type SandboxLedgers } from './ledgers.ts';

/** Confirmations that may be asked for, blocks that may be mined at once. */
const CONFIRMATIONS_MAX = 1_000;
const OUTAGE_SECONDS_MAX = 3_600;
/** A task that is not finished by then is taken again. */
const TASK_LEASE_MS = 30_000;
const TASKS_PER_SWEEP = 200;

type Task = { readonly kind: 'confirm'; readonly chain: Chain; readonly txid: string } | { readonly kind: 'tick'; readonly chain: Chain };

export interface Sandbox {
  readonly control: SandboxControl;
  readonly ledgers: SandboxLedgers;
  /**
   * Runs due timers, and ticks ledgers that a dead process or an outage left behind. For a schedule: every second or so.
   * Answers how many ledgers it ticked.
   */
  sweep(): Promise<number>;
}

/** The sandbox of a node. */
export function createSandbox(deps: SandboxDeps): Sandbox {
  const ledgers = createSandboxLedgers(deps);
  const control: SandboxControl = {
    simulateDeposit: (accountId, ask) => onLedger(ledgers, accountId, ask.chain, (ledger) => simulateDeposit(deps, ledgers, ledger, accountId, ask)),
    simulateConfirmation: (accountId, ask) => onLedger(ledgers, accountId, ask.chain, (ledger) => confirm(deps, ledgers, ledger, ask.txid, ask.confirmations)),
    simulateReorg: (accountId, ask) => onLedger(ledgers, accountId, ask.chain, (ledger) => simulateReorg(ledgers, ledger, ask.depth)),
    simulateChainDown: (accountId, ask) => onLedger(ledgers, accountId, ask.chain, () => simulateChainDown(deps, accountId, ask.chain, ask.seconds)),
    async reset(accountId) {
      await ledgers.close(accountId);
      await deps.sandbox.reset(accountId);
    },
  };
  return { control, ledgers, sweep: () => sweep(deps, ledgers) };
}

async function onLedger<T>(ledgers: SandboxLedgers, accountId: AccountId, chain: Chain, work: (ledger: SandboxLedger) => Promise<T | Refusal>): Promise<T | Refusal> {
  if (!ledgers.isEnabled(chain)) return refuse('CHAIN_UNAVAILABLE', { chain, permanent: true });
  return work(await ledgers.open(accountId, chain));
}

type DepositAsk = Parameters<SandboxControl['simulateDeposit']>[1];

/** Mines a block that holds a payment from outside: one confirmation. With `autoConfirm` further blocks, now or later. */
async function simulateDeposit(deps: SandboxDeps, ledgers: SandboxLedgers, ledger: SandboxLedger, accountId: AccountId, ask: DepositAsk): Promise<{ txid: string; outputIndex: number; height: number } | Refusal> {
  const { parts, binding: { module, network } } = ledger;
  const parsed = module.parseAddress(network, ask.address);
  if (isRefusal(parsed)) return parsed;
  const token = tokenOf(ledger, ask.tokenContract);
  if (isRefusal(token)) return token;
  const amount = parseDecimal(ask.amount, token?.decimals ?? network.nativeDecimals);
  if (isRefusal(amount)) return amount;
  if (amount === 0n) return refuse('INVALID_AMOUNT', { amount: ask.amount });
  const payment = parts.family.deposit(network, { to: parsed.canonical, amount, token, seed: randomBytes(32) });
  const [block] = await append<never>(parts, async () => [[payment]]);
  await ledgers.tick(ledger);
  if (ask.confirmAfterSeconds !== null) {
    const task: Task = { kind: 'confirm', chain: ask.chain, txid: payment.txid };
    await deps.sandbox.schedule({ id: newUuid(deps.nowMs()), accountId, dueAtMs: deps.nowMs() + ask.confirmAfterSeconds * 1_000, task });
  } else if (ask.autoConfirm) await confirm(deps, ledgers, ledger, payment.txid, network.threshold);
  return { txid: payment.txid, outputIndex: payment.transfers[0]!.outputIndex, height: block!.height };
}

function tokenOf({ binding: { module, network, catalogue } }: SandboxLedger, contract: string | null): Token | null | Refusal {
  if (contract === null) return null;
  const canonical = module.parseToken(network, contract);
  if (isRefusal(canonical)) return canonical;
  return catalogue.get(canonical) ?? refuse('TOKEN_NOT_ON_CHAIN', { chain: network.slug, tokenContract: canonical });
}

/** Mines until a transaction has a count of confirmations; every threshold on the way is crossed. Refuses: NOT_FOUND, INVALID_INPUT. */
async function confirm(deps: SandboxDeps, ledgers: SandboxLedgers, ledger: SandboxLedger, txid: string, confirmations: number): Promise<{ confirmations: number } | Refusal> {
  const { parts } = ledger;
  if (confirmations < 1 || confirmations > CONFIRMATIONS_MAX) return refuse('INVALID_INPUT', { field: 'confirmations', maximum: CONFIRMATIONS_MAX });
  const found = await deps.sandbox.blockOf(parts.ledger, txid);
  if (found === null) return refuse('NOT_FOUND', { field: 'txid' });
  const { height } = await headOf(parts);
  await appendEmpty(parts, found.height + confirmations - 1 - height);
  await ledgers.tick(ledger);
  return { confirmations: (await headOf(parts)).height - found.height + 1 };
}

/**
 * Replaces the newest blocks by empty ones and one more. What stood in them is gone: deposits are reversed, withdrawals
 * are submitted again by their tracker. Refuses: INVALID_INPUT beyond the ledger's first block or its reorg window.
 */
async function simulateReorg(ledgers: SandboxLedgers, ledger: SandboxLedger, depth: number): Promise<{ depth: number } | Refusal> {
  const { parts, binding: { network } } = ledger;
  const { height } = await headOf(parts);
  const maximum = Math.min(height, network.reorgWindow - 1);
  if (depth < 1 || depth > maximum) return refuse('INVALID_INPUT', { field: 'depth', maximum });
  await ledgers.tick(ledger); // What is to be taken back must have been seen, as on a real chain.
  const removed = await parts.store.unmine(parts.ledger, depth);
  await appendEmpty(parts, removed.length + 1);
  await ledgers.tick(ledger);
  return { depth: removed.length };
}

/** Silences the ledger's endpoint. Blocks go on; what happened meanwhile is found when it answers again. */
async function simulateChainDown(deps: SandboxDeps, accountId: AccountId, chain: Chain, seconds: number): Promise<{ untilMs: number } | Refusal> {
  if (seconds < 0 || seconds > OUTAGE_SECONDS_MAX) return refuse('INVALID_INPUT', { field: 'seconds', maximum: OUTAGE_SECONDS_MAX });
  const ledger = ledgerOf(chain, accountId);
  const untilMs = deps.nowMs() + seconds * 1_000;
  await deps.sandbox.setDown(ledger, untilMs);
  const task: Task = { kind: 'tick', chain };
  await deps.sandbox.schedule({ id: `up-${ledger}`, accountId, dueAtMs: untilMs, task });
  return { untilMs };
}

async function sweep(deps: SandboxDeps, ledgers: SandboxLedgers): Promise<number> {
  let ticked = 0;
  for (const { id, accountId, task } of await deps.sandbox.takeDue(deps.nowMs(), TASK_LEASE_MS, TASKS_PER_SWEEP)) {
    const due = task as Task;
    if (await guarded(deps, { accountId, task: due.kind }, () => perform(deps, ledgers, accountId, due))) await deps.sandbox.finish(id);
    ticked += 1;
  }
  for (const ledger of await deps.sandbox.behind(TASKS_PER_SWEEP)) {
    const accountId = accountOfLedger(ledger);
    const chain = chainOfLedger(ledger);
    if (accountId === null || !ledgers.isEnabled(chain)) continue;
    await guarded(deps, { ledger }, async () => ledgers.tick(await ledgers.open(accountId, chain)));
    ticked += 1;
  }
  return ticked;
}

async function perform(deps: SandboxDeps, ledgers: SandboxLedgers, accountId: AccountId, task: Task): Promise<void> {
  const ledger = await ledgers.open(accountId, task.chain);
  // A payment that a reorg took meanwhile is not confirmed any more: NOT_FOUND ends the task.
  if (task.kind === 'confirm') await confirm(deps, ledgers, ledger, task.txid, ledger.binding.network.threshold);
  else await ledgers.tick(ledger);
}

/** One broken ledger never keeps the others waiting. False when the work failed and is to be done again. */
async function guarded(deps: SandboxDeps, what: object, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    deps.log.warn({ ...what, reason: reasonOf(error) }, 'sandbox work failed and is repeated');
    return false;
  }
}
