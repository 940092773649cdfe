/** The chain as an account sees it: the live endpoints of this node, or the simulated ledger of its own. */
import type { Network } from '../chains/chain.ts';
import type { Tokens } from '../chains/tokens.ts';
import type { ChainAccess, ChainBinding, EndpointView } from '../model/ports/chain-access.ts';
import { refuse } from '../protocol/errors.ts';
import { environmentOf } from '../protocol/ids.ts';
import { CHAINS, type Chain } from '../protocol/slugs.ts';
import { conditionOfChain, FINE, notConfigured, NOT_SIMULATED, simulatedOutage } from './chain-condition.ts';
import type { SandboxLedgers } from './sandbox/ledgers.ts';

/** A live chain of this node. */
export interface LiveBinding extends ChainBinding {
  /** Why the chain is stopped (G17), or null. */
  stopped(): string | null;
  /**
   * Whether the height that the chain's ledger begins at is durable, so that a payment to a new address cannot lie
   * below it.
   */
  begun(): Promise<boolean>;
  endpointViews(): readonly EndpointView[];
}

/** Chains by account. A chain that nobody configured is refused for good, a stopped one until a person has looked. */
export function createChainAccess(
  live: ReadonlyMap<Chain, LiveBinding>,
  sandbox: Pick<SandboxLedgers, 'isEnabled' | 'open' | 'downUntilMs'>,
  networkOf: (chain: Chain) => Network,
  tokens: Tokens,
): ChainAccess {
  return {
    tokens,
    networkOf,
    endpoints: (accountId, chain) =>
      environmentOf(accountId) === 'sandbox' ? [] : (live.get(chain)?.endpointViews() ?? []),
    async condition(accountId, chain) {
      if (environmentOf(accountId) === 'sandbox') {
        if (!sandbox.isEnabled(chain)) return NOT_SIMULATED;
        const untilMs = await sandbox.downUntilMs(accountId, chain);
        return untilMs === null ? FINE : simulatedOutage(untilMs);
      }
      const binding = live.get(chain);
      return binding === undefined
        ? notConfigured(chain)
        : conditionOfChain(chain, binding.endpointViews(), binding.stopped());
    },
    async bind(accountId, chain) {
      if (environmentOf(accountId) === 'sandbox') {
        if (!sandbox.isEnabled(chain)) return refuse('CHAIN_UNAVAILABLE', { chain, permanent: true });
        return (await sandbox.open(accountId, chain)).binding;
      }
      const binding = live.get(chain);
      if (binding === undefined) return refuse('CHAIN_UNAVAILABLE', { chain, permanent: true });
      const stopped = binding.stopped();
      return stopped === null ? binding : refuse('CHAIN_UNAVAILABLE', { chain, permanent: false, reason: stopped });
    },
    async notBegun(accountId, chain) {
      const binding = environmentOf(accountId) === 'sandbox' ? undefined : live.get(chain);
      if (binding === undefined || (await binding.begun())) return null;
      return refuse('CHAIN_UNAVAILABLE', {
        chain,
        permanent: false,
        reason:
          'no node of this chain has answered since it was configured: payments to an address could not be found yet',
      });
    },
    enabled(accountId) {
      const isSandbox = environmentOf(accountId) === 'sandbox';
      return CHAINS.filter((chain) => (isSandbox ? sandbox.isEnabled(chain) : live.has(chain)));
    },
  };
}
