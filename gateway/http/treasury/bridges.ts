/** Bridge policies and their transfers. Spec §2.10; treasury H2–H4. */
import { placed } from '../../../actors/treasury/view.ts';
import { notEnabled } from '../../../actors/account/guards.ts';
import { findDeployment, type Registry } from '../../../chains/catalogue.ts';
import { waysOf, type Way } from '../../../chains/ways.ts';
import type { BridgePolicy, BridgeSettings } from '../../../model/account/bridge.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { BridgeTransferRow, BridgeTransferState } from '../../../model/rows/bridge.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId, newUuid } from '../../../protocol/node/ids.ts';
import type { BodyOf, ReplyOf } from '../../../protocol/routes.ts';
import type { Environment } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull, listAskOf, pageAs, wholePage } from '../views.ts';

type Area =
  | 'createBridgePolicy'
  | 'listBridgePolicies'
  | 'getBridgePolicy'
  | 'replaceBridgePolicy'
  | 'deleteBridgePolicy'
  | 'createBridgeTransfer'
  | 'listBridgeTransfers'
  | 'getBridgeTransfer'
  | 'retryBridgeTransfer';
type PolicyArea = Extract<Area, `${string}Polic${string}`>;

export function bridgeHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  return { ...policyHandlers(deps), ...transferHandlers(deps) };
}

function policyHandlers(deps: HandlerDeps): Pick<Handlers, PolicyArea> {
  const { accounts, chains, nowMs } = deps;
  const replay = async (stored: unknown) => policyView(stored as BridgePolicy);
  return {
    createBridgePolicy: {
      replay,
      async handle(asked) {
        const settings = settingsOf(asked.body, chains.tokens.current, asked.caller.environment);
        if (isRefusal(settings)) return settings;
        const command = { type: 'create_bridge_policy', id: newUuid(nowMs()), settings, ...claimOf(asked) } as const;
        const answer = await accounts.ask(accountOf(asked), command);
        return answer.ok === true ? policyView(answer.reply) : answer;
      },
    },
    async listBridgePolicies(asked) {
      const { bridgePolicies } = await stateOf(deps, accountOf(asked));
      return wholePage('bridge-policies', bridgePolicies.map(policyView), asked.query, ({ id }) => id);
    },
    async getBridgePolicy(asked) {
      const { bridgePolicies } = await stateOf(deps, accountOf(asked));
      const known = bridgePolicies.find(({ id }) => id === asked.params.policyId);
      return known === undefined ? unknownIn(asked, 'bridge policy', asked.params.policyId) : policyView(known);
    },
    replaceBridgePolicy: {
      replay,
      async handle(asked) {
        const settings = settingsOf(asked.body, chains.tokens.current, asked.caller.environment);
        if (isRefusal(settings)) return settings;
        const { policyId: id } = asked.params,
          version = asked.body.version ?? null;
        const command = { type: 'replace_bridge_policy', id, settings, version, ...claimOf(asked) } as const;
        const answer = await accounts.ask(accountOf(asked), command);
        return answer.ok === true ? policyView(answer.reply) : answer;
      },
    },
    deleteBridgePolicy: {
      replay,
      async handle(asked) {
        const { policyId: id } = asked.params;
        const answer = await accounts.ask(accountOf(asked), { type: 'delete_bridge_policy', id, ...claimOf(asked) });
        return answer.ok === true ? policyView(answer.reply) : answer;
      },
    },
  };
}

function transferHandlers(deps: HandlerDeps): Pick<Handlers, Exclude<Area, PolicyArea>> {
  const {
    accounts,
    nowMs,
    stores: { bridges },
  } = deps;
  const replay = async (stored: unknown) => transferView(stored as BridgeTransferRow);
  return {
    createBridgeTransfer: {
      replay,
      async handle(asked) {
        const accountId = accountOf(asked),
          state = await stateOf(deps, accountId),
          { policyId } = asked.body;
        const policy = state.bridgePolicies.find(({ id }) => id === policyId);
        if (policy === undefined) return unknownIn(asked, 'bridge policy', policyId);
        const amount = BigInt(asked.body.amount),
          available = await availableFor(deps, state, policy, amount);
        if (isRefusal(available)) return available;
        const at = nowMs();
        const ids = {
          id: newId('brt', at),
          approveId: newId('txn', at),
          burnId: newId('txn', at),
          mintId: newId('txn', at),
        };
        const command = { type: 'accept_bridge_transfer', policyId, ids, amount, available } as const;
        const answer = await accounts.ask(accountId, { ...command, ...claimOf(asked) });
        return answer.ok === true ? transferView(answer.reply) : answer;
      },
    },
    async listBridgeTransfers(asked) {
      const ask = listAskOf('bridge-transfers', asked.query);
      if (isRefusal(ask)) return ask;
      return pageAs(await bridges.transfers(accountOf(asked), ask.filter, ask.page), transferView);
    },
    async getBridgeTransfer(asked) {
      const known = await bridges.transfer(accountOf(asked), asked.params.id);
      return known === null ? unknownIn(asked, 'bridge transfer', asked.params.id) : transferView(known);
    },
    retryBridgeTransfer: {
      replay,
      async handle(asked) {
        const accountId = accountOf(asked),
          known = await bridges.transfer(accountId, asked.params.id);
        if (known === null) return unknownIn(asked, 'bridge transfer', asked.params.id);
        const answer = await accounts.ask(accountId, { type: 'retry_bridge_transfer', known, ...claimOf(asked) });
        return answer.ok === true ? transferView(answer.reply) : answer;
      },
    },
  };
}

