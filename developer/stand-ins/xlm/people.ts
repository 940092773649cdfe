/** Accounts whose keys a test or the demo holds, and what they sign. Bytes are made by the SDK, not by this project. */
import {
  Account,
  Address,
  BASE_FEE,
  Contract,
  Keypair,
  Memo,
  nativeToScVal,
  Operation,
  SorobanDataBuilder,
  TransactionBuilder,
} from '@stellar/stellar-sdk/base';
import type { Operation as XdrOperation } from '@stellar/stellar-sdk/xdr';
import { contractIdOf } from './contracts.ts';
import { assetOf } from './entries.ts';
import type { ClosedLedger, StellarLedger, Submitted } from './ledger.ts';

const DECIMALS = 7;

/** A key that only its number makes. */
export function person(number: number): Keypair {
  return Keypair.fromRawEd25519Seed(Buffer.alloc(32, number));
}

/** `1.5000000` from stroops. */
export function unitsOf(stroops: bigint): string {
  const digits = stroops.toString().padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
}

export interface SignOptions {
  readonly fee?: number;
  readonly memo?: Memo;
  readonly maxTime?: number;
  readonly minTime?: number;
  readonly sequence?: bigint;
  /** Further signers beside the source. */
  readonly beside?: readonly Keypair[];
  /** A contract call carries what it touches. */
  readonly isCall?: boolean;
}

/** A signed envelope of these operations, base64. */
export function envelopeOf(
  ledger: StellarLedger,
  source: Keypair,
  operations: readonly XdrOperation[],
  options: SignOptions = {},
): string {
  const last =
    options.sequence === undefined ? (ledger.state.account(source.publicKey())?.sequence ?? 0n) : options.sequence - 1n;
  const { fee = Number(BASE_FEE), memo = Memo.none(), minTime = 0, maxTime = 0, beside = [], isCall = false } = options;
  const builder = new TransactionBuilder(new Account(source.publicKey(), last.toString()), {
    fee: String(fee),
    networkPassphrase: ledger.passphrase,
    memo,
    timebounds: { minTime: String(minTime), maxTime: String(maxTime) },
  });
  for (const operation of operations) builder.addOperation(operation);
  if (isCall) builder.setSorobanData(new SorobanDataBuilder().build());
  const transaction = builder.build();
  transaction.sign(source, ...beside);
  return transaction.toXdr();
}

/** Signs, submits and closes a ledger. Throws: Error when the ledger refuses it. */
export function settle(
  ledger: StellarLedger,
  source: Keypair,
  operations: readonly XdrOperation[],
  options: SignOptions = {},
): Settled {
  const submitted = ledger.submit(envelopeOf(ledger, source, operations, options));
  if (submitted.status !== 'PENDING') throw new Error(`not taken: ${describe(submitted)}`);
  return { hash: submitted.hash, closed: ledger.close() };
}

export interface Settled {
  readonly hash: string;
  readonly closed: ClosedLedger;
}

function describe(submitted: Submitted): string {
  return submitted.status === 'ERROR' ? submitted.result.result.type : submitted.status;
}

export const payment = (to: string, amount: bigint, asset: string | null = null): XdrOperation =>
  Operation.payment({ destination: to, asset: assetOf(asset), amount: unitsOf(amount) });
export const creation = (to: string, balance: bigint): XdrOperation =>
  Operation.createAccount({ destination: to, startingBalance: unitsOf(balance) });
export const opening = (asset: string, source?: string): XdrOperation =>
  Operation.changeTrust({ asset: assetOf(asset), ...(source === undefined ? {} : { source }) });

/** A call of a contract's `transfer(from, to, amount)`; the asset's own contract unless another is named. */
export function contractTransfer(
  ledger: StellarLedger,
  from: string,
  to: string,
  amount: bigint,
  asset: string | null,
  contract = contractIdOf(ledger.passphrase, asset),
): XdrOperation {
  const value = nativeToScVal(amount, { type: 'i128' });
  return new Contract(contract).call('transfer', new Address(from).toScVal(), new Address(to).toScVal(), value);
}
