/** The `transfers` operation: the movements that the service reads from the answers of a node. */
import type { Block, Catalogue, Decoded, Network, Token } from '../../../chains/chain.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import type { Request } from '../../../protocol/json-lines.ts';
import { chainField, integerField, listField, objectField, optionalTextField, refuseField, textField } from '../../../protocol/request-fields.ts';
import { FAMILY_OF, type Chain, type Family } from '../../../protocol/slugs.ts';

/** More than any chain has deployments of listed tokens. */
const TOKENS_MAX = 10_000;
/** The largest that any standard token uses is 24. */
const DECIMALS_MAX = 36;

interface Decoder {
  /** Answers that must be there. */
  readonly needs: readonly string[];
  /** Answers that may be there. */
  readonly takes: readonly string[];
  /** The answers in the shape of the family's block. */
  rawOf(answers: Request): unknown;
  load(): Promise<{ transfersIn(network: Network, block: Block<never>, catalogue: Catalogue): Decoded }>;
}

const DECODERS: Readonly<Record<Exclude<Family, 'evm'>, Decoder>> = {
  btc: {
    needs: ['block'], takes: [], rawOf: ({ block }) => block,
    load: async () => (await import('../../../chains/btc/facts.ts')).btcFacts as never,
  },
};

/** `{transfers, ignored}`. Refuses: INVALID_CHAIN, INVALID_INPUT, TOKEN_NOT_SUPPORTED. Throws: MalformedReply, ChainUnavailable. */
export async function transfers(request: Request): Promise<object | Refusal> {
  const chain = chainField(request);
  const decoder = DECODERS[FAMILY_OF[chain] as keyof typeof DECODERS];
  const given = objectField(request, 'answers');
  const catalogue = catalogueOf(chain, listField(request, 'tokens', []));
  if (isRefusal(catalogue)) return catalogue;
  const answers: Record<string, unknown> = {};
  for (const name of [...decoder.needs, ...decoder.takes]) {
    const answer = unwrapped(given[name]);
    // A part that is missing is not an empty part: nothing would be proven about the block.
    if ((answer === undefined || answer === null) && decoder.needs.includes(name)) refuseField(`answers.${name}`, "a node's answer");
    if (answer !== undefined && answer !== null) answers[name] = answer;
  }
  const { transfersIn } = await decoder.load();
  const block = { height: 0, hash: '', parentHash: '', parentHeight: 0, timeMs: null, raw: decoder.rawOf(answers) };
  const decoded = transfersIn(networkOf(chain), block as Block<never>, catalogue);
  return {
    transfers: decoded.transfers.map(({ txid, outputIndex, to, amount, decimals, tokenContract, tag }) =>
      ({ txid, outputIndex, to, amount: amount.toString(), decimals, tokenContract, tag })),
    ignored: decoded.ignored.map(({ txid, reason }) => ({ txid, reason })),
  };
}

/** The result of a JSON-RPC envelope, or the answer as it is. */
function unwrapped(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  const { result } = answer as Request;
  const isEnvelope = 'result' in answer && ['id', 'jsonrpc', 'error', 'status'].some((name) => name in answer);
  return isEnvelope || ('result' in answer && Object.keys(answer).length === 1) ? result : answer;
}

/** Tokens by the canonical text of their contract; those of another chain are left out. */
function catalogueOf(chain: Chain, list: readonly unknown[]): Catalogue | Refusal {
  if (list.length > TOKENS_MAX) refuseField('tokens', `at most ${TOKENS_MAX} tokens`);
  const catalogue = new Map<string, Token>();
  for (const entry of list) {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) refuseField('tokens', 'a list of objects');
    const token = entry as Request;
    if (token['chain'] !== undefined && token['chain'] !== chain) continue;
    const contract = textField(token, 'contract');
    const canonical = factsOf(chain).parseToken(networkOf(chain), contract);
    if (isRefusal(canonical)) return canonical;
    const decimals = integerField(token, 'decimals', [0, DECIMALS_MAX]);
    catalogue.set(canonical, { chain, contract, symbol: optionalTextField(token, 'symbol', ''), decimals });
  }
  return catalogue;
}
