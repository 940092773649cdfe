/**
 * Token instructions that a transaction ran, held against the balances that a node states beside them. A node whose
 * balances were not recorded answers empty lists (solana#30000, #15760): then an instruction that moves tokens names an
 * account that no balance does, and nothing is proven. F26, G8.
 *
 *   Transfer 3 · TransferChecked 12   [source, (mint,) destination, authority]
 *   MintTo 7 · MintToChecked 14       [mint, account, authority]
 *   TransferFeeExtension 26, 1        [source, mint, destination, authority], Token-2022
 *   InitializeAccount 1, 16, 18 · CloseAccount 9   [account, …]: one that lived only inside
 *                                                  the transaction has no balance
 *
 * Source: solana-program/token `interface/src/instruction.rs`; token-2022 `extension/transfer_fee/instruction.rs`.
 */
import { base58 } from '@scure/base';
import { listIn, objectIn, type Answer } from '../node-answer.ts';
import { isTokenProgram } from './programs.ts';

const TRANSFER = 3,
  MINT_TO = 7,
  CLOSE = 9,
  TRANSFER_CHECKED = 12,
  MINT_TO_CHECKED = 14,
  FEE_EXTENSION = 26,
  FEE_TRANSFER = 1;
const INITIALIZE = new Set([1, 16, 18]);

/** By the names that `jsonParsed` gives them. */
const PARSED: Readonly<Record<string, { readonly kind: Move['kind']; readonly field: string }>> = {
  transfer: { kind: 'receives', field: 'destination' },
  transferChecked: { kind: 'receives', field: 'destination' },
  transferCheckedWithFee: { kind: 'receives', field: 'destination' },
  mintTo: { kind: 'receives', field: 'account' },
  mintToChecked: { kind: 'receives', field: 'account' },
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

/** What one instruction does to a token account, or null. */
function moveOf(instruction: Answer, keys: readonly string[], holders: ReadonlySet<number>): Move | null {
  const { programId, programIdIndex, parsed } = instruction;
  const program = typeof programId === 'string' ? programId : keys[Number(programIdIndex)];
  if (program === undefined || !isTokenProgram(program)) return null;
  if (typeof parsed === 'object' && parsed !== null) {
    const { type, info } = parsed as { type?: unknown; info?: unknown };
    const row = typeof type === 'string' && Object.hasOwn(PARSED, type) ? PARSED[type] : undefined;
    if (row === undefined || typeof info !== 'object' || info === null) return null;
    return { kind: row.kind, account: indexOf((info as Answer)[row.field], keys) };
  }
  const accounts = listIn(instruction['accounts'] ?? [], 'accounts of an instruction');
  const at = (place: number) => indexOf(accounts[place], keys);
  // Most are transfers between accounts with balances: their bytes need no look.
  if (holders.has(at(1)) && (holders.has(at(2)) || holders.has(at(0)))) return null;
  const [tag, second] = bytesOf(instruction['data']);
  if (tag === TRANSFER || tag === MINT_TO || tag === MINT_TO_CHECKED) return { kind: 'receives', account: at(1) };
  if (tag === TRANSFER_CHECKED || (tag === FEE_EXTENSION && second === FEE_TRANSFER))
    return { kind: 'receives', account: at(2) };
  if (tag !== undefined && INITIALIZE.has(tag)) return { kind: 'opens', account: at(0) };
  return tag === CLOSE ? { kind: 'closes', account: at(0) } : null;
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
  for (const instruction of instructions) {
    const move = moveOf(instruction, keys, holders);
    if (move === null || holders.has(move.account)) continue;
    (move.kind === 'receives' ? received : move.kind === 'opens' ? opened : closed).add(move.account);
  }
  const unexplained = [...received].find((account) => !(opened.has(account) && closed.has(account)));
  if (unexplained !== undefined) return `account ${unexplained} received tokens and has no token balance`;
  return holders.size === 0 && moreRan(meta, instructions, keys)
    ? 'no token balances, and its logs name more token instructions than are listed'
    : null;
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
