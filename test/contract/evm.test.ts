import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { addressOfHex } from '../../chains/evm/address.ts';
import { deriveAddress } from '../../chains/evm/derive.ts';
import { eth } from '../../chains/evm/network.ts';
import { loadModule } from '../../chains/registry.ts';
import { evmSigner } from '../../edge/signing/signers/evm.ts';
import { startAnvil } from '../support/anvil.ts';
import { readerOf } from '../support/evm-client.ts';
import { chainModuleContract } from './chain-module.ts';

const account = HDKey.fromMasterSeed(mnemonicToSeedSync(`${'abandon '.repeat(11)}about`)).derive("m/44'/60'/0'");
const PAYER = addressOfHex('00000000000000000000000000000000000a11ce');

chainModuleContract('evm', async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  const { address, path } = deriveAddress(eth, account.publicExtendedKey, 0, 0);
  for (const holder of [address, PAYER]) await anvil.fund(holder, 10n ** 18n);
  const receiver = deriveAddress(eth, account.publicExtendedKey, 0, 1).address;
  return {
    network: eth,
    module: await loadModule('eth'),
    signer: evmSigner,
    endpoint: anvil.endpoint,
    receiver,
    amount: 1_000n,
    transport: (endpoints) => readerOf(eth, endpoints).transport,
    sender: { address, path, key: { privateKey: account.derive('m/0/0').privateKey! } },
    pay: (amount) => anvil.send({ from: PAYER, to: receiver, value: amount }),
    mine: () => anvil.mine(),
  };
});
