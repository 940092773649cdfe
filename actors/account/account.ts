/**
 * The account: (organization, environment), one actor, the only place where an account changes. Pure: commands come
 * with time, ids and everything that had to be read; what is decided leaves as events and the rows that belong to them.
 */
import type { Entity } from '../../model/entity.ts';
import type { RowWrite } from '../../model/rows/write.ts';
import { withTaggedBigints } from '../../protocol/bigint-json.ts';
import { refuse } from '../../protocol/errors.ts';
import type { Environment } from '../../protocol/slugs.ts';
import { createAddress, notePeak, setAddressStatus } from '../address/decide.ts';
import { sandboxBook } from './chain-book.ts';
import { IN_FLIGHT_LIMITS } from '../withdrawal/counters.ts';
import {
  accept, type AccountDecision, type ChainBook, type CommandType, type Deciding, type InFlightLimits, type Surroundings,
} from './decision.ts';
import { decideRotation, enrol, resume } from '../edge-link/enrolment.ts';
import { evolve } from './evolve.ts';
import { bindWithdrawal } from './binding.ts';
import { expireBuilds } from './expiry.ts';
import { applyFacts } from './facts.ts';
import { purgeKeySource, registerKeySource } from '../key-source/decide.ts';
import { claimLease, releaseLease } from '../edge-link/lease.ts';
import { noteLiveness } from '../edge-link/liveness.ts';
import { changePlan, settleBand, suspend } from '../plan/decide.ts';
import { pushPool } from '../address/pools.ts';
import { beginSubmit, noteBroadcast, submitSigned } from '../withdrawal/signed.ts';
import { createWebhook, deleteWebhook, replaceWebhook, replayDelivery } from '../webhook/decide.ts';
import { abandonWithdrawal, buildWithdrawal, repriceWithdrawal } from '../withdrawal/decide.ts';
import type { AccountCommand, AccountEvent, AccountReplies, AccountState, IdempotencyClaim } from '../../model/account/commands.ts';

export type AccountReply = AccountReplies[CommandType];
export type AccountEntity = Entity<AccountState, AccountCommand, AccountEvent, readonly RowWrite[], AccountReply>;

/** The entity for the kernel's shell. `inFlight` replaces the limits of V40. */
export function createAccountEntity(
  { book, inFlight = IN_FLIGHT_LIMITS }: { book: ChainBook; inFlight?: InFlightLimits },
): AccountEntity {
  const surroundings: Readonly<Record<Environment, Surroundings>> = {
    live: { book, inFlight }, sandbox: { book: sandboxBook(book), inFlight },
  };
  return {
    kind: 'account',
    decide: (state, command, nowMs) => withIdempotency(
      decide(surroundings[state.environment], state, command, nowMs), command.idempotency,
    ),
    evolve,
  };
}

function decide(
  surroundings: Surroundings, state: AccountState, command: AccountCommand, nowMs: number,
): AccountDecision<CommandType> {
  // The switch narrows the command; the rest of what a decision sees is the same for all.
  const deciding = <T extends CommandType>(narrowed: Extract<AccountCommand, { type: T }>): Deciding<T> =>
    ({ ...surroundings, state, command: narrowed, nowMs }) as Deciding<T>;
  switch (command.type) {
    case 'inspect': return accept(state);
    case 'enrol': return enrol(deciding(command));
    case 'resume': return resume(deciding(command));
    case 'resync': return resume(deciding(command));
    case 'push_pool': return pushPool(deciding(command));
    case 'decide_rotation': return decideRotation(deciding(command));
    case 'claim_lease': return claimLease(deciding(command));
    case 'release_lease': return releaseLease(deciding(command));
    case 'note_liveness': return noteLiveness(deciding(command));
    case 'register_key_source': return registerKeySource(deciding(command));
    case 'purge_key_source': return purgeKeySource(deciding(command));
    case 'create_address': return createAddress(deciding(command));
    case 'set_address_status': return setAddressStatus(deciding(command));
    case 'note_peak': return notePeak(deciding(command));
    case 'apply_facts': return applyFacts(deciding(command));
    case 'build_withdrawal': return buildWithdrawal(deciding(command));
    case 'reprice_withdrawal': return repriceWithdrawal(deciding(command));
    case 'bind_withdrawal': return bindWithdrawal(deciding(command));
    case 'abandon_withdrawal': return abandonWithdrawal(deciding(command));
    case 'expire_builds': return expireBuilds(deciding(command));
    case 'submit_signed': return submitSigned(deciding(command));
    case 'begin_submit': return beginSubmit(deciding(command));
    case 'note_broadcast': return noteBroadcast(deciding(command));
    case 'create_webhook': return createWebhook(deciding(command));
    case 'replace_webhook': return replaceWebhook(deciding(command));
    case 'delete_webhook': return deleteWebhook(deciding(command));
    case 'replay_delivery': return replayDelivery(deciding(command));
    case 'change_plan': return changePlan(deciding(command));
    case 'settle_band': return settleBand(deciding(command));
    case 'suspend': return suspend(deciding(command));
    case 'reset_sandbox': return resetSandbox(state);
  }
}

/** Begins anew; a live account has no such thing. Refuses: SANDBOX_ONLY. Spec §4.7. */
function resetSandbox(state: AccountState): AccountDecision<'reset_sandbox'> {
  if (state.environment !== 'sandbox') return refuse('SANDBOX_ONLY');
  return accept({ reset: true }, [{ type: 'sandbox_reset' }], [{ table: 'sandbox_reset' }]);
}

/** The key is taken in the same append as the effect, with the reply that a repetition gets. I23. */
function withIdempotency(
  decision: AccountDecision<CommandType>, claim: IdempotencyClaim | undefined,
): AccountDecision<CommandType> {
  if (!decision.ok || claim === undefined) return decision;
  const { successStatus, ...key } = claim;
  const row: RowWrite = {
    table: 'idempotency', row: { ...key, status: successStatus, body: withTaggedBigints(decision.reply) },
  };
  return { ...decision, rows: [...decision.rows, row] };
}
