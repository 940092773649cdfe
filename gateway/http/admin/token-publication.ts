/**
 * What makes an accepted contract a token of the catalogue: the next version of the registry, signed by two registry
 * keys and published by a second administrator. Treasury K7, K10, Q5–Q8.
 */
import type { Deployment, Registry } from '../../../chains/catalogue.ts';
import { nextRegistry } from '../../../chains/next-registry.ts';
import { lawfulSuccessor } from '../../../chains/registry-change.ts';
import type { ReadFacts, ReviewAsked } from '../../../model/ports/token-request-store.ts';
import { contractReading } from '../../../actors/treasury/token-reviews.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { bearerOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';
import { nextVersion, offeredIn, registryMoved, signedBy, unlike, versionView } from './registry-version.ts';
import { decidable, decidedView, hazardRefusal, reviewMoved } from './token-reviews.ts';

type Area = 'proposeTokenVersion' | 'publishTokenRequest';
type Deps = Pick<HandlerDeps, 'log' | 'stores' | 'chains' | 'config' | 'registry' | 'nowMs'>;

export function tokenPublicationHandlers(deps: Deps): Pick<Handlers, Area> {
  const { chains, config, registry, nowMs, stores } = deps;
  return {
    async proposeTokenVersion(asked) {
      const found = await decidable(deps, asked);
      if (isRefusal(found)) return found;
      const as = { version: await nextVersion(deps), publishedAt: instantOf(nowMs()) };
      const next = versionWith(found.review, chains.tokens.current, asked.query.kind, as);
      return isRefusal(next) ? next : versionView(chains.tokens.current, next);
    },
    async publishTokenRequest(asked) {
      const found = await decidable(deps, asked);
      if (isRefusal(found)) return found;
      const { review, audit } = found;
      const { content, acknowledgedHazards } = asked.body;
      const offered = offeredIn(content);
      if (isRefusal(offered)) return offered;
      await registry.look();
      const { current } = chains.tokens;
      const unfit =
        unfitFor(review, current, offered, await nextVersion(deps)) ?? hazardRefusal(review, acknowledgedHazards);
      if (unfit !== null) return unfit;
      const signed = signedBy(config.registryKeys, offered, asked.body);
      if (isRefusal(signed)) return signed;
      const changed = await changedOnChain(deps, review);
      if (changed !== null) return changed;
      const { chain, contract } = review;
      const outcome = await stores.registry.publish(
        {
          ...signed,
          tokens: [{ chain, contract }],
          by: bearerOf(asked).userId,
          of: { reviewId: review.id },
        },
        audit,
      );
      switch (outcome) {
        case 'published':
          await registry.look();
          return decidedView(deps, asked, review, 'an administrator published a token');
        case 'moved':
          return registryMoved(await nextVersion(deps));
        case 'same_person':
          return refuse(
            'FORBIDDEN',
            { reason: 'same_person' },
            'who accepted a token does not publish it: another administrator does',
          );
        case 'state':
          return reviewMoved(review);
      }
    },
  };
}

/** The next version with a reviewed contract. Refuses: CONFLICT. */
function versionWith(
  review: ReviewAsked,
  current: Registry,
  kind: Deployment['kind'],
  as: Pick<Registry, 'version' | 'publishedAt'>,
): Registry | Refusal {
  const { id, accountId, chain, contract, facts, state } = review;
  if (state !== 'accepted' || facts === null) return reviewMoved(review);
  if (accountId !== null)
    return refuse(
      'CONFLICT',
      { reason: 'simulated', chain, tokenContract: contract },
      'a contract on a simulated ledger is in no registry of the live chains',
    );
  const { symbol, name, decimals, hazards, tokenProgram, sac } = facts;
  const read = { symbol: symbol.slice(0, SYMBOL_MAX), name, decimals, tokenProgram, sac };
  const token = {
    chain,
    contract,
    kind,
    source: `request ${id}`,
    hazards: hazards as NonNullable<Deployment['hazards']>,
  };
  const next = nextRegistry(current, { ...read, ...token }, as);
  return isRefusal(next) ? next : lawfulSuccessor(current, next);
}
const SYMBOL_MAX = 20;

/** Why this is not the version that publishes the review, and nothing else; null where it is. */
function unfitFor(review: ReviewAsked, current: Registry, offered: Registry, version: number): Refusal | null {
  if (offered.version !== version) return registryMoved(version);
  const { kind } =
    offered.tokens
      .flatMap(({ deployments }) => deployments)
      .find((one) => one.chain === review.chain && one.contract === review.contract) ?? {};
  if (kind === undefined) return refuse('INVALID_INPUT', { field: 'content', reason: 'without_the_token' });
  const wanted = versionWith(review, current, kind, offered);
  if (isRefusal(wanted)) return wanted;
  return unlike(wanted, offered);
}

/** What the chain says now is what was accepted. Refuses: CONFLICT `changed_on_chain`, CHAIN_UNAVAILABLE. Q7. */
async function changedOnChain({ stores, chains }: Deps, review: ReviewAsked): Promise<Refusal | null> {
  const { chain, contract, facts } = review;
  const [askedBy] = await stores.tokenRequests.askedBy(review.id);
  const reading = await contractReading({ store: stores.tokenRequests, chains }, { ...review, askedBy: askedBy! });
  if ('trouble' in reading) return refuse('CHAIN_UNAVAILABLE', { chain, permanent: false, reason: reading.trouble });
  return 'facts' in reading && sameFacts(reading.facts, facts!)
    ? null
    : refuse(
        'CONFLICT',
        { reason: 'changed_on_chain', chain, tokenContract: contract },
        'the contract says something else than when it was accepted: decline it, and look again',
      );
}

const sameFacts = (a: ReadFacts, b: ReadFacts): boolean =>
  a.symbol === b.symbol &&
  a.decimals === b.decimals &&
  a.tokenProgram === b.tokenProgram &&
  [...a.hazards].sort().join() === [...b.hazards].sort().join();
