/** What a doctor sees of the nodes of a chain: each alone, then whether two of them hold one chain. */
import { newestOf, withNode } from '../../../chains/node-look.ts';
import { networkOf } from '../../../chains/registry.ts';
import type { ChainConfig, ChainConfigs } from '../../../chain-watchers/settings.ts';
import { fail, ok, reasonOf, unknown, warn, type Check, type Finding } from '../../../protocol/node/doctor/examine.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';

const ANSWER_MS = 2_500;

/** One endpoint as it was seen, or why it is not usable. */
interface Seen {
  readonly number: number;
  readonly height: number;
  readonly ageMs: number | null;
  readonly isLate: boolean;
  /** Null where the chain has no payments inside contracts, or the node does not say. */
  readonly traces: boolean | null;
}
interface Lost {
  readonly number: number;
  readonly reason: string;
}

export function chainChecks(chains: ChainConfigs): Check[] {
  return (Object.entries(chains) as [Chain, ChainConfig][]).flatMap(([chain, config]) => {
    let seen: Promise<readonly (Seen | Lost)[]> | null = null;
    /** One question for all checks of the chain, which begin together and have the same time. */
    const look = (signal: AbortSignal) =>
      (seen ??= Promise.all(config.rpcUrls.map((url, at) => lookAt({ chain, url, number: at + 1 }, signal))));
    const page = 'docs/chains/endpoints.md';
    return [
      {
        id: `chain_${chain}`,
        page: 'docs/runbooks/endpoint-down.md',
        look: async (signal) => endpointsFinding(chain, await look(signal)),
      },
      {
        id: `agreement_${chain}`,
        page: 'docs/runbooks/endpoints-contradict.md',
        look: async (signal) => agreementFinding(chain, config.rpcUrls, await look(signal), signal),
      },
      ...(FAMILY_OF[chain] === 'evm'
        ? [
            {
              id: `traces_${chain}`,
              page,
              look: async (signal: AbortSignal) => tracesFinding(chain, config.tracesRequired, await look(signal)),
            },
          ]
        : []),
    ];
  });
}

const isSeen = (one: Seen | Lost): one is Seen => 'height' in one;
const settingOf = (chain: Chain): string => `${chain.toUpperCase()}_RPC_URLS`;

async function lookAt(
  { chain, url, number }: { chain: Chain; url: string; number: number },
  signal: AbortSignal,
): Promise<Seen | Lost> {
  try {
    return await withNode(chain, url, { timeoutMs: ANSWER_MS, signal }, async (client) => {
      const newest = await newestOf(chain, client, Date.now());
      return { number, ...newest, traces: (await client.seesInternal?.()) ?? null };
    });
  } catch (error) {
    return { number, reason: reasonOf(error) };
  }
}

function endpointsFinding(chain: Chain, all: readonly (Seen | Lost)[]): Finding {
  const lost = all.find((one): one is Lost => !isSeen(one));
  const setting = settingOf(chain);
  if (lost !== undefined) {
    const seen = `endpoint ${lost.number} of ${all.length} is not usable: ${lost.reason}`;
    return fail(seen, `correct ${setting}, or mend the node: it may be of another network`);
  }
  const seen = all.filter(isSeen);
  const late = seen.find(({ isLate }) => isLate);
  if (late !== undefined)
    return fail(
      `the newest block of endpoint ${late.number} is ${Math.round((late.ageMs ?? 0) / 1_000)} s old`,
      `look whether endpoint ${late.number} of ${setting} still follows`,
    );
  return ok(`${seen.length} answer, at ${Math.max(...seen.map(({ height }) => height))}`);
}

/** At a height that all hold, so deep that it does not change. */
async function agreementFinding(
  chain: Chain,
  urls: readonly string[],
  all: readonly (Seen | Lost)[],
  signal: AbortSignal,
): Promise<Finding> {
  const seen = all.filter(isSeen);
  const setting = settingOf(chain);
  if (urls.length === 1)
    return warn(
      'there is one endpoint: nobody contradicts it',
      `name a second one, of another operator, in ${setting}`,
    );
  if (seen.length < 2) return unknown('fewer than two endpoints are usable', `look at the check chain_${chain}`);
  const height = Math.max(0, Math.min(...seen.map((one) => one.height)) - networkOf(chain).threshold);
  const hashes = await Promise.all(
    seen.map(({ number }) =>
      withNode(chain, urls[number - 1]!, { timeoutMs: ANSWER_MS, signal }, (client) => client.getBlockHash(height)),
    ),
  );
  if (hashes.some((hash) => hash === null))
    return unknown(`not all hold a block at ${height}`, 'look again; a chain with skipped heights may have none there');
  return new Set(hashes).size === 1
    ? ok(`${seen.length} hold the same block at ${height}`)
    : fail(
        `they hold different blocks at ${height}`,
        `find out which endpoint of ${setting} is wrong, and take it out`,
      );
}

function tracesFinding(chain: Chain, isRequired: boolean, all: readonly (Seen | Lost)[]): Finding {
  const seen = all.filter(isSeen);
  if (seen.length === 0) return unknown('no endpoint is usable', `look at the check chain_${chain}`);
  if (seen.some(({ traces }) => traces === true)) return ok('an endpoint traces');
  const what = 'no endpoint traces: payments inside contracts are not seen in their block';
  const remedy = `name an endpoint that traces in ${settingOf(chain)}`;
  return isRequired
    ? fail(what, `${remedy}: ${chain.toUpperCase()}_TRACES=required waits for one`)
    : warn(what, remedy);
}
