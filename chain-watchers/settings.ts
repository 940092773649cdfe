/** Settings of one chain, by its slug: endpoints, depth, pace. Read by a node, and by commands that look at a chain. */
import { z } from 'zod';
import { chainSettingAdvice } from '../protocol/chain-names.ts';
import { stepsBetween } from '../protocol/nearest.ts';
import { listSetting, problemOf } from '../protocol/node/setting-forms.ts';
import { wholeNumber } from '../protocol/node/setting-shapes.ts';
import { CHAINS, FAMILY_OF, type Chain } from '../protocol/slugs.ts';

const endpointUrl = z.url({
  protocol: /^https?$/,
  error: 'is no http or https address; several are separated by commas',
});
/** Two of the same count as two that agree. */
const areDifferent = (urls: readonly string[]) =>
  new Set(urls.map((url) => (URL.canParse(url) ? new URL(url).href : url))).size === urls.length;

const chainSettings = (chain: Chain) => ({
  [`${chain.toUpperCase()}_RPC_URLS`]: listSetting
    .pipe(
      z.array(endpointUrl).max(16).refine(areDifferent, 'names an endpoint twice: its word would count as that of two'),
    )
    .default([]),
  [`${chain.toUpperCase()}_CONFIRMATIONS`]: wholeNumber(1, 10_000).optional(),
  [`${chain.toUpperCase()}_POLL_MS`]: wholeNumber(20, 600_000).optional(),
  [`${chain.toUpperCase()}_START_HEIGHT`]: wholeNumber(0, 999_999_999_999).optional(),
  /** When a second look through the only endpoint counts as a second opinion (G10); one block time by default. */
  [`${chain.toUpperCase()}_SECOND_READ_MS`]: wholeNumber(0, 600_000).optional(),
  /** V6: whether a block that no endpoint traces is taken without its internal payments, or waits. */
  ...(FAMILY_OF[chain] === 'evm'
    ? { [`${chain.toUpperCase()}_TRACES`]: z.enum(['auto', 'required']).default('auto') }
    : {}),
});

/** What follows a chain's slug, or an unknown suffix. */
const CHAIN_SUFFIXES = ['RPC_URLS', 'CONFIRMATIONS', 'POLL_MS', 'START_HEIGHT', 'SECOND_READ_MS', 'TRACES'] as const;
/** Every setting of every chain. */
export const CHAIN_SETTINGS = CHAINS.flatMap((chain) => Object.keys(chainSettings(chain)));

export const chainAdvice = chainSettingAdvice(
  CHAIN_SUFFIXES,
  (chain, suffix) => `${chain.toUpperCase()}_${suffix}` in chainSettings(chain),
);

/** Whether a name that is no setting was meant as one of a chain. */
export const isLikeChainSetting = (name: string): boolean =>
  CHAIN_SUFFIXES.some((suffix) => suffix !== 'TRACES' && name.endsWith(`_${suffix}`)) ||
  CHAINS.some(
    (chain) =>
      name.startsWith(`${chain.toUpperCase()}_`) &&
      CHAIN_SUFFIXES.some((suffix) => stepsBetween(name.slice(chain.length + 1), suffix) <= 2),
  );

export interface ChainConfig {
  rpcUrls: string[];
  confirmations: number | null;
  pollMs: number | null;
  startHeight: number | null;
  secondReadMs: number | null;
  tracesRequired: boolean;
}

export type ChainConfigs = Partial<Record<Chain, ChainConfig>>;

/** The settings of every chain that has endpoints. Problems are added to the list. */
export function readChainSettings(
  present: Readonly<Record<string, string | undefined>>,
  problems: string[],
): ChainConfigs {
  const chains: ChainConfigs = {};
  for (const chain of CHAINS) {
    const parsed = z.object(chainSettings(chain)).safeParse(present);
    if (!parsed.success) {
      problems.push(...parsed.error.issues.map((issue) => problemOf(issue)));
      continue;
    }
    const value = (name: string) => (parsed.data as Record<string, unknown>)[`${chain.toUpperCase()}_${name}`];
    const rpcUrls = value('RPC_URLS') as string[];
    if (rpcUrls.length === 0) continue;
    chains[chain] = {
      rpcUrls,
      confirmations: (value('CONFIRMATIONS') as number | undefined) ?? null,
      pollMs: (value('POLL_MS') as number | undefined) ?? null,
      startHeight: (value('START_HEIGHT') as number | undefined) ?? null,
      secondReadMs: (value('SECOND_READ_MS') as number | undefined) ?? null,
      tracesRequired: value('TRACES') === 'required',
    };
  }
  return chains;
}
