/**
 * Questions to one Core-family node. An error of the node where an answer is needed proves nothing: ChainUnavailable.
 * Numbers are read without loss, because the node writes money as JSON numbers (B8).
 */
import { z } from 'zod';
import { parseLossless } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, MalformedReply, type Endpoint, type Network } from '../chain.ts';
import { callRpc, callRpcBatch, type RpcAnswer, type RpcCall, type RpcError } from '../json-rpc.ts';

/**
 * Calls of one request. Choice: a node works them off one after the other; a full batch of raw transactions is some MB.
 */
const CALLS_PER_BATCH = 200;

/** Error codes. Source: bitcoin/bitcoin src/rpc/protocol.h. */
export const NOT_FOUND = -5; // RPC_INVALID_ADDRESS_OR_KEY
export const OUT_OF_RANGE = -8; // RPC_INVALID_PARAMETER
export const METHOD_MISSING = -32_601; // RPC_METHOD_NOT_FOUND

export const call = (method: string, ...params: unknown[]): RpcCall => ({ method, params });

/** One answer, the node's errors as values. Throws: ChainUnavailable, MalformedReply. */
export function tryAsk(network: Network, endpoint: Endpoint, { method, params }: RpcCall): Promise<RpcAnswer> {
  return callRpc(network.slug, endpoint, method, params, parseLossless);
}

/** Answers in the order of the calls, the node's errors as values. Throws: ChainUnavailable, MalformedReply. */
export async function tryAskAll(network: Network, endpoint: Endpoint, calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
  const answers: RpcAnswer[] = [];
  for (let from = 0; from < calls.length; from += CALLS_PER_BATCH) {
    answers.push(
      ...(await callRpcBatch(network.slug, endpoint, calls.slice(from, from + CALLS_PER_BATCH), parseLossless)),
    );
  }
  return answers;
}

/** The result of one call. Throws: ChainUnavailable with the node's text, MalformedReply. */
export async function ask(network: Network, endpoint: Endpoint, asked: RpcCall): Promise<unknown> {
  return resultOf(network, asked, await tryAsk(network, endpoint, asked));
}

/** The results of several calls. Throws: ChainUnavailable when any of them failed, MalformedReply. */
export async function askAll(network: Network, endpoint: Endpoint, calls: readonly RpcCall[]): Promise<unknown[]> {
  const answers = await tryAskAll(network, endpoint, calls);
  return answers.map((answer, i) => resultOf(network, calls[i]!, answer));
}

/** The result of an answer. Throws: ChainUnavailable with the node's text. */
export function resultOf(network: Network, asked: RpcCall, answer: RpcAnswer): unknown {
  if (answer.ok) return answer.result;
  throw failureOf(network, asked, answer.error);
}

/** An error of the node as the failure that proves nothing. */
export function failureOf(network: Network, { method }: RpcCall, error: RpcError): ChainUnavailable {
  return new ChainUnavailable(network.slug, `${method}: ${error.message || `error ${error.code}`}`);
}

/** A reply of the shape that the node promises. Throws: MalformedReply. */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new MalformedReply(
    `${what}: ${z.prettifyError(result.error).slice(0, 300)}`,
    JSON.stringify(value) ?? 'undefined',
  );
}
