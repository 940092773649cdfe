/** What a cloud can say of a payment on an EVM chain. */
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Unsigned } from '../../../../chains/chain.ts';
import { encodeTransfer } from '../../../../chains/evm/abi.ts';
import { addressOfHex } from '../../../../chains/evm/address.ts';
import { decodeUnsigned, encodeUnsigned, type EvmTransaction } from '../../../../chains/evm/envelope.ts';
import { base, eth, type EvmNetwork } from '../../../../chains/evm/network.ts';
import { buildUnsigned, cancel } from '../../../../chains/evm/unsigned.ts';
import { seedOf } from '../../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../../edge/keystore/phrase-keystore.ts';
import { OwnAddresses } from '../../../../edge/signing/own-addresses.ts';
import { evmSigner } from '../../../../edge/signing/signers/evm.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction } from '../../../../edge/signing/signers/signer.ts';
import { isRefusal, type Refusal } from '../../../../protocol/errors.ts';
import { inputsOf, RECIPIENT, SENDER, SENDER_PATH, USDC } from '../../evm-inputs.ts';

import { NO_JOURNAL, PHRASE, type Ask, type Stage } from './stage.ts';

const own = new OwnAddresses(createPhraseKeystore(seedOf(PHRASE, '')));
const [TANK_PATH, TREASURY_PATH] = ["m/44'/60'/0'/1/0", "m/44'/60'/0'/1/1"] as const;
const TANK = own.addressAt('eth', TANK_PATH)!,
  TREASURY = own.addressAt('eth', TREASURY_PATH)!;
const THIEF = addressOfHex('000000000000000000000000000000000badbad1');
const GWEI = 1_000_000_000n;

const must = (built: Unsigned | Refusal): Unsigned => {
  if (isRefusal(built)) throw new Error(JSON.stringify(built));
  return built;
};
const inputsFor = (network: EvmNetwork, isToken: boolean) =>
  inputsOf({
    ...(isToken ? { tokenBalance: '5000', gas: { kind: 'estimated', units: '50000' } as const } : {}),
    gasPrice: GWEI.toString(),
    ...(network === base ? { baseFeePerGas: (GWEI / 2n).toString() } : {}),
    l1FeeUpperBound: network.l1FeeOracle === null ? null : '1000',
  });

function askOf(more: Partial<Instruction> = {}, network: EvmNetwork = eth): Ask {
  const instruction: Instruction = {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain: network.slug,
    from: SENDER,
    fromPath: SENDER_PATH,
    to: RECIPIENT,
    toPath: null,
    amount: 1_000n,
    token: null,
    tag: null,
    ...more,
  };
  const { from, fromPath, to, amount, token, purpose } = instruction;
  const intent = { chain: network.slug, from, fromPath, amount, token, tag: null };
  const built = must(
    buildUnsigned(
      network,
      inputsFor(network, token !== null),
      { ...intent, to: purpose === 'cancel' ? RECIPIENT : to },
      { kind: 'nonce', value: 7 },
    ),
  );
  return {
    instruction,
    unsigned: purpose === 'cancel' ? must(cancel(network, built, inputsFor(network, false))) : built,
    policy: {
      ...feeBoundsOf(network.slug, undefined, purpose === 'sweep'),
      ...(purpose === 'sweep' ? { feeRatioBpsMax: 10 ** 9 } : {}),
      sweepDestinations: [TREASURY],
      gasTank: TANK,
      catalogue: catalogueOf(network.slug),
      addressAt: (path) => own.addressAt('eth', path),
      replayWindow: null,
      journal: NO_JOURNAL,
      nowMs: Date.parse('2026-08-01T00:00:00Z'),
    },
  };
}

function transactionOf({ payload }: Unsigned): EvmTransaction {
  const decoded = decodeUnsigned(payload);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.transaction;
}

