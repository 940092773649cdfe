/** The EVM stage: a real anvil with the chain's own id. */
import { parseEther } from 'ethers';
import type { Chain } from '../protocol/slugs.ts';
import type { EvmNetwork } from '../chains/evm/network.ts';
import { networkOf } from '../chains/registry.ts';
import { startAnvil } from './anvil.ts';
import type { Stage } from './demo-stage.ts';

const OUTSIDER = '0x000000000000000000000000000000000000bEEF';
const POLL_MS = 50;
/**
 * The L1 fee oracle of an OP chain, which anvil does not bring: PUSH4 10^9 wei, MSTORE at 0, RETURN 32 bytes, whatever
 * is asked.
 */
const FEE_ORACLE_CODE = '0x633b9aca0060005260206000f3';
/** One endpoint and blocks made by hand: its own second look counts after this time. */
const SECOND_READ_MS = 500;

/** Starts anvil as one of the five chains; blocks are mined only when the story says so. */
export async function openEvmStage(chain: Chain): Promise<Stage> {
  const network = networkOf(chain);
  const anvil = await startAnvil({ chainId: Number(network.identity), automine: false });
  const [payer] = await anvil.rpc<string[]>('eth_accounts', []);
  const mine = async (blocks: number): Promise<void> => {
    await anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
  };
  await anvil.rpc('anvil_setBalance', [payer, `0x${parseEther('10000').toString(16)}`]);
  const { l1FeeOracle } = network as EvmNetwork;
  if (l1FeeOracle !== null) await anvil.rpc('anvil_setCode', [l1FeeOracle, FEE_ORACLE_CODE]);
  await mine(1);
  const name = chain.toUpperCase();
  return {
    chain,
    decimals: network.nativeDecimals,
    threshold: network.threshold,
    reorgs: true,
    outsider: OUTSIDER,
    cloudEnv: {
      [`${name}_RPC_URLS`]: anvil.url,
      [`${name}_POLL_MS`]: String(POLL_MS),
      [`${name}_SECOND_READ_MS`]: String(SECOND_READ_MS),
    },
    edgeEnv: {},
    async pay(address, amount) {
      const txid = await anvil.rpc<string>('eth_sendTransaction', [
        { from: payer, to: address, value: `0x${amount.toString(16)}` },
      ]);
      await mine(1);
      return { txid, blockAtMs: performance.timeOrigin + performance.now() };
    },
    mine,
    async reorg(depth) {
      await anvil.rpc('anvil_reorg', [depth, []]);
    },
    async balanceOf(address) {
      return BigInt(await anvil.rpc<string>('eth_getBalance', [address, 'latest']));
    },
    close: () => anvil.stop(),
  };
}
