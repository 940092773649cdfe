/**
 * Whether answers of a chain's nodes may be shown to customers: their identity was checked (G14), and they are not back
 * where the ledger was long ago, as a freshly syncing node is. Spec §1.7: what such a node does not know is no zero.
 */
import type { Use, UseAsk } from '../chains/use.ts';
import { ChainUnavailable, type ChainClient } from '../chains/chain.ts';
import type { WatcherParts } from './ports.ts';

interface Parts extends Pick<WatcherParts, 'client' | 'witnesses' | 'store' | 'ledger' | 'network' | 'elapsedMs'> {
  /** Whether the only endpoint claims a head that cannot be; absent: nobody looks. */
  isAhead?(): boolean;
}

/** Doubts about the networks of the nodes: each one asks for a look before its time. */
export interface Doubts {
  raise(): void;
  /** How often one was raised. */
  raised(): number;
}

export function createDoubts(): Doubts {
  let raised = 0;
  return {
    raise: () => void (raised += 1),
    raised: () => raised,
  };
}

/**
 * The client for what customers are shown: it answers no balance and no inputs of a build before its endpoints passed
 * the check, which is valid for `everyMs`. Such a read throws ChainUnavailable while no endpoint is of this network or
 * near the ledger.
 */
export function fitClient(
  { client, witnesses, store, ledger, network, elapsedMs, isAhead }: Parts,
  everyMs: number,
  doubts: Doubts = createDoubts(),
): ChainClient {
  let fitAtMs: number | null = null;
  let doubtsSeen = 0;
  let looking: Promise<void> | null = null;

  const lookAt = async (one: ChainClient): Promise<void> => {
    await one.checkIdentity();
    const cursor = await store.cursor(ledger),
      { height } = await one.getHead();
    // A reorg goes no deeper than the window: a node with an older head has not caught up.
    if (cursor !== null && height + network.reorgWindow < cursor.height) {
      throw new ChainUnavailable(network.slug, `the node is at ${height}, far behind ${cursor.height}`);
    }
  };
  /** The first endpoint that passes is enough: one that hangs keeps no customer waiting. */
  const look = async (): Promise<void> => {
    const seen = doubts.raised();
    try {
      await Promise.any((witnesses.length === 0 ? [client] : witnesses).map(lookAt));
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
    fitAtMs = elapsedMs();
    doubtsSeen = seen;
  };
  const fit = (): Promise<void> => {
    if (witnesses.length === 0 && isAhead?.() === true)
      return Promise.reject(new ChainUnavailable(network.slug, 'the node claims a head that cannot be'));
    if (fitAtMs !== null && elapsedMs() - fitAtMs < everyMs && doubts.raised() === doubtsSeen) return Promise.resolve();
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };
  return {
    ...client,
    fetchBalance: (...asked) => fit().then(() => client.fetchBalance(...asked)),
    fetchBuildInputs: (...asked) => fit().then(() => client.fetchBuildInputs(...asked)),
    ...(client.fetchUse === undefined
      ? {}
      : { fetchUse: (ask: UseAsk): Promise<Use> => fit().then(() => client.fetchUse!(ask)) }),
  };
}
