/**
 * Transactions and fees: lists from the projections; a build is asked of the chain first, then decided by the
 * account. Spec §4.2.
 */
import { rotationPending, suspended } from '../../../actors/account/guards.ts';
import { closed } from '../../../actors/withdrawal/row.ts';
import type { BuildInputs, Intent } from '../../../chains/chain.ts';
import { networkOf } from '../../../chains/registry.ts';
import type { TransactionView } from '../../../model/ports/read-store.ts';
import { canonicalJson } from '../../../protocol/canonical-json.ts';
import {
  type ErrorCode,
  ERRORS,
  isRefusal,
  notFound,
  type Refusal,
  readRefusal,
  refuse,
} from '../../../protocol/errors.ts';
import { environmentOf, ledgerOf, type AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { parseAmount } from '../../../protocol/money.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';
import type { ChainBinding } from '../../../model/ports/chain-access.ts';
import type { DuplicateKey } from '../../../model/ports/accounts.ts';
import { assetOf, notEnabled, parseAddress, tokenOf } from '../chain/chain-input.ts';
import { accountOf, type Asked, claimOf, type Handlers, unknownIn } from '../context.ts';
import { presentTanks, stateOf } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';
import type { Outgrown } from '../idempotency.ts';
import { coveredBySource } from '../key-source/key-sources.ts';
import { builtView, feeView, listAskOf, transactionView } from '../views.ts';

type Area =
  | 'listTransactions'
  | 'getTransaction'
  | 'buildTransaction'
  | 'repriceTransaction'
  | 'broadcastTransaction'
  | 'createTrustline'
  | 'getFees';

/** What is to be moved, as a request names it. */
interface Wish {
  readonly chain: Chain;
  readonly from: string;
  readonly to: string | null;
  readonly amount: string;
  readonly tokenContract: string | null;
  readonly chainTag: string | null;
  readonly kind: 'payment' | 'trustline';
}
interface Ready {
  readonly binding: ChainBinding;
  readonly from: AddressRow;
  readonly intent: Intent;
  readonly inputs: BuildInputs;
}

export function transactionHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    accounts,
    chains,
    edges,
    stores: { reads },
    nowMs,
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

  async function build(asked: Asked<'buildTransaction'> | Asked<'createTrustline'>, wish: Wish) {
    const accountId = accountOf(asked);
    const ready = await prepare(deps, accountId, wish);
    if (isRefusal(ready)) return ready;
    const { binding, intent, inputs, from } = ready;
    const used = await reads.usedValue(accountId, ledgerOf(intent.chain, accountId), intent.from);
    const { symbol, decimals } = assetOf(binding, intent.token);
    const answer = await accounts.ask(accountId, {
      type: 'build_withdrawal',
      id: newId('txn', nowMs()),
      intent,
      inputs,
      from,
      used,
      tokenSymbol: symbol,
      decimals,
      ...claimOf(asked),
    });
    return answer.ok === true ? builtView(answer.reply) : answer;
  }

  return {
    async listTransactions(asked) {
      const accountId = accountOf(asked);
      const ask = listAskOf('transactions', asked.query);
      if (isRefusal(ask)) return ask;
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
        const binding = await chains.bind(accountId, known.chain);
        if (isRefusal(binding)) return binding;
        const inputs = await binding.client.fetchBuildInputs(intentOf(known, binding));
        const answer = await accounts.ask(accountId, { type: 'reprice_withdrawal', known, inputs, ...claimOf(asked) });
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
      const acknowledged = await edges.askToSign(accountId, id);
      if (!acknowledged.ok) return refusedByEdge(acknowledged);
      const row = await reads.transaction(accountId, id);
      return row === null ? unknownIn(asked, 'withdrawal', id) : transactionOf(deps, accountId, row);
    },
    getFees: (asked) => fees(deps, asked),
  };
}

/**
 * A build that was given up: nothing of it was signed, and nothing can be. A counter that is used by now is bound anew.
 */
function isDead({ status, versions }: WithdrawalRow): boolean {
  return versions.length === 0 && (status === 'expired' || status === 'failed');
}

/**
 * The build with the counter that is next, held for it; what is signed keeps its own. Refuses: NOT_FOUND, as
 * `bind_withdrawal`.
 */