/** The settings of a body. Refuses: TOKEN_NOT_SUPPORTED, TOKEN_NOT_ON_CHAIN, TOKEN_NOT_BRIDGEABLE with the reason. */
function settingsOf(
  body: BodyOf<'createBridgePolicy'>,
  registry: Registry,
  environment: Environment,
): BridgeSettings | Refusal {
  const { fromChain, token: text } = body;
  const named = registry.tokens
    .find(({ symbol }) => symbol === text)
    ?.deployments.find(({ chain }) => chain === fromChain);
  const token = named ?? findDeployment(fromChain, text, registry);
  if (isRefusal(token)) return token;
  const way = openWay(registry, environment, { ...body, token: token.contract });
  return isRefusal(way) ? way : { ...body, token: token.contract };
}

/** Refuses: TOKEN_NOT_BRIDGEABLE with the reason. */
function openWay(
  registry: Registry,
  environment: Environment,
  { fromChain, toChain, token }: Pick<BridgeSettings, 'fromChain' | 'toChain' | 'token'>,
): Way | Refusal {
  const symbol = registry.tokens.find(({ deployments }) =>
    deployments.some(({ chain, contract }) => chain === fromChain && contract === token),
  )?.symbol;
  const way = waysOf(registry, environment).find(
    (one) => one.symbol === symbol && one.from === fromChain && one.to === toChain,
  );
  if (way !== undefined && way.reason === null) return way;
  return refuse(
    'TOKEN_NOT_BRIDGEABLE',
    { chain: fromChain, tokenContract: token, reason: way?.reason ?? 'not_on_both_chains' },
    `no route from ${fromChain} to ${toChain} is open: GET /v1/treasury/routes says why`,
  );
}

/**
 * What the treasury of a policy has. Refuses: TOKEN_NOT_BRIDGEABLE, AMOUNT_CAP_EXCEEDED above what one burn may move,
 * CHAIN_NOT_READY, CHAIN_UNAVAILABLE.
 */
async function availableFor(
  { chains }: HandlerDeps,
  state: AccountState,
  policy: BridgePolicy,
  amount: bigint,
): Promise<bigint | Refusal> {
  const way = openWay(chains.tokens.current, state.environment, policy);
  if (isRefusal(way)) return way;
  const { fromChain, token } = policy,
    { burnMax } = way.route!;
  if (amount > BigInt(burnMax))
    return refuse('AMOUNT_CAP_EXCEEDED', {
      policyId: policy.id,
      limit: 'burnMax',
      cap: burnMax,
      amount: String(amount),
      next: 'move less at once',
    });
  const wallet = state.treasuryWallets.find(({ id }) => id === policy.sourceWalletId),
    source = wallet === undefined ? null : placed(state, wallet).address;
  if (source === null)
    return refuse('CHAIN_NOT_READY', { chain: fromChain, reason: 'no key of the chain is registered' });
  const disabled =
    notEnabled(chains, state.accountId, fromChain) ?? notEnabled(chains, state.accountId, policy.toChain);
  if (disabled !== null) return disabled;
  const binding = await chains.bind(state.accountId, fromChain);
  if (isRefusal(binding)) return binding;
  const { available } = await binding.client.fetchBalance(source, binding.catalogue.get(token) ?? null);
  return available;
}

function policyView({ createdAtMs, updatedAtMs, ...policy }: BridgePolicy): ReplyOf<'getBridgePolicy'> {
  return { ...policy, createdAt: instantOf(createdAtMs), updatedAt: instantOf(updatedAtMs) };
}

/** Until it is in one of these states, the transaction is not built. */
const BUILT = {
  approve: new Set<BridgeTransferState>(['APPROVING', 'BURNING', 'ATTESTING', 'MINTING', 'COMPLETED']),
  burn: new Set<BridgeTransferState>(['BURNING', 'ATTESTING', 'MINTING', 'COMPLETED']),
  mint: new Set<BridgeTransferState>(['MINTING', 'COMPLETED']),
};

function transferView(row: BridgeTransferRow): ReplyOf<'getBridgeTransfer'> {
  const { id, policyId, fromChain, toChain, tokenContract: token, source, recipient, state, reason } = row;
  const { stalledAtMs, stalledReason, blocked, approveId, burnId, mintId } = row;
  return {
    id,
    policyId,
    fromChain,
    toChain,
    token,
    source,
    recipient,
    amount: String(row.amount),
    maxFee: row.maxFee === null ? null : String(row.maxFee),
    received: row.received === null ? null : String(row.received),
    state,
    reason,
    stalled:
      stalledAtMs === null || stalledReason === null ? null : { since: instantOf(stalledAtMs), reason: stalledReason },
    blocked: blocked === null ? null : (JSON.parse(blocked) as ReplyOf<'getBridgeTransfer'>['blocked']),
    approveTransactionId: BUILT.approve.has(state) ? approveId : null,
    burnTransactionId: BUILT.burn.has(state) ? burnId : null,
    mintTransactionId: BUILT.mint.has(state) ? mintId : null,
    createdAt: instantOf(row.createdAtMs),
    updatedAt: instantOf(row.updatedAtMs),
    endedAt: instantOrNull(row.endedAtMs),
  };
}
