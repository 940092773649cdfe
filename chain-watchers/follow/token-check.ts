/**
 * K4: the catalogue against the chain, before the first block is read. A token whose decimals differ from the
 * catalogue's would be credited a million million times too high or too low (C9-68): it is taken in no more, and a
 * person is notified.
 */
import { checkAgainstChain } from '../../chains/catalogue.ts';
import type { Catalogue, ChainClient, Network } from '../../chains/chain.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { chainFailure } from '../../chains/failure.ts';
import type { Log, Metrics } from '../ports.ts';
import { inParallel } from './read-ahead.ts';

const ASKED_AT_ONCE = 8;

export interface TokenCheckParts {
  readonly network: Network;
  readonly catalogue: Catalogue;
  readonly client: Pick<ChainClient, 'fetchTokenFacts'>;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'set'>;
}

export interface TokenCheck {
  /** The catalogue without the tokens that the chain contradicts. */
  catalogue(): Catalogue;
  /** Asks about every token that the chain has not reported yet; answers how many are left. */
  run(): Promise<number>;
}

/** A check of one chain's catalogue. A token that the chain does not know stays: nothing can be paid in it. */
export function createTokenCheck({
  network: { slug: chain },
  catalogue,
  client,
  log,
  metrics,
}: TokenCheckParts): TokenCheck {
  const waiting = new Set(client.fetchTokenFacts === undefined ? [] : catalogue.keys());
  let believed = catalogue;

  const ask = async (contract: string): Promise<void> => {
    try {
      const facts = await client.fetchTokenFacts!(contract);
      waiting.delete(contract);
      const refusal = isRefusal(facts) ? null : checkAgainstChain(catalogue.get(contract)!, facts);
      if (isRefusal(facts))
        log.info(
          { chain, tokenContract: contract },
          'the contract of a catalogued token reports no decimals: check its address in the catalogue',
        );
      if (refusal === null) return;
      believed = new Map([...believed].filter(([key]) => key !== contract));
      log.error(
        { chain, tokenContract: contract },
        'decimals of a token differ from the catalogue: its intake is off (K4)',
      );
    } catch (error) {
      if (chainFailure(error) === null) throw error;
    }
  };

  return {
    catalogue: () => believed,
    async run() {
      await inParallel(ASKED_AT_ONCE, [...waiting], ask);
      metrics.set('svc_tokens_off', { chain }, catalogue.size - believed.size);
      return waiting.size;
    },
  };
}
