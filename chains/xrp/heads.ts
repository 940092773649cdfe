/**
 * The head of the ledger, as the servers report it. The highest validated height ever reported is kept: a server
 * below it is behind and not believed while another one is not (G10). A validated ledger is final, so there is no
 * rollback here; a server that shows another hash for a height is wrong (8.4-3, `chains/known-ledgers.ts`).
 */
import { ChainUnavailable, type Endpoint, type Head, type Network, type Transport } from '../chain.ts';
import { HighestHead } from '../highest-head.ts';
import { judgeNetwork } from '../judge-network.ts';
import { ask, refusedBy, tryAsk } from './node.ts';
import { holds, standingOf, type Standing } from './standing.ts';

export interface Heads {
  /** Highest height that a server has shown. */
  seen(): number;
  getHead(): Promise<Head>;
  /**
   * A server's standing now, from `server_info`. Throws: ChainUnavailable when it is behind, out of sync, stale or of
   * another network (G14: then it is disabled).
   */
  standingOf(endpoint: Endpoint): Promise<Standing>;
  /** The same of a server that is not judged by it. */
  peek(endpoint: Endpoint): Promise<Standing>;
  /**
   * The same from `server_state`, which has its amounts in drops; of `server_info` where a server has no such method.
   */
  feesOf(endpoint: Endpoint): Promise<Standing>;
  /** Throws: ChainUnavailable unless the server says that it has every ledger of [first, last]. 8.4-2. */
  assertComplete(endpoint: Endpoint, first: number, last?: number): Promise<void>;
}

/** Ledgers by which a second server may trail the first and still be believed for a read of state. */
const TRAILING_LEDGERS_MAX = 1;

export function createHeads({ slug, identity }: Network, transport: Transport): Heads {
  const highest = new HighestHead<Standing>('xrp', transport, 'the server is at');
  const standings = new Map<Endpoint, Standing>();

  const read = async (endpoint: Endpoint): Promise<Standing> => {
    const standing = standingOf(await ask(transport, endpoint, 'server_info'));
    standings.set(endpoint, standing);
    return standing;
  };

  const assertOurs = (endpoint: Endpoint, { networkId }: Standing): void => {
    if (networkId !== identity) judgeNetwork({ slug, identity }, transport, endpoint, networkId, 'is of network');
  };

  const accepted = (endpoint: Endpoint, standing: Standing): Standing => {
    assertOurs(endpoint, standing);
    highest.accept(endpoint, standing.height, TRAILING_LEDGERS_MAX);
    return standing;
  };

  const feesOf: Heads['feesOf'] = async (endpoint) => {
    const answer = await tryAsk(transport, endpoint, 'server_state');
    if (answer.ok) return accepted(endpoint, standingOf(answer.result));
    if (answer.error.token !== 'unknownCmd') throw refusedBy('server_state', answer.error);
    return accepted(endpoint, await read(endpoint));
  };

  const getHead: Heads['getHead'] = async () => {
    const { height, hash } = await highest.get((pass) =>
      transport.attempt(async (endpoint) => {
        const own = await read(endpoint);
        assertOurs(endpoint, own);
        transport.report(endpoint, own.height + TRAILING_LEDGERS_MAX < highest.seen ? 'lagging' : 'ok', own.height);
        return pass(own);
      }),
    );
    return { height, hash, finalizedHeight: height };
  };

  return {
    seen: () => highest.seen,
    getHead,
    feesOf,
    peek: read,
    standingOf: async (endpoint) => accepted(endpoint, await read(endpoint)),
    async assertComplete(endpoint, first, last = first) {
      const known = standings.get(endpoint);
      if (known !== undefined && holds(known.complete, first, last)) return;
      const { complete } = await read(endpoint);
      if (!holds(complete, first, last)) {
        throw new ChainUnavailable('xrp', `the server does not have every ledger of ${first} to ${last}`);
      }
    },
  };
}
