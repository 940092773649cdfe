/**
 * The version after one: with a token that it lacks. Two people look at it and sign it, and what is published must be
 * it to the byte. Treasury K8, K9, Q7.
 */
import { refuse, type Refusal } from '../protocol/errors.ts';
import { CHAINS, type Chain } from '../protocol/slugs.ts';
import type { CatalogueEntry, Deployment, Registry } from './catalogue.ts';

/** A contract as its chain describes it. */
export interface NewToken {
  readonly chain: Chain;
  readonly contract: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly kind: Deployment['kind'];
  readonly hazards: NonNullable<Deployment['hazards']>;
  /** Solana: the program of the mint. */
  readonly tokenProgram?: 'token' | 'token-2022' | undefined;
  /** Stellar: the contract of the asset. */
  readonly sac?: string | undefined;
  readonly source: string;
}

const ABSENT = 'not published';

/**
 * `current` with the token, as the version after it. It joins the entry of its symbol where that has none on this
 * chain. Refuses: CONFLICT `published`, `symbol_taken`.
 */
export function nextRegistry(
  current: Registry,
  token: NewToken,
  { version, publishedAt }: Pick<Registry, 'version' | 'publishedAt'>,
): Registry | Refusal {
  const { chain, contract, symbol } = token;
  if (
    current.tokens.some(({ deployments }) =>
      deployments.some((one) => one.chain === chain && one.contract === contract),
    )
  )
    return refuse('CONFLICT', { reason: 'published', chain, tokenContract: contract });
  const named = current.tokens.filter((one) => one.symbol === symbol);
  const joined = named.find(({ unsupportedChains }) => unsupportedChains.some((one) => one.chain === chain));
  if (named.length > 0 && joined === undefined)
    return refuse(
      'CONFLICT',
      { reason: 'symbol_taken', chain, tokenContract: contract, value: symbol },
      `another contract is called ${symbol} on ${chain}: decline this one`,
    );
  const deployment = deploymentOf(token);
  const tokens = current.tokens.map((entry) => (entry === joined ? withDeployment(entry, deployment) : entry));
  const all = joined === undefined ? [...tokens, entryOf(token, deployment)] : tokens;
  // A token opens no route of a bridge: chains/registry-change.ts does.
  return { ...current, version, publishedAt, tokens: all };
}

function deploymentOf({ chain, contract, decimals, kind, hazards, tokenProgram, sac, source }: NewToken): Deployment {
  const deployment = {
    chain,
    contract,
    decimals,
    kind,
    monitored: true,
    deprecated: false,
    // A route between two of its deployments is more than being redeemable, and not decided here.
    bridgeable: false,
    sweepable: true,
    source,
    ...(tokenProgram === undefined ? {} : { tokenProgram }),
    ...(sac === undefined ? {} : { sac }),
  };
  return withHazards(deployment, hazards);
}

/** A deployment with these hazards and no others. */
export function withHazards(deployment: Deployment, hazards: NonNullable<Deployment['hazards']>): Deployment {
  const { hazards: _, feeOnTransfer: __, ...rest } = deployment;
  return {
    ...rest,
    ...(hazards.includes('fee_on_transfer') ? { feeOnTransfer: true as const } : {}),
    ...(hazards.length === 0 ? {} : { hazards: [...hazards].sort() }),
  };
}

const withDeployment = (entry: CatalogueEntry, deployment: Deployment): CatalogueEntry => ({
  ...entry,
  deployments: [...entry.deployments, deployment],
  unsupportedChains: entry.unsupportedChains.filter(({ chain }) => chain !== deployment.chain),
});

const entryOf = ({ symbol, name }: NewToken, deployment: Deployment): CatalogueEntry => ({
  symbol,
  name: name === '' ? symbol : name,
  deployments: [deployment],
  unsupportedChains: CHAINS.filter((chain) => chain !== deployment.chain).map((chain) => ({
    chain,
    reason: chain === 'btc' ? 'the chain has no tokens' : ABSENT,
  })),
});
