/**
 * The head of the ledger, as the servers report it. The highest height ever reported is kept: a server below it is
 * behind and not believed while another one is not (G10). A closed ledger is final: there is no rollback.
 */
import { ChainUnavailable, type Endpoint, type Head } from '../chain.ts';
import { HighestHead } from '../highest-head.ts';
import type { ProvenHeader } from './header.ts';
import type { Source, Sources } from './sources.ts';
import { readStanding, type Standing } from './standing.ts';

export interface Heads {
  /** Highest height that a server has shown. */
  seen(): number;
  getHead(): Promise<Head>;
  /** A server's standing now. Throws: ChainUnavailable when it is behind what was seen, or behind its own core. */
  standingOf(source: Source): Promise<Standing>;
  /** Believes a height at which a server answered. Throws: ChainUnavailable when it is behind what was seen. */
  accept(endpoint: Endpoint, height: number): void;
}

/** Ledgers by which a second server may trail the first and still be believed for a read of state. */
const TRAILING_LEDGERS_MAX = 1;

/** `readHeader` proves the header of a height on one server. */
export function createHeads(
  sources: Sources,
  readHeader: (source: Source, height: number) => Promise<ProvenHeader>,
): Heads {
  const { transport } = sources;
  const highest = new HighestHead<Head>('xlm', transport, 'the server is at');

  const accept: Heads['accept'] = (endpoint, height) => highest.accept(endpoint, height, TRAILING_LEDGERS_MAX);

  /** Height and hash of the newest ledger, proven; one that trails is reported and remembered for the worst case. */
  const headOf = async (source: Source): Promise<Head> => {
    const { height, behind } = await readStanding(source);
    const lags = height < highest.seen || behind > TRAILING_LEDGERS_MAX;
    transport.report(source.endpoint, lags ? 'lagging' : 'ok', height);
    const { hash } = await readHeader(source, height);
    return { height, hash, finalizedHeight: height };
  };

  const getHead: Heads['getHead'] = () =>
    highest.get((pass) => sources.attempt(async (source) => pass(await headOf(source))));

  return {
    seen: () => highest.seen,
    getHead,
    accept,
    async standingOf(source) {
      const standing = await readStanding(source);
      if (standing.behind > TRAILING_LEDGERS_MAX) {
        transport.report(source.endpoint, 'lagging', standing.height);
        throw new ChainUnavailable('xlm', `the server is ${standing.behind} ledgers behind its own core`);
      }
      accept(source.endpoint, standing.height);
      return standing;
    },
  };
}
