/** Build inputs and intents of EVM tests, with what a test does not care about filled in. */
import type { Intent, Token } from '../../chains/chain.ts';
import type { EvmInputs } from '../../chains/evm/fee.ts';
import { addressOfHex } from '../../chains/evm/address.ts';

export const SENDER = addressOfHex('9858effd232b4033e47d90003d41ec34ecaeda94');
export const SENDER_PATH = "m/44'/60'/0'/0/0";
export const RECIPIENT = addressOfHex('6fac4d18c912343bf86fa7049364dd4e424ab9c0');
export const USDC: Token = {
  chain: 'eth',
  contract: addressOfHex('a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'),
  symbol: 'USDC',
  decimals: 6,
};

const GWEI = 1_000_000_000n;

export function inputsOf(more: Partial<EvmInputs> = {}): EvmInputs {
  return {
    readAtHeight: 100,
    readAtHash: `0x${'1'.repeat(64)}`,
    nonceLatest: 7,
    noncePending: 7,
    nativeBalance: (10n ** 18n).toString(),
    tokenBalance: null,
    baseFeePerGas: (10n * GWEI).toString(),
    tipPerGas: GWEI.toString(),
    gasPrice: null,
    gas: { kind: 'plain' },
    l1FeeUpperBound: null,
    envelope: 'eip1559',
    ...more,
  };
}

export function intentOf(more: Partial<Intent> = {}): Intent {
  return {
    chain: 'eth',
    from: SENDER,
    fromPath: SENDER_PATH,
    to: RECIPIENT,
    amount: 1_000n,
    token: null,
    tag: null,
    ...more,
  };
}
