/**
 * The virtual machine of the network itself (litesvm), behind the few things that the stand-in needs of it: accounts in
 * and out, execution with real signatures, simulation, rent. It keeps neither blocks nor history: the ledger does.
 */
import { LiteSVM } from 'litesvm';
import { FailedTransactionMetadata, type InnerInstruction, type TransactionMetadata } from 'litesvm/dist/internal.js';
import { base58 } from '@scure/base';
import { errorOf, type TransactionError } from './transaction-error.ts';

export interface SvmAccount {
  readonly lamports: bigint;
  readonly owner: string;
  readonly data: Uint8Array;
  readonly executable: boolean;
}

export interface Execution {
  readonly err: TransactionError | null;
  readonly logs: readonly string[];
  readonly units: bigint;
  /** Lamports; 0 where the transaction was not executed at all. */
  readonly fee: bigint;
  /** By top-level instruction. */
  readonly inner: readonly (readonly InnerInstruction[])[];
  readonly returnData: { readonly program: string; readonly data: Uint8Array } | null;
}

export interface Simulation extends Execution {
  readonly after: ReadonlyMap<string, SvmAccount>;
}

const EMPTY: SvmAccount = { lamports: 0n, owner: '1'.repeat(32), data: new Uint8Array(), executable: false };

type KitTransaction = Parameters<LiteSVM['sendTransaction']>[0];
type KitAddress = Parameters<LiteSVM['getAccount']>[0];
type KitAccount = Parameters<LiteSVM['setAccount']>[0];

/** The bytes of a message, and its signatures in the order of the signers. */
export interface SignedMessage {
  readonly messageBytes: Uint8Array;
  readonly signatureBytes: readonly Uint8Array[];
}

/** The library's form of a transaction. */
function kitTransaction({ messageBytes, signatureBytes }: SignedMessage): KitTransaction {
  const signatures = Object.fromEntries(signatureBytes.map((signature, index) => [`signer ${index}`, signature]));
  return { messageBytes, signatures } as unknown as KitTransaction;
}

export class Svm {
  readonly #svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);

  account(key: string): SvmAccount | null {
    const found = this.#svm.getAccount(key as KitAddress);
    if (!found.exists || (found.lamports === 0n && found.data.length === 0)) return null;
    const { lamports, programAddress: owner, data, executable } = found;
    return { lamports, owner, data: Uint8Array.from(data), executable };
  }

  /** Null takes the account away. */
  setAccount(key: string, account: SvmAccount | null): void {
    const { lamports, owner, data, executable } = account ?? EMPTY;
    this.#svm.setAccount({
      address: key,
      lamports,
      data,
      executable,
      programAddress: owner,
      space: BigInt(data.length),
    } as unknown as KitAccount);
  }

  rentExempt(bytes: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(bytes));
  }

  warpTo(slot: number, unixSeconds: number): void {
    const clock = this.#svm.getClock();
    clock.slot = BigInt(slot);
    clock.unixTimestamp = BigInt(unixSeconds);
    this.#svm.setClock(clock);
  }

  execute(signed: SignedMessage): Execution {
    const result = this.#svm.sendTransaction(kitTransaction(signed));
    return result instanceof FailedTransactionMetadata
      ? executionOf(result.meta(), errorOf(result), /fee: (\d+)/.exec(result.toString())?.[1])
      : executionOf(result, null, /fee: (\d+)/.exec(result.toString())?.[1]);
  }

  simulate(signed: SignedMessage, verifySignatures: boolean): Simulation {
    this.#svm.withSigverify(verifySignatures);
    try {
      const result = this.#svm.simulateTransaction(kitTransaction(signed));
      if (result instanceof FailedTransactionMetadata) {
        return { ...executionOf(result.meta(), errorOf(result), '0'), after: new Map() };
      }
      const after = result
        .postAccounts()
        .map(
          ({ address, lamports, programAddress, data, executable }) =>
            [address as string, { lamports, owner: programAddress, data: Uint8Array.from(data), executable }] as const,
        );
      return { ...executionOf(result.meta(), null, '0'), after: new Map(after) };
    } finally {
      this.#svm.withSigverify(true);
    }
  }
}

function executionOf(meta: TransactionMetadata, err: TransactionError | null, fee: string | undefined): Execution {
  if (fee === undefined) throw new Error('the virtual machine stated no fee');
  const returned = meta.returnData(),
    data = returned.data();
  return {
    err,
    logs: meta.logs(),
    units: meta.computeUnitsConsumed(),
    fee: BigInt(fee),
    inner: meta.innerInstructions(),
    returnData: data.length === 0 ? null : { program: base58.encode(returned.programId()), data },
  };
}
