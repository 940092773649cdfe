/**
 * The methods of a Solana node over the ledger, with its real errors. A view is what one node has seen: its newest
 * block may trail the ledger's. Source: anza-xyz/agave `rpc/src/rpc.rs`, `rpc-client-api/src/custom_error.rs`.
 */
import { base58 } from '@scure/base';
import { PACKET_DATA_SIZE, VersionedMessage } from '@solana/web3.js';
import { BLOCKHASH_AGE_MAX, type LedgerBlock, type Refused, type SolLedger } from './ledger.ts';
import type { SvmAccount } from './svm.ts';
import { holdingIn } from './tokens.ts';
import { sentenceOf } from './transaction-error.ts';

/** An error as JSON-RPC answers it. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface View {
  readonly ledger: SolLedger;
  /** Newest block that this node has confirmed. */
  tip(): LedgerBlock;
  /** First slot that this node still keeps. */
  readonly firstSlot: number;
  readonly genesisHash: string;
  /** What blocks of late took for a unit of compute, micro-lamports. */
  readonly prioritizationFees: readonly bigint[];
}

type Params = readonly unknown[];
type Options = Readonly<Record<string, unknown>>;

const LAMPORTS_PER_SIGNATURE = 5_000n;
/** Widest range of `getBlocks`. */
const BLOCKS_RANGE_MAX = 500_000;

/** The options of a call: its last object, which a filter of token accounts is not. */
function optionsIn(params: Params): Options {
  const isOptions = (one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one) && !('mint' in one) && !('programId' in one);
  return (params.findLast(isOptions) ?? {}) as Options;
}

const invalid = (what: string) => new RpcFailure(-32_602, `Invalid params: ${what}`);

function commitmentOf(options: Options): 'confirmed' | 'finalized' {
  const named = options['commitment'] ?? 'finalized';
  // A node of this ledger confirms what it processes.
  return named === 'processed' || named === 'confirmed' ? 'confirmed' : 'finalized';
}

/** The block whose state a question is about. */
function bankOf(view: View, params: Params): LedgerBlock {
  const options = optionsIn(params),
    tip = view.tip();
  const bank = commitmentOf(options) === 'confirmed' ? tip : view.ledger.finalized(tip);
  const wanted = options['minContextSlot'];
  if (typeof wanted === 'number' && bank.slot < wanted) {
    throw new RpcFailure(-32_016, 'Minimum context slot has not been reached', { contextSlot: bank.slot });
  }
  return bank;
}

const inContext = (bank: LedgerBlock, value: unknown) => ({ context: { apiVersion: '3.1.0', slot: bank.slot }, value });

/** Answers one call. Throws: RpcFailure. */
export function answer(view: View, method: string, params: Params): unknown {
  const handle = METHODS[method];
  if (handle === undefined) throw new RpcFailure(-32_601, 'Method not found');
  return handle(view, params);
}

const METHODS: Readonly<Record<string, (view: View, params: Params) => unknown>> = {
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': '3.1.0', 'feature-set': 0 }),
  getGenesisHash: (view) => view.genesisHash,
  getSlot: (view, params) => bankOf(view, params).slot,
  getBlockHeight: (view, params) => bankOf(view, params).blockHeight,
  getFirstAvailableBlock: (view) => view.firstSlot,
  minimumLedgerSlot: (view) => view.firstSlot,
  getBlocks,
  getBlocksWithLimit: (view, params) => {
    const [from, limit] = params as [number, number];
    return view.ledger.slots(Math.max(from, view.firstSlot), bankOf(view, params).slot).slice(0, limit);
  },
  getBlock,
  getLatestBlockhash: (view, params) => {
    const bank = bankOf(view, params);
    return inContext(bank, { blockhash: bank.hash, lastValidBlockHeight: bank.blockHeight + BLOCKHASH_AGE_MAX });
  },
  isBlockhashValid: (view, params) => {
    const bank = bankOf(view, params);
    return inContext(bank, view.ledger.isValid(String(params[0]), bank));
  },
  getBalance: (view, params) => {
    const bank = bankOf(view, params);
    return inContext(bank, view.ledger.accounts.at(String(params[0]), bank.slot)?.lamports ?? 0n);
  },
  getAccountInfo: (view, params) => {
    const bank = bankOf(view, params);
    return inContext(bank, accountJson(view.ledger.accounts.at(keyIn(params[0]), bank.slot), optionsIn(params)));
  },
  getMultipleAccounts: (view, params) => {
    const bank = bankOf(view, params),
      keys = (params[0] as unknown[]).map(keyIn),
      options = optionsIn(params);
    return inContext(
      bank,
      keys.map((key) => accountJson(view.ledger.accounts.at(key, bank.slot), options)),
    );
  },
  getTokenAccountsByOwner,
  getMinimumBalanceForRentExemption: (view, params) => view.ledger.rentExempt(Number(params[0])),
  getRecentPrioritizationFees: (view) => {
    const { slot } = view.tip();
    return view.prioritizationFees.map((prioritizationFee, index) => ({ slot: slot - index, prioritizationFee }));
  },
  getFeeForMessage: (view, params) => {
    const bank = bankOf(view, params),
      message = VersionedMessage.deserialize(bytesIn(params[0], 'base64'));
    const known = view.ledger.isValid(message.recentBlockhash, bank);
    return inContext(
      bank,
      known ? BigInt(message.header.numRequiredSignatures) * LAMPORTS_PER_SIGNATURE + priorityOf(message) : null,
    );
  },
  simulateTransaction,
  sendTransaction,
  getSignatureStatuses: (view, params) => {
    const tip = view.tip();
    return inContext(
      tip,
      (params[0] as string[]).map((signature) => statusJson(view, tip, signature)),
    );
  },
  getTransaction,
};

