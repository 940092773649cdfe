/**
 * The five EVM networks as data. Where they behave differently, the difference is a field with a name; no code
 * compares a slug. Sources: chains.md parts 2, 5 and 10; chain ids from trustwallet/wallet-core registry.json.
 */
import type { Network } from '../chain.ts';

/** 1 gwei in wei. */
const GWEI = 1_000_000_000n;
/** 1 coin in wei. */
const COIN = 10n ** 18n;

/** How a price per gas is found. V32, V33. */
export type FeePolicy =
  /** maxFee = 2 × next base fee + tip; the tip is the median of recent ones, at least the floor. */
  | { readonly kind: 'base_fee'; readonly tipFloorWei: bigint }
  /** The protocol's base fee is 0 and multiplying it gives 0: maxFee = tip = max(eth_gasPrice, floor). */
  | { readonly kind: 'gas_price'; readonly floorWei: bigint };

/** A log that the chain itself writes for every native transfer. V8. */
export interface NativeTransferLog {
  readonly emitter: string; // lower case
  readonly topic: string;
}

export type TraceMethod = 'debug_traceBlockByHash' | 'trace_block';

export interface EvmNetwork extends Network {
  readonly family: 'evm';
  readonly chainId: number;
  readonly feePolicy: FeePolicy;
  /** Method that answers the next base fee better than `eth_feeHistory`, where the node has one. */
  readonly nextBaseFeeMethod: 'eth_baseFee' | null;
  /** Block tag that never rolls back. On avax every `latest` block is accepted. V27–V29. */
  readonly finalityTag: 'finalized' | 'latest';
  /** Source of internal native transfers where the chain writes them as logs; traces are then not needed. V8. */
  readonly nativeTransferLog: NativeTransferLog | null;
  /**
   * Methods that trace a whole block, in the order in which they are tried; none where native logs show everything. V6.
   */
  readonly traceMethods: readonly TraceMethod[];
  /**
   * Receipts of state-sync transactions may follow those of the block's own transactions and lie outside its bloom.
   * V10.
   */
  readonly stateSyncReceipts: boolean;
  /** Predeploy that prices the L1 part of a fee, or null where there is none. V35. */
  readonly l1FeeOracle: string | null;
  /** An endpoint may refuse typed envelopes; then EIP-155 ones are built. Chains.md 5.5. */
  readonly legacyEnvelope: boolean;
  /** First size of an `eth_getLogs` range, blocks. V22. */
  readonly logRangeBlocks: number;
}

/** One path, one key and one address on all five. Spec §1.6, chains.md 5.1. */
const ACCOUNT_PATH = "m/44'/60'/0'";
/** Blocks kept for the reorg walk where twice the threshold is less. G15. */
const REORG_WINDOW_MIN = 256;

const shared = {
  family: 'evm',
  nativeDecimals: 18,
  accountPath: ACCOUNT_PATH,
  nextBaseFeeMethod: null,
  finalityTag: 'finalized',
  nativeTransferLog: null,
  stateSyncReceipts: false,
  l1FeeOracle: null,
  legacyEnvelope: false,
  logRangeBlocks: 2_000,
  traceMethods: ['debug_traceBlockByHash', 'trace_block'],
  gate: { kind: 'depth' },
  reorgWindow: REORG_WINDOW_MIN,
  feePolicy: { kind: 'base_fee', tipFloorWei: 1n },
  repricingsPerBlockMax: 2, // V37
} as const satisfies Partial<EvmNetwork>;

export const eth: EvmNetwork = {
  ...shared,
  slug: 'eth',
  chainId: 1,
  identity: '1',
  nativeSymbol: 'ETH',
  threshold: 12,
  blockTimeMs: 12_000,
  feeCap: COIN / 20n,
  fundingDepth: 3,
  explorer: { tx: 'https://etherscan.io/tx/{id}', address: 'https://etherscan.io/address/{id}' },
};

export const bsc: EvmNetwork = {
  ...shared,
  slug: 'bsc',
  chainId: 56,
  identity: '56',
  nativeSymbol: 'BNB',
  threshold: 15,
  blockTimeMs: 450,
  feeCap: COIN / 20n,
  fundingDepth: 15,
  legacyEnvelope: true,
  // 11 to 15 different validators must have sealed: 240 blocks when fast finality stalls. chains.md part 2.
  gate: { kind: 'finalized', stallDepth: 240 },
  reorgWindow: 480,
  // 0.05 gwei is what validators commonly take, not a protocol rule: chains.md 13.2.
  feePolicy: { kind: 'gas_price', floorWei: GWEI / 20n },
  explorer: { tx: 'https://bscscan.com/tx/{id}', address: 'https://bscscan.com/address/{id}' },
};

export const polygon: EvmNetwork = {
  ...shared,
  slug: 'polygon',
  chainId: 137,
  identity: '137',
  nativeSymbol: 'POL',
  threshold: 128,
  blockTimeMs: 2_000,
  feeCap: 20n * COIN,
  fundingDepth: 16,
  stateSyncReceipts: true,
  traceMethods: [],
  // A milestone settles a hash earlier; without milestones (2024-03, 2025-09) the depth alone decides. V27.
  gate: { kind: 'finalized', stallDepth: 128 },
  feePolicy: { kind: 'base_fee', tipFloorWei: 25n * GWEI }, // bor params
  nativeTransferLog: {
    emitter: '0x0000000000000000000000000000000000001010',
    topic: '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4', // bor core/bor_fee_log.go
  },
  explorer: { tx: 'https://polygonscan.com/tx/{id}', address: 'https://polygonscan.com/address/{id}' },
};

export const avax: EvmNetwork = {
  ...shared,
  slug: 'avax',
  chainId: 43_114,
  identity: '43114',
  nativeSymbol: 'AVAX',
  threshold: 12,
  blockTimeMs: 2_000,
  feeCap: COIN,
  fundingDepth: 1,
  finalityTag: 'latest',
  nextBaseFeeMethod: 'eth_baseFee',
  traceMethods: ['debug_traceBlockByHash'], // coreth has no trace_ namespace
  explorer: { tx: 'https://snowtrace.io/tx/{id}', address: 'https://snowtrace.io/address/{id}' },
};

export const base: EvmNetwork = {
  ...shared,
  slug: 'base',
  chainId: 8_453,
  identity: '8453',
  nativeSymbol: 'ETH',
  threshold: 12,
  blockTimeMs: 2_000,
  feeCap: COIN / 50n,
  fundingDepth: 6,
  l1FeeOracle: '0x420000000000000000000000000000000000000f',
  explorer: { tx: 'https://basescan.org/tx/{id}', address: 'https://basescan.org/address/{id}' },
};

export const evmNetworks: readonly EvmNetwork[] = [eth, bsc, polygon, avax, base];

/** The EVM facts of a network that a caller holds as a general one. Throws: TypeError for another family. */
export function evmOf(network: Network): EvmNetwork {
  if (network.family !== 'evm') throw new TypeError(`${network.slug} is no EVM network`);
  return network as EvmNetwork;
}
