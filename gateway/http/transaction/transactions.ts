/**
 * Transactions and fees: lists from the projections; a build is asked of the chain first, then decided by the
 * account. Spec §4.2.
 */
import { notEnabled, rotationPending, suspended } from '../../../actors/account/guards.ts';
import type { Wish } from '../../../actors/outgoing/prepare.ts';
import { closed, isDead } from '../../../actors/outgoing/row.ts';
import { networkOf } from '../../../chains/registry.ts';
import type { TransactionView } from '../../../model/ports/transaction-view.ts';
import { canonicalJson } from '../../../protocol/canonical-json.ts';
import { type ErrorCode, ERRORS, isRefusal, type Refusal, readRefusal, refuse } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';
import { accountOf, type Asked, claimOf, type Handlers, unknownIn } from '../context.ts';
import { presentTanks, stateOf } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';
import type { Outgrown } from '../idempotency.ts';
import { builtView, feeView, listAskOf, transactionView } from '../views.ts';

type Area =
  | 'listTransactions'
  | 'getTransaction'
  | 'buildTransaction'
  | 'repriceTransaction'
  | 'broadcastTransaction'
  | 'createTrustline'
  | 'getFees';

export function transactionHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    wayOut,
    edges,
    stores: { reads },
  } = deps;
  // A build that nobody signed and nobody can: its key would answer with it for ever.
  const replay = async (stored: unknown, asked: Asked): Promise<ReturnType<typeof builtView> | Outgrown> => {
    const row = stored as WithdrawalRow;
    const known = await reads.withdrawal(accountOf(asked), row.id);
    if (known !== null && isDead(known)) return { outgrown: row.id };
    // The counter is bound since: what it is now, in the place of what was proposed.
    const isRebound =
      known !== null && canonicalJson(known.unsigned.replayKey) !== canonicalJson(row.unsigned.replayKey);
    return builtView(isRebound ? { ...known, status: 'built', updatedAtMs: row.updatedAtMs } : row);
  };

  const build = async (asked: Asked<'buildTransaction'> | Asked<'createTrustline'>, wish: Wish) => {
    const answer = await wayOut.build(accountOf(asked), wish, claimOf(asked));
    return answer.ok === true ? builtView(answer.reply) : answer;
  };

  return {
    async listTransactions(asked) {
      const accountId = accountOf(asked);
      const ask = listAskOf('transactions', asked.query);
      if (isRefusal(ask)) return ask;
      const { kind, userRef, tag } = ask.filter;
      if (kind !== undefined && (userRef ?? tag) !== undefined) return kindAlone();
      const found = await reads.transactions(accountId, ask.filter, ask.page);
      return { ...found, content: await Promise.all(found.content.map((row) => transactionOf(deps, accountId, row))) };
    },
    async getTransaction(asked) {
      const accountId = accountOf(asked);
      const row = await reads.transaction(accountId, asked.params.id);
      return row === null ? unknownIn(asked, 'transaction', asked.params.id) : transactionOf(deps, accountId, row);
    },
    buildTransaction: {
      replay,
      handle: (asked) => {
        const { tokenContract = null, chainTag = null, paymentRef: _ofTheEdge, ...rest } = asked.body;
        return build(asked, { ...rest, tokenContract, chainTag, kind: 'payment' });
      },
    },
    createTrustline: {
      replay,
      handle: (asked) => {
        const { chain, asset } = asked.body;
        return build(asked, {
          chain,
          from: asked.params.address,
          to: null,
          amount: 'all',
          tokenContract: asset,
          chainTag: null,
          kind: 'trustline',
        });
      },
    },
    repriceTransaction: {
      replay: async (stored) => builtView(stored as WithdrawalRow),
      async handle(asked) {
        const accountId = accountOf(asked);
        const known = await reads.withdrawal(accountId, asked.params.id);
        if (known === null) return unknownIn(asked, 'withdrawal', asked.params.id);
        const answer = await wayOut.reprice(known, claimOf(asked));
        return answer.ok === true ? builtView(answer.reply) : answer;
      },
    },
    async broadcastTransaction(asked) {
      const accountId = accountOf(asked);
      const { id } = asked.params;
      const known = await reads.withdrawal(accountId, id);
      if (known === null) return unknownIn(asked, 'withdrawal', id);
      // Said before an edge is looked for: while the owner has not decided none may lead, and none signs in vain.
      const state = await stateOf(deps, accountId);
      const no = rotationPending(state) ?? suspended(state);
      if (no !== null) return no;
      if (isDead(known)) return closed(known); // an edge would sign in vain
      const observed = known.versions.length === 0 ? await wayOut.observed(known) : null;
      if (observed !== null) return observed;
      const acknowledged = await edges.askToSign(accountId, id);
      if (!acknowledged.ok) return refusedByEdge(acknowledged);
      const row = await reads.transaction(accountId, id);
      return row === null ? unknownIn(asked, 'withdrawal', id) : transactionOf(deps, accountId, row);
    },
    getFees: (asked) => fees(deps, asked),
  };
}

