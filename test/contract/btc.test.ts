import { createFailoverTransport } from '../../chains/transport/failover.ts';
import { createHttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { loadModule } from '../../chains/registry.ts';
import type { Endpoint } from '../../chains/chain.ts';
import { btcSigner } from '../../edge/signing/signers/btc.ts';
import { startBtcStandIn } from '../../developer/stand-ins/btc/stand-in.ts';
import { own } from '../support/btc-inputs.ts';
import { openBtcNode } from '../support/btc-node.ts';
import { chainModuleContract } from './chain-module.ts';

const transport = (endpoints: readonly Endpoint[]) =>
  createFailoverTransport({ chain: 'btc', endpoints, elapsedMs: () => 0, random: () => 0.5 });

chainModuleContract('btc on a real node of the family', async (t) => {
  const node = await openBtcNode();
  t.teardown(() => node.close());
  const { network, endpoint } = node,
    sender = own(0, 'p2wpkh', network),
    receiver = own(1, 'p2wpkh', network).address;
  await node.pay(sender.address, 100_000_000n);
  await node.mine(1);
  return {
    network,
    endpoint,
    module: await loadModule('btc'),
    signer: btcSigner,
    receiver,
    amount: 250_000n,
    transport,
    sender: { address: sender.address, path: sender.path, key: { privateKey: sender.privateKey } },
    pay: (amount) => node.pay(receiver, amount),
    mine: async () => {
      await node.mine(1);
    },
  };
});

chainModuleContract('btc on the stand-in', async (t) => {
  const peer = await startBtcStandIn();
  const endpoint = createHttpEndpoint({ chain: 'btc', name: 'stand-in', url: peer.nodes[0]!.url });
  t.teardown(async () => {
    await endpoint.close();
    await peer.close();
  });
  const sender = own(0),
    receiver = own(1).address;
  peer.pay(sender.address, 100_000_000n);
  peer.mine(1);
  return {
    network: bitcoin,
    endpoint,
    module: await loadModule('btc'),
    signer: btcSigner,
    receiver,
    amount: 250_000n,
    transport,
    sender: { address: sender.address, path: sender.path, key: { privateKey: sender.privateKey } },
    pay: async (amount) => peer.pay(receiver, amount),
    mine: async () => {
      peer.mine(1);
    },
  };
});
