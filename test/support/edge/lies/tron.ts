/** What a cloud can say of a TRON payment. */
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Unsigned } from '../../../../chains/chain.ts';
import { addressOf } from '../../../../chains/tron/address.ts';
import { bandwidthBytesOf } from '../../../../chains/tron/fee.ts';
import { tron } from '../../../../chains/tron/network.ts';
import { decodeRaw, encodeRaw, type RawData, type TronContract } from '../../../../chains/tron/raw-transaction.ts';
import { encodeTransfer } from '../../../../chains/tron/trc20.ts';
import { buildUnsigned } from '../../../../chains/tron/unsigned.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction } from '../../../../edge/signing/signers/signer.ts';
import { tronSigner } from '../../../../edge/signing/signers/tron.ts';
import { HEAD_MS, inputsOf } from '../../tron-inputs.ts';
import { addressAt as derive, must, own, SENDER, SHOP, TRX } from '../../tron-ledger.ts';
import { NO_JOURNAL, remembering, type Ask, type Stage } from './stage.ts';

const TANK = own(0, 1),
  TREASURY = own(1, 1).address,
  THIEF = addressOf(Buffer.from('an attacker in Tron!'));
const addressAt = remembering(derive);
const catalogue = catalogueOf('tron');
const USDT = catalogue.get('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')!;
const HOUR_MS = 3_600_000;

function askOf(more: Partial<Instruction> = {}, activates = false): Ask {
  const instruction: Instruction = {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain: 'tron',
    from: SENDER.address,
    fromPath: SENDER.path,
    to: SHOP,
    toPath: null,
    amount: 5n * TRX,
    token: null,
    tag: null,
    ...more,
  };
  const { from, fromPath, to, amount, token, purpose } = instruction;
  const inputs = inputsOf({
    nativeBalance: '50000000',
    destination: activates ? 'missing' : 'account',
    ...(token === null ? {} : { tokenBalance: '5000000', tried: { kind: 'succeeded', energy: '65000' } as const }),
  });
  return {
    instruction,
    unsigned: must(buildUnsigned(tron, inputs, { chain: 'tron', from, fromPath, to, amount, token, tag: null }, null)),
    policy: {
      ...feeBoundsOf('tron', undefined, purpose === 'sweep'),
      sweepDestinations: [TREASURY],
      gasTank: TANK.address,
      catalogue,
      addressAt,
      replayWindow: null,
      nowMs: HEAD_MS,
      journal: NO_JOURNAL,
    },
  };
}

type Change = Partial<Omit<RawData, 'contract'>> & { contract?: Partial<TronContract> };

/** A change of the bytes, with a summary that goes along. */
const lie =
  (change: (raw: RawData) => Change | null, summary: Partial<Unsigned> = {}) =>
  ({ unsigned }: Ask): Unsigned | null => {
    const read = decodeRaw(unsigned.payload);
    if (!read.ok) throw new Error(read.reason);
    const changed = change(read.raw);
    if (changed === null) return null;
    const { contract, ...around } = changed;
    const raw = { ...read.raw, ...around, contract: { ...read.raw.contract, ...contract } as TronContract },
      payload = encodeRaw(raw);
    const bandwidthBytes = bandwidthBytesOf(payload),
      bandwidthFeeMax = bandwidthBytes * 1_000n;
    return {
      ...unsigned,
      payload,
      fee: {
        ...unsigned.fee,
        bandwidthBytes: String(bandwidthBytes),
        bandwidthFeeMax: String(bandwidthFeeMax),
        feeLimit: String(raw.feeLimit),
      },
      feeMax: raw.feeLimit + bandwidthFeeMax + BigInt(unsigned.fee['activationFee']!),
      replayKey: { kind: 'expiry', value: String(raw.expirationMs) },
      ...(raw.contract.type === 'TransferContract' ? { to: raw.contract.to, amount: raw.contract.amount } : {}),
      ...summary,
    };
  };
