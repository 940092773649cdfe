/**
 * TRON as a simulated ledger: blocks as a node answers them, signed transactions as a node takes them. Every receiver
 * exists and nobody has bandwidth or energy of his own, so that a fee can be foretold; an address that holds no TRX is
 * not activated and pays nothing (T22).
 */
import { randomInt } from 'node:crypto';
import type { Block, Intent, Network, Signed } from '../../chains/chain.ts';
import { addressOf, bytesOf } from '../../chains/tron/address.ts';
import { createTimestamps, type TronInputs } from '../../chains/tron/build-inputs.ts';
import { bandwidthBytesOf } from '../../chains/tron/fee.ts';
import { decodeRaw, type RawData } from '../../chains/tron/raw-transaction.ts';
import { decodeSigned } from '../../chains/tron/signed.ts';
import type { TronBlock } from '../../chains/tron/transfers.ts';
import { addressWord, decodeTransfer, TRANSFER_TOPIC, wordOf } from '../../chains/tron/trc20.ts';
import type { SandboxBlock, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { ReadPayload, SenderView, SimulatedFamily } from './family.ts';

/** Choice: steady prices of about today, sun. chains.md T19 to T21. */
const BANDWIDTH_SUN = 1_000n;
const ENERGY_SUN = 100n;
const FEE_LIMIT_MAX_SUN = 15_000_000_000n;
/** A token transfer to a holder, and what it has used when the token reverts it. */
const TRANSFER_ENERGY = 64_285n;
const REVERT_ENERGY = 9_031n;
/** A payment from outside, in bytes. */
const DEPOSIT_BYTES = 268n;
/** G2: the native transfer, and the first log. */
const NATIVE_INDEX = -1;
const LOG_INDEX = 0;

/** Payments from outside come from here; no key is known for it. */
const OUTSIDE = addressOf(Buffer.from('flock sandbox payer!'));
const timestampOf = createTimestamps(randomInt(60_000));

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const hexAddress = (address: string): string => `41${hexOf(bytesOf(address))}`;

export const simulatedTron: SimulatedFamily = {
  family: 'tron',
  isMadeByNative: true,
  hashText: hexOf,
  deposit: (_network, { to, amount, token, seed }) => ({
    txid: hexOf(seed),
    success: true,
    reason: null,
    fee: (DEPOSIT_BYTES * BANDWIDTH_SUN).toString(),
    from: null,
    nonce: null,
    transfers: [
      {
        outputIndex: token === null ? NATIVE_INDEX : LOG_INDEX,
        to,
        amount: amount.toString(),
        tokenContract: token?.contract ?? null,
      },
    ],
  }),
  render: (_network, block) => renderBlock(block) as Block,
  balanceOf: (network, amount, token) => ({
    amount,
    reserved: 0n,
    available: amount,
    decimals: token?.decimals ?? network.nativeDecimals,
    accountExists: amount > 0n,
  }),
  buildInputs: inputsOf,
  read: readPayload,
};

function renderBlock({ height, hash, parentHash, timeMs, transactions }: SandboxBlock): Block<TronBlock> {
  const parts = transactions.map((transaction) => renderTransaction(height, transaction));
  return {
    height,
    hash,
    parentHash,
    parentHeight: height - 1,
    timeMs,
    raw: {
      block: {
        block_header: { raw_data: { number: height, timestamp: timeMs } },
        transactions: parts.map(({ transaction }) => transaction),
      },
      infos: parts.map(({ info }) => info),
    },
  };
}

function renderTransaction(height: number, mined: SandboxTransaction): { transaction: object; info: object } {
  const { txid, success, reason, fee, from, transfers } = mined;
  const [transfer] = transfers,
    sender = from ?? OUTSIDE,
    contractRet = success ? 'SUCCESS' : (reason ?? 'REVERT');
  // What failed moved nothing and was a call: a TRX transfer that cannot be made is in no block.
  const native = transfer !== undefined && transfer.tokenContract === null ? transfer : null;
  const type = native === null ? 'TriggerSmartContract' : 'TransferContract';
  const value =
    native === null
      ? { owner_address: hexAddress(sender) }
      : { owner_address: hexAddress(sender), to_address: hexAddress(native.to), amount: native.amount };
  const log =
    native !== null || transfer === undefined
      ? []
      : [
          {
            address: hexOf(bytesOf(transfer.tokenContract!)),
            data: wordOf(BigInt(transfer.amount)),
            topics: [TRANSFER_TOPIC, addressWord(sender), addressWord(transfer.to)],
          },
        ];
  return {
    transaction: { txID: txid, ret: [{ contractRet }], raw_data: { contract: [{ type, parameter: { value } }] } },
    info: {
      id: txid,
      blockNumber: height,
      fee,
      log,
      receipt: native === null ? { result: contractRet } : {},
      ...(success ? {} : { result: 'FAILED' }),
    },
  };
}

function inputsOf(_network: Network, { token, amount }: Intent, view: SenderView): TronInputs {
  const wanted = amount === 'all' ? (view.tokenBalance ?? 0n) : amount;
  const covered = (view.tokenBalance ?? 0n) >= wanted && wanted > 0n;
  return {
    readAtHeight: view.height,
    readAtHash: view.hash,
    headTimeMs: view.timeMs,
    timestampMs: timestampOf(view.timeMs),
    refBlockBytes: (view.height & 0xffff).toString(16).padStart(4, '0'),
    refBlockHash: view.hash.slice(16, 32),
    senderExists: view.nativeBalance > 0n,
    nativeBalance: view.nativeBalance.toString(),
    tokenBalance: token === null ? null : (view.tokenBalance ?? 0n).toString(),
    destination: 'account',
    stakedBandwidth: '0',
    freeBandwidth: '0',
    energy: '0',
    prices: {
      bandwidthSun: BANDWIDTH_SUN.toString(),
      energySun: ENERGY_SUN.toString(),
      createAccountSun: '0',
      newAccountSun: '0',
      createAccountRate: '1',
      feeLimitMaxSun: FEE_LIMIT_MAX_SUN.toString(),
    },
    tried:
      token === null
        ? { kind: 'native' }
        : covered
          ? { kind: 'succeeded', energy: TRANSFER_ENERGY.toString() }
          : { kind: 'reverted', reason: 'REVERT opcode executed' },
  };
}

function rejected(reason: string, more: Record<string, unknown> = {}): Refusal {
  return refuse('CHAIN_REJECTED', { reason, ...more });
}

function readPayload(network: Network, signed: Signed): ReadPayload | Refusal {
  const read = decodeSigned(network, signed.payload);
  if (!read.ok) return rejected(`payload: ${read.reason}`);
  if (read.txid !== signed.txid) return rejected('the txid is not the hash of the payload', { txid: read.txid }); // G28
  const decoded = decodeRaw(read.payload);
  if (!decoded.ok) return rejected(`raw data: ${decoded.reason}`);
  const { raw } = decoded,
    { contract } = raw;
  if (contract.owner !== read.from) return rejected('the signer is not the owner', { owner: contract.owner });
  const payment =
    contract.type === 'TransferContract'
      ? { to: contract.to, amount: contract.amount }
      : contract.type === 'TriggerSmartContract'
        ? decodeTransfer(contract.data)
        : null;
  if (payment === null) return rejected('only transfers are run by this ledger');
  const tokenContract = contract.type === 'TriggerSmartContract' ? contract.contract : null;
  const bandwidthFee = bandwidthBytesOf(read.payload) * BANDWIDTH_SUN;
  const moved = { txid: read.txid, from: read.from, ...payment, tokenContract, bandwidthFee };
  return { from: read.from, nonce: null, tokenContract, run: (view) => run(raw, moved, view) };
}

interface Moved {
  readonly txid: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  readonly tokenContract: string | null;
  readonly bandwidthFee: bigint;
}

/** The checks of a node and then the execution, in that order. Texts are java-tron's. */
function run(raw: RawData, moved: Moved, view: SenderView): ReturnType<ReadPayload['run']> {
  const { tokenContract, amount, bandwidthFee, txid, from, to } = moved;
  if (raw.expirationMs <= view.timeMs) return rejected('Transaction expired', { action: 'rebuild' });
  const lacking = (code: 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_GAS', required: bigint) =>
    refuse(code, { balance: view.nativeBalance.toString(), required: required.toString() });
  // X1: the asset first
  if (tokenContract === null && view.nativeBalance < amount) return lacking('INSUFFICIENT_FUNDS', amount);
  const required = bandwidthFee + (tokenContract === null ? amount : 0n);
  if (view.nativeBalance < required) return lacking('INSUFFICIENT_GAS', required);
  const mined = (reason: string | null, energy: bigint): SandboxTransaction => ({
    txid,
    success: reason === null,
    reason,
    fee: (bandwidthFee + energy * ENERGY_SUN).toString(),
    from,
    nonce: null,
    transfers:
      reason !== null
        ? []
        : [
            {
              outputIndex: tokenContract === null ? NATIVE_INDEX : LOG_INDEX,
              to,
              amount: amount.toString(),
              tokenContract,
            },
          ],
  });
  if (tokenContract === null) return mined(null, 0n);
  const payable = view.nativeBalance - bandwidthFee,
    limit = raw.feeLimit < payable ? raw.feeLimit : payable;
  const reverts = (view.tokenBalance ?? 0n) < amount,
    needed = reverts ? REVERT_ENERGY : TRANSFER_ENERGY;
  if (limit / ENERGY_SUN < needed) return mined('OUT_OF_ENERGY', limit / ENERGY_SUN); // the whole limit is paid
  return mined(reverts ? 'REVERT' : null, needed);
}
