/**
 * Solana as a simulated ledger: blocks as a node answers them, signed messages as a node takes them. Every slot holds a
 * block, every receiver exists, and a block hash does not expire: a simulated ledger does not move between its events.
 * A token payment always creates the receiver's token account, so that the message names its owner.
 */
import { createHash, randomInt } from 'node:crypto';
import { base58 } from '@scure/base';
import type { Block, Intent, Network, Signed } from '../../chains/chain.ts';
import { signedOn } from '../../chains/sandbox-networks.ts';
import { balanceOf, tokenBalanceOf } from '../../chains/sol/balance.ts';
import { priorityFeeOf, SALTS, type SolInputs } from '../../chains/sol/fee.ts';
import { decodeMessage, decodeTransaction } from '../../chains/sol/message.ts';
import { solOf } from '../../chains/sol/network.ts';
import { decodePayment, type Payment } from '../../chains/sol/payment.ts';
import { associatedTokenAddress } from '../../chains/sol/program-address.ts';
import { TOKEN_PROGRAM } from '../../chains/sol/programs.ts';
import { txidOf, verifies } from '../../chains/sol/signed.ts';
import type { SolBlock } from '../../chains/sol/transfers.ts';
import type { SandboxBlock, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { ReadPayload, SenderView, SimulatedFamily } from './family.ts';

/** Choice: the network's own figures of today, steady, so that a sandbox fee can be foretold. chains.md 7.2. */
const LAMPORTS_PER_SIGNATURE = 5_000n;
const RENT_EXEMPT_LAMPORTS = 890_880n;
const TOKEN_ACCOUNT_RENT_LAMPORTS = 2_039_280n;
/** What a token transfer that creates an account uses of compute. */
const TOKEN_TRANSFER_UNITS = 30_000;
/** Any receiver is taken for an account that exists. */
const RECEIVER_LAMPORTS = 1_000_000_000n;
/** G2: the credited account follows the sender's. */
const CREDITED_INDEX = 1;

const named = (text: string): string => base58.encode(createHash('sha256').update(text).digest());
/** Payments from outside come from here; no key is known for it. */
const OUTSIDE = named('flock sandbox payer');

export const simulatedSol: SimulatedFamily = {
  family: 'sol',
  hashText: (bytes) => base58.encode(bytes),
  deposit: (_network, { to, amount, token, seed }) => ({
    txid: base58.encode(createHash('sha512').update(seed).digest()),
    success: true,
    reason: null,
    fee: LAMPORTS_PER_SIGNATURE.toString(),
    from: null,
    nonce: null,
    transfers: [
      {
        outputIndex: CREDITED_INDEX,
        to,
        amount: amount.toString(),
        tokenContract: token?.contract ?? null,
      },
    ],
  }),
  render: (_network, block) => renderBlock(block) as Block,
  balanceOf: (_network, amount, token) =>
    token === null
      ? balanceOf({ lamports: amount === 0n ? null : amount, rentExempt: RENT_EXEMPT_LAMPORTS })
      : tokenBalanceOf(amount === 0n ? [] : [{ amount, spendable: true }], token.decimals),
  buildInputs: inputsOf,
  read: readPayload,
};

function renderBlock(block: SandboxBlock): Block<SolBlock> {
  const { height, hash, parentHash, timeMs } = block;
  const parentHeight = height - 1;
  return {
    height,
    hash,
    parentHash,
    parentHeight,
    timeMs,
    raw: {
      blockhash: hash,
      previousBlockhash: parentHash,
      parentSlot: parentHeight,
      blockHeight: height,
      blockTime: Math.floor(timeMs / 1_000),
      transactions: block.transactions.map(renderTransaction),
    },
  };
}

type Transfer = SandboxTransaction['transfers'][number];

function renderTransaction({ txid, success, reason, fee, from, feePayer, transfers }: SandboxTransaction): object {
  const [transfer] = transfers,
    sender = from ?? OUTSIDE,
    payer = feePayer ?? sender;
  const isToken = transfer !== undefined && transfer.tokenContract !== null;
  const credited = transfer?.outputIndex ?? CREDITED_INDEX,
    debited = credited + 1;
  const keys = Array.from({ length: debited + 1 }, (_, index) => (index === 0 ? payer : named(`${txid} ${index}`)));
  if (transfer !== undefined && !isToken) keys[credited] = transfer.to;
  const moved = transfer === undefined || isToken ? 0n : BigInt(transfer.amount);
  const source = payer === sender ? 0 : debited;
  if (payer !== sender && !isToken) keys[source] = sender;
  const before = keys.map((_, index) => (index === 0 ? BigInt(fee) : 0n) + (index === source ? moved : 0n));
  const after = keys.map((_, index) => (index === credited ? moved : 0n));
  const tokenBalances = ({ to, tokenContract: mint }: Transfer, ...amounts: string[]) =>
    [
      [debited, sender],
      [credited, to],
    ].map(([accountIndex, owner], index) => ({
      accountIndex,
      mint,
      owner,
      programId: TOKEN_PROGRAM,
      uiTokenAmount: { amount: amounts[index] },
    }));
  const text = (lamports: bigint) => lamports.toString();
  return {
    version: 'legacy',
    transaction: { signatures: [txid], message: { accountKeys: keys } },
    meta: {
      err: success ? null : { InstructionError: [0, reason ?? 'failed'] },
      fee,
      loadedAddresses: { writable: [], readonly: [] },
      preBalances: before.map(text),
      postBalances: after.map(text),
      preTokenBalances: isToken ? tokenBalances(transfer, transfer.amount, '0') : [],
      postTokenBalances: isToken ? tokenBalances(transfer, '0', transfer.amount) : [],
    },
  };
}

function inputsOf(network: Network, { from, to, token, feePayer = from }: Intent, view: SenderView): SolInputs {
  const { blockhashLifetime, threshold, unitPrice } = solOf(network);
  const senderLamports = lamportsOf(view.nativeBalance);
  const accountOf = (owner: string) => associatedTokenAddress({ owner, mint: token!.contract, program: TOKEN_PROGRAM });
  return {
    readAtHeight: view.height,
    blockhash: view.hash,
    lastValidBlockHeight: view.height + blockhashLifetime - 1,
    finalizedBlockHeight: Math.max(0, view.height - threshold + 1),
    lamportsPerSignature: LAMPORTS_PER_SIGNATURE.toString(),
    rentExempt: RENT_EXEMPT_LAMPORTS.toString(),
    senderLamports,
    senderIsWallet: true,
    feePayer,
    payerLamports: feePayer === from ? senderLamports : lamportsOf(view.payerBalance ?? 0n),
    payerIsWallet: true,
    destination: { kind: 'wallet', lamports: RECEIVER_LAMPORTS.toString() },
    token:
      token === null
        ? null
        : {
            program: TOKEN_PROGRAM,
            decimals: token.decimals,
            source: accountOf(from),
            destination: accountOf(to),
            balance: view.tokenBalance === null || view.tokenBalance === 0n ? null : view.tokenBalance.toString(),
            refusal: null,
            createRent: TOKEN_ACCOUNT_RENT_LAMPORTS.toString(),
          },
    compute: token === null ? { kind: 'plain' } : { kind: 'simulated', units: TOKEN_TRANSFER_UNITS },
    unitPrice: unitPrice.floor.toString(),
    salt: randomInt(SALTS),
  };
}

const lamportsOf = (balance: bigint): string | null => (balance === 0n ? null : balance.toString());

const rejected = (reason: string): Refusal => refuse('CHAIN_REJECTED', { reason });

function readPayload(network: Network, signed: Signed): ReadPayload | Refusal {
  const transaction = decodeTransaction(Buffer.from(signed.payload, 'base64'));
  if (!transaction.ok) return rejected(`payload: ${transaction.reason}`);
  const message = decodeMessage(transaction.message),
    decoded = decodePayment(transaction.message);
  if (!message.ok || !decoded.ok) {
    return rejected(`message: ${message.ok ? (decoded as { reason: string }).reason : message.reason}`);
  }
  const { signatures } = transaction,
    { signers, keys } = message,
    { payment } = decoded;
  const whole = signedOn(network, transaction.message);
  const allSigned =
    signatures.length === signers.length &&
    signers.every((signer, index) => verifies(signer, whole, signatures[index]!));
  if (!allSigned) return rejected('Transaction signature verification failure');
  const txid = txidOf(signatures);
  if (txid !== signed.txid) return rejected('the txid is not that of the signed bytes'); // G28
  const { feePayer, from, asset } = payment;
  const to = asset.kind === 'native' ? asset.to : asset.creates;
  if (to === null) return rejected('the message does not name the owner of the token account');
  const outputIndex = keys.indexOf(asset.kind === 'native' ? asset.to : asset.destination);
  return {
    from,
    nonce: null,
    tokenContract: asset.kind === 'token' ? asset.mint : null,
    ...(feePayer === from ? {} : { feePayer }),
    run: (view) => run(txid, payment, { outputIndex, to }, view),
  };
}

/** A node's preflight and then the execution: what a preflight refuses is in no block. */
function run(
  txid: string,
  payment: Payment,
  credited: { outputIndex: number; to: string },
  view: SenderView,
): ReturnType<ReadPayload['run']> {
  const { from, feePayer, amount, asset } = payment,
    isNative = asset.kind === 'native',
    isSelfPaid = feePayer === from;
  const fee =
    LAMPORTS_PER_SIGNATURE * (isSelfPaid ? 1n : 2n) +
    priorityFeeOf(payment) +
    (isNative ? 0n : TOKEN_ACCOUNT_RENT_LAMPORTS);
  const no = (code: 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_GAS', balance: bigint, required: bigint) =>
    refuse(code, { balance: balance.toString(), required: required.toString() });
  const holds = isNative ? view.nativeBalance : (view.tokenBalance ?? 0n),
    needed = (isNative ? amount : 0n) + (isSelfPaid ? fee : 0n),
    payable = isSelfPaid ? view.nativeBalance : (view.payerBalance ?? 0n);
  if (holds < amount) return no('INSUFFICIENT_FUNDS', holds, amount);
  if (payable < (isSelfPaid ? needed : fee)) return no('INSUFFICIENT_GAS', payable, isSelfPaid ? needed : fee);
  const lefts = [view.nativeBalance - needed, ...(isSelfPaid ? [] : [payable - fee])];
  const short = lefts.find((left) => left > 0n && left < RENT_EXEMPT_LAMPORTS);
  if (short !== undefined) {
    return refuse('INSUFFICIENT_RESERVE', { left: short.toString(), minimum: RENT_EXEMPT_LAMPORTS.toString() });
  }
  return {
    txid,
    success: true,
    reason: null,
    fee: fee.toString(),
    from,
    ...(isSelfPaid ? {} : { feePayer }),
    nonce: null,
    transfers: [{ ...credited, amount: amount.toString(), tokenContract: isNative ? null : asset.mint }],
  };
}
