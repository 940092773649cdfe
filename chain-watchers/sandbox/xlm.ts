/**
 * Stellar as a simulated ledger: closed ledgers in Horizon's records, signed envelopes as a server takes them. A block
 * is a ledger that closed, sequences begin at 1, everybody outside may be paid every listed asset (a line that
 * nobody opened is thought to be there and costs nothing), and the reserve is set here, for a simulated ledger has
 * nobody who votes on it.
 */
import { createHash } from 'node:crypto';
import type { Block, Intent, Network, Signed, Unsigned } from '../../chains/chain.ts';
import { addressOf } from '../../chains/xlm/address.ts';
import { balanceOf, BASE_RESERVES } from '../../chains/xlm/balance.ts';
import { decodePayload, type OwnOperation, type Payload } from '../../chains/xlm/envelope.ts';
import { BUMPED_OPERATIONS, OPERATIONS } from '../../chains/xlm/fee.ts';
import type { XlmInputs } from '../../chains/xlm/inputs.ts';
import type { LedgerAccount } from '../../chains/xlm/ledger-account.ts';
import { toid } from '../../chains/xlm/ledger-records.ts';
import { STELLAR_DECIMALS } from '../../chains/xlm/network.ts';
import { INT64_MAX } from '../../chains/xlm/payable.ts';
import { explainCodes } from '../../chains/xlm/rejection.ts';
import { readSigned } from '../../chains/xlm/signed.ts';
import type { XlmLedger } from '../../chains/xlm/transfers.ts';
import type { SandboxBlock, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { formatAmount } from '../../protocol/money.ts';
import {
  openedBy,
  takesToken,
  type Bid,
  type DepositAsk,
  type ReadPayload,
  type SenderView,
  type SimulatedFamily,
} from './family.ts';

/** Choice: the fee and the reserve of the main network in 2024, stroops. */
const BASE_FEE = 100n;
const BASE_RESERVE = 5_000_000n;
const ACCOUNT_MINIMUM = BigInt(BASE_RESERVES) * BASE_RESERVE;
/** Times the offer whose place a version takes. Source: stellar-docs, "Replace-by-fee". */
const DISPLACING_FACTOR = 10n;
/** The store counts a sender's transactions from zero. */
const FIRST_SEQUENCE = 1n;
/** Payments from outside come from here; no key is known for it. */
const OUTSIDE = addressOf(createHash('sha256').update('flock sandbox payer').digest());

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export const simulatedXlm: SimulatedFamily = {
  family: 'xlm',
  hashText: hex,
  deposit: (_network, ask) => depositOf(ask),
  render: (_network, block) => renderBlock(block) as Block,
  keepsLines: true,
  balanceOf(_network, amount, token, opened = new Set()) {
    const isThere = amount > 0n || (token !== null && opened.has(token.contract));
    const account =
      token === null ? accountOf(amount, 0, {}, opened.size) : accountOf(0n, 0, { [token.contract]: amount });
    return balanceOf(isThere ? account : null, BASE_RESERVE, token);
  },
  buildInputs: (_network, intent, view) => inputsOf(intent, view),
  read: readPayload,
  deathOf,
  displaces,
  rivalOf: (_network, { opens: _opens, ...one }, seed) => ({
    ...one,
    txid: hex(seed),
    success: true,
    reason: null,
    transfers: [],
  }),
};

function depositOf({ to, amount, token, seed, balance }: DepositAsk): SandboxTransaction | Refusal {
  const creates = token === null && balance === 0n;
  if (creates && amount < ACCOUNT_MINIMUM) {
    return refuse('INSUFFICIENT_RESERVE', {
      reason: 'the amount does not make the account',
      required: ACCOUNT_MINIMUM.toString(),
    });
  }
  return {
    txid: hex(seed),
    success: true,
    reason: null,
    fee: BASE_FEE.toString(),
    from: null,
    nonce: null,
    transfers: [transferOf(to, amount, token?.contract ?? null, creates)],
  };
}

function transferOf(
  to: string,
  amount: bigint,
  tokenContract: string | null,
  creates: boolean,
): SandboxTransaction['transfers'][number] {
  return {
    outputIndex: 0,
    to,
    amount: amount.toString(),
    tokenContract,
    ...(creates ? { activates: true as const } : {}),
  };
}

function renderBlock({ height, hash, parentHash, timeMs, transactions }: SandboxBlock): Block<XlmLedger> {
  const raw: XlmLedger = {
    operations: transactions.map((transaction, index) => renderOperation(height, transaction, index)),
    effects: [],
    transactions: transactions.map(({ txid, success, fee, reason }) => ({
      hash: txid,
      successful: success,
      fee_charged: fee,
      memo_type: 'none',
      ...(success ? {} : { result_codes: { transaction: 'tx_failed', operations: [reason ?? 'op_failed'] } }),
    })),
  };
  return { height, hash, parentHash, parentHeight: height - 1, timeMs, raw };
}

function renderOperation(
  height: number,
  { txid, success, from, transfers }: SandboxTransaction,
  index: number,
): object {
  const [transfer] = transfers,
    source = from ?? OUTSIDE;
  const common = {
    id: toid(height, index + 1, 1),
    transaction_hash: txid,
    transaction_successful: success,
    source_account: source,
  };
  if (transfer === undefined) return { ...common, type: 'change_trust' };
  const amount = formatAmount(BigInt(transfer.amount), STELLAR_DECIMALS);
  if (transfer.activates === true) {
    return { ...common, type: 'create_account', funder: source, account: transfer.to, starting_balance: amount };
  }
  return {
    ...common,
    type: 'payment',
    from: source,
    to: transfer.to,
    asset: transfer.tokenContract ?? 'native',
    amount,
  };
}

/** An account with these holdings; a line takes whatever comes, and `subentries` of them it opened itself. */
function accountOf(
  balance: bigint,
  nonce: number,
  lines: Readonly<Record<string, bigint>> = {},
  subentries = 0,
): LedgerAccount {
  return {
    balance: balance.toString(),
    sellingLiabilities: '0',
    sequence: (BigInt(nonce) + FIRST_SEQUENCE - 1n).toString(),
    subentries,
    sponsoring: 0,
    sponsored: 0,
    authRequired: false,
    memoRequired: false,
    lines: Object.fromEntries(
      Object.entries(lines).map(([asset, held]) => [
        asset,
        {
          balance: held.toString(),
          limit: INT64_MAX.toString(),
          buyingLiabilities: '0',
          sellingLiabilities: '0',
          authorized: true,
        },
      ]),
    ),
  };
}

function inputsOf({ from, to, token, feePayer = from }: Intent, view: SenderView): XlmInputs {
  const { height, timeMs, nonce, nativeBalance, tokenBalance, destinationBalance = 0n } = view;
  const own = openedBy(view),
    opened = Object.fromEntries([...own].map((asset) => [asset, 0n]));
  const held = token !== null && (tokenBalance ?? 0n) > 0n ? { ...opened, [token.contract]: tokenBalance! } : opened;
  const sender = nativeBalance === 0n ? null : accountOf(nativeBalance, nonce, held, own.size);
  // Nobody outside can be asked to open a line, so such a payee of a token has one, and an account for it.
  const destination =
    token !== null && to !== from
      ? accountOf(destinationBalance, 0, takesToken(view, to, token.contract) ? { [token.contract]: 0n } : {})
      : destinationBalance === 0n
        ? null
        : accountOf(destinationBalance, 0);
  return {
    readAtHeight: height,
    closeTime: Math.floor(timeMs / 1_000),
    baseFee: BASE_FEE.toString(),
    marketFee: BASE_FEE.toString(),
    baseReserve: BASE_RESERVE.toString(),
    sender,
    destination,
    issuer: token === null ? null : accountOf(ACCOUNT_MINIMUM, 0),
    feePayer,
    payer: feePayer === from ? sender : (view.payerBalance ?? 0n) === 0n ? null : accountOf(view.payerBalance!, 0),
  };
}

const rejected = (reason: string, more: Record<string, unknown> = {}): Refusal =>
  refuse('CHAIN_REJECTED', { reason, ...more });

/** M30: nothing lands after its last time, nor where its sequence is used. */
function deathOf({ payload }: Unsigned, { timeMs, nonce }: SenderView): string | null {
  const decoded = decodePayload(payload);
  if (!decoded.ok) return null;
  const { maxTime, sequence } = decoded.payload.transaction,
    now = BigInt(Math.floor(timeMs / 1_000)),
    next = BigInt(nonce) + FIRST_SEQUENCE;
  if (next > sequence) return `sequence ${sequence} is used, the next one is ${next}`;
  return now > maxTime ? `it was void after ${maxTime}, the ledger's clock is at ${now}` : null;
}

function readPayload(network: Network, signed: Signed): ReadPayload | Refusal {
  const payload = readSigned(network, signed);
  if (isRefusal(payload)) return rejected('tx_bad_auth', { differs: payload.details['reason'] });
  const {
      transaction: { source, sequence, operation },
      bump,
    } = payload,
    feePayer = bump?.feeSource ?? source;
  return {
    from: source,
    ...(feePayer === source ? {} : { feePayer }),
    nonce: Number(sequence - FIRST_SEQUENCE),
    tokenContract: operation.kind === 'create_account' ? null : operation.asset,
    ...(operation.kind === 'change_trust'
      ? {}
      : { to: operation.kind === 'payment' ? operation.to.address : operation.to }),
    run: (view) => run(signed.txid, payload, view),
  };
}

/** M21: ten times the offer per operation of the version whose place it takes. */
function displaces(newer: Bid, older: readonly Bid[]): Refusal | { readonly unknown: string } | null {
  const offer = ({ payload }: Bid): { total: bigint; operations: bigint } => {
    const decoded = decodePayload(payload);
    if (!decoded.ok) throw new Error(`a pooled payload does not decode: ${decoded.reason}`);
    const { transaction, bump } = decoded.payload;
    return bump === null
      ? { total: BigInt(transaction.feeStroops), operations: BigInt(OPERATIONS) }
      : { total: bump.feeStroops, operations: BigInt(BUMPED_OPERATIONS) };
  };
  const { total, operations } = offer(newer);
  const isEnough = older
    .map(offer)
    .every((old) => total * old.operations >= DISPLACING_FACTOR * old.total * operations);
  return isEnough ? null : answered('tx_insufficient_fee');
}

type Ran = ReturnType<ReadPayload['run']>;

/** A server's answer in the ledger's own words: what it refuses, what it cannot know, or what it does. */
function run(txid: string, { transaction, bump }: Payload, view: SenderView): Ran {
  const { sequence, maxTime, feeStroops, operation, source } = transaction,
    next = BigInt(view.nonce) + FIRST_SEQUENCE;
  const selfPaid = bump === null || bump.feeSource === source;
  const operations = BigInt(bump === null ? OPERATIONS : BUMPED_OPERATIONS),
    offered = bump?.feeStroops ?? BigInt(feeStroops);
  if (view.nativeBalance === 0n) return answered('tx_no_source_account');
  if (sequence !== next) return answered('tx_bad_seq');
  if (BigInt(Math.floor(view.timeMs / 1_000)) > maxTime) return answered('tx_too_late');
  if (offered < BASE_FEE * operations) return answered('tx_insufficient_fee');
  const charged = BASE_FEE * operations,
    paid = selfPaid ? charged : 0n;
  const payable = selfPaid ? view.nativeBalance - minimumOf(view) : (view.payerBalance ?? 0n) - ACCOUNT_MINIMUM;
  if (payable < offered) return answered('tx_insufficient_balance');
  const done = (transfers: SandboxTransaction['transfers'], reason: string | null = null): SandboxTransaction => ({
    txid,
    success: reason === null,
    reason,
    fee: charged.toString(),
    from: source,
    ...(selfPaid ? {} : { feePayer: bump.feeSource }),
    nonce: view.nonce,
    transfers,
  });
  if (operation.kind !== 'change_trust') return pay(operation, view, paid, done);
  const lacks = !openedBy(view).has(operation.asset) && view.nativeBalance - paid < minimumOf(view) + BASE_RESERVE;
  return lacks ? done([], 'op_low_reserve') : { ...done([]), opens: operation.asset };
}

/** Spec §8.6: "(2 + subentries) x 0.5 XLM". */
function minimumOf(view: SenderView): bigint {
  return ACCOUNT_MINIMUM + BASE_RESERVE * BigInt(openedBy(view).size);
}

type Payment = Exclude<OwnOperation, { kind: 'change_trust' }>;

/** What fails has used its sequence and its fee, as on the ledger. */
function pay(
  operation: Payment,
  view: SenderView,
  paid: bigint,
  done: (transfers: SandboxTransaction['transfers'], reason?: string | null) => SandboxTransaction,
): SandboxTransaction {
  const { nativeBalance, tokenBalance, destinationBalance = 0n } = view;
  const isCreation = operation.kind === 'create_account';
  const amount = isCreation ? operation.startingBalance : operation.amount;
  const asset = isCreation ? null : operation.asset,
    to = isCreation ? operation.to : operation.to.address;
  if (asset !== null)
    return (tokenBalance ?? 0n) < amount ? done([], 'op_underfunded') : done([transferOf(to, amount, asset, false)]);
  if (nativeBalance - paid - minimumOf(view) < amount) return done([], 'op_underfunded');
  if (isCreation && destinationBalance > 0n) return done([], 'op_already_exists');
  if (isCreation && amount < ACCOUNT_MINIMUM) return done([], 'op_low_reserve');
  if (!isCreation && destinationBalance === 0n) return done([], 'op_no_destination');
  return done([transferOf(to, amount, asset, isCreation)]);
}

/** The refusal that a server's code stands for, by the family's own table. */
function answered(code: string): Refusal | { readonly unknown: string } {
  const verdict = explainCodes({ transaction: code, inner: null, operations: [] });
  return verdict.kind === 'rejected' ? refuse(verdict.code, { reason: code }) : { unknown: code };
}
