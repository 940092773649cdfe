/** Calls of contracts that change nothing: `triggerconstantcontract`, answered from the newest state of one node. */
import { z } from 'zod';
import { ChainUnavailable, type Endpoint, type Network } from '../chain.ts';
import { ask, integer, parsed, wallet } from './node.ts';
import { plainMessage } from './rejection.ts';
import { decodeRevert } from './trc20.ts';

export interface ConstantCall {
  readonly owner: string;
  readonly contract: string;
  /** E.g. `balanceOf(address)`. */
  readonly selector: string;
  /** Words of the arguments, hex. */
  readonly parameter: string;
}

/** What a call would have logged, hex; the address in whatever form the node spells it. */
export interface CallLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export type CallOutcome =
  /** `energy` includes what the dynamic energy model adds for busy contracts (`energy_penalty` is that part of it). */
  | { readonly kind: 'returned'; readonly answer: string; readonly energy: bigint; readonly logs: readonly CallLog[] }
  | { readonly kind: 'reverted'; readonly reason: string }
  | { readonly kind: 'no_contract' };

const reply = z.object({
  result: z.object({ result: z.boolean().optional(), code: z.string().optional(), message: z.string().optional() }),
  constant_result: z.array(z.string()).optional(),
  energy_used: integer,
  logs: z
    .array(
      z.object({
        address: z.string().default(''),
        topics: z.array(z.string()).default([]),
        data: z.string().default(''),
      }),
    )
    .default([]),
  transaction: z.object({ ret: z.array(z.object({ ret: z.string().optional() })).optional() }).optional(),
});

/** Failures of the contract itself, which the node reports as errors of its own: out of energy, invalid code. */
const OF_THE_CONTRACT = /Program\$\w+Exception|not enough energy/i;

/**
 * What a call answers. A call that reverts answers `result: true` too and reports the failure in a message and in `ret`
 * (T24). Throws: ChainUnavailable when the node could not run it, MalformedReply.
 */
export async function callConstant(network: Network, endpoint: Endpoint, call: ConstantCall): Promise<CallOutcome> {
  const { owner, contract, selector, parameter } = call;
  const body = {
    owner_address: owner,
    contract_address: contract,
    function_selector: selector,
    parameter,
    visible: true,
  };
  const answer = parsed(reply, await ask(network, endpoint, wallet('triggerconstantcontract', body)), 'constant call');
  const message = plainMessage(answer.result.message ?? ''),
    [word = ''] = answer.constant_result ?? [];
  if (answer.result.result !== true) {
    if (answer.result.code === 'CONTRACT_VALIDATE_ERROR' && /smart contract is not exist/i.test(message)) {
      return { kind: 'no_contract' };
    }
    if (OF_THE_CONTRACT.test(message)) return { kind: 'reverted', reason: message };
    throw new ChainUnavailable(network.slug, `constant call: ${message || answer.result.code || 'refused'}`);
  }
  const failed = answer.transaction?.ret?.some(({ ret }) => ret === 'FAILED') === true || message !== '';
  if (failed) return { kind: 'reverted', reason: decodeRevert(word) ?? (message || 'REVERT opcode executed') };
  if (answer.constant_result === undefined) throw new ChainUnavailable(network.slug, 'constant call: no answer');
  return { kind: 'returned', answer: word, energy: answer.energy_used, logs: answer.logs };
}
