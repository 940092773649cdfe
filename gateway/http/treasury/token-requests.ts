/** Requests for tokens that the catalogue lacks. Spec §2.6; treasury Q1–Q4, Q9. */
import { notEnabled } from '../../../actors/account/guards.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import type { TokenRequest, TokenReview } from '../../../model/ports/token-request-store.ts';
import { isRefusal, refuse } from '../../../protocol/errors.ts';
import { environmentOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { accountOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, wholePage } from '../views.ts';

/** Q1. */
const OPEN_MAX = 100;
const ALL_MAX = 1_000;
/** Contracts of all simulated ledgers of an account. */
const SANDBOX_TOKENS_MAX = 100;

type Area = 'requestToken' | 'listTokenRequests' | 'simulateToken';

export function tokenRequestHandlers({
  chains,
  nowMs,
  stores: { tokenRequests },
}: Pick<HandlerDeps, 'chains' | 'nowMs' | 'stores'>): Pick<Handlers, Area> {
  return {
    async requestToken(asked) {
      const accountId = accountOf(asked);
      const { chain, contractAddress, symbol, decimals } = asked.body;
      const contract = factsOf(chain).parseToken(networkOf(chain), contractAddress);
      if (isRefusal(contract)) return contract;
      const listed = !isRefusal(chains.tokens.find(chain, contract));
      const done = await tokenRequests.ask(accountId, {
        id: newId('tkr', nowMs()),
        ledger: environmentOf(accountId) === 'sandbox' && !listed ? accountId : null,
        chain,
        contract,
        symbol,
        decimals,
        listedVersion: listed ? chains.tokens.current.version : null,
        openMax: OPEN_MAX,
        allMax: ALL_MAX,
      });
      if (done.outcome === 'limit')
        return refuse(
          'CONFLICT',
          { reason: 'request_limit', limit: OPEN_MAX },
          `an account has at most ${OPEN_MAX} requests that wait for a decision, and ${ALL_MAX} in all: wait until some are decided`,
        );
      if (done.outcome === 'known' || listed) asked.wasThere();
      return requestView(done.request);
    },
    async listTokenRequests(asked) {
      const rows = await tokenRequests.ofAccount(accountOf(asked));
      return wholePage('token-requests', rows.map(requestView), asked.query, ({ id }) => id, 'newest');
    },
    async simulateToken(asked) {
      const accountId = accountOf(asked);
      const { chain, contractAddress, symbol, decimals, hazards } = asked.body;
      const disabled = notEnabled(chains, accountId, chain);
      if (disabled !== null) return disabled;
      const contract = factsOf(chain).parseToken(networkOf(chain), contractAddress);
      if (isRefusal(contract)) return contract;
      if (!isRefusal(chains.tokens.find(chain, contract)))
        return refuse(
          'CONFLICT',
          { reason: 'published', chain, tokenContract: contract },
          'the catalogue has this contract: it is on every simulated ledger already',
        );
      const token = { chain, contract, symbol, decimals, hazards };
      if (!(await tokenRequests.saveSandboxToken(accountId, token, SANDBOX_TOKENS_MAX)))
        return refuse('CONFLICT', { reason: 'token_limit', limit: SANDBOX_TOKENS_MAX });
      return { chain, contractAddress: contract, symbol, decimals, hazards };
    },
  };
}

/** The chain's own word. */
export const onChainView = ({ facts, readAtMs }: TokenReview): ReplyOf<'requestToken'>['onChain'] =>
  facts === null || readAtMs === null
    ? null
    : {
        symbol: facts.symbol,
        name: facts.name,
        decimals: facts.decimals,
        hazards: facts.hazards,
        readAt: instantOf(readAtMs),
      };

/** A claim that the chain contradicts is declined by it, whatever others said of the same contract. Q4. */
function requestView({ id, symbol, decimals, createdAtMs, review }: TokenRequest): ReplyOf<'requestToken'> {
  const { chain, contract, facts, updatedAtMs } = review;
  const isFalse = facts !== null && facts.decimals !== decimals && review.state !== 'published';
  const state = isFalse ? 'declined' : review.state;
  const mismatch = facts === null ? null : `the contract says ${facts.decimals} decimals; the request says ${decimals}`;
  return {
    id,
    chain,
    contractAddress: contract,
    symbol,
    decimals,
    state,
    monitored: state === 'published',
    outcome: isFalse ? mismatch : state === 'declined' ? review.outcome : null,
    onChain: onChainView(review),
    createdAt: instantOf(createdAtMs),
    updatedAt: instantOf(Math.max(updatedAtMs, createdAtMs)),
  };
}
