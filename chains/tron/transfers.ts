/** Movements of a TRON block. Spec: chains.md 6.3 (T1 to T12), V2 for logs, G2, G3, G22, G23. */
import {
  ChainUnavailable,
  type Block,
  type Catalogue,
  type Decoded,
  type Network,
  type Outcome,
  type Token,
  type Transfer,
} from '../chain.ts';
import { countIn, hashIn, integerIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import { addressFromNode, addressOf, parseAddress } from './address.ts';
import { executionOf, type Execution } from './execution.ts';
import { TRX_DECIMALS } from './network.ts';
import { TRANSFER_TOPIC } from './trc20.ts';

/** The answers of `getblockbynum` and `gettransactioninfobyblocknum` for one height, parsed without loss. */
export interface TronBlock {
  readonly block: Answer;
  readonly infos: readonly unknown[];
}

/**
 * The infos of a block's answer: a list, or the empty object that a node gives for a block without transactions (T10).
 */
export function infosIn(answer: unknown): readonly unknown[] {
  const isEmptyObject = typeof answer === 'object' && answer !== null && Object.keys(answer).length === 0;
  return isEmptyObject ? [] : listIn(answer, 'transaction infos');
}

const WORD = /^[0-9a-f]{64}$/;
const HEX_EMITTER = /^(?:[0-9a-f]{2}){1,21}$/;
const ADDRESS_WORD = /^0{24}[0-9a-f]{40}$/;

/** G2: the native transfer of a transaction; internal ones follow below it. */
const NATIVE_INDEX = -1;
const FIRST_INTERNAL_INDEX = -2;

/**
 * Internal transactions that move TRX. The others only look alike: a stake, a delegation and a vote are recorded with
 * a receiver and a value too, and pay nobody. Source: java-tron Program.java, notes of addInternalTx.
 */
const PAYING_NOTES = new Set(['', 'call', 'create', 'suicide', 'withdrawExpireUnfreezeWhileSuiciding']);

interface Entry {
  readonly txid: string;
  readonly type: string;
  /** Parameter of the one contract that a transaction has. */
  readonly value: Answer;
  readonly info: Answer;
  readonly execution: Execution;
}

type Ignored = { txid: string; reason: string };

/** Transactions with their infos. Throws: MalformedReply, ChainUnavailable unless both are of one block (T10, T11). */
function entriesOf({ block, infos }: TronBlock): readonly Entry[] {
  const header = block['block_header'];
  const { transactions } = block;
  if (header === undefined && transactions === undefined) malformed('block without a header', block);
  const head = header === undefined ? null : objectIn(objectIn(header, 'block_header')['raw_data'], 'raw_data'),
    number = head === null ? null : countIn(head['number'] ?? 0, 'number'),
    time = head === null ? null : integerIn(head['timestamp'] ?? 0, 'timestamp');
  const list = transactions === undefined ? [] : listIn(transactions, 'transactions of a block');
  if (list.length !== infos.length) {
    throw new ChainUnavailable('tron', `${list.length} transactions and ${infos.length} infos: not one block`);
  }
  const entries = list.map((transaction, index) => {
    const info = objectIn(infos[index], 'transaction info');
    const { blockNumber, blockTimeStamp } = info;
    if (number !== null && blockNumber !== undefined && countIn(blockNumber, 'blockNumber') !== number) {
      throw new ChainUnavailable('tron', 'a transaction info of another block');
    }
    // Infos name no hash: two blocks of one height differ in their time.
    if (time !== null && blockTimeStamp !== undefined && integerIn(blockTimeStamp, 'blockTimeStamp') !== time) {
      throw new ChainUnavailable('tron', 'a transaction info of another block of this height');
    }
    return entryOf(objectIn(transaction, 'transaction'), info);
  });
  const distinct = new Set(entries.map(({ txid }) => txid));
  if (distinct.size !== entries.length) malformed('the block lists a transaction twice', block);
  return entries;
}

function entryOf(transaction: Answer, info: Answer): Entry {
  const txid = hashIn(transaction['txID'], 'txID');
  if (hashIn(info['id'], 'id of a transaction info') !== txid) {
    throw new ChainUnavailable('tron', 'transactions and infos in different order');
  }
  const contracts = listIn(objectIn(transaction['raw_data'], 'raw_data')['contract'], 'contract');
  if (contracts.length !== 1) malformed('a transaction has one contract', transaction);
  const contract = objectIn(contracts[0], 'contract');
  const type = textIn(contract['type'], 'contract type');
  // A receipt that is not there says "pending", not "success" (faults C2-23).
  if (info['receipt'] === undefined) throw new ChainUnavailable('tron', `transaction ${txid} has no receipt`);
  const own = objectIn(listIn(transaction['ret'] ?? [], 'ret')[0] ?? {}, 'ret');
  const execution = executionOf({
    type,
    contractRet: own['contractRet'],
    ret: own['ret'],
    receiptResult: objectIn(info['receipt'], 'receipt')['result'],
    result: info['result'],
  });
  if (execution.kind === 'unknown') throw new ChainUnavailable('tron', `transaction ${txid}: ${execution.reason}`);
  if (execution.kind === 'failed' && hasEffects(info)) {
    throw new ChainUnavailable('tron', `transaction ${txid}: it failed and shows effects`);
  }
  const value = objectIn(objectIn(contract['parameter'] ?? {}, 'parameter')['value'] ?? {}, 'value');
  return { txid, type, value, info, execution };
}

/**
 * Logs, or internal transactions that are not rejected: java-tron clears the ones and rejects the others of a failed
 * call.
 */
function hasEffects(info: Answer): boolean {
  return (
    listIn(info['log'] ?? [], 'log').length > 0 ||
    listIn(info['internal_transactions'] ?? [], 'internal_transactions').some(
      (one) => objectIn(one, 'internal transaction')['rejected'] !== true,
    )
  );
}

/**
 * Every movement of a block: TRX by contract, TRC-20 by logs only (T3: what a call asks for proves nothing), TRX inside
 * calls where the node records it (T5). Throws: MalformedReply, ChainUnavailable when the answers prove nothing.
 */
export function transfersIn(network: Network, block: Block<TronBlock>, catalogue: Catalogue): Decoded {
  const native = { decimals: TRX_DECIMALS, tokenContract: null, tokenSymbol: network.nativeSymbol, tag: null };
  const tokens = tokensByAccount(network, catalogue);
  const transfers: Transfer[] = [];
  const ignored: Ignored[] = [];
  for (const entry of entriesOf(block.raw)) {
    const { txid, execution } = entry;
    if (execution.kind === 'failed') {
      ignored.push({ txid, reason: execution.reason });
      continue;
    }
    const found = [nativeOf(network, entry), ...logsOf(network, entry, tokens), ...internalsOf(network, entry)];
    for (const movement of found) {
      if (movement === null) continue;
      if ('reason' in movement) ignored.push({ txid, reason: movement.reason });
      else transfers.push({ ...native, txid, ...movement });
    }
  }
  return { transfers, ignored };
}

type Movement = Pick<Transfer, 'outputIndex' | 'to' | 'amount' | 'from'> &
  Partial<Pick<Transfer, 'decimals' | 'tokenContract' | 'tokenSymbol'>>;
type Found = Movement | { reason: string } | null;

/** What every movement must pass: an amount, and two different ends (G22). */
function checked(movement: Movement): Movement | { reason: string } {
  if (movement.amount === 0n) return { reason: 'zero amount' };
  return movement.from.includes(movement.to) ? { reason: 'to itself' } : movement;
}

function addressIn(network: Network, value: unknown, what: string): string {
  return addressFromNode(network, value) ?? malformed(`${what} is no address`, value);
}

/** An absent number of a proto3 object is its default, zero. */
function amountIn(value: unknown, what: string): bigint {
  const amount = value === undefined ? 0n : integerIn(value, what);
  return amount < 0n ? malformed(`${what} is negative`, value) : amount;
}

function nativeOf(network: Network, { type, value }: Entry): Found {
  // A call says what it did by its logs and internal transactions, so a call without them did nothing of interest.
  if (type === 'TriggerSmartContract') return null;
  if (type === 'TransferAssetContract') return { reason: 'TRC-10 asset: its amount is not TRX' };
  if (type !== 'TransferContract') return { reason: `${type}: no transfer` };
  return checked({
    outputIndex: NATIVE_INDEX,
    to: addressIn(network, value['to_address'], 'to_address'),
    from: [addressIn(network, value['owner_address'], 'owner_address')],
    amount: amountIn(value['amount'], 'amount'),
  });
}

function tokensByAccount(network: Network, catalogue: Catalogue): ReadonlyMap<string, Token> {
  return new Map(
    [...catalogue].map(([contract, token]) => {
      const parsed = parseAddress(network, contract);
      if (!parsed.ok) throw new RangeError('a contract address in the catalogue is not an address');
      return [Buffer.from(parsed.bytes).toString('hex'), token];
    }),
  );
}

/**
 * The account of a log's emitter, 40 lower-case digits. Nodes write it bare, and in Base58Check where they are asked
 * with `visible`. Throws: MalformedReply. Source: java-tron Util.convertLogAddressToTronAddress.
 */
function emitterOf(network: Network, value: unknown): string {
  const text = textIn(value, 'address of a log'),
    hex = text.toLowerCase();
  if (HEX_EMITTER.test(hex)) return hex.slice(-40).padStart(40, '0');
  const parsed = parseAddress(network, text);
  return parsed.ok ? Buffer.from(parsed.bytes).toString('hex') : malformed('address of a log', value);
}

function logsOf(network: Network, { info }: Entry, tokens: ReadonlyMap<string, Token>): Found[] {
  if (info['log'] === undefined) return [];
  return listIn(info['log'], 'log').map((entry, ordinal) => {
    const log = objectIn(entry, 'log');
    const topics = listIn(log['topics'] ?? [], 'topics').map((topic) => String(topic).toLowerCase());
    if (topics[0] !== TRANSFER_TOPIC) return null;
    const token = tokens.get(emitterOf(network, log['address']));
    if (token === undefined) return { reason: `log ${ordinal}: token not in the catalogue` };
    const word = String(log['data'] ?? '').toLowerCase();
    const [, from, to] = topics;
    const isTransfer = topics.length === 3 && ADDRESS_WORD.test(from!) && ADDRESS_WORD.test(to!) && WORD.test(word);
    if (!isTransfer) return { reason: `log ${ordinal}: not the shape of a token transfer` };
    return checked({
      outputIndex: ordinal,
      to: accountOfWord(to!),
      from: [accountOfWord(from!)],
      amount: BigInt(`0x${word}`),
      decimals: token.decimals,
      tokenContract: token.contract,
      tokenSymbol: token.symbol,
    });
  });
}

function accountOfWord(word: string): string {
  return addressOf(Buffer.from(word.slice(-40), 'hex'));
}

function internalsOf(network: Network, { info }: Entry): Found[] {
  if (info['internal_transactions'] === undefined) return [];
  return listIn(info['internal_transactions'], 'internal_transactions').map((entry, ordinal) => {
    const internal = objectIn(entry, 'internal transaction');
    const values = listIn(internal['callValueInfo'] ?? [], 'callValueInfo').map((part) =>
      objectIn(part, 'callValueInfo'),
    );
    const native = values.filter((part) => part['tokenId'] === undefined && part['tokenName'] === undefined);
    const amount = native.reduce((sum, part) => sum + amountIn(part['callValue'], 'callValue'), 0n);
    if (amount === 0n) return values.length > native.length ? { reason: `internal ${ordinal}: TRC-10 asset` } : null;
    if (internal['rejected'] === true) return { reason: `internal ${ordinal}: rejected` };
    if (!PAYING_NOTES.has(noteOf(internal['note']))) return { reason: `internal ${ordinal}: no transfer` };
    return checked({
      outputIndex: FIRST_INTERNAL_INDEX - ordinal,
      to: addressIn(network, internal['transferTo_address'], 'transferTo_address'),
      from: [addressIn(network, internal['caller_address'], 'caller_address')],
      amount,
    });
  });
}

/** The note of an internal transaction, which nodes print as hex of its text. */
function noteOf(note: unknown): string {
  if (note === undefined) return '';
  const text = textIn(note, 'note');
  return /^(?:[0-9a-f]{2})+$/.test(text) ? Buffer.from(text, 'hex').toString('ascii') : text;
}

/** What the wanted transactions did, with the fee in sun. Throws: MalformedReply, ChainUnavailable. */
export function outcomesIn(
  _network: Network,
  block: Block<TronBlock>,
  wanted: ReadonlySet<string>,
): readonly Outcome[] {
  return entriesOf(block.raw)
    .filter(({ txid }) => wanted.has(txid))
    .map(({ txid, execution, info }) => ({
      txid,
      success: execution.kind === 'success',
      reason: execution.kind === 'failed' ? execution.reason : null,
      fee: amountIn(info['fee'], 'fee'),
    }));
}
