/** The `transfers` operation: the movements that the service reads from the answers of a node. */
import {
  ChainUnavailable,
  type Block,
  type Catalogue,
  type Decoded,
  type Network,
  type Token,
} from '../../../chains/chain.ts';
import { objectIn } from '../../../chains/node-answer.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import type { Request } from '../../../protocol/node/json-lines.ts';
import {
  chainField,
  integerField,
  listField,
  objectField,
  optionalTextField,
  refuseField,
  textField,
} from '../../../protocol/node/request-fields.ts';
import { FAMILY_OF, type Chain, type Family } from '../../../protocol/slugs.ts';

/** More than any chain has deployments of listed tokens. */
const TOKENS_MAX = 10_000;
/** The largest that any standard token uses is 24. */
const DECIMALS_MAX = 36;

interface Decoder {
  /** Answers that must be there, and those that may be. */
  readonly needs: readonly string[];
  readonly takes?: readonly string[];
  decode(network: Network, answers: Request, catalogue: Catalogue): Promise<Decoded>;
}

/** A block whose place in the chain was not asked for: only its content is read. */
function unplaced<Raw>(raw: Raw): Block<Raw> {
  return { height: 0, hash: '', parentHash: '', parentHeight: 0, timeMs: null, raw };
}

// Each decoder is loaded when its chain is first asked for; together they would delay the first answer.
const DECODERS: Readonly<Record<Family, Decoder>> = {
  btc: {
    needs: ['block'],
    async decode(_network, { block }, catalogue) {
      const { transfersIn } = await import('../../../chains/btc/transfers.ts');
      const { bitcoin } = await import('../../../chains/btc/network.ts');
      return transfersIn(bitcoin, unplaced(objectIn(block, 'block')), catalogue);
    },
  },
  evm: {
    needs: ['block', 'receipts'],
    takes: ['traces'],
    async decode(network, answers, catalogue) {
      const { transfersIn } = await import('../../../chains/evm/transfers.ts');
      const { blockFromAnswers } = await import('../../../chains/evm/block.ts');
      const { contradictionOfLogs } = await import('../../../chains/evm/bloom.ts');
      const unit = blockFromAnswers(network, answers),
        doubt = contradictionOfLogs(unit.raw.receipts);
      if (doubt !== null) throw new ChainUnavailable(network.slug, `block ${unit.height}: ${doubt}`);
      return transfersIn(network, unit, catalogue);
    },
  },
  tron: {
    needs: ['block', 'infos'],
    async decode(network, { block, infos }, catalogue) {
      const { infosIn, transfersIn } = await import('../../../chains/tron/transfers.ts');
      return transfersIn(network, unplaced({ block: objectIn(block, 'block'), infos: infosIn(infos) }), catalogue);
    },
  },
  sol: {
    needs: ['block'],
    async decode(network, { block }, catalogue) {
      const { transfersIn } = await import('../../../chains/sol/transfers.ts');
      return transfersIn(network, unplaced(objectIn(block, 'block')), catalogue);
    },
  },
  xrp: {
    needs: ['ledger'],
    async decode(network, { ledger }, catalogue) {
      const { transfersIn } = await import('../../../chains/xrp/transfers.ts');
      return transfersIn(network, unplaced(objectIn(ledger, 'ledger')), catalogue);
    },
  },
  xlm: {
    needs: ['operations'],
    takes: ['effects', 'transactions'],
    async decode(network, { operations, effects = null, transactions = null }, catalogue) {
      const { transfersIn } = await import('../../../chains/xlm/transfers.ts');
      return transfersIn(network, unplaced({ operations, effects, transactions }), catalogue);
    },
  },
};

/**
 * `{transfers, ignored}`. Refuses: INVALID_CHAIN, INVALID_INPUT, TOKEN_NOT_SUPPORTED.
 * Throws: MalformedReply, ChainUnavailable.
 */
export async function transfers(request: Request): Promise<object | Refusal> {
  const chain = chainField(request);
  const { needs, takes = [], decode } = DECODERS[FAMILY_OF[chain]];
  const given = objectField(request, 'answers');
  const catalogue = catalogueOf(chain, listField(request, 'tokens', []));
  if (isRefusal(catalogue)) return catalogue;
  const answers: Record<string, unknown> = {};
  for (const name of [...needs, ...takes]) {
    const answer = unwrapped(given[name]);
    // A part that is missing is not an empty part: nothing would be proven about the block.
    if ((answer === undefined || answer === null) && needs.includes(name))
      refuseField(`answers.${name}`, "a node's answer");
    if (answer !== undefined && answer !== null) answers[name] = answer;
  }
  const decoded = await decode(networkOf(chain), answers, catalogue);
  return {
    transfers: decoded.transfers.map(({ txid, outputIndex, to, amount, decimals, tokenContract, tag }) => ({
      txid,
      outputIndex,
      to,
      amount: amount.toString(),
      decimals,
      tokenContract,
      tag,
    })),
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
