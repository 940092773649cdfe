/** A transaction as `getBlock` and `getTransaction` answer it in `json` encoding. */
import { base58 } from '@scure/base';
import type { Execution, SvmAccount } from './svm.ts';
import { holdingIn } from './tokens.ts';
import type { ReadTransaction } from './transaction.ts';

export interface BlockEntry {
  readonly transaction: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly version: 'legacy' | number;
}

/** Balances of a transaction's keys before and after it. */
export interface Movement {
  readonly before: readonly (SvmAccount | null)[];
  readonly after: readonly (SvmAccount | null)[];
  /** Decimals of a mint. */
  decimalsOf(mint: string): number;
}

export function entryOf(read: ReadTransaction, execution: Execution, movement: Movement): BlockEntry {
  const { err, fee, logs, units, inner, returnData } = execution;
  return {
    transaction: { signatures: read.signatures, message: messageOf(read) },
    meta: {
      err,
      status: err === null ? { Ok: null } : { Err: err },
      fee,
      preBalances: movement.before.map((account) => account?.lamports ?? 0n),
      postBalances: movement.after.map((account) => account?.lamports ?? 0n),
      innerInstructions: inner.flatMap((instructions, index) =>
        instructions.length === 0
          ? []
          : [
              {
                index,
                instructions: instructions.map((one) => {
                  const compiled = one.instruction();
                  return {
                    programIdIndex: compiled.programIdIndex(),
                    accounts: [...compiled.accounts()],
                    data: base58.encode(Uint8Array.from(compiled.data())),
                    stackHeight: one.stackHeight(),
                  };
                }),
              },
            ],
      ),
      logMessages: logs,
      preTokenBalances: tokenBalancesOf(movement.before, movement),
      postTokenBalances: tokenBalancesOf(movement.after, movement),
      rewards: [],
      loadedAddresses: read.loaded,
      computeUnitsConsumed: units,
      ...(returnData === null
        ? {}
        : {
            returnData: {
              programId: returnData.program,
              data: [Buffer.from(returnData.data).toString('base64'), 'base64'],
            },
          }),
    },
    version: read.version,
  };
}

function messageOf({ message, version }: ReadTransaction): Record<string, unknown> {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  return {
    header: { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts },
    accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
    recentBlockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      programIdIndex,
      accounts: accountKeyIndexes,
      data: base58.encode(Uint8Array.from(data)),
      stackHeight: 1,
    })),
    ...(version === 'legacy'
      ? {}
      : {
          addressTableLookups: message.addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
            accountKey: accountKey.toBase58(),
            writableIndexes,
            readonlyIndexes,
          })),
        }),
  };
}

function tokenBalancesOf(accounts: readonly (SvmAccount | null)[], { decimalsOf }: Movement): unknown[] {
  return accounts.flatMap((account, accountIndex) => {
    const holding = holdingIn(account);
    if (holding === null) return [];
    const { mint, owner, amount, program: programId } = holding;
    return [{ accountIndex, mint, owner, programId, uiTokenAmount: uiAmountOf(amount, decimalsOf(mint)) }];
  });
}

/** The amount as a node shows it: the exact one, and a decimal text. */
export function uiAmountOf(amount: bigint, decimals: number): Record<string, unknown> {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const whole = digits.slice(0, point),
    part = digits.slice(point).replace(/0+$/, '');
  const uiAmountString = part === '' ? whole : `${whole}.${part}`;
  return {
    amount: amount.toString(),
    decimals,
    uiAmount: amount === 0n ? null : Number(uiAmountString),
    uiAmountString,
  };
}
