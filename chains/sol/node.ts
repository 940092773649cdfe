/**
 * Questions to one Solana node. An error of the node where an answer is needed proves nothing: ChainUnavailable.
 * Numbers are read without loss, because lamports are written as JSON numbers (G4). chains.md 7.2.
 */
import { parseLossless } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, type Endpoint, type Network, type Transport } from '../chain.ts';
import { callRpc, callRpcBatch, type RpcAnswer, type RpcCall } from '../json-rpc.ts';
import { countIn, objectIn } from '../node-answer.ts';
import { explainNodeError } from './rejection.ts';

/** Newest state that a supermajority has voted for; `processed` is never asked for (L18). */
export const CONFIRMED = { commitment: 'confirmed' } as const;
export const FINALIZED = { commitment: 'finalized' } as const;

export const call = (method: string, ...params: unknown[]): RpcCall => ({ method, params });

/** One answer, the node's errors as values. Throws: ChainUnavailable, MalformedReply. */
export function tryAsk(network: Network, endpoint: Endpoint, { method, params }: RpcCall): Promise<RpcAnswer> {
  return callRpc(network.slug, endpoint, method, params, parseLossless);
}

/** A node as one client asks it: errors of a lagging node are reported to the transport. */
export interface Node {
  readonly network: Network;
  readonly transport: Transport;
  readonly endpoint: Endpoint;
}

/** The result of one call. Throws: ChainUnavailable with the node's text, MalformedReply. */
export async function ask(node: Node, asked: RpcCall): Promise<unknown> {
  return resultOf(node, asked, await tryAsk(node.network, node.endpoint, asked));
}

/**
 * The results of several calls from one request. Throws: ChainUnavailable when any of them failed, MalformedReply.
 * Limit: 10 calls, which every provider takes (chains.md 7.2).
 */
export async function askAll(node: Node, calls: readonly RpcCall[]): Promise<unknown[]> {
  const answers = await callRpcBatch(node.network.slug, node.endpoint, calls, parseLossless);
  return answers.map((answer, i) => resultOf(node, calls[i]!, answer));
}

/** The result of an answer. Throws: ChainUnavailable with the node's text; one that is behind is reported. */
export function resultOf({ network, transport, endpoint }: Node, { method }: RpcCall, answer: RpcAnswer): unknown {
  if (answer.ok) return answer.result;
  const { code, message } = answer.error;
  const meaning = explainNodeError(answer.error);
  if (meaning === 'lagging') transport.report(endpoint, 'lagging');
  if (meaning === 'no_history') transport.report(endpoint, 'failed');
  const said = message || `error ${code}`;
  const reason = meaning === 'version' ? `the version asked for is too low: ${said}` : said;
  throw new ChainUnavailable(network.slug, `${method}: ${reason}`);
}

export interface Contextual {
  readonly slot: number;
  readonly value: unknown;
}

/** An answer that names the slot of its state: `{ context: { slot }, value }`. Throws: MalformedReply. */
export function contextual(answer: unknown, what: string): Contextual {
  const outer = objectIn(answer, what);
  const slot = countIn(objectIn(outer['context'], `context of ${what}`)['slot'], `slot of ${what}`);
  return { slot, value: outer['value'] ?? null };
}

/** Endpoints that may be asked now, the healthiest first; each once. */
export function* endpointsOf(transport: Transport): Generator<Endpoint> {
  const asked: Endpoint[] = [];
  while (asked.length < transport.endpoints.length) {
    let endpoint: Endpoint;
    try {
      endpoint = transport.pick(asked);
    } catch {
      return;
    } // what is left may not be asked now
    asked.push(endpoint);
    yield endpoint;
  }
}
