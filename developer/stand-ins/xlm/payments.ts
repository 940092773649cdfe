/** Operations that move assets: the ledger's rules, each with the result that the ledger would write. */
import { createHash } from 'node:crypto';
import {
  AccountMergeResult,
  ClaimableBalanceId,
  ClaimAtom,
  ClaimClaimableBalanceResult,
  ClaimOfferAtom,
  ClawbackResult,
  CreateAccountResult,
  CreateClaimableBalanceResult,
  HashIdPreimage,
  HashIdPreimageOperationId,
  ManageOfferSuccessResult,
  ManageOfferSuccessResultOffer,
  ManageSellOfferResult,
  PathPaymentStrictReceiveResult,
  PathPaymentStrictReceiveResultSuccess,
  PathPaymentStrictSendResult,
  PathPaymentStrictSendResultSuccess,
  PaymentResult,
  SimplePaymentResult,
  type ClaimClaimableBalanceOp,
  type ClawbackOp,
  type CreateAccountOp,
  type CreateClaimableBalanceOp,
  type ManageSellOfferOp,
  type MuxedAccount,
  type PathPaymentStrictReceiveOp,
  type PathPaymentStrictSendOp,
  type PaymentOp,
} from '@stellar/stellar-sdk/xdr';
import {
  addressOf,
  assetOf,
  baseOf,
  issuerOf,
  keyOf,
  LINE_FLAGS,
  textOf,
  type AccountRow,
  type LineRow,
} from './entries.ts';
import type { State } from './state.ts';

const INT64_MAX = 2n ** 63n - 1n;

/** What an operation is applied in. */
export interface Scope {
  readonly state: State;
  /** Source of the operation. */
  readonly source: string;
  readonly transactionSource: string;
  readonly sequence: bigint;
  readonly index: number;
  readonly market: Market;
  /** Who pays the reserves of whom, while a pair of operations says so. */
  readonly sponsors: Map<string, string>;
}

/** Offers that everybody can take: units of `buying` for each unit of `selling`, given by the maker. */
export class Market {
  readonly maker: string;
  readonly #prices = new Map<string, { readonly numerator: bigint; readonly denominator: bigint }>();

  constructor(maker: string) {
    this.maker = maker;
  }

  set(selling: string | null, buying: string | null, numerator: bigint, denominator: bigint): void {
    this.#prices.set(`${selling} ${buying}`, { numerator, denominator });
  }

  /** What comes for an amount, rounded down; null without a price. */
  receive(selling: string | null, buying: string | null, amount: bigint): bigint | null {
    const price = this.#prices.get(`${selling} ${buying}`);
    return price === undefined ? null : (amount * price.numerator) / price.denominator;
  }

  /** What it costs to receive an amount, rounded up. */
  cost(selling: string | null, buying: string | null, amount: bigint): bigint | null {
    const price = this.#prices.get(`${selling} ${buying}`);
    return price === undefined ? null : (amount * price.denominator + price.numerator - 1n) / price.numerator;
  }
}

type Lack =
  'Underfunded' | 'SrcNoTrust' | 'SrcNotAuthorized' | 'NoDestination' | 'NoTrust' | 'NotAuthorized' | 'LineFull';

/** Takes an asset from an account, or says why not. */
export function take(state: State, from: string, asset: string | null, amount: bigint): Lack | null {
  const account = state.account(from);
  if (account === null) return 'Underfunded';
  if (asset === null) {
    if (state.spendable(account) < amount) return 'Underfunded';
    state.put({ ...account, balance: account.balance - amount });
    return null;
  }
  if (issuerOf(asset) === from) return null;
  const line = state.line(from, asset);
  if (line === null) return 'SrcNoTrust';
  if ((line.flags & LINE_FLAGS.authorized) === 0) return 'SrcNotAuthorized';
  if (line.balance < amount) return 'Underfunded';
  state.put({ ...line, balance: line.balance - amount });
  return null;
}