/** No index names a kind with a user or a tag: such a page would read all that one of them has. */
const kindAlone = (): Refusal =>
  refuse('INVALID_INPUT', {
    field: 'query.kind',
    reason: 'kind goes with chain, status and direction: leave out kind, or userRef and tag',
  });

/** A record with the threshold of its network: a withdrawal's row has none of its own. */
export async function transactionOf(
  { chains, config: { publicUrl } }: Pick<HandlerDeps, 'chains' | 'config'>,
  accountId: AccountId,
  row: TransactionView,
) {
  if (row.direction === 'in') return transactionView(publicUrl, accountId, row);
  const binding = await chains.bind(accountId, row.chain);
  const { threshold } = isRefusal(binding) ? networkOf(row.chain) : binding.network;
  return transactionView(publicUrl, accountId, { ...row, threshold });
}

/** The edge's word on a transaction, in the service's own codes and words: its acknowledgement carries no message. */
function refusedByEdge({
  code,
  details,
}: {
  code?: string | undefined;
  details?: Record<string, unknown> | undefined;
}): Refusal {
  return code !== undefined && Object.hasOwn(ERRORS, code)
    ? readRefusal(code as ErrorCode, details ?? {})
    : refuse('SIGNED_BATCH_REJECTED', { reason: 'refused_by_edge' });
}

/**
 * The estimate of a transfer: from `from`, else from the account's gas tank, to `to`, else back to the sender.
 * Without an amount the smallest unit is priced, which every chain takes as a transfer like any other.
 */
async function fees(deps: HandlerDeps, asked: Asked<'getFees'>) {
  const accountId = accountOf(asked);
  const { chain } = asked.params;
  const { from, to, amount = '1', tokenContract = null } = asked.query;
  const sender = from ?? (await anyAddress(deps, accountId, chain));
  if (isRefusal(sender)) return sender;
  const priced = await deps.wayOut.estimate(accountId, {
    chain,
    from: sender,
    to: to ?? sender,
    amount,
    tokenContract,
    chainTag: null,
    kind: 'payment',
  });
  return isRefusal(priced) ? priced : feeView(priced.network, priced.estimate);
}

/** An address of the account on the chain. Refuses: CHAIN_UNAVAILABLE, CHAIN_NOT_READY when it has none yet. */
async function anyAddress(deps: HandlerDeps, accountId: AccountId, chain: Chain): Promise<string | Refusal> {
  const disabled = notEnabled(deps.chains, accountId, chain);
  if (disabled !== null) return disabled;
  const tanks = await presentTanks(deps, accountId);
  const tank = tanks.find((row) => row.family === FAMILY_OF[chain]);
  return tank?.address ?? refuse('CHAIN_NOT_READY', { chain, reason: 'no key registered' });
}
