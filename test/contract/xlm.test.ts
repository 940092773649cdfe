import { loadModule } from '../../chains/registry.ts';
import { stellar } from '../../chains/xlm/network.ts';
import { xlmSigner } from '../../edge/signing/signers/xlm.ts';
import { creation, envelopeOf, payment } from '../../developer/stand-ins/xlm/people.ts';
import { endpointOf, KINDS, openWorld, ours, readerOf, XLM } from '../support/xlm-node.ts';
import { chainModuleContract } from './chain-module.ts';

for (const kind of KINDS) {
  chainModuleContract(`xlm over ${kind}`, async () => {
    const { ledger, servers, payer, pay } = openWorld([kind]),
      sender = ours(0),
      receiver = ours(1).address;
    pay(sender.address, 100n * XLM);
    return {
      network: stellar,
      module: await loadModule('xlm'),
      signer: xlmSigner,
      endpoint: endpointOf(servers[0]!),
      sender,
      receiver,
      amount: 2n * XLM,
      transport: (endpoints) => readerOf(endpoints).transport,
      async pay(amount) {
        const exists = ledger.state.account(receiver) !== null;
        const submitted = ledger.submit(
          envelopeOf(ledger, payer, [exists ? payment(receiver, amount) : creation(receiver, amount)]),
        );
        return submitted.hash;
      },
      mine: async () => {
        ledger.close();
      },
    };
  });
}
