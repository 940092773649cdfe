/** What the answers of a server have in common: the ledger that is asked about, and errors by their words. */
import type { State } from './entries.ts';
import type { Showing } from './faults.ts';
import type { Version } from './shapes.ts';
import type { Json } from './transactions.ts';

export interface Context {
  readonly params: Json;
  readonly showing: Showing;
  readonly version: Version;
}

/** A method's answer. Throws: MethodError. */
export type Asked = (context: Context) => Json;

/** Numbers of the words. Source: XRPLF/rippled `ErrorCodes.h`. */
const CODES: Readonly<Record<string, number>> = {
  tooBusy: 9,
  slowDown: 10,
  amendmentBlocked: 14,
  noClosed: 15,
  noCurrent: 16,
  noNetwork: 17,
  actNotFound: 19,
  lgrNotFound: 21,
  txnNotFound: 29,
  invalidParams: 31,
  unknownCmd: 32,
  actMalformed: 35,
  lgrIdxsInvalid: 55,
  lgrIdxMalformed: 58,
  srcActNotFound: 69,
  dstActNotFound: 48,
};

export class MethodError extends Error {
  readonly answer: Json;
  constructor(token: string, message: string, more: Json = {}) {
    super(message);
    this.answer = { error: token, error_code: CODES[token] ?? 73, error_message: message, ...more };
  }
}

/** A state and how an answer names its ledger. */
export interface Place {
  readonly state: State;
  readonly where: Json;
}

/**
 * The ledger that a request names: `validated`, `current`, `closed`, an index or a hash; version 2 asks for validated
 * ones by default.
 */
export function ledgerOf({ params, showing, version }: Context): Place {
  const { network } = showing;
  const asked = params['ledger_hash'] ?? params['ledger_index'] ?? (version === 1 ? 'current' : 'validated');
  if (asked === 'current') {
    return { state: network.openState, where: { ledger_current_index: network.openHeight, validated: false } };
  }
  if (asked === 'closed') {
    return {
      state: network.tip.state,
      where: {
        ledger_hash: network.tip.hash,
        ledger_index: network.tip.height,
        validated: network.tip.height <= showing.validatedHeight,
      },
    };
  }
  const height =
    asked === 'validated'
      ? showing.validatedHeight
      : typeof asked === 'string' && asked.length === 64
        ? (network.ledgerOf(asked)?.height ?? -1)
        : Number(asked);
  if (!Number.isSafeInteger(height)) throw new MethodError('invalidParams', "Invalid field 'ledger_index'.");
  const ledger = showing.ledgerAt(height);
  if (ledger === null) throw new MethodError('lgrNotFound', 'ledgerNotFound');
  return { state: ledger.state, where: { ledger_hash: ledger.hash, ledger_index: height, validated: true } };
}