/** Gives an asset to an account, or says why not. */
export function give(state: State, to: string, asset: string | null, amount: bigint): Lack | null {
  const account = state.account(to);
  if (account === null) return 'NoDestination';
  if (asset === null) {
    if (account.balance + amount > INT64_MAX) return 'LineFull';
    state.put({ ...account, balance: account.balance + amount });
    return null;
  }
  if (issuerOf(asset) === to) return null;
  const line = state.line(to, asset);
  if (line === null) return 'NoTrust';
  if ((line.flags & LINE_FLAGS.authorized) === 0) return 'NotAuthorized';
  if (line.balance + amount > line.limit) return 'LineFull';
  state.put({ ...line, balance: line.balance + amount });
  return null;
}

export function pay({ state, source }: Scope, { destination, asset, amount }: PaymentOp): PaymentResult {
  const to = baseOf(destination),
    text = textOf(asset);
  if (amount <= 0n) return PaymentResult.paymentMalformed();
  if (state.account(to) === null) return PaymentResult.paymentNoDestination();
  const lack = take(state, source, text, amount) ?? give(state, to, text, amount);
  return lack === null ? PaymentResult.paymentSuccess() : PaymentResult[`payment${lack}`]();
}

export function createAccount({ state, source, sponsors }: Scope, op: CreateAccountOp): CreateAccountResult {
  const { destination, startingBalance: balance } = op,
    id = addressOf(destination),
    sponsor = sponsors.get(id);
  if (balance < 0n) return CreateAccountResult.createAccountMalformed();
  if (state.account(id) !== null) return CreateAccountResult.createAccountAlreadyExist();
  if (sponsor === undefined && balance < state.newAccount) return CreateAccountResult.createAccountLowReserve();
  if (balance > 0n && take(state, source, null, balance) !== null)
    return CreateAccountResult.createAccountUnderfunded();
  const sponsored = sponsor === undefined ? 0 : 2;
  const row: AccountRow = {
    kind: 'account',
    id,
    balance,
    sequence: BigInt(state.height) << 32n,
    subentries: 0,
    sponsoring: 0,
    sponsored,
    flags: 0,
  };
  state.put(row);
  if (sponsor !== undefined) {
    const payer = state.account(sponsor)!;
    state.put({ ...payer, sponsoring: payer.sponsoring + sponsored });
  }
  return CreateAccountResult.createAccountSuccess();
}

export function merge({ state, source }: Scope, destination: MuxedAccount): AccountMergeResult {
  const into = baseOf(destination),
    account = state.account(source)!;
  if (into === source) return AccountMergeResult.accountMergeMalformed();
  const target = state.account(into);
  if (target === null) return AccountMergeResult.accountMergeNoAccount();
  if (account.subentries > 0) return AccountMergeResult.accountMergeHasSubEntries();
  if (account.sequence >= BigInt(state.height) << 32n) return AccountMergeResult.accountMergeSeqnumTooFar();
  if (account.sponsoring > 0) return AccountMergeResult.accountMergeIsSponsor();
  state.put({ ...target, balance: target.balance + account.balance });
  state.remove(account);
  return AccountMergeResult.accountMergeSuccess(account.balance);
}

/** Balances that anybody named may claim. Their id is the hash of who made them, as on the ledger. */
export function createClaimable(scope: Scope, op: CreateClaimableBalanceOp): CreateClaimableBalanceResult {
  const { state, source, transactionSource, sequence, index } = scope,
    asset = textOf(op.asset);
  const lack = take(state, source, asset, op.amount);
  if (lack === 'SrcNoTrust') return CreateClaimableBalanceResult.createClaimableBalanceNoTrust();
  if (lack === 'SrcNotAuthorized') return CreateClaimableBalanceResult.createClaimableBalanceNotAuthorized();
  if (lack !== null) return CreateClaimableBalanceResult.createClaimableBalanceUnderfunded();
  const preimage = HashIdPreimage.envelopeTypeOpId(
    new HashIdPreimageOperationId({
      sourceAccount: keyOf(transactionSource),
      seqNum: sequence,
      opNum: index,
    }),
  );
  const id = createHash('sha256').update(preimage.toXdr()).digest('hex');
  const claimants = op.claimants.map(({ v0 }) => addressOf(v0.destination));
  state.put({ kind: 'claimable', id, asset, amount: op.amount, claimants, sponsor: source });
  const sponsor = state.account(source)!;
  state.put({ ...sponsor, sponsoring: sponsor.sponsoring + claimants.length });
  const balanceId = ClaimableBalanceId.claimableBalanceIdTypeV0(Buffer.from(id, 'hex'));
  return CreateClaimableBalanceResult.createClaimableBalanceSuccess(balanceId);
}

