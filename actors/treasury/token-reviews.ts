/**
 * Reads what chains say of the contracts that are asked for, once each: claims are compared with it, and a person
 * decides by it. A chain that cannot be read leaves the request as it is. Treasury Q4, Q9.
 */
import { chainFailure } from '../../chains/failure.ts';
import type { ChainAccess } from '../../model/ports/chain-access.ts';
import type { ReadFacts, TokenRequestStore, UnreadReview } from '../../model/ports/token-request-store.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { plainText } from '../../protocol/plain-text.ts';

/** How long a chain that could not be read is left alone, and how many contracts one look reads. */
const AGAIN_MS = 60_000;
const AT_ONCE = 20;
/** Characters of a symbol or name that are shown. */
const TEXT_MAX = 60;

export interface TokenReviewParts {
  readonly store: Pick<
    TokenRequestStore,
    'takeUnread' | 'recordFacts' | 'recordAbsent' | 'recordTrouble' | 'sandboxToken'
  >;
  readonly chains: Pick<ChainAccess, 'bind'>;
}

type Reading = { readonly facts: ReadFacts } | { readonly absent: string } | { readonly trouble: string };

/** Reads what is due; answers how many contracts were asked about. */
export async function readReviews({ store, chains }: TokenReviewParts): Promise<number> {
  const due = await store.takeUnread(AGAIN_MS, AT_ONCE);
  for (const review of due) {
    const reading = await contractReading({ store, chains }, review);
    if ('trouble' in reading) await store.recordTrouble(review.id, reading.trouble);
    else if ('absent' in reading) await store.recordAbsent(review.id, reading.absent);
    else
      await store.recordFacts(
        review.id,
        reading.facts,
        `the contract says ${reading.facts.decimals} decimals; the request says otherwise`,
      );
  }
  return due.length;
}

/** What is said of a contract at this moment: by the chain, or by who put it on a simulated ledger. */
export async function contractReading(
  {
    store,
    chains,
  }: { readonly store: Pick<TokenRequestStore, 'sandboxToken'>; readonly chains: Pick<ChainAccess, 'bind'> },
  review: UnreadReview,
): Promise<Reading> {
  const { accountId, askedBy, chain, contract } = review;
  if (accountId !== null) {
    const made = await store.sandboxToken(accountId, chain, contract);
    if (made === null)
      return { absent: 'the simulated ledger has no such contract: POST /v1/sandbox/simulate-token makes one' };
    const { symbol, decimals, hazards } = made;
    return { facts: { symbol, name: symbol, decimals, hazards } };
  }
  const binding = await chains.bind(askedBy, chain);
  if (isRefusal(binding)) return { trouble: binding.message };
  if (binding.client.fetchTokenFacts === undefined) return { trouble: 'this chain is not read for tokens' };
  try {
    const facts = await binding.client.fetchTokenFacts(contract, 'hazards');
    if (isRefusal(facts)) return { absent: String(facts.details['reason'] ?? facts.message) };
    const { symbol, name, decimals, hazards = [], tokenProgram, sac } = facts;
    const own = { ...(tokenProgram === undefined ? {} : { tokenProgram }), ...(sac === undefined ? {} : { sac }) };
    return { facts: { symbol: shown(symbol), name: shown(name), decimals, hazards, ...own } };
  } catch (error) {
    const failure = chainFailure(error);
    if (failure === null) throw error;
    return { trouble: failure };
  }
}

/** V16: a contract's own texts are shown, never matched. */
const shown = (text: string): string => plainText(text, TEXT_MAX);
