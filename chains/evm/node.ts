/**
 * Questions to one EVM node. An error of the node where an answer is needed proves nothing: ChainUnavailable. Amounts
 * are hex texts in every answer, so plain JSON.parse loses nothing of them (G4).
 */
import { ChainUnavailable, type Endpoint, type Network } from '../chain.ts';
import { callRpc, callRpcBatch, type RpcAnswer, type RpcCall, type RpcError } from '../json-rpc.ts';
import { quantity } from './quantity.ts';

export const call = (method: string, ...params: unknown[]): RpcCall => ({ method, params });

/** One answer, the node's errors as values. Throws: ChainUnavailable, MalformedReply. */
export function tryAsk(network: Network, endpoint: Endpoint, { method, params }: RpcCall): Promise<RpcAnswer> {
  return callRpc(network.slug, endpoint, method, params);
}

/** Several answers from one request, the node's errors as values. Throws: ChainUnavailable, MalformedReply. */
export function tryAskAll(network: Network, endpoint: Endpoint, calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
  return callRpcBatch(network.slug, endpoint, calls);
}

/** The result of one call. Throws: ChainUnavailable with the node's text, MalformedReply. */
export async function ask(network: Network, endpoint: Endpoint, asked: RpcCall): Promise<unknown> {
  return resultOf(network, asked, await tryAsk(network, endpoint, asked));
}

/** The results of several calls from one request. Throws: ChainUnavailable when any of them failed, MalformedReply. */
export async function askAll(network: Network, endpoint: Endpoint, calls: readonly RpcCall[]): Promise<unknown[]> {
  const answers = await tryAskAll(network, endpoint, calls);
  return answers.map((answer, i) => resultOf(network, calls[i]!, answer));
}

/** The result of an answer. Throws: ChainUnavailable with the node's text. */
export function resultOf(network: Network, { method }: RpcCall, answer: RpcAnswer): unknown {
  if (answer.ok) return answer.result;
  throw new ChainUnavailable(network.slug, `${method}: ${answer.error.message || `error ${answer.error.code}`}`);
}

const MISSING_TEXTS = [
  'method not found',
  'not supported',
  'does not exist',
  'not available',
  'unsupported method',
  'disabled',
  'not enabled',
  'not allowed',
];
const MISSING_CODES = [-32_601, 401, 402, 403, 404, 405];
/** "historical state not available in path scheme yet", "state at block #1 is not available": it has the method. */
const LACKS_STATE = /\bstate\b/;

/** True when the node says that it has no such method, or that this caller may not use it. */
export function isMethodMissing({ code, message }: RpcError): boolean {
  const text = message.toLowerCase();
  return MISSING_CODES.includes(code) || (!LACKS_STATE.test(text) && MISSING_TEXTS.some((part) => text.includes(part)));
}

/** Block parameter of a state read: this very block, or an error when the node does not have it. Source: EIP-1898. */
export function atBlock(hash: string): { readonly blockHash: string; readonly requireCanonical: true } {
  return { blockHash: hash, requireCanonical: true };
}

export const atHeight = (height: number) => quantity(height);
