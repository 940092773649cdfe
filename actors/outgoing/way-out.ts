/**
 * The one way out of the cloud: what prepares, prices anew, binds and submits an outgoing transaction, for all that
 * want it to leave. Each asks the chain, then the account, which alone decides (decide.ts, binding.ts, signed.ts);
 * signing lies between, at the edge. What comes after is the tracker's (`chain-watchers/outbound`) and the settlement's
 * (settlement.ts). docs/outgoing.md has the states.
 */
import type { FeeEstimate, Network, Signed } from '../../chains/chain.ts';
import { assetOf } from '../../chains/reading.ts';
import type { IdempotencyClaim } from '../../model/account/capabilities.ts';
import type { Accounts, Answer, DuplicateKey } from '../../model/ports/accounts.ts';
import type { ChainAccess } from '../../model/ports/chain-access.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { SweepStore } from '../../model/ports/sweep-store.ts';
import type { BridgeArrow } from '../../model/account/bridge.ts';
import type { OperationArrow } from '../../model/account/outgoing.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../protocol/errors.ts';
import { environmentOf, ledgerOf, type AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { intentOf, prepare, type Wish } from './prepare.ts';
import { screeningOf } from './screening.ts';
import { submitAtOnce, type SubmitLog } from './submit.ts';

type Asked<T extends 'build_withdrawal' | 'reprice_withdrawal' | 'bind_withdrawal' | 'submit_signed'> = Answer<
  Extract<Parameters<Accounts['ask']>[1], { type: T }>
>;
/** Kept with the effect, so that a repeated request has one. */
interface Claim {
  readonly idempotency?: IdempotencyClaim;
}

/** A build of a treasury operation: its arrow, and the id that was chosen for it before. */
interface Operated {
  readonly id?: string;
  readonly operation?: OperationArrow;
  readonly bridging?: BridgeArrow;
}

/** Who signed, and under which lease. */
export interface SignedBy {
  readonly sessionId: string;
  readonly leaseEpoch: number;
}

export interface WayOut {
  /** What a wish would cost. Refuses: as `prepare`, and what the chain's estimate refuses. */
  estimate(accountId: AccountId, wish: Wish): Promise<{ network: Network; estimate: FeeEstimate } | Refusal>;
  /** An unsigned payload, stored. Refuses: as `prepare` and `build_withdrawal`. */
  build(accountId: AccountId, wish: Wish, claim?: Claim & Operated): Promise<Asked<'build_withdrawal'> | Refusal>;
  /** A sender that may not be paid from now; null where it may. Refuses: ADDRESS_IN_OBSERVE_MODE, NOT_FOUND. */
  observed(known: WithdrawalRow): Promise<Refusal | null>;
  /** The same at another fee. Refuses: as `reprice_withdrawal` and `observed`. */
  reprice(known: WithdrawalRow, claim?: Claim): Promise<Asked<'reprice_withdrawal'> | Refusal>;
  /** The build under the counter that is next, held for it; what is signed keeps its own. Refuses: as the command. */
  bind(
    known: WithdrawalRow,
    gaveUp: readonly string[],
  ): Promise<{ readonly ok: true; readonly reply: WithdrawalRow } | Refusal | DuplicateKey>;
  /**
   * Signed bytes: stored first, then submitted at once. Resolves when a node answered them, or after a time below the
   * tracker's first look. Refuses: as `submit_signed`.
   */
  submit(known: WithdrawalRow, signed: Omit<Signed, 'chain'>, by: SignedBy): Promise<Asked<'submit_signed'> | Refusal>;
}

export interface WayOutParts {
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly chains: Pick<ChainAccess, 'bind' | 'enabled'>;
  readonly reads: Pick<ReadStore, 'addressByText' | 'usedValue'>;
  readonly sweeps: Pick<SweepStore, 'openOperation'>;
  /** The operator's list, `chain:address:rule` each. */
  readonly screened: readonly string[];
  readonly nowMs: () => number;
  readonly log: SubmitLog;
}

/** How often a build is decided again whose address's sweep moved meanwhile. */
const TRIES = 3;

/**
 * A sender that was set back to observe, or given back, since the build: it is neither bound nor priced anew. What is
 * signed is followed. Refuses: ADDRESS_IN_OBSERVE_MODE, NOT_FOUND. Migration M-O1, M-R2.
 */
async function notCutOver(
  reads: Pick<ReadStore, 'addressByText'>,
  { accountId, chain, from }: WithdrawalRow,
): Promise<Refusal | null> {
  const row = await reads.addressByText(accountId, chain, from);
  if (row === null) return notFound('address', from, { field: 'from', environment: environmentOf(accountId) });
  return row.project?.mode === 'observe' ? refuse('ADDRESS_IN_OBSERVE_MODE', { projectId: row.project.id }) : null;
}

/** The way out of all accounts of a node. */
export function createWayOut(parts: WayOutParts): WayOut {
  const { accounts, chains, reads, sweeps, nowMs, log } = parts;
  const screening = screeningOf(parts.screened);
  return {
    async estimate(accountId, wish) {
      const ready = await prepare(parts, accountId, wish);
      if (isRefusal(ready)) return ready;
      const { module, network } = ready.binding;
      const estimate = module.estimateFee(network, ready.inputs, ready.intent);
      return isRefusal(estimate) ? estimate : { network, estimate };
    },
    async build(accountId, wish, claim = {}) {
      const ready = await prepare(parts, accountId, wish);
      if (isRefusal(ready)) return ready;
      const { binding, intent, inputs, from } = ready;
      const rule = await screening.ruleOf(intent.chain, intent.to);
      if (rule !== null)
        return refuse('COMPLIANCE_REJECTED', {
          chain: intent.chain,
          rule,
          next: 'pay another address, or ask the operator of the service about the rule',
        });
      const used = await reads.usedValue(accountId, ledgerOf(intent.chain, accountId), intent.from);
      const { symbol: tokenSymbol, decimals } = assetOf(binding, intent.token);
      for (let tries = 1; ; tries += 1) {
        // Asked before the decision: an operation that moves meanwhile refuses the append.
        const sweeping =
          claim.operation === undefined ? await sweeps.openOperation(accountId, intent.chain, intent.from) : null;
        const answer = await accounts.ask(accountId, {
          type: 'build_withdrawal',
          id: newId('txn', nowMs()),
          sweeping,
          intent,
          inputs,
          from,
          used,
          tokenSymbol,
          decimals,
          ...claim,
        });
        const isMoved = isRefusal(answer) && answer.details['reason'] === 'changed_meanwhile';
        if (!isMoved || claim.operation !== undefined || claim.bridging !== undefined || tries === TRIES) return answer;
      }
    },
    observed: (known) => notCutOver(reads, known),
    async reprice(known, claim = {}) {
      const binding = await chains.bind(known.accountId, known.chain);
      if (isRefusal(binding)) return binding;
      const observed = await notCutOver(reads, known);
      if (observed !== null) return observed;
      const inputs = await binding.client.fetchBuildInputs(intentOf(known, binding));
      return accounts.ask(known.accountId, { type: 'reprice_withdrawal', known, inputs, ...claim });
    },
    async bind(known, gaveUp) {
      const { accountId, ledger, from } = known;
      const binding = await chains.bind(accountId, known.chain);
      if (isRefusal(binding)) return binding;
      if (known.versions.length > 0) return { ok: true, reply: known };
      const observed = await notCutOver(reads, known);
      if (observed !== null) return observed;
      const [inputs, used] = await Promise.all([
        binding.client.fetchBuildInputs(intentOf(known, binding)),
        reads.usedValue(accountId, ledger, from),
      ]);
      return accounts.ask(accountId, { type: 'bind_withdrawal', known, inputs, used, gaveUp });
    },
    async submit(known, signed, by) {
      const { accountId, chain } = known;
      // The account matches bytes with the chain's module, which a node loads when it first binds the chain.
      const binding = await chains.bind(accountId, chain);
      if (isRefusal(binding)) return binding;
      const stored = await accounts.ask(accountId, {
        type: 'submit_signed',
        known,
        signed: { ...signed, chain },
        ...by,
      });
      if (stored.ok === true) await submitAtOnce({ client: binding.client, accounts, log }, stored.reply);
      return stored;
    },
  };
}