/** A change of the bytes, with a summary that goes along. */
const lie =
  (change: (transaction: EvmTransaction) => Partial<EvmTransaction> | null, summary: Partial<Unsigned> = {}) =>
  ({ unsigned }: Ask): Unsigned | null => {
    const before = transactionOf(unsigned),
      changed = change(before);
    if (changed === null) return null;
    const transaction = { ...before, ...changed },
      { type, gasLimit, maxFeePerGas, maxPriorityFeePerGas, nonce } = transaction;
    return {
      ...unsigned,
      payload: encodeUnsigned(transaction),
      fee: {
        ...unsigned.fee,
        type,
        gasLimit: `${gasLimit}`,
        maxFeePerGas: `${maxFeePerGas}`,
        maxPriorityFeePerGas: `${maxPriorityFeePerGas}`,
      },
      feeMax: unsigned.feeMax - before.gasLimit * before.maxFeePerGas + gasLimit * maxFeePerGas,
      replayKey: { kind: 'nonce', value: nonce },
      ...(unsigned.tokenContract === null ? { amount: transaction.value, to: transaction.to } : {}),
      ...summary,
    };
  };
const isToken = ({ data }: EvmTransaction) => data !== '0x';
const native = (change: Partial<EvmTransaction>) => lie((before) => (isToken(before) ? null : change));
const token = (change: Partial<EvmTransaction>, summary: Partial<Unsigned> = {}) =>
  lie((before) => (isToken(before) ? change : null), summary);
const payload = (change: (transaction: EvmTransaction) => Partial<EvmTransaction>) => (ask: Ask) =>
  lie(change)(ask)!.payload;

export const stage: Stage = {
  network: eth,
  signer: evmSigner,
  thief: THIEF,
  otherPath: "m/44'/60'/0'/0/3",
  token: USDC,
  asks: {
    native: askOf(),
    token: askOf({ token: USDC }),
    'send-all': askOf({ amount: 'all' }),
    'send-all of a token': askOf({ amount: 'all', token: USDC }),
    sweep: askOf({ purpose: 'sweep', to: TREASURY, amount: 'all' }),
    'sweep of a token': askOf({ purpose: 'sweep', to: TREASURY, amount: 'all', token: USDC }),
    'gas funding': askOf({
      purpose: 'gas_funding',
      from: TANK,
      fromPath: TANK_PATH,
      to: SENDER,
      toPath: SENDER_PATH,
    }),
    cancel: askOf({ purpose: 'cancel', to: SENDER }),
  },
  lies: {
    destination: native({ to: THIEF }),
    'destination of a token': token({ data: encodeTransfer(THIEF, 1_000n) }, { to: THIEF }),
    'another amount': lie((before) => (isToken(before) ? null : { value: before.value + 1n })),
    'another amount of a token': token({ data: encodeTransfer(RECIPIENT, 1_001n) }, { amount: 1_001n }),
    'no amount': native({ value: 0n }),
    'no amount of a token': token({ data: encodeTransfer(RECIPIENT, 0n) }, { amount: 0n }),
    'another token': token({ to: THIEF }, { tokenContract: THIEF }),
    'coins beside a token': token({ value: 1n }),
    'a call of something else': token({ data: `0x095ea7b3${'0'.repeat(128)}` }),
    'a call beside coins': native({ data: '0xd0e30db0' }),
    'another chain': lie(() => ({ chainId: 56 })),
    'an old envelope': lie(({ maxFeePerGas }) => ({ type: 0, maxPriorityFeePerGas: maxFeePerGas })),
    'another nonce': lie(() => ({ nonce: 9 })),
    'a nonce of years ahead': lie(() => ({ nonce: 200_000 })),
    'a fee above the cap': lie(() => ({ maxFeePerGas: 10n ** 16n })),
    'a price above the cap': lie(() => ({ maxFeePerGas: 301n * GWEI })),
    'a limit of gas that burns money': lie(() => ({ gasLimit: 100_001n })),
    'a limit of gas above all blocks': lie(() => ({ gasLimit: 10n ** 9n })),
    'a fee out of proportion': lie(() => ({ maxFeePerGas: 40n * GWEI })),
  },
  earlier: {
    'a version with another fee': payload(({ maxFeePerGas }) => ({ maxFeePerGas: maxFeePerGas - 1n })),
    'a version of another amount': payload(({ value }) => ({ value: value + 7n })),
    'a version of a lower amount': payload(({ value }) => ({ value: value > 7n ? value - 7n : 7n })),
    'a version to somebody else': payload(() => ({ to: THIEF })),
    'a version of other data': payload(() => ({ data: '0x01' })),
    'a version under another nonce': payload(() => ({ nonce: 8 })),
    'a version of another chain': payload(() => ({ chainId: 56 })),
  },
};

/** The network whose fee has a part for another ledger. */
export const ofBase: Stage = { ...stage, network: base, asks: { 'native on base': askOf({ chain: 'base' }, base) } };
