/** What a cloud can say of a Stellar payment, account creation or trust line. */
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Intent, Unsigned } from '../../../../chains/chain.ts';
import {
  decodePayload,
  encodePayload,
  type Bump,
  type OwnOperation,
  type OwnTransaction,
  type Payload,
} from '../../../../chains/xlm/envelope.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { buildUnsigned, feePartsOf } from '../../../../chains/xlm/unsigned.ts';
import { person } from '../../../../developer/stand-ins/xlm/people.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction } from '../../../../edge/signing/signers/signer.ts';
import { xlmSigner } from '../../../../edge/signing/signers/xlm.ts';
import { accountOf, CLOSED_AT, inputsOf, lineOf } from '../../xlm-inputs.ts';
import { addressAt, must, ours, tank, XLM } from '../../xlm-node.ts';
import { NO_JOURNAL, type Ask, type Stage } from './stage.ts';

const US = ours(0),
  OTHER = ours(1),
  TREASURY = ours(2);
const SHOP = person(21).publicKey(),
  NEWCOMER = person(40).publicKey(),
  THIEF = person(66).publicKey();
const USDC = [...catalogueOf('xlm').values()][0]!;
const EURC = { chain: 'xlm', contract: `EURC:${person(12).publicKey()}`, symbol: 'EURC', decimals: 7 } as const;

interface Wish {
  readonly tankPays?: boolean;
  /** A bump around what was signed before. */
  readonly bumps?: boolean;
}

function payloadOf({ payload }: Pick<Unsigned, 'payload'>): Payload {
  const read = decodePayload(payload);
  if (!read.ok) throw new Error(read.reason);
  return read.payload;
}

function builtFor(instruction: Instruction, tankPays: boolean): Unsigned {
  const { from, fromPath, to, amount, token, tag, tagOfAddress, purpose } = instruction;
  const lines = token === null || token === EURC ? {} : { [token.contract]: lineOf({ balance: `${100n * XLM}` }) };
  const account = accountOf({ lines });
  const inputs = inputsOf(from, {
    sender: account,
    destination: to === NEWCOMER ? null : account,
    issuer: accountOf(),
    payer: accountOf(),
    ...(tankPays ? { feePayer: tank.address } : {}),
  });
  const kind = purpose === 'opt_in' ? 'trustline' : 'payment',
    muxed = tagOfAddress ? { tagOfAddress } : {};
  const intent: Intent = { chain: 'xlm', from, fromPath, to, amount, token, tag, kind, ...muxed };
  return must(buildUnsigned(stellar, inputs, intent, { kind: 'sequence', value: '7' }));
}

function askOf(more: Partial<Instruction> = {}, { tankPays = false, bumps = false }: Wish = {}): Ask {
  const instruction: Instruction = {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain: 'xlm',
    from: US.address,
    fromPath: US.path,
    to: SHOP,
    toPath: null,
    amount: 2n * XLM,
    token: null,
    tag: '7',
    ...more,
  };
  const built = builtFor(instruction, tankPays),
    inside = built.payload;
  const bump = { feeSource: instruction.from, feeStroops: 500n };
  return {
    instruction,
    unsigned: bumps ? versionOf(built, { ...payloadOf(built), bump }) : built,
    policy: {
      ...feeBoundsOf('xlm', undefined, instruction.purpose === 'sweep'),
      sweepDestinations: [TREASURY.address],
      gasTank: tank.address,
      catalogue: new Map([...catalogueOf('xlm'), [EURC.contract, EURC]]),
      addressAt,
      replayWindow: null,
      nowMs: CLOSED_AT * 1_000 + 5_000,
      journal: bumps ? { forInstruction: [inside], withReplayKey: () => [inside] } : NO_JOURNAL,
    },
  };
}

const worthOf = (operation: OwnOperation): bigint =>
  operation.kind === 'payment'
    ? operation.amount
    : operation.kind === 'create_account'
      ? operation.startingBalance
      : 0n;

/** Bytes with a summary that goes along. */
function versionOf(unsigned: Unsigned, payload: Payload): Unsigned {
  const { operation, source, memoId, feeStroops, sequence } = payload.transaction;
  const to =
    operation.kind === 'payment'
      ? operation.to
      : { address: operation.kind === 'create_account' ? operation.to : source, id: null };
  return {
    ...unsigned,
    payload: encodePayload(payload),
    to: to.address,
    amount: worthOf(operation),
    tag: to.id ?? memoId,
    kind: operation.kind === 'change_trust' ? 'trustline' : 'payment',
    tokenContract: operation.kind === 'create_account' ? null : operation.asset,
    feeMax: payload.bump?.feeStroops ?? BigInt(feeStroops),
    fee: feePartsOf(payload),
    replayKey: { kind: 'sequence', value: sequence.toString() },
  };
}

interface Change {
  readonly transaction?: Partial<OwnTransaction>;
  readonly operation?: object;
  readonly bump?: Bump | null;
}
const lie =
  (change: (payload: Payload) => Change | null) =>
  ({ unsigned }: Ask): Unsigned | null => {
    const before = payloadOf(unsigned),
      changed = change(before);
    if (changed === null) return null;
    const operation = { ...before.transaction.operation, ...changed.operation } as OwnOperation;
    return versionOf(unsigned, {
      transaction: { ...before.transaction, operation, ...changed.transaction },
      bump: changed.bump === undefined ? before.bump : changed.bump,
    });
  };
