/** Answers about chains, tokens and fees, held against the facts that this edge ships with. */
import { findDeployment } from '../../chains/catalogue.ts';
import { networkOf } from '../../chains/registry.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { formatAmount } from '../../protocol/money.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, isCount, isSymbolOfAnother, type Ask, type Known } from './known.ts';

export function falseChain(
  { chain, symbol, decimals, explorerUrl }: ReplyOf<'listChains'>['content'][number],
  _ask: Ask,
  { environment }: Known,
): string | null {
  const { nativeSymbol, nativeDecimals, explorer } = networkOf(chain);
  const isPublicPage = explorerUrl === new URL(explorer.tx.replace('{id}', '')).origin;
  return firstFalse(
    ['symbol', symbol === nativeSymbol],
    ['decimals', decimals === nativeDecimals],
    ['explorerUrl', environment === 'live' ? isPublicPage : explorerUrl === null || isCloudOrigin(explorerUrl)],
  );
}

/** The place where the pages of simulated ledgers are: the cloud's own origin, nothing behind it. */
function isCloudOrigin(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null &&
    /^https?:$/.test(parsed.protocol) &&
    parsed.username === '' &&
    [parsed.origin, `${parsed.origin}/`].includes(url)
  );
}

/** Of the catalogue's entries what is the cloud's word. */
export const TOKEN_WORD = [
  'symbol',
  'deployments',
  'deployments.*',
  'deployments.*.chain',
  'deployments.*.contractAddress',
  'deployments.*.monitored',
  'deployments.*.deprecated',
  'deployments.*.bridgeable',
  'deployments.*.hazards',
  'deployments.*.hazards.*',
  'deployments.*.activeFrom',
  'unsupportedChains',
  'unsupportedChains.*',
  'unsupportedChains.*.chain',
  'unsupportedChains.*.reason',
  'registryVersion',
];

/** Decimals of a deployment that this edge's registry has, and a symbol that is no other one's. */
export function falseToken(
  { symbol, deployments }: ReplyOf<'listTokens'>['content'][number],
  _ask: Ask,
  { catalogueOf }: Known,
): string | null {
  const wrong = deployments.findIndex(({ chain, contractAddress, decimals }) => {
    const listed = findDeployment(chain, contractAddress),
      catalogue = catalogueOf(chain);
    return (
      (!isRefusal(listed) && listed.decimals !== decimals) ||
      (catalogue.has(contractAddress) &&
        (catalogue.get(contractAddress)!.decimals !== decimals ||
          isSymbolOfAnother({ chain, tokenContract: contractAddress, tokenSymbol: symbol }, catalogue)))
    );
  });
  return wrong === -1 ? null : `deployments.${wrong}.decimals`;
}

export function falseFee(row: ReplyOf<'getFees'>, { params }: Ask): string | null {
  const { chain, symbol, decimals, fee, feeFormatted, feeMax, feeMaxFormatted } = row;
  if (chain !== params['chain']) return 'chain';
  const { nativeSymbol, nativeDecimals } = networkOf(chain);
  const wrong = firstFalse(
    ['symbol', symbol === nativeSymbol],
    ['decimals', decimals === nativeDecimals],
    ['fee', isCount(fee)],
    ['feeMax', isCount(feeMax)],
  );
  return (
    wrong ??
    firstFalse(
      ['feeMax', BigInt(fee) <= BigInt(feeMax)],
      ['feeFormatted', feeFormatted === formatAmount(BigInt(fee), decimals)],
      ['feeMaxFormatted', feeMaxFormatted === formatAmount(BigInt(feeMax), decimals)],
    )
  );
}
