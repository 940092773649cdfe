/**
 * What a server's answer to a transaction means; the table is chains.md 8.2, the words are codes, so no text is matched
 * (X2). We submit with `fail_hard`: what would only burn its fee is then neither applied nor passed on.
 * Sources: xrpl.org "Transaction Results" and "Error Codes"; XRPLF/rippled `include/xrpl/protocol/TER.h`,
 * `Transactor.cpp` (tapFAIL_HARD); XRPLF/rippled#3742 (tefALREADY), XRPLF/xrpl.js#1047 (tefMAX_LEDGER).
 */
import type { ErrorCode } from '../../protocol/errors.ts';

/**
 *   accepted       the server applied, queued or passed it on; only a validated ledger is final
 *   already_known  the server has exactly these bytes
 *   look_up        the sequence is used: perhaps by these bytes; only a look-up of the hash can tell
 *   unknown        nothing is proven: the same bytes again (G26)
 *   rejected       the server refused these bytes; `action` says what would be accepted, `needs` what decides the code
 */
export type Verdict =
  | { readonly kind: 'accepted' } | { readonly kind: 'already_known' } | { readonly kind: 'look_up' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | Rejected;

export interface Rejected {
  readonly kind: 'rejected';
  readonly code: ErrorCode;
  readonly action: Action;
  readonly reason: string;
  /** `balance`: the sender's tells funds from reserve; `line`: the destination's tells a missing line from funds. */
  readonly needs?: 'balance' | 'line';
}

export type Action =
  'reprice' | 'fund' | 'fund_destination' | 'open_line' | 'ask_destination' | 'wait' | 'none';

type Row = (word: string) => Verdict;

const rejected = (code: ErrorCode, action: Action, needs?: Rejected['needs']): Row =>
  (reason) => ({ kind: 'rejected', code, action, reason, ...(needs === undefined ? {} : { needs }) });
const accepted: Row = () => ({ kind: 'accepted' });
const unknown: Row = (reason) => ({ kind: 'unknown', reason });
const final = rejected('CHAIN_REJECTED', 'none');
const refusedByOthers = rejected('CHAIN_REJECTED', 'ask_destination');
const poorDestination = rejected('INSUFFICIENT_RESERVE', 'fund_destination');
const poorAccount = rejected('INSUFFICIENT_RESERVE', 'fund');
const tooCheap = rejected('CHAIN_REJECTED', 'reprice');
const dry = rejected('INSUFFICIENT_FUNDS', 'open_line', 'line');

/** By engine result. */
const RESULTS: Readonly<Record<string, Row>> = {
  tesSUCCESS: accepted,
  terQUEUED: accepted,
  tefALREADY: () => ({ kind: 'already_known' }),
  tefPAST_SEQ: () => ({ kind: 'look_up' }),
  // A ticket that is used up is what a used sequence is.
  tefNO_TICKET: () => ({ kind: 'look_up' }),
  terPRE_SEQ: unknown,
  terPRE_TICKET: unknown,
  tefMAX_LEDGER: unknown,
  telINSUF_FEE_P: tooCheap,
  telCAN_NOT_QUEUE: tooCheap,
  telCAN_NOT_QUEUE_BALANCE: tooCheap,
  telCAN_NOT_QUEUE_BLOCKS: tooCheap,
  telCAN_NOT_QUEUE_BLOCKED: tooCheap,
  telCAN_NOT_QUEUE_FEE: tooCheap,
  telCAN_NOT_QUEUE_FULL: tooCheap,
  terINSUF_FEE_B: rejected('INSUFFICIENT_GAS', 'fund'),
  tecINSUFF_FEE: rejected('INSUFFICIENT_GAS', 'fund'),
  terNO_ACCOUNT: rejected('CHAIN_REJECTED', 'fund'),
  tecUNFUNDED_PAYMENT: rejected('INSUFFICIENT_FUNDS', 'fund', 'balance'),
  tecNO_DST: poorDestination,
  tecNO_DST_INSUF_XRP: poorDestination,
  tecDST_TAG_NEEDED: refusedByOthers,
  tecNO_PERMISSION: refusedByOthers,
  tecNO_AUTH: refusedByOthers,
  tecFROZEN: refusedByOthers,
  tecPATH_DRY: dry,
  tecPATH_PARTIAL: dry,
  tecINSUFFICIENT_RESERVE: poorAccount,
  tecINSUF_RESERVE_LINE: poorAccount,
  tecNO_LINE_INSUF_RESERVE: poorAccount,
  tecHAS_OBLIGATIONS: rejected('CHAIN_REJECTED', 'wait'),
  tecTOO_SOON: rejected('CHAIN_REJECTED', 'wait'),
  // Faults of the server itself: another one may take the transaction.
  tefEXCEPTION: unknown,
  tefFAILURE: unknown,
  tefINTERNAL: unknown,
  tefBAD_LEDGER: unknown,
  tefINVARIANT_FAILED: unknown,
  // This server's word on its own settings, and final all the same: the bytes are of another network.
  telWRONG_NETWORK: final,
  telNETWORK_ID_MAKES_TX_NON_CANONICAL: final,
  telREQUIRES_NETWORK_ID: final,
};

/** By the family of a result that has no row: the first three letters say what may still become of it. */
const FAMILIES: Readonly<Record<string, Row>> = {
  tes: accepted,
  tec: final,
  tef: final,
  tem: final,
  tel: unknown, // this server does not pass it on; another one may
  ter: unknown, // it may be applied later
};

/** Words of a server that could not read the transaction at all. */
const UNREADABLE = new Set(['invalidTransaction', 'invalidParams']);

export interface SubmitAnswer {
  readonly engineResult: string;
  /** The server applied it to its open ledger, keeps it or passed it on, in spite of `fail_hard`. */
  readonly isCarried: boolean;
}

/** The class of a `submit` answer. */
export function explainResult({ engineResult, isCarried }: SubmitAnswer): Verdict {
  // A result that only burns the fee is no end while the transaction is on its way: it may yet succeed.
  if (isCarried && engineResult.startsWith('tec')) return { kind: 'accepted' };
  const row = Object.hasOwn(RESULTS, engineResult) ? RESULTS[engineResult] : FAMILIES[engineResult.slice(0, 3)];
  return (row ?? unknown)(engineResult.slice(0, 60));
}

/**
 * The class of an error of the server instead of an answer. Only bytes that are no transaction are refused for good.
 */
export function explainError({ token, message }: { readonly token: string; readonly message: string }): Verdict {
  const reason = message === '' ? token : `${token}: ${message}`;
  return UNREADABLE.has(token) ? final(reason) : unknown(reason);
}
