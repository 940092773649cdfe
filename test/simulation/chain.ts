/** The chain of a story: it builds, takes and includes whatever is asked; what is tested here is who asks, and once. */
import { createChainBook } from '../../actors/account/chain-book.ts';
import type { BuildInputs, ChainModule, Unsigned } from '../../chains/chain.ts';
import { type Signer, refuseToSign } from '../../edge/signing/signers/signer.ts';
import { simulatedModule } from '../support/simulated-chain.ts';

const FEE_WEI = 10n;

const storyModule: ChainModule = {
  ...(simulatedModule as ChainModule),
  estimateFee: () => ({ fee: FEE_WEI, feeMax: FEE_WEI, parts: {} }),
  nextReplayValue: (inputs) => BigInt((inputs as BuildInputs & { counted: number }).counted),
  buildUnsigned: (_network, _inputs, intent, key): Unsigned => ({
    chain: intent.chain,
    payload: `unsigned:${String(key?.value)}:${String(intent.amount)}:${intent.to}`,
    from: intent.from,
    fromPath: intent.fromPath,
    to: intent.to,
    amount: intent.amount as bigint,
    tokenContract: null,
    tag: null,
    kind: 'payment',
    sendAll: false,
    feeMax: FEE_WEI,
    fee: {},
    replayKey: key!,
    readAtHeight: 1,
  }),
  withCounter: (_network, unsigned, _inputs, key): Unsigned => ({
    ...unsigned,
    payload: `unsigned:${String(key.value)}:${String(unsigned.amount)}:${unsigned.to}`,
    replayKey: key,
  }),
  matchSigned: (_network, unsigned, signed) =>
    signed.payload.startsWith(signedOf(unsigned)) ? null : refuseToSign('other_bytes'),
};

export const simulatedBook = (() => {
  const book = createChainBook([]);
  return { ...book, module: () => storyModule };
})();

function signedOf({ payload }: Unsigned): string {
  return `signed:${payload}`;
}

/** Signs what an instruction asks for; `onSign` is told of each signature. */
export function storySigner(onSign: (transactionId: string, unsigned: Unsigned) => void): Signer {
  let checked = '';
  return {
    check(_network, unsigned, { id, to, amount }) {
      checked = id;
      return unsigned.to === to && unsigned.amount === amount ? null : refuseToSign('differs');
    },
    sign(_network, unsigned) {
      onSign(checked, unsigned);
      return { chain: unsigned.chain, payload: signedOf(unsigned), txid: `tx-${unsigned.payload}` };
    },
  };
}
