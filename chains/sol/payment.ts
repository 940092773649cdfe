/**
 * The one form of transaction that this service builds and signs: a limit and a price of compute, then a transfer.
 *
 *   SetComputeUnitLimit    2(1) || units(4)
 *   SetComputeUnitPrice    3(1) || micro-lamports per unit(8)
 *   CreateIdempotent       1(1)                               only where the receiver has no token account yet (L29)
 *   Transfer (System)      2(4) || lamports(8)                or
 *   TransferChecked        12(1) || amount(8) || decimals(1)  of a token program
 *
 * Numbers are little-endian. What is read is encoded again and must give the same bytes, so that whatever has no field
 * in `Payment` (another instruction, account, flag, order, key) cannot be in a payload that was read. Spec: chains.md
 * L24, L26. Source: solana-program `compute-budget-interface`, `system`, `token`, `associated-token-account`.
 */
import { decodeMessage, encodeMessage, type AccountUse, type Instruction } from './message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  isTokenProgram,
  SYSTEM_PROGRAM,
  type TokenProgram,
} from './programs.ts';

export interface Payment {
  readonly feePayer: string;
  readonly from: string;
  readonly blockhash: string;
  readonly unitLimit: number;
  readonly microLamportsPerUnit: bigint;
  readonly amount: bigint;
  readonly asset: NativeAsset | TokenAsset;
}

export interface NativeAsset {
  readonly kind: 'native';
  readonly to: string;
}

export interface TokenAsset {
  readonly kind: 'token';
  readonly program: TokenProgram;
  readonly mint: string;
  readonly decimals: number;
  /** Token accounts that are debited and credited. */
  readonly source: string;
  readonly destination: string;
  /** Owner whose token account is created on the way at the payer's expense, or null. */
  readonly creates: string | null;
}

const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
const CREATE_IDEMPOTENT = 1;
const SYSTEM_TRANSFER = 2;
const TRANSFER_CHECKED = 12;

const signerOf = (key: string, writable: boolean): AccountUse => ({ key, signer: true, writable });
const writableOf = (key: string): AccountUse => ({ key, signer: false, writable: true });
const readonlyOf = (key: string): AccountUse => ({ key, signer: false, writable: false });

function bytesOf(length: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(length);
  write(new DataView(bytes.buffer));
  return bytes;
}

function budgetInstructions({ unitLimit, microLamportsPerUnit }: Payment): Instruction[] {
  return [
    bytesOf(5, (view) => {
      view.setUint8(0, SET_UNIT_LIMIT);
      view.setUint32(1, unitLimit, true);
    }),
    bytesOf(9, (view) => {
      view.setUint8(0, SET_UNIT_PRICE);
      view.setBigUint64(1, microLamportsPerUnit, true);
    }),
  ].map((data) => ({ program: COMPUTE_BUDGET_PROGRAM, accounts: [], data }));
}

function nativeTransfer({ from, amount }: Payment, { to }: NativeAsset): Instruction {
  const data = bytesOf(12, (view) => {
    view.setUint32(0, SYSTEM_TRANSFER, true);
    view.setBigUint64(4, amount, true);
  });
  return { program: SYSTEM_PROGRAM, accounts: [signerOf(from, true), writableOf(to)], data };
}

function tokenInstructions({ feePayer, from, amount }: Payment, asset: TokenAsset): Instruction[] {
  const { program, mint, decimals, source, destination, creates } = asset;
  const data = bytesOf(10, (view) => {
    view.setUint8(0, TRANSFER_CHECKED);
    view.setBigUint64(1, amount, true);
    view.setUint8(9, decimals);
  });
  const accounts = [writableOf(source), readonlyOf(mint), writableOf(destination), signerOf(from, false)];
  const transfer: Instruction = { program, accounts, data };
  if (creates === null) return [transfer];
  return [
    {
      program: ASSOCIATED_TOKEN_PROGRAM,
      data: Uint8Array.of(CREATE_IDEMPOTENT),
      accounts: [
        signerOf(feePayer, true),
        writableOf(destination),
        readonlyOf(creates),
        readonlyOf(mint),
        readonlyOf(SYSTEM_PROGRAM),
        readonlyOf(program),
      ],
    },
    transfer,
  ];
}

