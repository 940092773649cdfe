/**
 * Where a server is: its newest and its oldest ledger, and whether it says itself that it is behind. 9.4-2, 9.4-3.
 *   RPC      getHealth → status, latestLedger, oldestLedger
 *   Horizon  GET / → history_latest_ledger, history_elder_ledger, core_latest_ledger, network_passphrase
 */
import { ChainUnavailable } from '../chain.ts';
import { countIn, textIn } from '../node-answer.ts';
import { askHorizon } from './horizon.ts';
import { askRpc } from './rpc.ts';
import type { Source } from './sources.ts';

export interface Standing {
  /** Newest ledger that the server can be asked for. */
  readonly height: number;
  /** Oldest ledger that it keeps. */
  readonly oldest: number;
  /** Ledgers that its own core is ahead of what it can be asked for. */
  readonly behind: number;
}

/** Throws: ChainUnavailable for a server that calls itself unhealthy or does not answer, MalformedReply. */
export async function readStanding({ kind, endpoint }: Source): Promise<Standing> {
  if (kind === 'rpc') {
    const { status, latestLedger, oldestLedger } = await askRpc(endpoint, 'getHealth');
    if (status !== 'healthy') throw new ChainUnavailable('xlm', `the server calls itself ${String(status)}`);
    return { height: countIn(latestLedger, 'latestLedger'), oldest: countIn(oldestLedger, 'oldestLedger'), behind: 0 };
  }
  const root = await askHorizon(endpoint, '/');
  if (root === null) throw new ChainUnavailable('xlm', 'Horizon does not say where it is');
  const height = countIn(root['history_latest_ledger'], 'history_latest_ledger');
  const core = countIn(root['core_latest_ledger'], 'core_latest_ledger');
  const oldest = countIn(root['history_elder_ledger'], 'history_elder_ledger');
  return { height, oldest, behind: Math.max(0, core - height) };
}

/** The network that the server is of. G14. */
export async function readPassphrase({ kind, endpoint }: Source): Promise<string> {
  const answer = kind === 'rpc' ? await askRpc(endpoint, 'getNetwork') : await askHorizon(endpoint, '/');
  return textIn(answer?.[kind === 'rpc' ? 'passphrase' : 'network_passphrase'], 'passphrase');
}
