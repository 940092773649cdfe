/**
 * Token instructions that a transaction ran, held against the balances that a node states beside them. A node whose
 * balances were not recorded answers empty lists (solana#30000, #15760): then an instruction that moves tokens names an
 * account that no balance does, and nothing is proven. F26, G8.
 *
 *   Transfer 3 · TransferChecked 12   [source, (mint,) destination, authority]
 *   MintTo 7 · MintToChecked 14       [mint, account, authority]
 *   TransferFeeExtension 26, 1        [source, mint, destination, authority], Token-2022
 *   WithdrawWithheldTokens 26, 2 and 3             [mint, account, authority], Token-2022
 *   SyncNative 17                                  [account]: wrapped SOL follows its lamports
 *   InitializeAccount 1, 16, 18 · CloseAccount 9   [account, …]: one that lived only inside
 *                                                  the transaction has no balance
 *   Batch 255      (accounts u8 || length u8 || data)… over the accounts of all of them in turn
 *
 * A transfer of nothing proves nothing: accounts of a mint that was closed have no balances, and anybody may run one.
 *
 * Source: solana-program/token `interface/src/instruction.rs`, `pinocchio/interface/src/instruction.rs`;
 * token-2022 `extension/transfer_fee/instruction.rs`.
 */
import { base58 } from '@scure/base';
import type { Catalogue } from '../chain.ts';
import { integerIn, listIn, malformed, objectIn, type Answer } from '../node-answer.ts';
import { isTokenProgram } from './programs.ts';

const TRANSFER = 3,
  MINT_TO = 7,
  CLOSE = 9,
  TRANSFER_CHECKED = 12,
  MINT_TO_CHECKED = 14,
  SYNC_NATIVE = 17,
  FEE_EXTENSION = 26,
  FEE_TRANSFER = 1,
  BATCH = 255;
const FEE_WITHDRAWALS = new Set([2, 3]);
/** Bytes of the amount that a move names, little-endian, after its tag. */
const AMOUNT_BYTES = 8;
const INITIALIZE = new Set([1, 16, 18]);

/** By the names that `jsonParsed` gives them. */
const PARSED: Readonly<Record<string, { readonly kind: Move['kind']; readonly field: string }>> = {
  transfer: { kind: 'receives', field: 'destination' },
  transferChecked: { kind: 'receives', field: 'destination' },
  transferCheckedWithFee: { kind: 'receives', field: 'destination' },
  mintTo: { kind: 'receives', field: 'account' },
  mintToChecked: { kind: 'receives', field: 'account' },
  withdrawWithheldTokensFromMint: { kind: 'receives', field: 'feeRecipient' },
  withdrawWithheldTokensFromAccounts: { kind: 'receives', field: 'feeRecipient' },
  syncNative: { kind: 'receives', field: 'account' },
  closeAccount: { kind: 'closes', field: 'account' },
  initializeAccount: { kind: 'opens', field: 'account' },
  initializeAccount2: { kind: 'opens', field: 'account' },
  initializeAccount3: { kind: 'opens', field: 'account' },
};

interface Move {
  readonly kind: 'receives' | 'opens' | 'closes';
  readonly account: number;
}

/** All instructions, those inside of others too; null where the node does not say what ran inside. */
function instructionsOf(transaction: Answer, meta: Answer): readonly Answer[] | null {
  const { instructions } = objectIn(transaction['message'], 'message'),
    inner = meta['innerInstructions'];
  if (instructions === undefined) return null;
  const top = listIn(instructions, 'instructions').map((one) => objectIn(one, 'instruction'));
  if (inner === undefined || inner === null) return top.length === 0 ? top : null;
  return [
    ...top,
    ...listIn(inner, 'innerInstructions').flatMap((group) =>
      listIn(objectIn(group, 'inner instructions')['instructions'], 'instructions').map((one) =>
        objectIn(one, 'instruction'),
      ),
    ),
  ];
}

const indexOf = (value: unknown, keys: readonly string[]): number =>
  typeof value === 'string' && !/^[0-9]+$/.test(value) ? keys.indexOf(value) : Number(value);

/** What one instruction does to token accounts. */
function movesOf(instruction: Answer, keys: readonly string[], holders: ReadonlySet<number>): readonly Move[] {
  const { programId, programIdIndex, parsed } = instruction;
  const program = typeof programId === 'string' ? programId : keys[Number(programIdIndex)];
  if (program === undefined || !isTokenProgram(program)) return [];
  if (typeof parsed === 'object' && parsed !== null) {
    const { type, info } = parsed as { type?: unknown; info?: unknown };
    const row = typeof type === 'string' && Object.hasOwn(PARSED, type) ? PARSED[type] : undefined;
    if (row === undefined || typeof info !== 'object' || info === null) return [];
    const { amount, tokenAmount } = info as Answer;
    const named = amount ?? (tokenAmount as Answer | undefined)?.['amount'];
    if (row.kind === 'receives' && String(named) === '0') return [];
    return [{ kind: row.kind, account: indexOf((info as Answer)[row.field], keys) }];
  }
  const accounts = listIn(instruction['accounts'] ?? [], 'accounts of an instruction').map((one) => indexOf(one, keys));
  // Most are transfers between accounts with balances: their bytes need no look.
  if (holders.has(accounts[1]!) && (holders.has(accounts[2]!) || holders.has(accounts[0]!))) return [];
  return movesIn(bytesOf(instruction['data']), accounts);
}

