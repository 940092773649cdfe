/**
 * Which endpoints record the TRX that contracts move inside a call. java-tron does so only with `saveInternalTx`, which
 * is off by default, and a node without it answers the same blocks with nothing in them (T5). A node cannot be asked
 * for the setting, so its blocks must show it: one recorded internal transaction proves that it records, and many calls
 * without any say that it does not any more.
 */
import { ChainUnavailable, type Endpoint } from '../chain.ts';

/**
 * Contract calls in a row without any internal transaction after which a node counts as one that does not record.
 * Choice: on the main network about every fifth call has one, so that this many without any do not happen by chance.
 */
const SILENT_CALLS_MAX = 1_000;
/** Newest blocks that are looked at where nothing is known of an endpoint yet. */
const PROBED_BLOCKS = 5;

/** The parts of an info that show whether it is of a call, and what the call moved. */
export interface InfoParts {
  readonly [field: string]: unknown;
}

export interface InternalRecords {
  /** Takes note of the infos of a block that an endpoint answered. */
  note(endpoint: Endpoint, infos: readonly unknown[]): void;
  /**
   * True when the endpoint is known to record internal transactions; looks at its newest blocks where nothing is known.
   */
  isRecording(endpoint: Endpoint, infosOf: (blocksBelowHead: number) => Promise<readonly unknown[]>): Promise<boolean>;
}

export function createInternalRecords(): InternalRecords {
  /** Calls since the last internal transaction that an endpoint showed; no entry before the first. */
  const silentCalls = new Map<Endpoint, number>();

  const note: InternalRecords['note'] = (endpoint, infos) => {
    const parts = infos as readonly InfoParts[];
    if (parts.some(({ internal_transactions: internals }) => Array.isArray(internals) && internals.length > 0)) {
      silentCalls.set(endpoint, 0);
    } else if (silentCalls.has(endpoint)) {
      const calls = parts.filter(({ contract_address: contract }) => contract !== undefined).length;
      silentCalls.set(endpoint, silentCalls.get(endpoint)! + calls);
    }
  };
  const isKnown = (endpoint: Endpoint): boolean => (silentCalls.get(endpoint) ?? SILENT_CALLS_MAX) < SILENT_CALLS_MAX;

  return {
    note,
    async isRecording(endpoint, infosOf) {
      for (let below = 0; below < PROBED_BLOCKS && !isKnown(endpoint); below += 1) {
        try {
          note(endpoint, await infosOf(below));
        } catch (error) {
          if (!(error instanceof ChainUnavailable)) throw error;
          return false; // an endpoint that does not answer proves nothing
        }
      }
      return isKnown(endpoint);
    },
  };
}
