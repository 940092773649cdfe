import { sol } from '../../chains/sol/index.ts';
import { solana } from '../../chains/sol/network.ts';
import type { ChainModule } from '../../chains/chain.ts';
import { solSigner } from '../../edge/signing/signers/sol.ts';
import { depositPath } from '../../chains/sol/derive.ts';
import { keyOf, openSol, SOL } from '../support/sol-node.ts';
import { chainModuleContract } from './chain-module.ts';

chainModuleContract('sol', async (t) => {
  const peer = await openSol(t, { skipEvery: 4 });
  const { address, privateKey } = keyOf(1),
    receiver = keyOf(2).address;
  peer.ledger.fund(address, SOL);
  return {
    network: solana,
    module: sol as ChainModule,
    signer: solSigner,
    endpoint: peer.endpoints[0]!,
    receiver,
    amount: 1_000_000n,
    transport: (endpoints) => peer.clientOf(endpoints).transport,
    sender: { address, path: depositPath(0), key: { privateKey } },
    pay: async (amount) => peer.pay(receiver, amount),
    mine: async () => {
      peer.ledger.mine();
    },
  };
});