export function claim({ state, source }: Scope, { balanceId }: ClaimClaimableBalanceOp): ClaimClaimableBalanceResult {
  const row = state.get(`claimable ${Buffer.from(balanceId.v0.toBytes()).toString('hex')}`);
  if (row?.kind !== 'claimable') return ClaimClaimableBalanceResult.claimClaimableBalanceDoesNotExist();
  if (!row.claimants.includes(source)) return ClaimClaimableBalanceResult.claimClaimableBalanceCannotClaim();
  const lack = give(state, source, row.asset, row.amount);
  if (lack === 'LineFull') return ClaimClaimableBalanceResult.claimClaimableBalanceLineFull();
  if (lack === 'NotAuthorized') return ClaimClaimableBalanceResult.claimClaimableBalanceNotAuthorized();
  if (lack !== null) return ClaimClaimableBalanceResult.claimClaimableBalanceNoTrust();
  state.remove(row);
  const sponsor = state.account(row.sponsor);
  if (sponsor !== null) state.put({ ...sponsor, sponsoring: sponsor.sponsoring - row.claimants.length });
  return ClaimClaimableBalanceResult.claimClaimableBalanceSuccess();
}

export function clawback({ state, source }: Scope, { asset, from, amount }: ClawbackOp): ClawbackResult {
  const text = textOf(asset)!,
    line: LineRow | null = state.line(baseOf(from), text);
  if (issuerOf(text) !== source) return ClawbackResult.clawbackMalformed();
  if (line === null) return ClawbackResult.clawbackNoTrust();
  if ((line.flags & LINE_FLAGS.clawback) === 0) return ClawbackResult.clawbackNotClawbackEnabled();
  if (line.balance < amount) return ClawbackResult.clawbackUnderfunded();
  state.put({ ...line, balance: line.balance - amount });
  return ClawbackResult.clawbackSuccess();
}

interface Trade {
  readonly sold: string | null;
  readonly amountSold: bigint;
  readonly bought: string | null;
  readonly amountBought: bigint;
}

/** The maker takes what is sold and gives what is bought. */
function trade({ state, market: { maker } }: Scope, { sold, amountSold, bought, amountBought }: Trade): boolean {
  return give(state, maker, sold, amountSold) === null && take(state, maker, bought, amountBought) === null;
}

function atomOf({ market: { maker } }: Scope, { sold, amountSold, bought, amountBought }: Trade): ClaimAtom {
  return ClaimAtom.claimAtomTypeOrderBook(
    new ClaimOfferAtom({
      sellerId: keyOf(maker),
      offerId: 1n,
      assetSold: assetOf(bought).toXdrObject(),
      amountSold: amountBought,
      assetBought: assetOf(sold).toXdrObject(),
      amountBought: amountSold,
    }),
  );
}

function lastOf(to: string, asset: string | null, amount: bigint): SimplePaymentResult {
  return new SimplePaymentResult({ destination: keyOf(to), asset: assetOf(asset).toXdrObject(), amount });
}

