/**
 * One transaction on a state, with the checks of a node in the node's order. Source: java-tron
 * Wallet.broadcastTransaction, Manager.pushTransaction and processTransaction, BandwidthProcessor, TransferActuator,
 * VMActuator, ReceiptCapsule.
 *
 *   contract count → expiry (next slot) → signature → reference block → expiry (head) → size → seen before
 *   → bandwidth or its fee → memo fee → the contract's own validation → the contract
 */
import { runCall, type Internal, type Log } from './machine.ts';
import { recovered } from './sdk.ts';
import { RESULT_BYTES, type PeerTransaction } from './transaction.ts';
import { copyOf, touch, type Account, type Parameters, type World } from './world.ts';

/** Why a node does not take a transaction: a code of api.proto's `Return` and its text. */
export class Refused extends Error {
  readonly code: string;
  constructor(code: string, text: string) {
    super(text);
    this.code = code;
  }
}
const invalid = (text: string): Refused => new Refused('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${text}`);

const TRANSACTION_BYTES_MAX = 500 * 1_024;
const DAY_MS = 86_400_000n;

/** What the chain around a transaction says. */
export interface Surroundings {
  readonly parameters: Parameters;
  readonly headTimeMs: number;
  readonly nextSlotMs: number;
  /** Hash bytes of the block that a reference names, or null for one that is not in the table of recent blocks. */
  recentHash(refBlockBytes: string): string | null;
  isSeen(txid: string): boolean;
}

/** A transaction that was run, with what its info states. */
export interface Executed {
  readonly transaction: PeerTransaction;
  readonly contractRet: string;
  readonly receipt: Readonly<Record<string, bigint | string>>;
  readonly fee: bigint;
  readonly failed: boolean;
  readonly resMessage: string;
  readonly contract: string | null;
  readonly returned: string;
  readonly logs: readonly Log[];
  readonly internals: readonly Internal[];
}

/** The address that a signature belongs to. Throws: Refused for one that is none. */
export function signerOf(signature: Buffer, txid: string): string {
  if (signature.length < 65) {
    throw new Refused('SIGERROR', `Validate signature error: Signature size is ${signature.length}`);
  }
  try {
    return recovered(txid, signature);
  } catch {
    throw new Refused('SIGERROR', 'Validate signature error: Header byte out of range');
  }
}

function checkSignature({ signatures, txid, value }: PeerTransaction): void {
  if (signatures.length === 0) throw new Refused('SIGERROR', 'Validate signature error: miss sig or contract');
  if (signatures.length > 5) throw new Refused('SIGERROR', 'Validate signature error: too many signatures');
  for (const signature of signatures) {
    const signer = signerOf(signature, txid);
    if (signer !== value['owner_address']) {
      const text = `${signature.toString('hex')} is signed by ${signer} but it is not contained of permission.`;
      throw new Refused('SIGERROR', `Validate signature error: ${text}`);
    }
  }
}

function checkSurroundings(transaction: PeerTransaction, around: Surroundings): void {
  if (transaction.contractCount === 0) throw invalid('No contract!');
  if (transaction.expiration < BigInt(around.nextSlotMs)) {
    throw new Refused('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
  }
  checkSignature(transaction);
  if (transaction.contractCount !== 1) {
    throw new Refused('OTHER_ERROR', `Error: tx ${transaction.txid} contract size should be exactly 1`);
  }
  if (around.recentHash(transaction.refBlockBytes) !== transaction.refBlockHash) {
    throw new Refused('TAPOS_ERROR', 'Tapos check error.');
  }
  if (transaction.bytes.length > TRANSACTION_BYTES_MAX) {
    throw new Refused('TOO_BIG_TRANSACTION_ERROR', `Too big transaction, TxId ${transaction.txid}`);
  }
  const head = BigInt(around.headTimeMs);
  if (transaction.expiration <= head || transaction.expiration > head + DAY_MS) {
    throw new Refused('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
  }
  if (around.isSeen(transaction.txid)) throw new Refused('DUP_TRANSACTION_ERROR', 'Dup transaction.');
}

type Receipt = Record<string, bigint | string>;

/** Staked bandwidth, else free bandwidth, else the fee; each covers the whole transaction or nothing of it. */
function consumeBandwidth(world: World, transaction: PeerTransaction, parameters: Parameters, receipt: Receipt): void {
  const { value, type, bytes } = transaction;
  const owner = value['owner_address'] as string;
  const account = world.accounts.get(owner);
  if (account === undefined) throw invalid(`account [${owner}] does not exist`);
  const size = BigInt(bytes.length + RESULT_BYTES);
  const stakedLeft = account.netLimit - account.netUsed;
  const creates =
    (type === 'TransferContract' || type === 'TransferAssetContract') &&
    !world.accounts.has(value['to_address'] as string);
  const staked = creates ? size * parameters.createAccountRate : size;
  if (staked <= stakedLeft) {
    account.netUsed += staked;
    receipt['net_usage'] = staked;
    return;
  }
  const freeLeft = parameters.freeNetLimit - account.freeNetUsed;
  if (!creates && size <= freeLeft && size <= parameters.publicNetLeft) {
    account.freeNetUsed += size;
    receipt['net_usage'] = size;
    return;
  }
  const fee = creates ? parameters.createAccountFee : size * parameters.transactionFee;
  if (account.balance < fee) throw new Refused('BANDWITH_ERROR', 'Account resource insufficient error.');
  account.balance -= fee;
  receipt['net_fee'] = fee;
}

function consumeMemoFee(account: Account, { memo }: PeerTransaction, { memoFee }: Parameters, receipt: Receipt): void {
  if (memo.length === 0 || memoFee === 0n) return;
  if (account.balance < memoFee) throw new Refused('BANDWITH_ERROR', 'Account resource insufficient error.');
  account.balance -= memoFee;
  receipt['memo_fee'] = memoFee;
}

/** The transfer of TRX. Answers the fee for a destination that it creates. */
function transferTrx(world: World, { value }: PeerTransaction, { newAccountFee }: Parameters, timeMs: number): bigint {
  const from = value['owner_address'] as string,
    to = value['to_address'] as string,
    amount = value['amount'] as bigint;
  if (!to.startsWith('T')) throw invalid('Invalid toAddress!');
  if (to === from) throw invalid('Cannot transfer TRX to yourself.');
  const sender = world.accounts.get(from)!,
    receiver = world.accounts.get(to);
  if (amount <= 0n) throw invalid('Amount must be greater than 0.');
  if (receiver?.isContract === true) throw invalid('Cannot transfer TRX to a smartContract.');
  const fee = receiver === undefined ? newAccountFee : 0n;
  if (sender.balance < amount + fee) throw invalid('Validate TransferContract error, balance is not sufficient.');
  sender.balance -= amount + fee;
  touch(world, to, timeMs).balance += amount;
  return fee;
}

interface Called {
  readonly world: World;
  readonly result: string;
  readonly energy: bigint;
  readonly returned: string;
  readonly resMessage: string;
  readonly logs: readonly Log[];
  readonly internals: readonly Internal[];
}

/** The call of a contract within the energy that the fee limit, the balance and the stake allow. */
function call(world: World, { value, feeLimit }: PeerTransaction, parameters: Parameters, timeMs: number): Called {
  const caller = value['owner_address'] as string;
  const contract = value['contract_address'] as string;
  const callValue = value['call_value'] as bigint;
  if (!world.contracts.has(contract)) throw invalid('No contract or not a smart contract');
  if (feeLimit < 0n || feeLimit > parameters.maxFeeLimit) {
    throw invalid(`feeLimit must be >= 0 and <= ${parameters.maxFeeLimit}`);
  }
  const account = world.accounts.get(caller)!;
  if (account.balance < callValue) throw invalid('Validate InternalTransfer error, balance is not sufficient.');
  const ofBalance = (account.balance - callValue) / parameters.energyFee;
  const available = account.energyLimit - account.energyUsed + ofBalance;
  const ofLimit = feeLimit / parameters.energyFee,
    energyMax = available < ofLimit ? available : ofLimit;
  const after = copyOf(world);
  after.accounts.get(caller)!.balance -= callValue;
  touch(after, contract, timeMs, true).balance += callValue;
  const run = runCall(after, { caller, contract, input: value['data'] as string, callValue, timeMs });
  const rejected = run.internals; // of a call that failed they are printed as rejected
  if (run.energy > energyMax) {
    const resMessage =
      "Not enough energy for 'SSTORE' operation executing: " +
      `curInvokeEnergyLimit[${energyMax}], curOpEnergy[20000], usedEnergy[${energyMax}]`;
    return {
      world,
      result: 'OUT_OF_ENERGY',
      energy: energyMax,
      returned: '',
      resMessage,
      logs: [],
      internals: rejected,
    };
  }
  if (run.outcome === 'REVERT') {
    return {
      world,
      result: 'REVERT',
      energy: run.energy,
      returned: run.returned,
      resMessage: 'REVERT opcode executed',
      logs: [],
      internals: rejected,
    };
  }
  return {
    world: after,
    result: 'SUCCESS',
    energy: run.energy,
    returned: run.returned,
    resMessage: '',
    logs: run.logs,
    internals: run.internals,
  };
}

function payEnergy(account: Account, energy: bigint, { energyFee }: Parameters, receipt: Receipt): void {
  const left = account.energyLimit - account.energyUsed;
  const staked = energy < left ? energy : left;
  const fee = (energy - staked) * energyFee;
  account.energyUsed += staked;
  account.balance -= fee;
  receipt['energy_usage_total'] = energy;
  if (staked > 0n) receipt['energy_usage'] = staked;
  if (fee > 0n) receipt['energy_fee'] = fee;
}

/**
 * Runs a transaction on a copy of a state; the state is that copy when it was taken. Throws: Refused, and then nothing
 * happened.
 */
export function execute(
  before: World,
  transaction: PeerTransaction,
  around: Surroundings,
): { readonly world: World; readonly executed: Executed } {
  checkSurroundings(transaction, around);
  const { parameters, nextSlotMs: timeMs } = around,
    receipt: Receipt = {};
  const owner = transaction.value['owner_address'] as string;
  let world = copyOf(before);
  consumeBandwidth(world, transaction, parameters, receipt);
  consumeMemoFee(world.accounts.get(owner)!, transaction, parameters, receipt);
  const base = {
    transaction,
    contractRet: 'SUCCESS',
    failed: false,
    resMessage: '',
    contract: null,
    returned: '',
    logs: [],
    internals: [],
  };
  const feeOf = (more: bigint): bigint =>
    ['net_fee', 'memo_fee', 'energy_fee'].reduce((sum, name) => sum + BigInt(receipt[name] ?? 0n), more);
  if (transaction.type === 'TransferContract') {
    const created = transferTrx(world, transaction, parameters, timeMs);
    return { world, executed: { ...base, receipt, fee: feeOf(created) } };
  }
  // A TRC-10 asset moves no TRX, and this ledger keeps none: the transaction is in the block and that is all.
  if (transaction.type === 'TransferAssetContract') return { world, executed: { ...base, receipt, fee: feeOf(0n) } };
  if (transaction.type !== 'TriggerSmartContract') throw invalid('contract type is not run by this ledger');
  const called = call(world, transaction, parameters, timeMs);
  world = called.world;
  payEnergy(world.accounts.get(owner)!, called.energy, parameters, receipt);
  receipt['result'] = called.result;
  return {
    world,
    executed: {
      ...base,
      receipt,
      fee: feeOf(0n),
      contractRet: called.result,
      failed: called.result !== 'SUCCESS',
      resMessage: called.resMessage,
      contract: transaction.value['contract_address'] as string,
      returned: called.returned,
      logs: called.logs,
      internals: called.internals,
    },
  };
}