export async function bindCounter(
  { accounts, chains, stores: { reads } }: HandlerDeps,
  accountId: AccountId,
  id: string,
  gaveUp: readonly string[],
): Promise<ReturnType<typeof builtView> | Refusal | DuplicateKey> {
  const known = await reads.withdrawal(accountId, id);
  if (known === null)
    return notFound('withdrawal', id, { reason: 'no_such_build', environment: environmentOf(accountId) });
  const binding = await chains.bind(accountId, known.chain);
  if (isRefusal(binding)) return binding;
  if (known.versions.length > 0) return builtView(known);
  const [inputs, used] = await Promise.all([
    binding.client.fetchBuildInputs(intentOf(known, binding)),
    reads.usedValue(accountId, known.ledger, known.from),
  ]);
  const answer = await accounts.ask(accountId, { type: 'bind_withdrawal', known, inputs, used, gaveUp });
  return answer.ok === true ? builtView(answer.reply) : answer;
}

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

/** Everything that a build needs to be asked before it is decided. */
async function prepare(
  { accounts, chains, stores: { reads } }: HandlerDeps,
  accountId: AccountId,
  wish: Wish,
): Promise<Ready | Refusal> {
  const { chain } = wish;
  const disabled = notEnabled(chains, accountId, chain);
  const from = parseAddress(chain, wish.from);
  const to = wish.to === null ? from : parseAddress(chain, wish.to);
  if (isRefusal(from)) return refuse('INVALID_ADDRESS', { ...from.details, field: 'from' });
  if (isRefusal(to)) return refuse('INVALID_ADDRESS', { ...to.details, field: 'to' });
  if (disabled !== null) return disabled;
  const binding = await chains.bind(accountId, chain);
  if (isRefusal(binding)) return binding;
  const token = tokenOf(binding, wish.tokenContract);
  if (isRefusal(token)) return token;
  const destination =
    wish.kind === 'trustline' ? null : binding.module.checkDestination(binding.network, to, binding.catalogue);
  if (destination !== null) return destination;
  const amount = wish.kind === 'trustline' ? 0n : wish.amount === 'all' ? 'all' : parseAmount(wish.amount);
  if (isRefusal(amount)) return amount;
  if (to.tag !== null && wish.chainTag !== null && wish.chainTag !== to.tag) {
    return refuse('INVALID_INPUT', { field: 'chainTag', reason: 'the address names another tag' });
  }
  const row = await reads.addressByText(accountId, chain, from.canonical);
  if (row === null) {
    return (
      (await coveredBySource({ accounts }, accountId, chain, from.canonical)) ??
      notFound('address', from.canonical, {
        field: 'from',
        chain,
        environment: environmentOf(accountId),
        reason: 'the service did not issue this address',
      })
    );
  }
  const intent: Intent = {
    chain,
    from: from.canonical,
    fromPath: row.derivationPath,
    to: to.canonical,
    amount,
    token,
    tag: wish.chainTag ?? to.tag,
    kind: wish.kind,
    ...(to.tag === null ? {} : { tagOfAddress: true }),
  };
  return { binding, from: row, intent, inputs: await binding.client.fetchBuildInputs(intent) };
}

/** The intent that a stored payload was built for. */
function intentOf({ unsigned }: WithdrawalRow, { catalogue }: ChainBinding): Intent {
  return {
    chain: unsigned.chain,
    from: unsigned.from,
    fromPath: unsigned.fromPath,
    to: unsigned.to,
    amount: unsigned.sendAll ? 'all' : unsigned.amount,
    token: unsigned.tokenContract === null ? null : (catalogue.get(unsigned.tokenContract) ?? null),
    tag: unsigned.tag,
    kind: unsigned.kind,
  };
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
  const ready = await prepare(deps, accountId, {
    chain,
    from: sender,
    to: to ?? sender,
    amount,
    tokenContract,
    chainTag: null,
    kind: 'payment',
  });
  if (isRefusal(ready)) return ready;
  const { module, network } = ready.binding;
  const estimate = module.estimateFee(network, ready.inputs, ready.intent);
  return isRefusal(estimate) ? estimate : feeView(network, estimate);
}

/** An address of the account on the chain. Refuses: CHAIN_UNAVAILABLE, CHAIN_NOT_READY when it has none yet. */
async function anyAddress(deps: HandlerDeps, accountId: AccountId, chain: Chain): Promise<string | Refusal> {
  const disabled = notEnabled(deps.chains, accountId, chain);
  if (disabled !== null) return disabled;
  const tanks = await presentTanks(deps, accountId);
  const tank = tanks.find((row) => row.family === FAMILY_OF[chain]);
  return tank?.address ?? refuse('CHAIN_NOT_READY', { chain, reason: 'no key registered' });
}
