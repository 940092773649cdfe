/** Chains, their coverage, and the token catalogue. Spec §2.5; decisions 5 and 9. */
import { readinessViews } from '../../../actors/edge-link/readiness.ts';
import { registryAt } from '../../../actors/treasury/registry-at.ts';
import { FIRST_VERSION, type Registry } from '../../../chains/catalogue.ts';
import { environmentOf, ledgerOf, type AccountId } from '../../../protocol/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { CHAINS, type Chain } from '../../../protocol/slugs.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { notEnabled } from '../../../actors/account/guards.ts';
import { accountOf, unknownIn, type Handlers } from '../context.ts';
import { stateOf } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { chainPlace, instantOf, instantOrNull, wholePage } from '../views.ts';

type Entry = ReplyOf<'listTokens'>['content'][number];

export function chainHandlers(deps: HandlerDeps): Pick<Handlers, 'listChains' | 'getCoverage' | 'listTokens'> {
  const { chains, stores } = deps;
  return {
    async listChains(asked) {
      const accountId = accountOf(asked);
      const enabled = new Set(chains.enabled(accountId));
      const readiness = new Map(
        readinessViews(await stateOf(deps, accountId)).map(({ chain, state }) => [chain, state]),
      );
      const conditions = await Promise.all(CHAINS.map((chain) => chains.condition(accountId, chain)));
      return wholePage(
        'chains',
        CHAINS.map((chain, index) => {
          const { status, reason, next } = conditions[index]!;
          const { nativeSymbol, nativeDecimals, threshold, explorer } = chains.networkOf(chain);
          return {
            chain,
            enabled: enabled.has(chain),
            symbol: nativeSymbol,
            decimals: nativeDecimals,
            threshold,
            readiness: readiness.get(chain)!,
            explorerUrl:
              environmentOf(accountId) === 'sandbox'
                ? deps.config.publicUrl
                : new URL(explorer.tx.replace('{id}', '')).origin,
            status,
            reason,
            next,
          };
        }),
        asked.query,
        ({ chain }) => chainPlace(chain),
      );
    },
    async getCoverage(asked) {
      const accountId = accountOf(asked);
      const { chain } = asked.params;
      const disabled = notEnabled(chains, accountId, chain);
      if (disabled !== null) return disabled;
      const { completeHeight, headHeight, headAtMs, heardAtMs, unresolved } = await stores.watch.coverage(
        ledgerOf(chain, accountId),
      );
      return {
        chain,
        completeHeight,
        headHeight,
        headAt: instantOrNull(headAtMs),
        heardAt: instantOrNull(heardAtMs),
        ageSeconds: heardAtMs === null ? null : Math.max(0, Math.floor((deps.nowMs() - heardAtMs) / 1_000)),
        lag: completeHeight === null || headHeight === null ? null : Math.max(0, headHeight - completeHeight),
        unresolved: unresolved.map(({ height, reason, tries, sinceMs }) => ({
          height,
          reason,
          tries,
          since: instantOf(sinceMs),
        })),
        endpoints: chains
          .endpoints(accountId, chain)
          .map(({ endpoint, state, reason, next, network, sinceMs, nextLookMs }) => ({
            endpoint,
            state,
            reason: network === null ? reason : `${reason} (expected ${network.expected}, seen ${network.seen})`,
            next,
            since: instantOrNull(sinceMs),
            nextLookAt: instantOrNull(nextLookMs),
          })),
      };
    },
    async listTokens(asked) {
      const accountId = accountOf(asked);
      const { version, ...page } = asked.query,
        { current } = chains.tokens;
      const shown = version === undefined ? current : await registryAt(chains.tokens, stores.registry, version);
      if (shown === null) return unknownIn(asked, 'registry version', String(version));
      const startOf = await startsOf(stores, accountId, shown);
      const entries = shown.tokens.map(({ symbol, deployments, unsupportedChains }): Entry => ({
        symbol,
        unsupportedChains: [...unsupportedChains],
        deployments: deployments.map(
          ({ chain, contract, decimals, monitored, deprecated, bridgeable, hazards = [] }) => ({
            chain,
            contractAddress: contract,
            decimals,
            monitored,
            deprecated,
            bridgeable,
            hazards,
            activeFrom: startOf(chain, contract),
          }),
        ),
      }));
      const added = version === undefined ? await addedTokens(deps, accountId, entries) : [];
      const listed = wholePage('tokens', [...entries, ...added], page, placeIn(entries));
      return isRefusal(listed) ? listed : { ...listed, registryVersion: shown.version };
    },
  };
}

/** From which height each token of a later version is credited on the account's ledgers. Treasury K12, K16. */
async function startsOf(
  { watch }: Pick<HandlerDeps['stores'], 'watch'>,
  accountId: AccountId,
  { version }: Registry,
): Promise<(chain: Chain, contract: string) => number | null> {
  if (version === FIRST_VERSION) return () => null;
  const starts = new Map<string, number | null>();
  await Promise.all(
    CHAINS.map(async (chain) => {
      for (const { contract, height } of await watch.tokenStarts(ledgerOf(chain, accountId)))
        starts.set(`${chain} ${contract}`, height);
    }),
  );
  return (chain, contract) => starts.get(`${chain} ${contract}`) ?? null;
}

/** Published tokens keep their order; added ones follow by their symbol. */
function placeIn(published: readonly Entry[]): (entry: Entry) => string {
  const places = new Map(published.map(({ symbol }, place) => [symbol, String(place).padStart(5, '0')]));
  const known = new Set<Entry>(published);
  return (entry) => (known.has(entry) ? places.get(entry.symbol)! : `added ${entry.symbol}`);
}

/** Tokens that this node monitors beside the published registry (a private chain, a test network). */
async function addedTokens(
  { chains }: HandlerDeps,
  accountId: Parameters<HandlerDeps['chains']['enabled']>[0],
  published: readonly Entry[],
): Promise<Entry[]> {
  const known = new Set(
    published.flatMap(({ deployments }) =>
      deployments.map(({ chain, contractAddress }) => `${chain} ${contractAddress}`),
    ),
  );
  const added = new Map<string, Entry>();
  for (const chain of chains.enabled(accountId)) {
    const binding = await chains.bind(accountId, chain);
    if (isRefusal(binding)) continue;
    for (const { contract, symbol, decimals } of binding.catalogue.values()) {
      if (known.has(`${chain} ${contract}`)) continue;
      const entry = added.get(symbol) ?? { symbol, deployments: [], unsupportedChains: [] };
      entry.deployments.push({
        chain,
        contractAddress: contract,
        decimals,
        monitored: true,
        deprecated: false,
        bridgeable: false,
        hazards: [],
        activeFrom: null,
      });
      added.set(symbol, entry);
    }
  }
  return [...added.values()].map((entry) => ({
    ...entry,
    unsupportedChains: CHAINS.filter((chain) => !entry.deployments.some((one) => one.chain === chain)).map((chain) => ({
      chain,
      reason: 'not deployed',
    })),
  }));
}
