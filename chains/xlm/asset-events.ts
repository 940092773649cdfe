/**
 * Movements of Stellar assets inside a contract call, in the form and the order in which Horizon lists them
 * (`asset_balance_changes`): an event counts when the contract that emitted it is the asset's own, whatever the asset.
 * Their ordinal is the credit key (G2), so both sources must count the same events. M8 to M11; CAP-46-6, CAP-67.
 *
 *   transfer(from, to, asset) · mint([admin,] to, asset) · burn(from, asset) · clawback([admin,] from, asset)
 *   data      i128, or a map {amount, to_muxed_id}
 */
import { createHash } from 'node:crypto';
import {
  ContractIdPreimage,
  HashIdPreimage,
  HashIdPreimageContractId,
  type ContractEvent,
  type Int128Parts,
  type ScVal,
} from '@stellar/stellar-sdk/xdr';
import { formatAmount } from '../../protocol/money.ts';
import type { Answer } from '../node-answer.ts';
import { networkIdOf } from './envelope.ts';
import { STELLAR_DECIMALS } from './network.ts';
import { decodeStrkey, encodeStrkey } from './strkey.ts';
import { accountText, assetOf, hexOf } from './xdr.ts';

const MOVEMENTS = new Set(['transfer', 'mint', 'burn', 'clawback']);
const ASSET = /^[A-Za-z0-9]{1,12}:G[A-Z2-7]{55}$/;
/** Assets whose contract is remembered. */
const CONTRACTS_MAX = 10_000;

const contracts = new Map<string, string>();

/** Hex of the contract of an asset: SHA-256(ContractID preimage of network and asset). */
export function contractOf(passphrase: string, asset: string | null): string {
  const key = `${passphrase} ${asset ?? 'native'}`,
    known = contracts.get(key);
  if (known !== undefined) return known;
  const preimage = HashIdPreimage.envelopeTypeContractId(
    new HashIdPreimageContractId({
      networkId: networkIdOf(passphrase),
      contractIdPreimage: ContractIdPreimage.contractIdPreimageFromAsset(assetOf(asset)),
    }),
  );
  const contract = createHash('sha256').update(preimage.toXdr()).digest('hex');
  if (contracts.size >= CONTRACTS_MAX) contracts.clear();
  contracts.set(key, contract);
  return contract;
}

/** The balance changes that these events are, as Horizon's records; other events are left out. */
export function balanceChanges(passphrase: string, events: readonly ContractEvent[]): readonly Answer[] {
  return events.map((event) => changeOf(passphrase, event)).filter((change) => change !== null);
}

function changeOf(passphrase: string, event: ContractEvent): Answer | null {
  const { topics, data } = event.body.v0,
    type = symbolIn(topics[0]),
    last = topics.at(-1);
  if (event.contractId === null || type === null || !MOVEMENTS.has(type) || last?.type !== 'scvString') return null;
  const asset = assetNamed(last.value.toString());
  if (asset === undefined || contractOf(passphrase, asset) !== hexOf(event.contractId.toBytes())) return null;
  const amount = amountIn(data);
  if (amount === null) return null;
  const parties = topics.slice(1, -1).map(addressIn);
  // An administrator may come before the party of a mint or a clawback; since protocol 23 none does.
  const [from, to] =
    type === 'transfer' ? [parties[0], parties[1]] : type === 'mint' ? ['', parties.at(-1)] : [parties.at(-1), ''];
  if (typeof from !== 'string' || typeof to !== 'string' || parties.length === 0) return null;
  return {
    type,
    from,
    to,
    amount: formatAmount(amount.value, STELLAR_DECIMALS),
    ...assetFields(asset),
    ...amount.muxed,
  };
}

/** Null for the native coin, undefined for what names no asset. */
function assetNamed(name: string): string | null | undefined {
  if (name === 'native') return null;
  return ASSET.test(name) && decodeStrkey(name.split(':')[1]!)?.kind === 'account' ? name : undefined;
}

function assetFields(asset: string | null): Answer {
  if (asset === null) return { asset_type: 'native' };
  const [code, issuer] = asset.split(':') as [string, string];
  return {
    asset_type: code.length <= 4 ? 'credit_alphanum4' : 'credit_alphanum12',
    asset_code: code,
    asset_issuer: issuer,
  };
}

const symbolIn = (value: ScVal | undefined): string | null =>
  value?.type === 'scvSymbol' ? value.value.toString() : null;

/** `G…`, `C…`, or whatever else an address is; null for another value. */
function addressIn(value: ScVal): string | null {
  if (value.type !== 'scvAddress') return null;
  const { address } = value;
  switch (address.type) {
    case 'scAddressTypeAccount':
      return accountText(address.accountId);
    case 'scAddressTypeContract':
      return encodeStrkey('contract', address.contractId.toBytes());
    default:
      return address.type;
  }
}

const integerOf = ({ hi, lo }: Int128Parts): bigint => (hi << 64n) | lo;

function amountIn(data: ScVal): { readonly value: bigint; readonly muxed: Answer } | null {
  if (data.type === 'scvI128') return { value: integerOf(data.i128), muxed: {} };
  if (data.type !== 'scvMap' || data.map === null) return null;
  const field = (name: string) => data.map!.find(({ key }) => symbolIn(key) === name)?.val;
  const amount = field('amount'),
    id = field('to_muxed_id');
  if (amount?.type !== 'scvI128') return null;
  const muxed =
    id?.type === 'scvU64' ? { destination_muxed_id_type: 'uint64', destination_muxed_id: id.u64.toString() } : {};
  return { value: integerOf(amount.i128), muxed };
}
