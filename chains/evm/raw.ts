/** Blocks, transactions and receipts as a node answers with them. */
import { z } from 'zod';

export interface EvmRaw {
  readonly block: RawBlock;
  readonly receipts: readonly RawReceipt[];
  /**
   * `debug_traceBlockByHash` with callTracer, or `trace_block`. Absent: internal transfers are not seen in this unit.
   */
  readonly traces?: readonly unknown[];
  /**
   * What addresses really received of tokens that keep a part, by `contract to`, both lower case; decimal text. V12.
   */
  readonly received?: Readonly<Record<string, string>>;
}

export interface RawReceipt {
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly from: string;
  readonly logs: readonly RawLog[];
  readonly gasUsed: string;
  readonly status?: string;
  readonly logsBloom?: string;
  readonly effectiveGasPrice?: string;
  /** base: the L1 part of the fee. */
  readonly l1Fee?: string | null;
  /** base since Isthmus: the operator's part, by units of gas; absent where there is none. */
  readonly operatorFeeScalar?: string | null;
  readonly operatorFeeConstant?: string | null;
  /** base since Jovian, which multiplies the operator's scalar in another way. */
  readonly daFootprintGasScalar?: string | null;
}

/** G13: the fields that every transaction type has; unknown types are carried. */
export interface RawTransaction {
  readonly hash: string;
  readonly blockHash: string;
  readonly transactionIndex: string;
  readonly from: string;
  readonly to?: string | null;
  readonly value: string;
  readonly nonce: string;
  readonly type?: string;
  /** Absent in legacy ones without replay protection; zero in a chain's own. */
  readonly chainId?: string | null;
  /** In a block: what it paid per gas. */
  readonly gasPrice?: string;
}

export const hash = z.string().regex(/^0x[0-9a-f]{64}$/i);

export const header = z.object({
  number: z.string(),
  hash,
  parentHash: hash,
  timestamp: z.string(),
  logsBloom: z.string().optional(),
  gasUsed: z.string().optional(),
  baseFeePerGas: z.string().optional(),
});

export const block = header.extend({
  transactions: z.array(z.unknown()),
  /** eth: validators' withdrawals, amounts in gwei. V10. */
  withdrawals: z.array(z.object({ index: z.string(), address: z.string(), amount: z.string() })).nullish(),
});

export type RawHeader = z.infer<typeof header>;

export type RawBlock = Omit<z.infer<typeof block>, 'transactions'> & {
  readonly transactions: readonly RawTransaction[];
};

export interface RawLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockHash: string;
  readonly removed?: boolean;
}
