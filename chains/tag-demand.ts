/** Whether an account takes no payment without a tag: RequireDestTag on XRP, `config.memo_required` on Stellar. */
import type { BuildInputs, ChainClient } from './chain.ts';
import type { Chain } from '../protocol/slugs.ts';

/** Throws: ChainUnavailable when the account cannot be read; one that does not exist demands nothing. */
export async function demandsTag(
  client: Pick<ChainClient, 'fetchBuildInputs'>,
  chain: Chain,
  address: string,
): Promise<boolean> {
  // A payment of the account to itself names nobody else; only the destination is read here.
  const intent = { chain, from: address, fromPath: '', to: address, amount: 1n, token: null, tag: null };
  return isDemanded(await client.fetchBuildInputs(intent));
}

function isDemanded(inputs: BuildInputs): boolean {
  const destination: unknown = 'destination' in inputs ? inputs.destination : null;
  if (typeof destination !== 'object' || destination === null) return false;
  return (
    ('requiresTag' in destination && destination.requiresTag === true) ||
    ('memoRequired' in destination && destination.memoRequired === true)
  );
}
