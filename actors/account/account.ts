/**
 * The account: (organization, environment), one actor, the only place where an account changes. Pure: commands come
 * with time, ids and everything that had to be read; what is decided leaves as events and the rows that belong to them.
 */
import type {
  AccountCommand,
  AccountEvent,
  AccountReplies,
  AccountState,
  IdempotencyClaim,
  RowWrite,
} from '../../model/account/capabilities.ts';
import type { Entity } from '../../model/entity.ts';
import { withTaggedBigints } from '../../protocol/bigint-json.ts';
import type { Environment } from '../../protocol/slugs.ts';
import { IN_FLIGHT_LIMITS } from '../outgoing/counters.ts';
import { PAYMENT_TERMS, type PaymentTerms } from '../payment/terms.ts';
import { withAudit } from './audit.ts';
import { DECISIONS, instantFor } from './capabilities.ts';
import { sandboxBook } from './chain-book.ts';
import type { AccountDecision, ChainBook, CommandType, Deciding, InFlightLimits, Surroundings } from './decision.ts';
import { evolve } from './evolve.ts';
import { withWarnings } from './warnings.ts';

export type AccountReply = AccountReplies[CommandType];
export type AccountEntity = Entity<AccountState, AccountCommand, AccountEvent, readonly RowWrite[], AccountReply>;

/** The entity for the kernel's shell. `inFlight` replaces the limits of V40, `pay` where the pay page is. */
export function createAccountEntity({
  book,
  inFlight = IN_FLIGHT_LIMITS,
  pay = PAYMENT_TERMS,
}: {
  book: ChainBook;
  inFlight?: InFlightLimits;
  pay?: PaymentTerms;
}): AccountEntity {
  const surroundings: Readonly<Record<Environment, Surroundings>> = {
    live: { book, inFlight, pay },
    sandbox: { book: sandboxBook(book), inFlight, pay },
  };
  return {
    kind: 'account',
    decide: (state, command, nowMs) =>
      withIdempotency(
        withAudit(
          withWarnings(decide(surroundings[state.environment], state, command, nowMs), state, nowMs),
          state,
          command,
        ),
        command.idempotency,
      ),
    evolve,
  };
}

function decide(
  surroundings: Surroundings,
  state: AccountState,
  command: AccountCommand,
  realMs: number,
): AccountDecision<CommandType> {
  // The table's entry is the command's own; the rest of what a decision sees is the same for all.
  const decision = DECISIONS[command.type] as (deciding: Deciding<CommandType>) => AccountDecision<CommandType>;
  const nowMs = instantFor(command.type, state, realMs);
  return decision({ ...surroundings, state, command, nowMs, realMs } as Deciding<CommandType>);
}

/** The key is taken in the same append as the effect, with the reply that a repetition gets. I23. */
function withIdempotency(
  decision: AccountDecision<CommandType>,
  claim: IdempotencyClaim | undefined,
): AccountDecision<CommandType> {
  if (!decision.ok || claim === undefined) return decision;
  const { successStatus, ...key } = claim;
  const row: RowWrite = {
    table: 'idempotency',
    row: { ...key, status: successStatus, body: withTaggedBigints(decision.reply) },
  };
  return { ...decision, rows: [...decision.rows, row] };
}
