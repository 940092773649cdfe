/** Nodes and an index of the stand-in with a client over them, for one test. */
import type { ExecutionContext } from 'ava';
import type { BtcInputs } from '../../chains/btc/coin.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import type { BtcBlock } from '../../chains/btc/transfers.ts';
import type { ChainClient, Endpoint, Intent, Signed, Unsigned } from '../../chains/chain.ts';
import { createHttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import { buildUnsigned, reprice } from '../../chains/btc/unsigned.ts';
import { btcSigner } from '../../edge/signing/signers/btc.ts';
import { startBtcStandIn, type BtcStandIn } from '../../developer/stand-ins/btc/stand-in.ts';
import { accepted, type Own } from './btc-inputs.ts';
import { clientOf } from './btc-node.ts';
import { ANSWER_MS_MAX } from './in-process.ts';

type Client = ChainClient<BtcBlock, BtcInputs>;

export interface StandIn extends BtcStandIn {
  readonly node: BtcStandIn['nodes'][number];
  /** Endpoints of the nodes, in order, and of the index. */
  readonly endpoints: readonly Endpoint[];
  readonly indexEndpoint: Endpoint;
  /** A client over the first node, or over what is given. */
  client(endpoints?: readonly Endpoint[], scanWaitMs?: number): Client;
}

export async function openStandIn(
  t: ExecutionContext,
  options: Parameters<typeof startBtcStandIn>[0] = {},
): Promise<StandIn> {
  const peer = await startBtcStandIn(options);
  const endpointAt = (name: string, url: string) =>
    createHttpEndpoint({ chain: 'btc', name, url, timeoutMs: ANSWER_MS_MAX });
  const endpoints = peer.nodes.map((node, i) => endpointAt(`node-${i}`, node.url)),
    indexEndpoint = endpointAt('index', peer.index.url);
  t.teardown(async () => {
    await Promise.all([...endpoints, indexEndpoint].map((endpoint) => endpoint.close()));
    await peer.close();
  });
  return {
    ...peer,
    node: peer.nodes[0]!,
    endpoints,
    indexEndpoint,
    client: (over = [endpoints[0]!], scanWaitMs) => clientOf(over, bitcoin, scanWaitMs),
  };
}

export const intentFrom = (from: Own, to: string, amount: bigint | 'all'): Intent => ({
  chain: 'btc',
  from: from.address,
  fromPath: from.path,
  to,
  amount,
  token: null,
  tag: null,
});

/** A payment that is built and signed at the head of a client. */
export async function signedPayment(
  client: Client,
  from: Own,
  to: string,
  amount: bigint | 'all',
): Promise<{ unsigned: Unsigned; signed: Signed }> {
  const intent = intentFrom(from, to, amount);
  const unsigned = accepted(buildUnsigned(bitcoin, await client.fetchBuildInputs(intent), intent, null));
  return { unsigned, signed: btcSigner.sign(bitcoin, unsigned, { privateKey: from.privateKey }) };
}

/** The next version of a payment, signed. */
export async function repriced(
  client: Client,
  from: Own,
  old: Unsigned,
): Promise<{ unsigned: Unsigned; signed: Signed }> {
  const inputs = await client.fetchBuildInputs(intentFrom(from, old.to, old.sendAll ? 'all' : old.amount));
  const unsigned = accepted(reprice(bitcoin, old, inputs));
  return { unsigned, signed: btcSigner.sign(bitcoin, unsigned, { privateKey: from.privateKey }) };
}
