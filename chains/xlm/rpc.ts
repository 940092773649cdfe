/** Questions to a Stellar RPC server: JSON-RPC with named parameters, numbers kept as text (G4). */
import { parseLossless } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, type Endpoint } from '../chain.ts';
import { callRpc, type RpcAnswer, type RpcError } from '../json-rpc.ts';
import { objectIn, type Answer } from '../node-answer.ts';

type Params = Readonly<Record<string, unknown>>;

/** One answer, the server's errors as values. Throws: ChainUnavailable, MalformedReply. */
export function tryAskRpc(endpoint: Endpoint, method: string, params?: Params): Promise<RpcAnswer> {
  return callRpc('xlm', endpoint, method, params, parseLossless);
}

/** The result of a call. Throws: ChainUnavailable with the server's words, MalformedReply. */
export async function askRpc(endpoint: Endpoint, method: string, params?: Params): Promise<Answer> {
  const answer = await tryAskRpc(endpoint, method, params);
  if (!answer.ok) throw refusedByRpc(method, answer.error);
  return objectIn(answer.result, method);
}

/** An error where an answer is needed: nothing is proven. */
export function refusedByRpc(method: string, { code, message }: RpcError): ChainUnavailable {
  return new ChainUnavailable('xlm', `${method}: ${message === '' ? `error ${code}` : message}`);
}
