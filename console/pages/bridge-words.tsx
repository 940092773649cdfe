/** How the pages of bridges show amounts. */
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { Amount } from '../ui/parts.tsx';
import { cut } from '../ui/text.ts';

export type Tokens = ReplyOf<'listTokens'>;
export interface Known {
  readonly symbol: string;
  readonly decimals: number;
}

export function BridgedAmount({ of, known: { symbol, decimals } }: { of: string; known: Known }): JSX.Element {
  return <Amount value={cut(of, decimals)} symbol={symbol} />;
}

/** What a contract is called, and how its amounts are cut; those of one that is not listed stay whole. */
export function knownIn({ content }: Tokens, chain: string, contract: string): Known {
  for (const { symbol, deployments } of content) {
    const found = deployments.find((one) => one.chain === chain && one.contractAddress === contract);
    if (found !== undefined) return { symbol, decimals: found.decimals };
  }
  return { symbol: 'smallest units', decimals: 0 };
}
