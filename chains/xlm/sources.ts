/**
 * What the configured endpoints are: Stellar RPC servers, which are asked first, and Horizon servers, which are asked
 * where no RPC server can prove an answer. Recognised by their answers, so that an operator lists all of them in one
 * setting. Spec: chains.md 9.2.
 */
import { ChainUnavailable, MalformedReply, type Endpoint, type Transport } from '../chain.ts';
import { askHorizon } from './horizon.ts';
import { tryAskRpc } from './rpc.ts';

export type SourceKind = 'rpc' | 'horizon';

/** An endpoint of a known kind. */
export interface Source {
  readonly kind: SourceKind;
  readonly endpoint: Endpoint;
}

export interface Sources {
  readonly transport: Transport;
  /** Throws: ChainUnavailable when the endpoint does not answer, or is neither kind. */
  sourceOf(endpoint: Endpoint): Promise<Source>;
  /** Tries one source after another, RPC servers before Horizon servers. Throws: ChainUnavailable, MalformedReply. */
  attempt<T>(read: (source: Source) => Promise<T>): Promise<T>;
  /**
   * The first answer that is not null, or null when every endpoint says so: one that cannot answer leaves a null
   * unproven (G10). Throws: ChainUnavailable, MalformedReply.
   */
  firstOrAgreedNull<T>(read: (source: Source) => Promise<T | null>): Promise<T | null>;
  /** What an endpoint is found to be; undefined before it was asked. */
  knownKind(endpoint: Endpoint): SourceKind | undefined;
  /** Every endpoint once, in the order of preference; one that does not answer now is left out. */
  answering(): Promise<readonly Source[]>;
}

const KINDS = ['rpc', 'horizon'] as const;

export function createSources(transport: Transport): Sources {
  const kinds = new Map<Endpoint, SourceKind>();

  const sourceOf: Sources['sourceOf'] = async (endpoint) => {
    const kind = kinds.get(endpoint) ?? (await detect(endpoint));
    kinds.set(endpoint, kind);
    return { kind, endpoint };
  };

  const attempt: Sources['attempt'] = async (read) => {
    const failures: Error[] = [];
    for (const wanted of KINDS) {
      try {
        return await transport.attempt(async (endpoint) => {
          const source = await sourceOf(endpoint);
          if (source.kind !== wanted) throw new ChainUnavailable('xlm', `${source.kind} server, asked in its turn`);
          return read(source);
        });
      } catch (error) {
        if (!(error instanceof ChainUnavailable || error instanceof MalformedReply)) throw error;
        failures.push(error);
      }
      const known = transport.endpoints.map((endpoint) => kinds.get(endpoint));
      if (wanted === 'rpc' && !known.includes('horizon')) break;
    }
    if (failures.length === 1) throw failures[0]!;
    throw new ChainUnavailable('xlm', failures.map(reasonOf).join('; '), { cause: failures[0] });
  };

  return {
    transport,
    sourceOf,
    attempt,
    knownKind: (endpoint) => kinds.get(endpoint),
    async firstOrAgreedNull(read) {
      const nulls = new Set<Endpoint>();
      try {
        return await attempt(async (source) => {
          const answer = await read(source);
          if (answer !== null) return answer;
          nulls.add(source.endpoint);
          throw new ChainUnavailable('xlm', 'not in the ledger');
        });
      } catch (error) {
        if (error instanceof ChainUnavailable && nulls.size === transport.endpoints.length) return null;
        throw error;
      }
    },
    async answering() {
      const found = await Promise.allSettled(transport.endpoints.map(sourceOf));
      const sources = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      return KINDS.flatMap((kind) => sources.filter((source) => source.kind === kind));
    },
  };
}

const reasonOf = (error: Error): string => (error instanceof ChainUnavailable ? error.reason : error.message);

async function detect(endpoint: Endpoint): Promise<SourceKind> {
  try {
    const answer = await tryAskRpc(endpoint, 'getNetwork');
    if (answer.ok || answer.error.code < 0) return 'rpc'; // an RPC server's own error, or a web server's status
  } catch (error) {
    if (!(error instanceof MalformedReply)) throw error; // a page, or Horizon's own JSON
  }
  const root = await askHorizon(endpoint, '/');
  if (typeof root?.['network_passphrase'] === 'string') return 'horizon';
  throw new ChainUnavailable('xlm', 'neither a Stellar RPC server nor Horizon');
}