export function payStrictSend(scope: Scope, op: PathPaymentStrictSendOp): PathPaymentStrictSendResult {
  const { state, source, market } = scope,
    sold = textOf(op.sendAsset),
    bought = textOf(op.destAsset),
    to = baseOf(op.destination);
  const amountBought = market.receive(sold, bought, op.sendAmount);
  if (state.account(to) === null) return PathPaymentStrictSendResult.pathPaymentStrictSendNoDestination();
  const swap = { sold, amountSold: op.sendAmount, bought, amountBought: amountBought ?? 0n };
  if (amountBought === null) return PathPaymentStrictSendResult.pathPaymentStrictSendTooFewOffers();
  if (amountBought < op.destMin) return PathPaymentStrictSendResult.pathPaymentStrictSendUnderDestmin();
  const lack = take(state, source, sold, op.sendAmount);
  if (lack !== null) return PathPaymentStrictSendResult[`pathPaymentStrictSend${lack}`]();
  if (!trade(scope, swap)) return PathPaymentStrictSendResult.pathPaymentStrictSendTooFewOffers();
  const full = give(state, to, bought, amountBought);
  if (full !== null) return PathPaymentStrictSendResult[`pathPaymentStrictSend${full}`]();
  return PathPaymentStrictSendResult.pathPaymentStrictSendSuccess(
    new PathPaymentStrictSendResultSuccess({ offers: [atomOf(scope, swap)], last: lastOf(to, bought, amountBought) }),
  );
}

export function payStrictReceive(scope: Scope, op: PathPaymentStrictReceiveOp): PathPaymentStrictReceiveResult {
  const { state, source, market } = scope,
    sold = textOf(op.sendAsset),
    bought = textOf(op.destAsset),
    to = baseOf(op.destination);
  const amountSold = market.cost(sold, bought, op.destAmount);
  if (state.account(to) === null) return PathPaymentStrictReceiveResult.pathPaymentStrictReceiveNoDestination();
  if (amountSold === null) return PathPaymentStrictReceiveResult.pathPaymentStrictReceiveTooFewOffers();
  if (amountSold > op.sendMax) return PathPaymentStrictReceiveResult.pathPaymentStrictReceiveOverSendmax();
  const swap = { sold, amountSold, bought, amountBought: op.destAmount };
  const lack = take(state, source, sold, amountSold);
  if (lack !== null) return PathPaymentStrictReceiveResult[`pathPaymentStrictReceive${lack}`]();
  if (!trade(scope, swap)) return PathPaymentStrictReceiveResult.pathPaymentStrictReceiveTooFewOffers();
  const full = give(state, to, bought, op.destAmount);
  if (full !== null) return PathPaymentStrictReceiveResult[`pathPaymentStrictReceive${full}`]();
  return PathPaymentStrictReceiveResult.pathPaymentStrictReceiveSuccess(
    new PathPaymentStrictReceiveResultSuccess({
      offers: [atomOf(scope, swap)],
      last: lastOf(to, bought, op.destAmount),
    }),
  );
}

/** An offer that the maker fills at once; nothing stays in the book. */
export function sell(scope: Scope, { selling, buying, amount }: ManageSellOfferOp): ManageSellOfferResult {
  const { state, source, market } = scope,
    sold = textOf(selling),
    bought = textOf(buying);
  const amountBought = market.receive(sold, bought, amount);
  if (amountBought === null) return ManageSellOfferResult.manageSellOfferNotFound();
  if (take(state, source, sold, amount) !== null) return ManageSellOfferResult.manageSellOfferUnderfunded();
  const swap = { sold, amountSold: amount, bought, amountBought };
  if (!trade(scope, swap)) return ManageSellOfferResult.manageSellOfferLineFull();
  if (give(state, source, bought, amountBought) !== null) return ManageSellOfferResult.manageSellOfferBuyNoTrust();
  return ManageSellOfferResult.manageSellOfferSuccess(
    new ManageOfferSuccessResult({
      offersClaimed: [atomOf(scope, swap)],
      offer: ManageOfferSuccessResultOffer.manageOfferDeleted(),
    }),
  );
}
