/** The words that Horizon has for a result. Source: stellar/go services/horizon/internal/codes/main.go. */
import type { OperationResult, TransactionResult } from '@stellar/stellar-sdk/xdr';
import type { Json } from './horizon-records.ts';

const TRANSACTIONS: Readonly<Record<string, string>> = {
  txFeeBumpInnerSuccess: 'tx_fee_bump_inner_success',
  txFeeBumpInnerFailed: 'tx_fee_bump_inner_failed',
  txSuccess: 'tx_success',
  txFailed: 'tx_failed',
  txTooEarly: 'tx_too_early',
  txTooLate: 'tx_too_late',
  txMissingOperation: 'tx_missing_operation',
  txBadSeq: 'tx_bad_seq',
  txBadAuth: 'tx_bad_auth',
  txBadAuthExtra: 'tx_bad_auth_extra',
  txInsufficientBalance: 'tx_insufficient_balance',
  txInsufficientFee: 'tx_insufficient_fee',
  txNoAccount: 'tx_no_source_account',
  txBadSponsorship: 'tx_bad_sponsorship',
  txInternalError: 'tx_internal_error',
  txNotSupported: 'tx_not_supported',
};

const REFUSED_BEFORE: Readonly<Record<string, string>> = {
  opNoAccount: 'op_no_source_account',
  opBadAuth: 'op_bad_auth',
  opNotSupported: 'op_not_supported',
  opTooManySubentries: 'op_too_many_subentries',
  opExceededWorkLimit: 'op_exceeded_work_limit',
};

/** By what a code adds to the name of its operation. */
const OPERATIONS: Readonly<Record<string, string>> = {
  Success: 'op_success',
  Malformed: 'op_malformed',
  Underfunded: 'op_underfunded',
  LowReserve: 'op_low_reserve',
  LineFull: 'op_line_full',
  NoIssuer: 'op_no_issuer',
  AlreadyExist: 'op_already_exists',
  SrcNoTrust: 'op_src_no_trust',
  SrcNotAuthorized: 'op_src_not_authorized',
  NoDestination: 'op_no_destination',
  NoTrust: 'op_no_trust',
  NotAuthorized: 'op_not_authorized',
  TooFewOffers: 'op_too_few_offers',
  OfferCrossSelf: 'op_cross_self',
  OverSendmax: 'op_over_source_max',
  UnderDestmin: 'op_under_dest_min',
  NotFound: 'op_offer_not_found',
  CantChange: 'op_cant_change',
  InvalidLimit: 'op_invalid_limit',
  SelfNotAllowed: 'op_self_not_allowed',
  TrustLineMissing: 'op_trust_line_missing',
  CantRevoke: 'op_cant_revoke',
  NoTrustLine: 'op_no_trust_line',
  NoAccount: 'op_no_account',
  ImmutableSet: 'op_immutable_set',
  HasSubEntries: 'op_has_sub_entries',
  SeqnumTooFar: 'op_seq_num_too_far',
  DestFull: 'op_dest_full',
  IsSponsor: 'op_is_sponsor',
  NameNotFound: 'op_data_name_not_found',
  DoesNotExist: 'op_does_not_exist',
  CannotClaim: 'op_cannot_claim',
  NotClawbackEnabled: 'op_not_clawback_enabled',
  NotSponsored: 'op_not_sponsored',
  AlreadySponsored: 'op_already_sponsored',
  Recursive: 'op_recursive',
  Trapped: 'op_trapped',
  ResourceLimitExceeded: 'op_resource_limit_exceeded',
};

function wordIn(words: Readonly<Record<string, string>>, name: string): string {
  const word = words[name];
  if (word === undefined) throw new RangeError(`no word for the result ${name}`);
  return word;
}

function operationWord(result: OperationResult): string {
  if (result.type !== 'opInner') return wordIn(REFUSED_BEFORE, result.type);
  const { type, value } = result.tr;
  return wordIn(OPERATIONS, value.type.slice(type.length));
}

/** `result_codes` of a problem. */
export function resultCodesOf({ result }: TransactionResult): Json {
  const inner =
    result.type === 'txFeeBumpInnerFailed' || result.type === 'txFeeBumpInnerSuccess'
      ? result.innerResultPair.result.result
      : null;
  const applied = inner ?? result;
  const operations = applied.type === 'txFailed' || applied.type === 'txSuccess' ? applied.results : [];
  return {
    transaction: wordIn(TRANSACTIONS, result.type),
    ...(inner === null ? {} : { inner_transaction: wordIn(TRANSACTIONS, inner.type) }),
    ...(operations.length === 0 ? {} : { operations: operations.map(operationWord) }),
  };
}