const isToken = ({ contract }: RawData) => contract.type === 'TriggerSmartContract';
const native = (contract: Partial<TronContract>) => lie((raw) => (isToken(raw) ? null : { contract }));
const token = (contract: Partial<TronContract>, summary: Partial<Unsigned> = {}) =>
  lie((raw) => (isToken(raw) ? { contract } : null), summary);
const payload = (change: (raw: RawData) => Change) => (ask: Ask) => lie(change)(ask)!.payload;

export const stage: Stage = {
  network: tron,
  signer: tronSigner,
  thief: THIEF,
  otherPath: own(3).path,
  token: USDT,
  asks: {
    native: askOf(),
    'native to a new account': askOf({}, true),
    token: askOf({ token: USDT, amount: 1_000n }),
    'send-all': askOf({ amount: 'all' }),
    'send-all of a token': askOf({ token: USDT, amount: 'all' }),
    sweep: askOf({ purpose: 'sweep', to: TREASURY, amount: 'all' }),
    'sweep of a token': askOf({ purpose: 'sweep', to: TREASURY, token: USDT, amount: 1_000n }),
    'gas funding': askOf({
      purpose: 'gas_funding',
      from: TANK.address,
      fromPath: TANK.path,
      to: SENDER.address,
      toPath: SENDER.path,
    }),
  },
  lies: {
    destination: native({ to: THIEF }),
    'destination of a token': token({ data: encodeTransfer(THIEF, 1_000n) }, { to: THIEF }),
    'another amount': native({ amount: 7n }),
    'another amount of a token': token({ data: encodeTransfer(SHOP, 1_001n) }, { amount: 1_001n }),
    'no amount': native({ amount: 0n }),
    'another owner': lie(() => ({ contract: { owner: THIEF } })),
    'another token': token({ contract: THIEF }, { tokenContract: THIEF }),
    'coins beside a token': token({ callValue: 1n }),
    'an asset beside a token': token({ callTokenValue: 1n, tokenId: 1_000_001n }),
    'a call of something else': token({ data: `095ea7b3${'0'.repeat(128)}` }),
    'energy lent away': lie(({ contract: { owner } }) => ({
      contract: {
        type: 'DelegateResourceContract',
        owner,
        resource: 1n,
        balance: 1n,
        receiver: THIEF,
        lock: false,
        lockPeriod: 0n,
      },
    })),
    'a limit beside coins': lie((raw) => (isToken(raw) ? null : { feeLimit: 1n })),
    'a fee above the cap': lie((raw) => (isToken(raw) ? { feeLimit: 200_000_000n } : null)),
    'a price above the cap': lie((raw) => (isToken(raw) ? { feeLimit: 99_000_000n } : null)),
    'a bandwidth that costs nothing': (ask) => ({
      ...ask.unsigned,
      fee: { ...ask.unsigned.fee, bandwidthFeeMax: '0' },
      feeMax: ask.unsigned.feeMax - BigInt(ask.unsigned.fee['bandwidthFeeMax']!),
    }),
    'an activation that costs more than the amount': (ask) => ({
      ...ask.unsigned,
      fee: { ...ask.unsigned.fee, activationFee: '60000000' },
      feeMax: ask.unsigned.feeMax - BigInt(ask.unsigned.fee['activationFee']!) + 60_000_000n,
    }),
    'an hour and a little to live': lie(() => ({ expirationMs: HEAD_MS + HOUR_MS + 1 })),
    'a life until next year': lie(() => ({ expirationMs: HEAD_MS + 9_000 * HOUR_MS })),
    'a life that ended before it began': lie(({ timestampMs }) => ({ expirationMs: timestampMs - 1 })),
    'a life that ended': lie(() => ({ timestampMs: HEAD_MS - 9_000, expirationMs: HEAD_MS - 1_000 })),
  },
  earlier: {
    'a version with another time': payload(({ timestampMs }) => ({ timestampMs: timestampMs + 1 })),
    'a version with another end': payload(({ expirationMs }) => ({ expirationMs: expirationMs + 1 })),
  },
};
