/** An EVM chain of the soak: a real anvil behind doors that can be made ill. */
import { HDNodeWallet } from 'ethers';
import { networkOf } from '../../../chains/registry.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { startAnvil } from '../../../developer/anvil.ts';
import { EvmDoor } from './evm-door.ts';
import { envOf, type SoakChain } from './soak-chain.ts';

const DOORS = 3;
/** Small, so that a soak passes it often; a real named setting. */
const THRESHOLD = 3;
const WARM_UP_BLOCKS = 24;
const TIP = 1_000_000_000n;

/**
 * Starts the chain. The payer signs by itself: what it sent can come back with the same txid, or be spent away for
 * ever.
 */
export async function openEvm(chain: Chain): Promise<SoakChain> {
  const chainId = Number(networkOf(chain).identity),
    anvil = await startAnvil({ chainId, automine: false });
  const mine = async (blocks: number): Promise<void> => {
    await anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
  };
  await mine(WARM_UP_BLOCKS);
  const doors = Array.from({ length: DOORS }, () => new EvmDoor(anvil));
  const urls = await Promise.all(doors.map((door) => door.listen()));
  const wallet = HDNodeWallet.fromPhrase('test test test test test test test test test test test junk');
  /** What stands for each nonce now. */
  const byNonce: { raw: string; txid: string }[] = [];
  const submit = async (nonce: number, to: string, value: bigint, tip: bigint): Promise<string> => {
    const raw = await wallet.signTransaction({
      type: 2,
      chainId,
      nonce,
      to,
      value,
      gasLimit: 21_000n,
      maxPriorityFeePerGas: tip,
      maxFeePerGas: 100n * tip,
    });
    const txid = await anvil.rpc<string>('eth_sendRawTransaction', [raw]);
    byNonce[nonce] = { raw, txid };
    return txid;
  };
  const receiptOf = (txid: string) => anvil.rpc<{ status: string } | null>('eth_getTransactionReceipt', [txid]);
  return {
    chain,
    unit: 1_000_000n,
    threshold: THRESHOLD,
    reorgMax: THRESHOLD + 3,
    peers: DOORS,
    mine,
    cloudEnv: envOf(chain, urls, { CONFIRMATIONS: THRESHOLD }),
    pay: (address, amount) => submit(byNonce.length, address, amount, TIP),
    async reorg(depth, comesBack) {
      await anvil.rpc('anvil_reorg', [depth, []]);
      for (const [nonce, { raw, txid }] of byNonce.entries()) {
        if ((await receiptOf(txid)) !== null) continue;
        if (!comesBack(txid)) await submit(nonce, wallet.address, 0n, 3n * TIP);
        else
          await anvil.rpc('eth_sendRawTransaction', [raw]).catch((error: unknown) => {
            if (!/already (known|imported)/.test(String(error))) throw error; // anvil kept it in its pool
          });
      }
    },
    makeIll: (peer, ill, random) => doors[peer]!.makeIll(ill, random),
    heal: async () => {
      for (const door of doors) door.heal();
    },
    stands: async (txid) => (await receiptOf(txid))?.status === '0x1',
    headHeight: async () => Number(await anvil.rpc<string>('eth_blockNumber')),
    balanceOf: async (address) => BigInt(await anvil.rpc<string>('eth_getBalance', [address, 'latest'])),
    async close() {
      await Promise.all(doors.map((door) => door.close()));
      await anvil.stop();
    },
  };
}
