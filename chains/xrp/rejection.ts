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
 *   look_up        the sequence is used: perhaps by these bytes; only a look-up of the hash can decide
 *   unknown        nothing is proven: the same bytes again (G26)
 *   rejected       the server refused these bytes; `action` says what would be accepted, `needs` what decides the code
 */
export type Verdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'already_known' }
  | { readonly kind: 'look_up' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | Rejected;

export interface Rejected {
  readonly kind: 'rejected';
  readonly code: ErrorCode;
  readonly action: Action;
  readonly reason: string;
  /**
   * `balance`: the sender's distinguishes funds from reserve; `line`: the destination's distinguishes a missing line
   * from funds.
   */
  readonly needs?: 'balance' | 'line';
}

export type Action = 'reprice' | 'fund' | 'fund_destination' | 'open_line' | 'ask_destination' | 'wait' | 'none';

type Row = (word: string) => Verdict;

const rejected =
  (code: ErrorCode, action: Action, needs?: Rejected['needs']): Row =>
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

/**
 * The closed lists of what else ends it. A word that is in neither list nor table is unknown: it is one that this
 * release has not read, or none of the ledger's. Source: XRPLF/rippled 2.6 `include/xrpl/protocol/TER.h`.
 */
const FINAL: ReadonlySet<string> = new Set(
  `
  temMALFORMED temBAD_AMOUNT temBAD_CURRENCY temBAD_EXPIRATION temBAD_FEE temBAD_ISSUER temBAD_LIMIT temBAD_OFFER temBAD_PATH
  temBAD_PATH_LOOP temBAD_REGKEY temBAD_SEND_XRP_LIMIT temBAD_SEND_XRP_MAX temBAD_SEND_XRP_NO_DIRECT temBAD_SEND_XRP_PARTIAL
  temBAD_SEND_XRP_PATHS temBAD_SEQUENCE temBAD_SIGNATURE temBAD_SRC_ACCOUNT temBAD_TRANSFER_RATE temDST_IS_SRC temDST_NEEDED
  temINVALID temINVALID_FLAG temREDUNDANT temRIPPLE_EMPTY temDISABLED temBAD_SIGNER temBAD_QUORUM temBAD_WEIGHT temBAD_TICK_SIZE
  temINVALID_ACCOUNT_ID temCANNOT_PREAUTH_SELF temINVALID_COUNT temSEQ_AND_TICKET temBAD_NFTOKEN_TRANSFER_FEE temBAD_AMM_TOKENS
  temXCHAIN_EQUAL_DOOR_ACCOUNTS temXCHAIN_BAD_PROOF temXCHAIN_BRIDGE_BAD_ISSUES temXCHAIN_BRIDGE_NONDOOR_OWNER
  temXCHAIN_BRIDGE_BAD_MIN_ACCOUNT_CREATE_AMOUNT temXCHAIN_BRIDGE_BAD_REWARD_AMOUNT temEMPTY_DID temARRAY_EMPTY temARRAY_TOO_LARGE
  temBAD_TRANSFER_FEE temINVALID_INNER_BATCH temBAD_MPT temBAD_CIPHERTEXT
  tefBAD_ADD_AUTH tefBAD_AUTH tefCREATED tefNO_AUTH_REQUIRED tefWRONG_PRIOR tefMASTER_DISABLED tefBAD_SIGNATURE tefBAD_QUORUM
  tefBAD_PATH_COUNT tefNO_DST_PARTIAL tefNOT_MULTI_SIGNING tefBAD_AUTH_MASTER tefTOO_BIG tefNFTOKEN_IS_NOT_TRANSFERABLE tefINVALID_LEDGER_FIX_TYPE
  tecCLAIM tecUNFUNDED_ADD tecUNFUNDED_OFFER tecFAILED_PROCESSING tecDIR_FULL tecINSUF_RESERVE_OFFER tecNO_LINE_REDUNDANT tecUNFUNDED
  tecNO_ALTERNATIVE_KEY tecNO_REGULAR_KEY tecOWNERS tecNO_ISSUER tecNO_LINE tecNO_TARGET tecNO_ENTRY tecNEED_MASTER_KEY tecINTERNAL
  tecOVERSIZE tecCRYPTOCONDITION_ERROR tecINVARIANT_FAILED tecEXPIRED tecDUPLICATE tecKILLED tecHOOK_REJECTED tecMAX_SEQUENCE_REACHED
  tecNO_SUITABLE_NFTOKEN_PAGE tecNFTOKEN_BUY_SELL_MISMATCH tecNFTOKEN_OFFER_TYPE_MISMATCH tecCANT_ACCEPT_OWN_NFTOKEN_OFFER
  tecINSUFFICIENT_FUNDS tecOBJECT_NOT_FOUND tecINSUFFICIENT_PAYMENT tecUNFUNDED_AMM tecAMM_BALANCE tecAMM_FAILED tecAMM_INVALID_TOKENS
  tecAMM_EMPTY tecAMM_NOT_EMPTY tecAMM_ACCOUNT tecINCOMPLETE tecXCHAIN_BAD_TRANSFER_ISSUE tecXCHAIN_NO_CLAIM_ID tecXCHAIN_BAD_CLAIM_ID
  tecXCHAIN_CLAIM_NO_QUORUM tecXCHAIN_PROOF_UNKNOWN_KEY tecXCHAIN_CREATE_ACCOUNT_NONXRP_ISSUE tecXCHAIN_WRONG_CHAIN
  tecXCHAIN_REWARD_MISMATCH tecXCHAIN_NO_SIGNERS_LIST tecXCHAIN_SENDING_ACCOUNT_MISMATCH tecXCHAIN_INSUFF_CREATE_AMOUNT
  tecXCHAIN_ACCOUNT_CREATE_PAST tecXCHAIN_ACCOUNT_CREATE_TOO_MANY tecXCHAIN_PAYMENT_FAILED tecXCHAIN_SELF_COMMIT
  tecXCHAIN_BAD_PUBLIC_KEY_ACCOUNT_PAIR tecXCHAIN_CREATE_ACCOUNT_DISABLED tecEMPTY_DID tecINVALID_UPDATE_TIME
  tecTOKEN_PAIR_NOT_FOUND tecARRAY_EMPTY tecARRAY_TOO_LARGE tecLOCKED tecBAD_CREDENTIALS tecWRONG_ASSET tecLIMIT_EXCEEDED
  tecPSEUDO_ACCOUNT tecPRECISION_LOSS tecNO_DELEGATE_PERMISSION tecBAD_PROOF tecNO_SPONSOR_PERMISSION
`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/**
 * Words of a server that could not read the transaction at all. `invalidParams` is none: it may mean an option of the
 * call.
 */
const UNREADABLE = new Set(['invalidTransaction']);

export interface SubmitAnswer {
  readonly engineResult: string;
  /** The server applied it to its open ledger, keeps it or passed it on, in spite of `fail_hard`. */
  readonly isCarried: boolean;
}

function explainCarried(engineResult: string): Verdict {
  const verdict = explainResult({ engineResult, isCarried: false });
  return verdict.kind === 'rejected'
    ? { kind: 'unknown', reason: `${verdict.reason}, and the server carries it` }
    : verdict;
}

/** The class of a `submit` answer. */
export function explainResult({ engineResult, isCarried }: SubmitAnswer): Verdict {
  // A result that only burns the fee is no end while the transaction is on its way: it may yet succeed.
  if (isCarried && engineResult.startsWith('tec')) return { kind: 'accepted' };
  // Refused and carried contradict each other: what a server keeps, it may apply later. G8.
  if (isCarried) return explainCarried(engineResult);
  const row = Object.hasOwn(RESULTS, engineResult)
    ? RESULTS[engineResult]
    : FINAL.has(engineResult)
      ? final
      : undefined;
  return (row ?? unknown)(engineResult.slice(0, 60));
}

/**
 * The class of an error of the server instead of an answer. Only bytes that are no transaction are refused for good.
 */
export function explainError({ token, message }: { readonly token: string; readonly message: string }): Verdict {
  const reason = message === '' ? token : `${token}: ${message}`;
  return UNREADABLE.has(token) ? final(reason) : unknown(reason);
}
