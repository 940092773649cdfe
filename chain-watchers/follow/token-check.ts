/**
 * The catalogue against the chain. K4, before the first block is read: a token whose decimals differ from the
 * catalogue's would be credited a million million times too high or too low (C9-68). K18, at start and hourly: a
 * contract that runs something else than at the last look is compared anew, and a transfer of it tried out. What does
 * not pass is taken in no more, and a person is notified.
 */
import { checkAgainstChain } from '../../chains/catalogue.ts';
import type { Catalogue, ChainClient, Network } from '../../chains/chain.ts';
import type { TokenCode } from '../../chains/contract-call.ts';
import { chainFailure } from '../../chains/failure.ts';
import type { WatchStore } from '../../model/ports/watch-store.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { Log, Metrics } from '../ports.ts';
import { inParallel } from './read-ahead.ts';

const ASKED_AT_ONCE = 8;
const CODES_EVERY_MS = 3_600_000;

export interface TokenCheckParts {
  readonly network: Network;
  readonly catalogue: Catalogue;
  readonly client: Pick<ChainClient, 'fetchTokenFacts' | 'fetchTokenCode'>;
  readonly store: Pick<WatchStore, 'tokenCode' | 'noteTokenCode'>;
  readonly elapsedMs: () => number;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'set'>;
}

export interface TokenCheck {
  /** The catalogue without the tokens that the chain contradicts, or whose contract changed and does not pass. */
  catalogue(): Catalogue;
  /** Asks about every token that the chain has not reported yet; answers how many are left. */
  run(): Promise<number>;
}

/** A check of one chain's catalogue. A token that the chain does not know stays: nothing can be paid in it. */
export function createTokenCheck(parts: TokenCheckParts): TokenCheck {
  const {
    network: { slug: chain },
    catalogue,
    client,
    log,
    metrics,
  } = parts;
  const waiting = new Set(client.fetchTokenFacts === undefined ? [] : catalogue.keys());
  const contradicted = new Set<string>(),
    changed = createCodeCheck(parts);
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
      contradicted.add(contract);
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
      await changed.look();
      const isOff = (contract: string) => contradicted.has(contract) || changed.off.has(contract);
      const on = [...catalogue].filter(([contract]) => !isOff(contract));
      if (on.length !== believed.size || on.some(([contract]) => !believed.has(contract)))
        believed = on.length === catalogue.size ? catalogue : new Map(on);
      metrics.set('svc_tokens_off', { chain }, catalogue.size - believed.size);
      return waiting.size;
    },
  };
}

interface CodeCheck {
  /** Contracts that changed and did not pass. */
  readonly off: ReadonlySet<string>;
  /** Compares what is due: all of them hourly, one that is off each time. */
  look(): Promise<void>;
}

function createCodeCheck({
  network: { slug: chain },
  catalogue,
  client,
  store,
  elapsedMs,
  log,
}: TokenCheckParts): CodeCheck {
  const off = new Set<string>(),
    lookedAtMs = new Map<string, number>();
  const isDue = (contract: string): boolean => {
    const at = lookedAtMs.get(contract);
    return at === undefined || off.has(contract) || elapsedMs() - at >= CODES_EVERY_MS;
  };

  /** Why a token whose contract runs something new is taken in no more; null where nothing speaks against it. */
  const problemOf = async (contract: string, { declined }: TokenCode): Promise<string | null> => {
    const facts = (await client.fetchTokenFacts?.(contract)) ?? null;
    if (facts === null) return declined;
    if (isRefusal(facts)) return 'it reports no decimals';
    return checkAgainstChain(catalogue.get(contract)!, facts) === null ? declined : 'it reports other decimals';
  };

  const compare = async (contract: string): Promise<void> => {
    const code = await client.fetchTokenCode!(contract),
      known = await store.tokenCode(chain, contract);
    const isNew = known === null ? code.isDeprecated : known !== code.text,
      reason = isNew ? await problemOf(contract, code) : null;
    if (reason === null && known !== code.text) await store.noteTokenCode(chain, contract, code.text);
    lookedAtMs.set(contract, elapsedMs());
    const about = { chain, tokenContract: contract };
    if (reason !== null && !off.has(contract))
      log.error(
        { ...about, reason },
        'the contract of a token runs something else and does not pass: its intake is off, and it is not swept (K18)',
      );
    else if (reason === null && off.has(contract))
      log.warn(about, 'a token is taken in again: its contract passes (K18)');
    else if (reason === null && isNew) log.warn(about, 'the contract of a token runs something else, and passes (K18)');
    if (reason === null) off.delete(contract);
    else off.add(contract);
  };

  return {
    off,
    async look() {
      if (client.fetchTokenCode === undefined) return;
      await inParallel(ASKED_AT_ONCE, [...catalogue.keys()].filter(isDue), async (contract) => {
        try {
          await compare(contract);
        } catch (error) {
          if (chainFailure(error) === null) throw error;
        }
      });
    },
  };
}
