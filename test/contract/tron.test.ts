import { loadModule } from '../../chains/registry.ts';
import { tron } from '../../chains/tron/network.ts';
import { tronSigner } from '../../edge/signing/signers/tron.ts';
import { endpointOf, openStage, own, PAYER, SENDER, transportOver } from '../support/tron-ledger.ts';
import { chainModuleContract } from './chain-module.ts';

chainModuleContract('tron', async () => {
  const { standIn, node } = openStage(),
    receiver = own(1).address;
  return {
    network: tron,
    module: await loadModule('tron'),
    signer: tronSigner,
    endpoint: endpointOf(node),
    receiver,
    amount: 250_000n,
    transport: transportOver,
    sender: SENDER,
    pay: async (amount) => standIn.send(PAYER, { type: 'TransferContract', to: receiver, amount }),
    mine: async () => standIn.ledger.mine(1),
  };
});
