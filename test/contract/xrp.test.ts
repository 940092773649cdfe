import { loadModule } from '../../chains/registry.ts';
import { xrp } from '../../chains/xrp/network.ts';
import { xrpSigner } from '../../edge/signing/signers/xrp.ts';
import { fund } from '../../developer/stand-ins/xrp/people.ts';
import { funded, ours, readerOf, startNode } from '../support/xrp-node.ts';
import { chainModuleContract } from './chain-module.ts';

chainModuleContract('xrp', async (t) => {
  const { network, endpoints } = await startNode(t);
  const sender = funded(network, 100_000_000n),
    receiver = ours(0, 1).address;
  return {
    network: xrp,
    module: await loadModule('xrp'),
    signer: xrpSigner,
    endpoint: endpoints[0]!,
    sender,
    receiver,
    amount: 2_000_000n,
    transport: (given) => readerOf(given).transport,
    pay: async (amount) => fund(network, receiver, amount),
    mine: async () => {
      network.close();
    },
  };
});
