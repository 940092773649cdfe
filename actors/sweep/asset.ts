/** What a policy names as its asset. Treasury 5.1. */
import { deploymentsOf, findDeployment, type Deployment, type Registry } from '../../chains/catalogue.ts';
import { factsOf, networkOf } from '../../chains/registry.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { Chain } from '../../protocol/slugs.ts';

/** Tokens that an address cannot give away whole. Treasury, hazards of part 2. */
const NOT_WHOLE: ReadonlySet<string> = new Set(['rebasing', 'non_transferable', 'default_frozen', 'confidential_only']);

/** Whether an address may give a token away. A version of the registry may take it back at any time. K9. */
export const isSweepable = ({ sweepable, hazards = [] }: Pick<Deployment, 'sweepable' | 'hazards'>): boolean =>
  sweepable && !hazards.some((one) => NOT_WHOLE.has(one));

/**
 * The contract of a token, in the catalogue's text; null for the native coin, which its symbol names too. A symbol that
 * names one deployment of the chain is that deployment. Refuses: TOKEN_NOT_SUPPORTED, TOKEN_NOT_ON_CHAIN,
 * TOKEN_NOT_SWEEPABLE.
 */
export function sweptContract(
  chain: Chain,
  text: string | null | undefined,
  registry: Registry,
): string | null | Refusal {
  const network = networkOf(chain);
  if (text == null || text === network.nativeSymbol) return null;
  const named = registry.tokens.filter(({ symbol }) => symbol === text);
  const deployment = named.length > 0 ? deploymentNamed(chain, text, named) : deploymentAt(chain, text, registry);
  if (isRefusal(deployment)) return deployment;
  const { contract, monitored, sweepable, hazards = [] } = deployment;
  if (!monitored) return refuse('TOKEN_NOT_SUPPORTED', { chain, tokenContract: contract, reason: 'not monitored' });
  const hazard = hazards.find((one) => NOT_WHOLE.has(one));
  return isSweepable({ sweepable, hazards })
    ? contract
    : refuse('TOKEN_NOT_SWEEPABLE', { chain, tokenContract: contract, reason: hazard ?? 'the catalogue says so' });
}

function deploymentAt(chain: Chain, text: string, registry: Registry): Deployment | Refusal {
  const contract = factsOf(chain).parseToken(networkOf(chain), text);
  return isRefusal(contract) ? contract : findDeployment(chain, contract, registry);
}

function deploymentNamed(chain: Chain, symbol: string, entries: Registry['tokens']): Deployment | Refusal {
  const all = deploymentsOf({ version: 1, publishedAt: '', tokens: entries, routes: [] });
  const here = all.filter((one) => one.chain === chain);
  if (here.length === 1) return here[0]!;
  return here.length > 1
    ? refuse('TOKEN_NOT_SUPPORTED', {
        chain,
        reason: `several contracts are named ${symbol} here: send the contract`,
        known: here.map(({ contract }) => contract),
      })
    : refuse('TOKEN_NOT_ON_CHAIN', { chain, reason: symbol, deployedOn: all.map((one) => one.chain) });
}
