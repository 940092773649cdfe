/** Operations on what accounts own beside money: trust lines, their authorisation, flags, data, sponsored reserves. */
import {
  BeginSponsoringFutureReservesResult,
  ChangeTrustResult,
  EndSponsoringFutureReservesResult,
  ManageDataResult,
  SetOptionsResult,
  SetTrustLineFlagsResult,
  type BeginSponsoringFutureReservesOp,
  type ChangeTrustOp,
  type ManageDataOp,
  type SetOptionsOp,
  type SetTrustLineFlagsOp,
} from '@stellar/stellar-sdk/xdr';
import { addressOf, dataPlace, FLAGS, issuerOf, LINE_FLAGS, textOf, type AccountRow } from './entries.ts';
import type { Scope } from './payments.ts';
import type { State } from './state.ts';

/** One more entry of an account, if its balance covers the reserve. */
function addEntry(state: State, account: AccountRow): boolean {
  if (account.balance < state.minimum(account, 1)) return false;
  state.put({ ...account, subentries: account.subentries + 1 });
  return true;
}

function dropEntry(state: State, account: AccountRow): void {
  state.put({ ...account, subentries: account.subentries - 1 });
}

export function changeTrust({ state, source }: Scope, { line, limit }: ChangeTrustOp): ChangeTrustResult {
  if (line.type === 'assetTypeNative' || line.type === 'assetTypePoolShare')
    return ChangeTrustResult.changeTrustMalformed();
  const asset = textOf(line)!,
    issuer = state.account(issuerOf(asset)),
    account = state.account(source)!;
  if (issuerOf(asset) === source) return ChangeTrustResult.changeTrustSelfNotAllowed();
  const held = state.line(source, asset);
  if (limit === 0n) {
    if (held === null) return ChangeTrustResult.changeTrustTrustLineMissing();
    if (held.balance > 0n) return ChangeTrustResult.changeTrustInvalidLimit();
    state.remove(held);
    dropEntry(state, account);
    return ChangeTrustResult.changeTrustSuccess();
  }
  if (limit < 0n || (held !== null && held.balance > limit)) return ChangeTrustResult.changeTrustInvalidLimit();
  if (issuer === null) return ChangeTrustResult.changeTrustNoIssuer();
  if (held !== null) {
    state.put({ ...held, limit });
    return ChangeTrustResult.changeTrustSuccess();
  }
  if (!addEntry(state, account)) return ChangeTrustResult.changeTrustLowReserve();
  const flags =
    ((issuer.flags & FLAGS.authRequired) === 0 ? LINE_FLAGS.authorized : 0) |
    ((issuer.flags & FLAGS.clawback) === 0 ? 0 : LINE_FLAGS.clawback);
  state.put({ kind: 'line', account: source, asset, balance: 0n, limit, flags });
  return ChangeTrustResult.changeTrustSuccess();
}

export function setLineFlags({ state, source }: Scope, op: SetTrustLineFlagsOp): SetTrustLineFlagsResult {
  const asset = textOf(op.asset)!,
    line = state.line(addressOf(op.trustor), asset);
  if (issuerOf(asset) !== source) return SetTrustLineFlagsResult.setTrustLineFlagsMalformed();
  if (line === null) return SetTrustLineFlagsResult.setTrustLineFlagsNoTrustLine();
  const revokes = (op.clearFlags & LINE_FLAGS.authorized) !== 0;
  if (revokes && (state.account(source)!.flags & FLAGS.authRevocable) === 0)
    return SetTrustLineFlagsResult.setTrustLineFlagsCantRevoke();
  state.put({ ...line, flags: (line.flags & ~op.clearFlags) | op.setFlags });
  return SetTrustLineFlagsResult.setTrustLineFlagsSuccess();
}

/** Flags only; other options are taken without effect. */
export function setOptions({ state, source }: Scope, { setFlags, clearFlags }: SetOptionsOp): SetOptionsResult {
  const account = state.account(source)!;
  if ((account.flags & FLAGS.authImmutable) !== 0) return SetOptionsResult.setOptionsCantChange();
  state.put({ ...account, flags: (account.flags & ~(clearFlags ?? 0)) | (setFlags ?? 0) });
  return SetOptionsResult.setOptionsSuccess();
}

export function manageData({ state, source }: Scope, { dataName, dataValue }: ManageDataOp): ManageDataResult {
  const name = dataName.toString(),
    account = state.account(source)!,
    row = state.get(dataPlace(source, name));
  if (dataValue === null) {
    if (row === null) return ManageDataResult.manageDataNameNotFound();
    state.remove(row);
    dropEntry(state, account);
    return ManageDataResult.manageDataSuccess();
  }
  if (row === null && !addEntry(state, account)) return ManageDataResult.manageDataLowReserve();
  state.put({ kind: 'data', account: source, name, value: dataValue.toBytes() });
  return ManageDataResult.manageDataSuccess();
}

export function beginSponsoring(
  { source, sponsors }: Scope,
  { sponsoredId }: BeginSponsoringFutureReservesOp,
): BeginSponsoringFutureReservesResult {
  const sponsored = addressOf(sponsoredId);
  if (sponsored === source) return BeginSponsoringFutureReservesResult.beginSponsoringFutureReservesMalformed();
  if (sponsors.has(sponsored))
    return BeginSponsoringFutureReservesResult.beginSponsoringFutureReservesAlreadySponsored();
  sponsors.set(sponsored, source);
  return BeginSponsoringFutureReservesResult.beginSponsoringFutureReservesSuccess();
}

export function endSponsoring({ source, sponsors }: Scope): EndSponsoringFutureReservesResult {
  return sponsors.delete(source)
    ? EndSponsoringFutureReservesResult.endSponsoringFutureReservesSuccess()
    : EndSponsoringFutureReservesResult.endSponsoringFutureReservesNotSponsored();
}
