/** A TRON stand-in with a funded sender of ours, and clients over its nodes. */
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { createFailoverTransport } from '../../chains/transport/failover.ts';
import type { Catalogue, Endpoint, Intent, Signed, Token, Transport, Unsigned } from '../../chains/chain.ts';
import type { TronInputs } from '../../chains/tron/build-inputs.ts';
import { createClient, type TronClient } from '../../chains/tron/client.ts';
import { deriveAddress } from '../../chains/tron/derive.ts';
import { tron } from '../../chains/tron/network.ts';
import { buildUnsigned } from '../../chains/tron/unsigned.ts';
import { tronSigner } from '../../edge/signing/signers/tron.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import {
  createTronStandIn,
  keyOf,
  trc20,
  type PeerNode,
  type TronStandIn,
} from '../../developer/stand-ins/tron/stand-in.ts';
import type { Trc20 } from '../../developer/stand-ins/tron/world.ts';
import { inProcess } from './in-process.ts';

const account = HDKey.fromMasterSeed(mnemonicToSeedSync(`${'abandon '.repeat(11)}about`)).derive("m/44'/195'/0'");

export interface Own {
  readonly address: string;
  readonly path: string;
  readonly key: { readonly privateKey: Uint8Array };
}

/** One of our own addresses with its key. */
export function own(index: number, change: 0 | 1 = 0): Own {
  const { address, path } = deriveAddress(tron, account.publicExtendedKey, change, index);
  return { address, path, key: { privateKey: account.derive(`m/${change}/${index}`).privateKey! } };
}

/** The address of ours at a path, as an edge derives it. */
export function addressAt(path: string): string | null {
  const match = /^m\/44'\/195'\/0'\/([01])\/(\d+)$/.exec(path);
  return match === null
    ? null
    : deriveAddress(tron, account.publicExtendedKey, Number(match[1]) as 0 | 1, Number(match[2])).address;
}

export const SENDER = own(0);
export const PAYER = keyOf('payer');
export const SHOP = keyOf('shop').address;
export const TRX = 1_000_000n;

export interface Stage {
  readonly standIn: TronStandIn;
  readonly node: PeerNode;
  readonly client: TronClient;
  /** A client over these nodes, in this order. */
  clientOf(nodes: readonly PeerNode[], catalogue?: Catalogue): TronClient;
}

export function transportOver(endpoints: readonly Endpoint[]): Transport {
  return createFailoverTransport({ chain: 'tron', endpoints, elapsedMs: () => 0, random: () => 0.5 });
}

/** A node in this process, as the transport asks it. */
export const endpointOf = ({ endpoint }: Pick<PeerNode, 'endpoint'>): Endpoint => inProcess('tron', endpoint);

/** A ledger on which the payer and the sender have TRX, and the shop exists. */
export function openStage(senderBalance = 100n * TRX): Stage {
  const standIn = createTronStandIn({ nowMs: 1_800_000_000_000 }),
    node = standIn.openNode();
  standIn.setAccount(PAYER.address, { balance: 1_000_000n * TRX });
  standIn.setAccount(SHOP, { balance: 1n });
  if (senderBalance > 0n) standIn.setAccount(SENDER.address, { balance: senderBalance });
  const clientOf: Stage['clientOf'] = (nodes, catalogue = new Map()) =>
    createClient(tron, transportOver(nodes.map(endpointOf)), catalogue);
  return { standIn, node, client: clientOf([node]), clientOf };
}

/** Deploys a TRC-20 with balances by address; the token as a catalogue has it. */
export function deployToken(
  { standIn }: Stage,
  balances: Readonly<Record<string, bigint>>,
  more: Partial<Omit<Trc20, 'kind'>> = {},
): Token {
  const contract = standIn.deploy(
    `token ${more.symbol ?? 'USDT'}`,
    trc20({ balances: new Map(Object.entries(balances)), ...more }),
  );
  return { chain: 'tron', contract, symbol: more.symbol ?? 'USDT', decimals: more.decimals ?? 6 };
}

export const intentOf = (more: Partial<Intent> = {}): Intent => ({
  chain: 'tron',
  from: SENDER.address,
  fromPath: SENDER.path,
  to: SHOP,
  amount: TRX,
  token: null,
  tag: null,
  ...more,
});

/** What is not a refusal. Throws: Error with the refusal. */
export function must<T extends object>(value: T | Refusal): T {
  if (isRefusal(value)) throw new Error(`${value.code} ${JSON.stringify(value.details)}`);
  return value;
}

export async function inputsOf(client: TronClient, more: Partial<Intent> = {}): Promise<TronInputs> {
  return client.fetchBuildInputs(intentOf(more));
}

export async function build(client: TronClient, more: Partial<Intent> = {}): Promise<Unsigned> {
  return must(buildUnsigned(tron, await inputsOf(client, more), intentOf(more), null));
}

export const sign = (unsigned: Unsigned, { key }: Own = SENDER): Signed => tronSigner.sign(tron, unsigned, key);

/** The balance that the ledger itself has, newest state. */
export const heldBy = ({ standIn }: Stage, address: string): bigint =>
  standIn.ledger.pendingWorld().accounts.get(address)?.balance ?? 0n;
