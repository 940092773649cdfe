/** Watch-only addresses become spendable where a key source leads to them. Spec §4.8, migration M-K3. */
import { sourceOf, sourcesOf, whyNotSigned } from '../../../actors/key-source/decide.ts';
import { beginTrace } from '../../../actors/migration/trace.ts';
import type { KeySource } from '../../../model/account/key-source.ts';
import type { SourcePass } from '../../../model/ports/origin-store.ts';
import { refuse } from '../../../protocol/errors.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, unknownIn, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

/** A caller waits so long for the end of a pass; it goes on without them. */
const ANSWER_WITHIN_MS = 10_000;

type Deps = Pick<HandlerDeps, 'accounts' | 'log'> & { readonly stores: Pick<HandlerDeps['stores'], 'origins'> };

export function resolveHandler(deps: Deps): Pick<Handlers, 'resolveKeySource'> {
  const { origins } = deps.stores;
  return {
    async resolveKeySource(asked) {
      const accountId = accountOf(asked);
      const state = await stateOf(deps, accountId),
        source = sourceOf(state, asked.params.id);
      if (source === undefined) return unknownIn(asked, 'key source', asked.params.id);
      if (source.purgedAtMs !== null) return refuse('KEY_SOURCE_PURGED', { keySourceId: source.id });
      const active = Object.values(sourcesOf(state)).filter(({ purgedAtMs }) => purgedAtMs === null);
      const pass = await beginTrace(
        origins,
        accountId,
        source,
        active.map(({ id }) => id),
      );
      const ended = pass?.ended.catch((error: unknown) => {
        deps.log.error({ accountId, keySourceId: source.id, error }, 'a pass of a key source ended early');
        return pass.begun;
      });
      const newest = ended === undefined ? null : await endedWithin(ended, ANSWER_WITHIN_MS);
      const shown = newest ?? (await passOf(origins, accountId, source.id)) ?? pass!.begun;
      return { keySourceId: source.id, ...resolvedView(source, shown) };
    },
  };
}

async function passOf(origins: Deps['stores']['origins'], accountId: Parameters<typeof origins.passes>[0], id: string) {
  return (await origins.passes(accountId)).find(({ keySourceId }) => keySourceId === id);
}

/** Null where it has not ended yet. */
async function endedWithin<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer!);
  }
}

type Reply = ReplyOf<'resolveKeySource'>;

/** Counts of a pass, by what can be signed now. */
function resolvedView(source: KeySource, { state, checked, traced, byChain }: SourcePass): Omit<Reply, 'keySourceId'> {
  const reasons = new Map<string, number>();
  let spendable = 0;
  for (const { chain, count } of tracedByChain(byChain)) {
    const reason = whyNotSigned(source, chain);
    if (reason === null) spendable += count;
    else reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  }
  if (checked > traced) reasons.set('no_key', checked - traced);
  return {
    state,
    checked,
    traced,
    spendable,
    watchOnly: [...reasons].map(([reason, count]) => ({ reason, count }) as Reply['watchOnly'][number]),
  };
}

/** Addresses that a source's passes traced, by chain. */
export function tracedByChain(byChain: SourcePass['byChain']): { chain: Chain; count: number }[] {
  return Object.entries(byChain).map(([chain, count]) => ({ chain: chain as Chain, count }));
}
