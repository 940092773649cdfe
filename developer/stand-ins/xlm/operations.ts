/** One operation, applied. Those that this ledger does not know answer as the real one does for an unknown type. */
import { OperationResult, OperationResultTr, type Operation } from '@stellar/stellar-sdk/xdr';
import { invoke, type Called } from './contracts.ts';
import { beginSponsoring, changeTrust, endSponsoring, manageData, setLineFlags, setOptions } from './lines.ts';
import {
  claim,
  clawback,
  createAccount,
  createClaimable,
  merge,
  pay,
  payStrictReceive,
  payStrictSend,
  sell,
  type Scope,
} from './payments.ts';

export interface Applied {
  readonly result: OperationResult;
  readonly success: boolean;
  /** Of a contract call. */
  readonly called: Called | null;
}

const inner = (tr: OperationResultTr): Applied => ({
  result: OperationResult.opInner(tr),
  success: tr.value.type.endsWith('Success'),
  called: null,
});

/** Applies an operation to the scope's state; the caller undoes what a failed one changed. */
export function apply(scope: Scope, passphrase: string, { body }: Operation): Applied {
  if (scope.state.account(scope.source) === null)
    return { result: OperationResult.opNoAccount(), success: false, called: null };
  switch (body.type) {
    case 'payment':
      return inner(OperationResultTr.payment(pay(scope, body.paymentOp)));
    case 'createAccount':
      return inner(OperationResultTr.createAccount(createAccount(scope, body.createAccountOp)));
    case 'pathPaymentStrictSend':
      return inner(OperationResultTr.pathPaymentStrictSend(payStrictSend(scope, body.pathPaymentStrictSendOp)));
    case 'pathPaymentStrictReceive':
      return inner(
        OperationResultTr.pathPaymentStrictReceive(payStrictReceive(scope, body.pathPaymentStrictReceiveOp)),
      );
    case 'manageSellOffer':
      return inner(OperationResultTr.manageSellOffer(sell(scope, body.manageSellOfferOp)));
    case 'accountMerge':
      return inner(OperationResultTr.accountMerge(merge(scope, body.destination)));
    case 'createClaimableBalance':
      return inner(OperationResultTr.createClaimableBalance(createClaimable(scope, body.createClaimableBalanceOp)));
    case 'claimClaimableBalance':
      return inner(OperationResultTr.claimClaimableBalance(claim(scope, body.claimClaimableBalanceOp)));
    case 'clawback':
      return inner(OperationResultTr.clawback(clawback(scope, body.clawbackOp)));
    case 'changeTrust':
      return inner(OperationResultTr.changeTrust(changeTrust(scope, body.changeTrustOp)));
    case 'setTrustLineFlags':
      return inner(OperationResultTr.setTrustLineFlags(setLineFlags(scope, body.setTrustLineFlagsOp)));
    case 'setOptions':
      return inner(OperationResultTr.setOptions(setOptions(scope, body.setOptionsOp)));
    case 'manageData':
      return inner(OperationResultTr.manageData(manageData(scope, body.manageDataOp)));
    case 'beginSponsoringFutureReserves':
      return inner(
        OperationResultTr.beginSponsoringFutureReserves(beginSponsoring(scope, body.beginSponsoringFutureReservesOp)),
      );
    case 'endSponsoringFutureReserves':
      return inner(OperationResultTr.endSponsoringFutureReserves(endSponsoring(scope)));
    case 'invokeHostFunction': {
      const called = invoke(scope, passphrase, body.invokeHostFunctionOp.hostFunction);
      return { ...inner(OperationResultTr.invokeHostFunction(called.result)), called };
    }
    default:
      return { result: OperationResult.opNotSupported(), success: false, called: null };
  }
}