/** The message that makes a payment. */
export function encodePayment(payment: Payment): Uint8Array {
  const { feePayer, blockhash, asset } = payment;
  const transfer = asset.kind === 'native' ? [nativeTransfer(payment, asset)] : tokenInstructions(payment, asset);
  return encodeMessage({ feePayer, blockhash, instructions: [...budgetInstructions(payment), ...transfer] });
}

export type DecodedPayment = { readonly ok: true; readonly payment: Payment };
export type NotAPayment = { readonly ok: false; readonly reason: string };

/** The payment that a message makes, and nothing beside it; a snake_case reason where it is anything else. */
export function decodePayment(bytes: Uint8Array): DecodedPayment | NotAPayment {
  const message = decodeMessage(bytes);
  if (!message.ok) return message;
  const { feePayer, blockhash, instructions } = message;
  const stranger = instructions.find(({ program }) => !isAllowedProgram(program));
  if (stranger !== undefined) return { ok: false, reason: 'program_not_allowed' };
  const [limit, price, ...rest] = instructions;
  const unitLimit =
    limit === undefined ? null : readBudget(limit, SET_UNIT_LIMIT, 5, (view) => view.getUint32(1, true));
  const microLamportsPerUnit =
    price === undefined ? null : readBudget(price, SET_UNIT_PRICE, 9, (view) => view.getBigUint64(1, true));
  if (unitLimit === null || microLamportsPerUnit === null) return { ok: false, reason: 'compute_budget_missing' };
  const transfer = readTransfer(rest);
  if (transfer === null) return { ok: false, reason: 'instruction_not_allowed' };
  const payment: Payment = { feePayer, blockhash, unitLimit, microLamportsPerUnit, ...transfer };
  const same = Buffer.from(encodePayment(payment)).equals(bytes);
  return same ? { ok: true, payment } : { ok: false, reason: 'not_canonical' };
}

function isAllowedProgram(program: string): boolean {
  return (
    program === COMPUTE_BUDGET_PROGRAM ||
    program === SYSTEM_PROGRAM ||
    program === ASSOCIATED_TOKEN_PROGRAM ||
    isTokenProgram(program)
  );
}

const viewOf = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);

function readBudget<T>(
  { program, data }: Instruction,
  kind: number,
  length: number,
  read: (view: DataView) => T,
): T | null {
  return program === COMPUTE_BUDGET_PROGRAM && data.length === length && data[0] === kind ? read(viewOf(data)) : null;
}

type Transfer = Pick<Payment, 'from' | 'amount' | 'asset'>;

/** One transfer, or the creation of the account that it pays and the transfer. */
function readTransfer(instructions: readonly Instruction[]): Transfer | null {
  const last = instructions.at(-1),
    before = instructions.slice(0, -1);
  if (last === undefined || before.length > 1) return null;
  if (last.program === SYSTEM_PROGRAM) return before.length === 0 ? readNative(last) : null;
  const [create] = before;
  if (create !== undefined && create.program !== ASSOCIATED_TOKEN_PROGRAM) return null;
  return readToken(last, create === undefined ? null : (create.accounts[2]?.key ?? null));
}

function readNative({ accounts: [from, to], data }: Instruction): Transfer | null {
  if (from === undefined || to === undefined || data.length !== 12) return null;
  const view = viewOf(data);
  if (view.getUint32(0, true) !== SYSTEM_TRANSFER) return null;
  return { from: from.key, amount: view.getBigUint64(4, true), asset: { kind: 'native', to: to.key } };
}

function readToken({ program, accounts, data }: Instruction, creates: string | null): Transfer | null {
  const [source, mint, destination, from] = accounts;
  if (!isTokenProgram(program) || source === undefined || mint === undefined || destination === undefined) return null;
  if (from === undefined || data.length !== 10 || data[0] !== TRANSFER_CHECKED) return null;
  const view = viewOf(data);
  return {
    from: from.key,
    amount: view.getBigUint64(1, true),
    asset: {
      kind: 'token',
      program,
      mint: mint.key,
      decimals: view.getUint8(9),
      source: source.key,
      destination: destination.key,
      creates,
    },
  };
}