function keyIn(value: unknown): string {
  let bytes: Uint8Array;
  try {
    bytes = base58.decode(String(value));
  } catch {
    throw invalid('unable to parse pubkey');
  }
  if (bytes.length !== 32) throw invalid('WrongSize');
  return String(value);
}

function bytesIn(value: unknown, encoding: unknown): Uint8Array {
  if (typeof value !== 'string') throw invalid('expected a string');
  if (encoding !== 'base64') return base58.decode(value);
  return new Uint8Array(Buffer.from(value, 'base64'));
}

function getBlocks(view: View, params: Params): number[] {
  const [from, given] = params as [number, unknown];
  const last = bankOf(view, params).slot,
    to = typeof given === 'number' ? Math.min(given, last) : last;
  if (typeof given === 'number' && given - from > BLOCKS_RANGE_MAX) {
    throw invalid(`Slot range too large; max ${BLOCKS_RANGE_MAX}`);
  }
  return view.ledger.slots(Math.max(from, view.firstSlot), to);
}

function getBlock(view: View, params: Params): unknown {
  const slot = Number(params[0]),
    options = optionsIn(params),
    last = bankOf(view, params).slot;
  if (options['commitment'] === 'processed') throw invalid('Method does not support commitment below `confirmed`');
  if (slot < view.firstSlot) {
    const { firstSlot } = view;
    throw new RpcFailure(
      -32_001,
      `Block ${slot} cleaned up, does not exist on node. First available block: ${firstSlot}`,
    );
  }
  if (slot > last) throw new RpcFailure(-32_004, `Block not available for slot ${slot}`);
  const block = view.ledger.block(slot);
  if (block === undefined) {
    throw new RpcFailure(-32_007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
  }
  const header = {
    blockhash: block.hash,
    previousBlockhash: block.previousHash,
    parentSlot: block.parentSlot,
    blockHeight: block.blockHeight,
    blockTime: block.unixSeconds,
  };
  const details = options['transactionDetails'] ?? 'full';
  if (details === 'none') return header;
  if (details === 'signatures') {
    return {
      ...header,
      signatures: block.entries.map(({ transaction }) => (transaction['signatures'] as string[])[0]),
    };
  }
  for (const { version } of block.entries) checkVersion(version, options);
  const withVersion = options['maxSupportedTransactionVersion'] !== undefined;
  return {
    ...header,
    ...(options['rewards'] === false ? {} : { rewards: [] }),
    transactions: block.entries.map(({ version, ...entry }) => (withVersion ? { ...entry, version } : entry)),
  };
}

function checkVersion(version: 'legacy' | number, options: Options): void {
  const highest = options['maxSupportedTransactionVersion'];
  if (version === 'legacy' || (typeof highest === 'number' && version <= highest)) return;
  throw new RpcFailure(
    -32_015,
    `Transaction version (${version}) is not supported by the requesting client. ` +
      `Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
}

function accountJson(account: SvmAccount | null, options: Options): unknown {
  if (account === null) return null;
  const { lamports, owner, executable, data } = account;
  const slice = options['dataSlice'] as { offset: number; length: number } | undefined;
  const part = slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length);
  return {
    lamports,
    owner,
    executable,
    rentEpoch: 18_446_744_073_709_551_615n,
    space: data.length,
    data: options['encoding'] === 'base64' ? [Buffer.from(part).toString('base64'), 'base64'] : base58.encode(part),
  };
}

function getTokenAccountsByOwner(view: View, params: Params): unknown {
  const bank = bankOf(view, params),
    owner = keyIn(params[0]);
  const { mint, programId } = params[1] as { mint?: string; programId?: string };
  if (mint !== undefined && view.ledger.accounts.at(keyIn(mint), bank.slot) === null) {
    throw invalid('could not find mint');
  }
  const found = [...view.ledger.accounts.entries(bank.slot)].filter(([, account]) => {
    const holding = holdingIn(account);
    return holding?.owner === owner && (mint === undefined ? holding.program === programId : holding.mint === mint);
  });
  const options = optionsIn(params);
  return inContext(
    bank,
    found.map(([pubkey, account]) => ({ pubkey, account: accountJson(account, options) })),
  );
}

/** What a message's own limit and price cost; without a price, nothing. */
function priorityOf(message: VersionedMessage): bigint {
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  let limit = 0n,
    price = 0n;
  for (const { programIdIndex, data } of message.compiledInstructions) {
    if (!keys[programIdIndex]!.startsWith('ComputeBudget')) continue;
    const view = Buffer.from(data);
    if (view[0] === 2) limit = BigInt(view.readUInt32LE(1));
    if (view[0] === 3) price = view.readBigUInt64LE(1);
  }
  return (limit * price + 999_999n) / 1_000_000n;
}

/** Bytes of a transaction as a node reads them. Throws: RpcFailure. */
function readIn(view: View, params: Params): ReturnType<SolLedger['read']> {
  const bytes = bytesIn(params[0], optionsIn(params)['encoding'] ?? 'base58');
  if (bytes.length > PACKET_DATA_SIZE) {
    const kind = 'solana_transaction::versioned::VersionedTransaction';
    throw invalid(`base64 encoded ${kind} too large: ${bytes.length} bytes (max: ${PACKET_DATA_SIZE} bytes)`);
  }
  try {
    return view.ledger.read(bytes);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'failed to deserialize the transaction');
  }
}

function simulateTransaction(view: View, params: Params): unknown {
  const bank = bankOf(view, params),
    options = optionsIn(params),
    read = readIn(view, params);
  const verifySignatures = options['sigVerify'] === true;
  if (!view.ledger.isValid(read.blockhash, bank) && options['replaceRecentBlockhash'] !== true) {
    return inContext(bank, { err: 'BlockhashNotFound', logs: [], accounts: null, unitsConsumed: 0, returnData: null });
  }
  const { err, logs, units, after } = view.ledger.simulate(read, verifySignatures);
  if (err === 'SignatureFailure') throw new RpcFailure(-32_003, 'Transaction signature verification failure');
  const wanted = options['accounts'] as { encoding: string; addresses: string[] } | undefined;
  const stateOf = (key: string) => after.get(key) ?? view.ledger.accounts.at(key, bank.slot);
  return inContext(bank, {
    err,
    logs,
    unitsConsumed: units,
    returnData: null,
    innerInstructions: null,
    accounts:
      wanted === undefined
        ? null
        : wanted.addresses.map((key) =>
            err === null ? accountJson(stateOf(key), { encoding: wanted.encoding }) : null,
          ),
    replacementBlockhash: { blockhash: bank.hash, lastValidBlockHeight: bank.blockHeight + BLOCKHASH_AGE_MAX },
  });
}

function sendTransaction(view: View, params: Params): string {
  const options = optionsIn(params),
    read = readIn(view, params);
  if (options['skipPreflight'] !== true) {
    const level = options['preflightCommitment'] ?? 'finalized';
    // L32: a hash that the preflight's own bank has not seen yet is not found.
    const bank = level === 'finalized' ? view.ledger.finalized(view.tip()) : view.tip();
    const refused = view.ledger.isValid(read.blockhash, bank)
      ? view.ledger.preflight(read)
      : { err: 'BlockhashNotFound', sentence: sentenceOf('BlockhashNotFound'), logs: [], units: 0n };
    if (refused !== null) throw preflightFailure(refused);
  }
  view.ledger.submit(read);
  return read.signature;
}

function preflightFailure({ err, sentence, logs, units }: Refused): RpcFailure {
  if (err === 'SignatureFailure') return new RpcFailure(-32_003, 'Transaction signature verification failure');
  return new RpcFailure(-32_002, `Transaction simulation failed: ${sentence}`, {
    accounts: null,
    err,
    logs,
    unitsConsumed: units,
    innerInstructions: null,
    replacementBlockhash: null,
    returnData: null,
  });
}

function statusJson(view: View, tip: LedgerBlock, signature: string): unknown {
  const found = view.ledger.transaction(signature);
  if (found === undefined || found.block.slot > tip.slot || found.block.slot < view.firstSlot) return null;
  const {
    block: { slot },
    entry: { meta },
  } = found;
  const isFinal = slot <= view.ledger.finalized(tip).slot;
  return {
    slot,
    err: meta['err'],
    status: meta['status'],
    confirmations: isFinal ? null : tip.blockHeight - found.block.blockHeight,
    confirmationStatus: isFinal ? 'finalized' : 'confirmed',
  };
}

function getTransaction(view: View, params: Params): unknown {
  const bank = bankOf(view, params),
    found = view.ledger.transaction(String(params[0]));
  if (found === undefined || found.block.slot > bank.slot || found.block.slot < view.firstSlot) return null;
  checkVersion(found.entry.version, optionsIn(params));
  const {
    block: { slot, unixSeconds },
    entry,
  } = found;
  return { slot, blockTime: unixSeconds, ...entry };
}
