/**
 * The XRP Ledger as a simulated ledger: validated ledgers as a server shows them, signed payments as it takes them. A
 * block is a ledger that closed, sequences begin at 1, everybody outside may be paid every token (a line that nobody
 * opened is thought to be there), and reserves are set here, for a simulated ledger has nobody who votes on them.
 */
import { createHash } from 'node:crypto';
import type { Block, Intent, Network, Signed, Unsigned } from '../../chains/chain.ts';
import { addressOf } from '../../chains/xrp/address.ts';
import { balanceOf, tokenBalanceOf, type XrpReserves } from '../../chains/xrp/balance.ts';
import { assetOf } from '../../chains/xrp/currency.ts';
import { txidOf } from '../../chains/xrp/hashes.ts';
import type { LineState, XrpInputs } from '../../chains/xrp/inputs.ts';
import { issuedText, RATE_ONE } from '../../chains/xrp/issued-amount.ts';
import { explainResult } from '../../chains/xrp/rejection.ts';
import { decodeSigned } from '../../chains/xrp/signed.ts';
import { decodeUnsigned, networkFlawOf, type XrpPayment, type XrpTransaction } from '../../chains/xrp/transaction.ts';
import type { XrpLedger } from '../../chains/xrp/transfers.ts';
import { TRUST_LIMIT } from '../../chains/xrp/trustline.ts';
import type { SandboxBlock, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import {
  openedBy,
  takesToken,
  type Bid,
  type DepositAsk,
  type ReadPayload,
  type SenderView,
  type SimulatedFamily,
} from './family.ts';

/** Choice: the reserves and the fee of the main network in 2024, drops. */
const RESERVES: XrpReserves = { base: 1_000_000n, increment: 200_000n };
const BASE_FEE_DROPS = 10n;
const RIPPLE_EPOCH_SECONDS = 946_684_800;
/** The store counts a sender's transactions from zero. */
const FIRST_SEQUENCE = 1;
/** The first lines of an account need no reserve to be opened. Source: xrpl.org, reserves. */
const FREE_LINES = 2;
/** Payments from outside come from here; no key is known for it. */
const OUTSIDE = addressOf(createHash('sha256').update('flock sandbox payer').digest().subarray(0, 20));

/** Whose the balance of a line is said to be: nobody's, the account of ones. Source: xrpl.org, RippleState. */
const NO_ACCOUNT = 'rrrrrrrrrrrrrrrrrrrrBZbvji';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

export const simulatedXrp: SimulatedFamily = {
  family: 'xrp',
  hashText: hex,
  deposit: (_network, ask) => depositOf(ask),
  render: (_network, block) => renderBlock(block) as Block,
  keepsLines: true,
  balanceOf(_network, amount, token, opened = new Set()) {
    if (token === null) {
      return balanceOf(amount === 0n ? null : { Balance: amount.toString(), OwnerCount: opened.size }, RESERVES);
    }
    const { currency, issuer } = assetOf(token.contract);
    return tokenBalanceOf(
      amount === 0n && !opened.has(token.contract) ? [] : [{ account: issuer, currency, balance: issuedText(amount) }],
      currency,
      issuer,
    );
  },
  buildInputs: (_network, intent, view) => inputsOf(intent, view),
  read: readPayload,
  lastHeightOf,
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
  if (creates && amount < RESERVES.base) {
    return refuse('INSUFFICIENT_RESERVE', {
      reason: 'the amount does not make the account',
      required: RESERVES.base.toString(),
    });
  }
  return {
    txid: hex(seed),
    success: true,
    reason: null,
    fee: BASE_FEE_DROPS.toString(),
    from: null,
    nonce: null,
    transfers: [transferOf({ to, amount, tokenContract: token?.contract ?? null, creates })],
  };
}

interface Moved {
  readonly to: string;
  readonly amount: bigint;
  readonly tokenContract: string | null;
  /** The payment makes the account. */
  readonly creates: boolean;
}

function transferOf({ to, amount, tokenContract, creates }: Moved): SandboxTransaction['transfers'][number] {
  return {
    outputIndex: 0,
    to,
    amount: amount.toString(),
    tokenContract,
    ...(creates ? { activates: true as const } : {}),
  };
}

function renderBlock({ height, hash, parentHash, timeMs, transactions }: SandboxBlock): Block<XrpLedger> {
  const raw = {
    validated: true,
    ledger_index: height,
    ledger_hash: hash,
    ledger: {
      ledger_index: height,
      ledger_hash: hash,
      parent_hash: parentHash,
      closed: true,
      close_time: Math.floor(timeMs / 1_000) - RIPPLE_EPOCH_SECONDS,
      transactions: transactions.map(renderTransaction),
    },
  };
  return { height, hash, parentHash, parentHeight: height - 1, timeMs, raw };
}

function renderTransaction(
  { txid, success, reason, fee, from, nonce, transfers }: SandboxTransaction,
  index: number,
): XrpLedger {
  const [transfer] = transfers,
    sender = from ?? OUTSIDE;
  const common = { Account: sender, Fee: fee, Sequence: (nonce ?? 0) + FIRST_SEQUENCE };
  const meta = { TransactionIndex: index, TransactionResult: success ? 'tesSUCCESS' : (reason ?? 'tecPATH_DRY') };
  if (transfer === undefined) {
    const touched = [rootOf(sender, -BigInt(fee))];
    return {
      hash: txid,
      validated: true,
      tx_json: { TransactionType: 'TrustSet', ...common },
      meta: { ...meta, AffectedNodes: touched },
    };
  }
  const amount = amountJson(BigInt(transfer.amount), transfer.tokenContract);
  return {
    hash: txid,
    validated: true,
    tx_json: { TransactionType: 'Payment', ...common, Destination: transfer.to, DeliverMax: amount },
    meta: { ...meta, delivered_amount: amount, AffectedNodes: touchedBy(transfer, sender, BigInt(fee)) },
  };
}

/** What a payment changed, as metadata say it. */
function touchedBy(
  { to, amount: text, tokenContract, activates }: SandboxTransaction['transfers'][number],
  sender: string,
  fee: bigint,
): object[] {
  const amount = BigInt(text);
  if (tokenContract !== null)
    return [rootOf(sender, -fee), lineOf(sender, tokenContract, -amount), lineOf(to, tokenContract, amount)];
  const made = {
    CreatedNode: { LedgerEntryType: 'AccountRoot', NewFields: { Account: to, Balance: text } },
  };
  return [rootOf(sender, -amount - fee), activates === true ? made : rootOf(to, amount)];
}

/** A block here knows no balances, and what is read of them is their change: the lesser of the two is the reserve. */
function rootOf(account: string, change: bigint): object {
  const [before, after] =
    change < 0n ? [RESERVES.base - change, RESERVES.base] : [RESERVES.base, RESERVES.base + change];
  return {
    ModifiedNode: {
      LedgerEntryType: 'AccountRoot',
      FinalFields: { Account: account, Balance: after.toString() },
      PreviousFields: { Balance: before.toString() },
    },
  };
}

/** The line between a holder, who is its low account here, and the issuer; the lesser balance is zero. */
function lineOf(holder: string, tokenContract: string, change: bigint): object {
  const { currency, issuer } = assetOf(tokenContract);
  const [before, after] = change < 0n ? [-change, 0n] : [0n, change];
  const balance = (value: bigint) => ({ currency, issuer: NO_ACCOUNT, value: issuedText(value) });
  return {
    ModifiedNode: {
      LedgerEntryType: 'RippleState',
      FinalFields: {
        Balance: balance(after),
        LowLimit: { currency, issuer: holder, value: issuedText(TRUST_LIMIT) },
        HighLimit: { currency, issuer, value: '0' },
      },
      PreviousFields: { Balance: balance(before) },
    },
  };
}

function amountJson(amount: bigint, tokenContract: string | null): unknown {
  return tokenContract === null ? amount.toString() : { ...assetOf(tokenContract), value: issuedText(amount) };
}

function inputsOf({ to, token }: Intent, view: SenderView): XrpInputs {
  const opened = openedBy(view),
    isOpen = token !== null && opened.has(token.contract);
  const line = (balance: bigint): LineState => ({
    balance: balance.toString(),
    limit: TRUST_LIMIT.toString(),
    frozen: false,
    deepFrozen: false,
    authorized: true,
    noRippleAtIssuer: false,
  });
  const { destinationBalance = 0n, tokenBalance, nativeBalance, nonce, height } = view;
  return {
    readAtHeight: height,
    baseFeeDrops: BASE_FEE_DROPS.toString(),
    openLedgerFeeDrops: BASE_FEE_DROPS.toString(),
    reserveBaseDrops: RESERVES.base.toString(),
    reserveIncrementDrops: RESERVES.increment.toString(),
    sender:
      nativeBalance === 0n
        ? null
        : {
            balanceDrops: nativeBalance.toString(),
            sequence: nonce + FIRST_SEQUENCE,
            ownerCount: opened.size,
            tickets: [],
          },
    // Nobody outside can be asked to open a line, so such a payee of a token has one, and an account for it.
    destination:
      token === null && destinationBalance === 0n
        ? null
        : { balanceDrops: destinationBalance.toString(), requiresTag: false, refusesXrp: false, takesDeposits: true },
    token:
      token === null
        ? null
        : {
            issuer: { transferRate: RATE_ONE.toString(), requiresAuthorization: false, globallyFrozen: false },
            senderLine: (tokenBalance ?? 0n) === 0n && !isOpen ? null : line(tokenBalance ?? 0n),
            destinationLine: takesToken(view, to, token.contract) ? line(0n) : null,
          },
  };
}

const rejected = (reason: string, more: Record<string, unknown> = {}): Refusal =>
  refuse('CHAIN_REJECTED', { reason, ...more });

/** The height after which a payload is void; what it says itself. */
function lastHeightOf({ payload }: Unsigned): number | null {
  const decoded = decodeUnsigned(payload);
  return decoded.ok ? decoded.transaction.lastLedgerSequence : null;
}

function readPayload(network: Network, signed: Signed): ReadPayload | Refusal {
  const decoded = decodeSigned(signed.payload);
  if (!decoded.ok) return rejected(`payload: ${decoded.reason}`);
  const txid = txidOf(signed.payload);
  if (txid !== signed.txid) return rejected('the txid is not the hash of the payload', { txid }); // G28
  const { transaction } = decoded,
    flaw = networkFlawOf(network, transaction);
  if (flaw !== null) return rejected('telWRONG_NETWORK', { differs: flaw.reason });
  if (transaction.byTicket) return rejected('tefNO_TICKET');
  return {
    from: transaction.account,
    nonce: transaction.sequence - FIRST_SEQUENCE,
    tokenContract: transaction.tokenContract,
    ...(transaction.type === 'Payment' ? { to: transaction.destination } : {}),
    run: (view) => run(txid, transaction, view),
  };
}

/** R20: a quarter more than the version whose place it takes. */
function displaces(newer: Bid, older: readonly Bid[]): Refusal | { readonly unknown: string } | null {
  const fee = BigInt(newer.transaction.fee);
  return older.every(({ transaction }) => fee * 4n >= BigInt(transaction.fee) * 5n)
    ? null
    : answered('telCAN_NOT_QUEUE_FEE');
}

type Ran = ReturnType<ReadPayload['run']>;

/** A server's answer in the ledger's own words: what it refuses, what it cannot know, or what it does. */
function run(txid: string, transaction: XrpTransaction, view: SenderView): Ran {
  const { sequence, lastLedgerSequence, feeDrops } = transaction,
    next = view.nonce + FIRST_SEQUENCE;
  if (view.nativeBalance === 0n) return answered('terNO_ACCOUNT');
  if (sequence < next) return { unknown: 'tefPAST_SEQ' };
  if (sequence > next) return { unknown: 'terPRE_SEQ' };
  if (view.height + 1 > lastLedgerSequence) return { unknown: 'tefMAX_LEDGER' };
  if (feeDrops < BASE_FEE_DROPS) return answered('telINSUF_FEE_P');
  if (view.nativeBalance < feeDrops) return answered('terINSUF_FEE_B');
  const done = (transfers: SandboxTransaction['transfers']): SandboxTransaction => ({
    txid,
    success: true,
    reason: null,
    fee: feeDrops.toString(),
    from: transaction.account,
    nonce: view.nonce,
    transfers,
  });
  if (transaction.type !== 'TrustSet') return pay(transaction, view, done);
  const opened = openedBy(view);
  const lacks =
    opened.size >= FREE_LINES &&
    !opened.has(transaction.tokenContract) &&
    view.nativeBalance < reserveOf(opened.size + 1);
  return lacks ? answered('tecINSUF_RESERVE_LINE') : { ...done([]), opens: transaction.tokenContract };
}

function reserveOf(ownerCount: number): bigint {
  return RESERVES.base + RESERVES.increment * BigInt(ownerCount);
}

function pay(
  payment: XrpPayment,
  view: SenderView,
  done: (transfers: SandboxTransaction['transfers']) => SandboxTransaction,
): Ran {
  const { amount, tokenContract, destination: to, feeDrops } = payment;
  const { nativeBalance, destinationBalance = 0n } = view;
  if (tokenContract !== null) {
    return (view.tokenBalance ?? 0n) < amount
      ? answered('tecPATH_PARTIAL')
      : done([transferOf({ to, amount, tokenContract, creates: false })]);
  }
  const creates = destinationBalance === 0n;
  if (creates && amount < RESERVES.base) return answered('tecNO_DST_INSUF_XRP');
  const reserve = reserveOf(openedBy(view).size),
    kept = reserve > feeDrops ? reserve : feeDrops;
  if (nativeBalance >= amount + kept) return done([transferOf({ to, amount, tokenContract, creates })]);
  const code = nativeBalance >= amount + feeDrops ? 'INSUFFICIENT_RESERVE' : 'INSUFFICIENT_FUNDS';
  return refuse(code, {
    reason: 'tecUNFUNDED_PAYMENT',
    balance: nativeBalance.toString(),
    required: (amount + feeDrops).toString(),
  });
}

/** The refusal that a server's word stands for, by the family's own table. */
function answered(word: string): Refusal | { readonly unknown: string } {
  const verdict = explainResult({ engineResult: word, isCarried: false });
  return verdict.kind === 'rejected' ? refuse(verdict.code, { reason: word }) : { unknown: word };
}