const ofKind = (kind: OwnOperation['kind'], change: (payload: Payload) => Change) =>
  lie((payload) => (payload.transaction.operation.kind === kind ? change(payload) : null));
const bumped = (change: (payload: Payload) => Change) =>
  lie((payload) => (payload.bump === null ? null : change(payload)));
const text = (change: (payload: Payload) => Change | null) => (ask: Ask) => lie(change)(ask)?.payload ?? null;
const amountOf = (change: (amount: bigint) => bigint) => (payload: Payload) => {
  const { operation } = payload.transaction;
  return operation.kind === 'payment' ? { operation: { amount: change(operation.amount) } } : null;
};

export const stage: Stage = {
  network: stellar,
  signer: xlmSigner,
  thief: THIEF,
  otherPath: ours(3).path,
  token: USDC,
  asks: {
    native: askOf(),
    'to a muxed account': askOf({ tagOfAddress: true }),
    'to a new account': askOf({ to: NEWCOMER, tag: null }),
    token: askOf({ token: USDC, amount: 5n * XLM }),
    'send-all': askOf({ amount: 'all' }),
    'send-all of a token': askOf({ token: USDC, amount: 'all' }),
    'trust line': askOf({ purpose: 'opt_in', to: US.address, token: EURC, amount: 0n, tag: null }),
    bump: askOf({}, { bumps: true }),
    sweep: askOf({ purpose: 'sweep', to: TREASURY.address, tag: null, amount: 'all' }, { tankPays: true }),
    'sweep of a token': askOf(
      { purpose: 'sweep', to: TREASURY.address, tag: null, token: USDC, amount: 5n * XLM },
      { tankPays: true },
    ),
    'gas funding': askOf({
      purpose: 'gas_funding',
      from: tank.address,
      fromPath: tank.path,
      to: OTHER.address,
      toPath: OTHER.path,
      tag: null,
    }),
  },
  lies: {
    destination: ofKind('payment', () => ({ operation: { to: { address: THIEF, id: null } } })),
    'destination of a creation': ofKind('create_account', () => ({ operation: { to: THIEF } })),
    'another amount': lie(amountOf((amount) => amount + 1n)),
    'no amount': lie(amountOf(() => 0n)),
    'another token': ofKind('payment', () => ({ operation: { asset: EURC.contract } })),
    'a muxed account of somebody else': ofKind('payment', ({ transaction: { operation } }) => ({
      operation: operation.kind === 'payment' ? { to: { ...operation.to, id: '8' } } : {},
    })),
    'another memo': lie(() => ({ transaction: { memoId: '8' } })),
    'no memo': lie(() => ({ transaction: { memoId: null } })),
    'a trust line instead': ofKind('payment', () => ({
      transaction: { operation: { kind: 'change_trust', asset: USDC.contract, limit: 2n ** 63n - 1n } },
    })),
    'a payment instead': ofKind('change_trust', () => ({
      transaction: { operation: { kind: 'payment', to: { address: THIEF, id: null }, asset: null, amount: 1n } },
    })),
    'a line for another token': ofKind('change_trust', () => ({ operation: { asset: USDC.contract } })),
    'a line of another limit': ofKind('change_trust', () => ({ operation: { limit: 1n } })),
    'another source': lie(() => ({ transaction: { source: THIEF } })),
    'a fee above the cap': lie(() => ({ transaction: { feeStroops: 20_001 } })),
    'a price above the cap': lie(() => ({ transaction: { feeStroops: 10_001 } })),
    'another sequence': lie(({ transaction: { sequence } }) => ({ transaction: { sequence: sequence + 1n } })),
    'a sequence of years ahead': lie(() => ({ transaction: { sequence: 2n ** 62n } })),
    'an end that was': lie(() => ({ transaction: { maxTime: BigInt(CLOSED_AT) } })),
    'an end far ahead': lie(() => ({ transaction: { maxTime: BigInt(CLOSED_AT + 3_606) } })),
    'no end': lie(() => ({ transaction: { maxTime: 0n } })),
    'a bump of somebody else': lie(() => ({ bump: { feeSource: THIEF, feeStroops: 500n } })),
    'a bump by the tank': lie(() => ({ bump: { feeSource: tank.address, feeStroops: 500n } })),
    'a bump by the sender': lie(({ transaction: { source } }) => ({ bump: { feeSource: source, feeStroops: 500n } })),
    'a bump above the cap': bumped(({ bump }) => ({ bump: { ...bump!, feeStroops: 20_001n } })),
  },
  earlier: {
    'a version with another fee': text(() => ({ transaction: { feeStroops: 300 } })),
    'a version with another end': text(() => ({ transaction: { maxTime: 9n } })),
    'a version of another amount': text(amountOf((amount) => amount + 7n)),
    'a version of a lower amount': text(amountOf((amount) => amount - 7n)),
    'a version under another sequence': text(({ transaction: { sequence } }) => ({
      transaction: { sequence: sequence + 1n },
    })),
  },
};
