/**
 * Contract calls: the assets' own contracts with `transfer` and `mint`, and others that only claim to be one. Balances
 * of contracts are kept beside the ledger. Events are those of protocol 23; their hash is the call's result.
 */
import { createHash } from 'node:crypto';
import { Address, Asset, StrKey } from '@stellar/stellar-sdk/base';
import {
  ContractEvent,
  ContractEventBody,
  ContractEventType,
  ContractEventV0,
  ExtensionPoint,
  InvokeHostFunctionResult,
  Int128Parts,
  InvokeHostFunctionSuccessPreImage,
  ScMapEntry,
  ScVal,
  type HostFunction,
  type Operation,
  type ScAddress,
} from '@stellar/stellar-sdk/xdr';
import { assetOf, baseOf, issuerOf, muxedIdOf, textOf } from './entries.ts';
import { give, take, type Scope } from './payments.ts';

export interface Called {
  readonly result: InvokeHostFunctionResult;
  readonly events: readonly ContractEvent[];
  readonly returnValue: ScVal;
  /** The contract is an asset's own. */
  readonly isAsset: boolean;
}

const trapped: Called = {
  result: InvokeHostFunctionResult.invokeHostFunctionTrapped(),
  events: [],
  returnValue: ScVal.scvVoid(),
  isAsset: false,
};

/** `CODE:ISSUER` or null of the asset whose contract this is; undefined for another contract. */
function assetOfContract(scope: Scope, passphrase: string, contract: string): string | null | undefined {
  const assets = new Set(scope.state.rows().flatMap((row) => (row.kind === 'line' ? [row.asset] : [])));
  return [null, ...assets].find((asset) => assetOf(asset).contractId(passphrase) === contract);
}

interface Party {
  readonly address: string;
  readonly id: bigint | null;
}

function partyOf(value: ScVal): Party {
  if (value.type !== 'scvAddress') throw new TypeError('no address');
  const { address } = value;
  if (address.type !== 'scAddressTypeMuxedAccount')
    return { address: Address.fromScAddress(address).toString(), id: null };
  const { ed25519, id } = address.muxedAccount;
  return { address: StrKey.encodeEd25519PublicKey(ed25519.toBytes()), id };
}

const amountOf = (value: ScVal): bigint => (value.type === 'scvI128' ? (value.i128.hi << 64n) | value.i128.lo : -1n);
const addressVal = (address: string): ScVal => new Address(address).toScVal();

/** Runs a call. A caller moves only what is its own: the source's authorisation is the only one there is. */
export function invoke(scope: Scope, passphrase: string, host: HostFunction): Called {
  if (host.type !== 'hostFunctionTypeInvokeContract') return trapped;
  const { contractAddress, functionName, args } = host.invokeContract,
    name = functionName.toString();
  const contract = Address.fromScAddress(contractAddress).toString(),
    asset = assetOfContract(scope, passphrase, contract);
  const [first, second, third] = args;
  if (name === 'transfer' && first !== undefined && second !== undefined && third !== undefined) {
    const from = partyOf(first),
      to = partyOf(second),
      amount = amountOf(third);
    // A stranger's contract moves nothing, but says what an asset's own would say.
    const claimed =
      asset === undefined ? (scope.state.rows().find((row) => row.kind === 'line')?.asset ?? null) : asset;
    if (asset !== undefined && !transfer(scope, asset, from.address, to.address, amount)) return trapped;
    return done([eventOf(contractAddress, 'transfer', [from, to], claimed, amount)], asset !== undefined);
  }
  if (
    name === 'mint' &&
    first !== undefined &&
    second !== undefined &&
    asset != null &&
    issuerOf(asset) === scope.source
  ) {
    const to = partyOf(first),
      amount = amountOf(second);
    if (give(scope.state, to.address, asset, amount) !== null) return trapped;
    return done([eventOf(contractAddress, 'mint', [to], asset, amount)], true);
  }
  return trapped;
}

function transfer({ state, source }: Scope, asset: string | null, from: string, to: string, amount: bigint): boolean {
  if (amount < 0n || from !== source) return false;
  const isContract = to.startsWith('C');
  return take(state, from, asset, amount) === null && (isContract || give(state, to, asset, amount) === null);
}

function eventOf(
  contract: ScAddress,
  type: string,
  parties: readonly Party[],
  asset: string | null,
  amount: bigint,
): ContractEvent {
  const name = asset === null ? 'native' : asset,
    id = parties.at(-1)!.id;
  const value = ScVal.scvI128(int128(amount));
  const entry = (key: string, val: ScVal) => new ScMapEntry({ key: ScVal.scvSymbol(key), val });
  const data = id === null ? value : ScVal.scvMap([entry('amount', value), entry('to_muxed_id', ScVal.scvU64(id))]);
  const topics = [ScVal.scvSymbol(type), ...parties.map(({ address }) => addressVal(address)), ScVal.scvString(name)];
  if (contract.type !== 'scAddressTypeContract') throw new TypeError('no contract');
  return new ContractEvent({
    ext: ExtensionPoint.v0(),
    contractId: contract.contractId,
    type: ContractEventType.contract,
    body: ContractEventBody.v0(new ContractEventV0({ topics, data })),
  });
}

function int128(value: bigint) {
  const parts = { hi: value >> 64n, lo: BigInt.asUintN(64, value) };
  return new Int128Parts(parts);
}

function done(events: readonly ContractEvent[], isAsset: boolean): Called {
  const returnValue = ScVal.scvVoid();
  const preimage = new InvokeHostFunctionSuccessPreImage({ returnValue, events: [...events] });
  const hash = createHash('sha256').update(preimage.toXdr()).digest();
  return { result: InvokeHostFunctionResult.invokeHostFunctionSuccess(hash), events, returnValue, isAsset };
}

/**
 * What a node with EMIT_CLASSIC_EVENTS adds to a payment: the event that the asset's contract would emit. M9, CAP-67.
 */
export function classicEvents(passphrase: string, source: string, { sourceAccount, body }: Operation): ContractEvent[] {
  if (body.type !== 'payment') return [];
  const { asset, destination, amount } = body.paymentOp,
    text = textOf(asset);
  const from = { address: sourceAccount === null ? source : baseOf(sourceAccount), id: null };
  const contract = new Address(contractIdOf(passphrase, text)).toScAddress();
  return [
    eventOf(contract, 'transfer', [from, { address: baseOf(destination), id: muxedIdOf(destination) }], text, amount),
  ];
}

/** The contract of an asset, `C…`. */
export function contractIdOf(passphrase: string, asset: string | null): string {
  const one: Asset = assetOf(asset);
  return one.contractId(passphrase);
}
