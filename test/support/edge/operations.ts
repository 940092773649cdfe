/**
 * An edge's way to sign operations of the treasury, on a data directory of its own, and the frames of an honest cloud.
 */
import { catalogueOf, shippedRegistry, type Registry } from '../../../chains/catalogue.ts';
import { createEdgeLog } from '../../../edge/process/log.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { createUpstream } from '../../../edge/link/upstream.ts';
import { Lease } from '../../../edge/link/lease.ts';
import { Outbox } from '../../../edge/link/outbox.ts';
import { Instructions } from '../../../edge/signing/instructions.ts';
import { OwnAddresses } from '../../../edge/signing/own-addresses.ts';
import { loadSigner } from '../../../edge/signing/signer-loader.ts';
import { DEFAULT_FEE_SETTINGS, type FeeSettings } from '../../../edge/signing/signers/fee-bounds.ts';
import { FIRST_NONCE_MAX } from '../../../edge/signing/signers/lying-in-wait.ts';
import { openSpendClock } from '../../../edge/spend/clock.ts';
import { newestSpendMs, SpendLedger } from '../../../edge/spend/ledger.ts';
import type { SharedSpend } from '../../../edge/spend/replica.ts';
import type { Storage } from '../../../edge/storage/storage.ts';
import { Operations } from '../../../edge/sweeps/operations.ts';
import type { AllowedTreasury } from '../../../edge/sweeps/treasuries.ts';
import { refuse } from '../../../protocol/errors.ts';
import type { OperateFrame } from '../../../protocol/frames.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { CHAINS, type Chain } from '../../../protocol/slugs.ts';
import { newStorage } from './disk.ts';
import { PHRASE, type Ask } from './lies/stage.ts';

export const keystore = createPhraseKeystore(seedOf(PHRASE, ''));
export const own = new OwnAddresses(keystore);
export const EPOCH = 3;
/** Nobody waits for the cloud in these tests: bytes are read from the journal. */
export const SUBMITTED = refuse('UPSTREAM_UNAVAILABLE', { reason: 'no_answer', signed: true });

export interface EdgeOf {
  readonly storage?: Storage;
  readonly nowMs?: () => number;
  readonly cap?: bigint;
  readonly fees?: Partial<FeeSettings>;
  readonly treasuries?: ReadonlyMap<Chain, readonly AllowedTreasury[]>;
  readonly shared?: SharedSpend | null;
  readonly registry?: Registry;
  /** EDGE_BTC_SWEEPS; on by default here. */
  readonly btcSweeps?: boolean;
  readonly bridgeCaps?: ReadonlyMap<Chain, bigint>;
  /** Leads under this epoch; null: does not lead. */
  readonly epoch?: number | null;
}

/** What a test asks of it beside frames. */
export interface OperatingEdge {
  readonly operations: Operations;
  readonly storage: Storage;
  readonly lease: Lease;
  readonly instructions: Instructions;
  readonly ledger: SpendLedger;
  /** Signatures in the journal of all transactions. */
  readonly signatures: () => number;
}

export function operatingEdge(of: EdgeOf = {}): OperatingEdge {
  const { nowMs = () => 1_800_000_000_000, cap = 10n ** 30n, shared = null, epoch = EPOCH } = of;
  const storage = of.storage ?? newStorage(),
    clocks = { wallMs: nowMs, monotonicMs: () => 0 };
  const caps = {
    spendCaps: new Map(CHAINS.map((chain) => [chain, cap])),
    withdrawalCaps: new Map(),
    bridgeCaps: of.bridgeCaps ?? new Map(),
    spendWindowMs: 60_000,
  };
  const ledger = new SpendLedger(storage, caps, openSpendClock(storage, newestSpendMs(storage), clocks));
  const instructions = new Instructions(storage, nowMs),
    lease = new Lease(() => 0);
  if (epoch !== null) lease.grant({ role: 'leader', leaseEpoch: epoch, leaseTtlMs: 30_000, sentAtMs: 0 });
  const operations = new Operations({
    environment: 'live',
    storage,
    registry: { current: of.registry ?? shippedRegistry },
    lease,
    instructions,
    ledger,
    shared,
    outbox: new Outbox(storage, { capacity: 100_000, nowMs }),
    submissions: { answerOf: async () => SUBMITTED },
    keystore,
    upstream: createUpstream({
      cloudUrl: 'http://127.0.0.1:1',
      apiKey: `flk_live_${'x'.repeat(24)}`,
      identity: keystore.identity,
      nowMs,
    }),
    policies: {
      instructions,
      own,
      fees: { ...DEFAULT_FEE_SETTINGS, ...of.fees },
      firstNonceMax: FIRST_NONCE_MAX,
      sweepTreasuries: of.treasuries ?? new Map(),
      btcSweeps: of.btcSweeps ?? true,
      bridgeCaps: of.bridgeCaps ?? new Map(),
      catalogueOf: (chain) => catalogueOf(chain, of.registry),
      nowMs,
    },
    nextCounter: null,
    signerOf: loadSigner,
    beat: async () => undefined,
    nudge: () => undefined,
    log: createEdgeLog('silent'),
  });
  const signatures = () =>
    storage.one<{ count: number }>('select count(*) as count from signatures where signed_payload is not null')!.count;
  return { operations, storage, lease, instructions, ledger, signatures };
}

/** The frame in which an honest cloud asks for what a stage asks for. */
export function frameOf({ instruction, unsigned }: Ask): OperateFrame {
  const { chain, purpose, from, fromPath, to, tag, token } = instruction,
    { treasury } = own.paths(chain);
  const isDerived = treasury !== null && own.addressAt(chain, treasury) === to;
  return {
    leaseEpoch: EPOCH,
    operationId: newId('swo', 1_800_000_000_000),
    transactionId: newId('txn', 1_800_000_000_000),
    role: purpose === 'gas_funding' ? 'fund' : 'sweep',
    chain,
    fromPath,
    from,
    toPath: purpose === 'gas_funding' ? instruction.toPath : isDerived ? treasury : null,
    to,
    tag,
    token: token?.contract ?? null,
    amount: unsigned.amount.toString(),
    sendAll: unsigned.sendAll,
    unsigned: jsonOf(unsigned),
  };
}

/** A payload as it crosses the wire. */
export function jsonOf(unsigned: Ask['unsigned']): OperateFrame['unsigned'] {
  return {
    ...unsigned,
    amount: unsigned.amount.toString(),
    feeMax: unsigned.feeMax.toString(),
    fee: { ...unsigned.fee },
    replayKey: unsigned.replayKey as OperateFrame['unsigned']['replayKey'],
  };
}
