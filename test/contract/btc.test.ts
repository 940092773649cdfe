import { createFailoverTransport } from '../../chain-watchers/transport/failover.ts';
import { loadModule } from '../../chains/registry.ts';
import { btcSigner } from '../../edge/signers/btc.ts';
import { own } from '../support/btc-inputs.ts';
import { openBtcNode } from '../support/btc-node.ts';
import { chainModuleContract } from './chain-module.ts';

chainModuleContract('btc', async (t) => {
  const node = await openBtcNode();
  t.teardown(() => node.close());
  const { network, endpoint } = node, sender = own(0, 'p2wpkh', network), receiver = own(1, 'p2wpkh', network).address;
  await node.pay(sender.address, 100_000_000n);
  await node.mine(1);
  return {
    network, endpoint, module: await loadModule('btc'), signer: btcSigner, receiver, amount: 250_000n,
    transport: (endpoints) => createFailoverTransport({ chain: 'btc', endpoints, nowMs: () => 0, random: () => 0.5 }),
    sender: { address: sender.address, path: sender.path, key: { privateKey: sender.privateKey } },
    pay: (amount) => node.pay(receiver, amount),
    mine: async () => { await node.mine(1); },
  };
});