function movesIn(data: Uint8Array, accounts: readonly number[]): readonly Move[] {
  const [tag, second] = data;
  if (tag === BATCH) return movesOfBatch(data, accounts);
  const [first, next, third] = accounts as [number, number, number];
  const move = (kind: Move['kind'], account: number): readonly Move[] => [{ kind, account }];
  const received = (account: number, amountAt: number) =>
    data.subarray(amountAt, amountAt + AMOUNT_BYTES).some((byte) => byte !== 0) ? move('receives', account) : [];
  if (tag === TRANSFER || tag === MINT_TO || tag === MINT_TO_CHECKED) return received(next, 1);
  if (tag === TRANSFER_CHECKED) return received(third, 1);
  if (tag === FEE_EXTENSION && second === FEE_TRANSFER) return received(third, 2);
  if (tag === FEE_EXTENSION && FEE_WITHDRAWALS.has(second!)) return move('receives', next);
  if (tag === SYNC_NATIVE) return move('receives', first);
  if (tag !== undefined && INITIALIZE.has(tag)) return move('opens', first);
  return tag === CLOSE ? move('closes', first) : [];
}

/** One after the other, each with its own accounts; none of them is a batch itself. */
function movesOfBatch(data: Uint8Array, accounts: readonly number[]): readonly Move[] {
  const moves: Move[] = [];
  for (let at = 1, account = 0; at + 2 <= data.length;) {
    const own = data[at]!,
      length = data[at + 1]!,
      inner = data.subarray(at + 2, at + 2 + length);
    if (inner[0] !== BATCH) moves.push(...movesIn(inner, accounts.slice(account, account + own)));
    account += own;
    at += 2 + length;
  }
  return moves;
}

function bytesOf(data: unknown): Uint8Array {
  try {
    return typeof data === 'string' ? base58.decode(data) : new Uint8Array();
  } catch {
    return new Uint8Array();
  }
}

/**
 * What the instructions of a transaction that succeeded deny of its token balances, or null. `holders` are the indexes
 * of the accounts that have a balance before or after.
 */
export function doubtOfBalances(
  transaction: Answer,
  meta: Answer,
  keys: readonly string[],
  holders: ReadonlySet<number>,
): string | null {
  if (!keys.some(isTokenProgram)) return null;
  const instructions = instructionsOf(transaction, meta);
  if (instructions === null)
    return holders.size === 0 ? 'no token balances, and the inner instructions are not given' : null;
  const opened = new Set<number>(),
    closed = new Set<number>(),
    received = new Set<number>();
  for (const { kind, account } of instructions.flatMap((one) => movesOf(one, keys, holders))) {
    if (holders.has(account)) continue;
    (kind === 'receives' ? received : kind === 'opens' ? opened : closed).add(account);
  }
  const unexplained = [...received].find((account) => !(opened.has(account) && closed.has(account)));
  if (unexplained !== undefined) return `account ${unexplained} received tokens and has no token balance`;
  return holders.size === 0 && moreRan(meta, instructions, keys)
    ? 'no token balances, and its logs name more token instructions than are listed'
    : null;
}

const NOBODY: ReadonlySet<number> = new Set();

/** Accounts with a balance of a listed mint, by their index. */
function listedIn(balances: unknown, what: string, catalogue: Catalogue): ReadonlySet<number> {
  const seen = new Set<number>(),
    listed = new Set<number>();
  for (const value of listIn(balances ?? [], what)) {
    const { accountIndex, mint } = objectIn(value, 'token balance'),
      index = Number(accountIndex);
    if (seen.has(index)) malformed(`${what} names an account twice`, value);
    seen.add(index);
    if (catalogue.has(String(mint))) listed.add(index);
  }
  return listed;
}

/**
 * What lamports and instructions deny of a token balance that is stated on one side only, or null: an account that has
 * one before and none after was closed, one that has it after only was opened. A list that a node left empty or cut
 * short would else be an amount that came or went. Only listed mints: an issuer that closes a mint and makes it again
 * has accounts without balances.
 */
export function doubtOfSides(
  transaction: Answer,
  meta: Answer,
  keys: readonly string[],
  catalogue: Catalogue,
): string | null {
  const before = listedIn(meta['preTokenBalances'], 'preTokenBalances', catalogue),
    after = listedIn(meta['postTokenBalances'], 'postTokenBalances', catalogue);
  const lamports = (side: 'preBalances' | 'postBalances', index: number) =>
    integerIn(listIn(meta[side], side)[index], 'balance');
  const left = [...before].filter((index) => !after.has(index) && lamports('postBalances', index) > 0n),
    came = [...after].filter((index) => !before.has(index) && lamports('preBalances', index) > 0n);
  if (left.length === 0 && came.length === 0) return null;
  const instructions = instructionsOf(transaction, meta) ?? [];
  const moves = instructions.flatMap((one) => movesOf(one, keys, NOBODY));
  const lacks = (kind: Move['kind']) => (index: number) =>
    !moves.some((move) => move.kind === kind && move.account === index);
  const kept = left.find(lacks('closes')),
    held = came.find(lacks('opens'));
  if (kept !== undefined) return `account ${kept} has a token balance before and none after, and was not closed`;
  return held === undefined ? null : `account ${held} has a token balance after and none before, and was not opened`;
}

const INVOKED = /^Program (\S+) invoke \[\d+\]$/;

/** Whether the logs, which may be cut short, name more runs of a token program than the instructions. */
function moreRan(meta: Answer, instructions: readonly Answer[], keys: readonly string[]): boolean {
  const logs = meta['logMessages'];
  if (!Array.isArray(logs)) return false;
  const logged = logs.filter((line) => isTokenProgram(INVOKED.exec(String(line))?.[1] ?? '')).length;
  const listed = instructions.filter(({ programId, programIdIndex }) =>
    isTokenProgram(typeof programId === 'string' ? programId : (keys[Number(programIdIndex)] ?? '')),
  ).length;
  return logged > listed;
}
