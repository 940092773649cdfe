/** Build inputs of Solana payments without a node, and what an honest cloud builds from them. */
import { base58 } from '@scure/base';
import type { Intent, Token } from '../../chains/chain.ts';
import { depositPath } from '../../chains/sol/derive.ts';
import type { SolInputs, TokenInputs } from '../../chains/sol/fee.ts';
import { decodePayment, type Payment } from '../../chains/sol/payment.ts';
import { associatedTokenAddress } from '../../chains/sol/program-address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, type TokenProgram } from '../../chains/sol/programs.ts';
import { keyOf, SOL, USDC } from './sol-node.ts';

export const SENDER = keyOf(1).address;
export const RECEIVER = keyOf(2).address;
export const TANK = keyOf(3).address;
export const SENDER_PATH = depositPath(0);
export const BLOCKHASH = base58.encode(new Uint8Array(32).fill(99));
export const RENT = 890_880n;
export const ACCOUNT_RENT = 2_039_280n;
export const PYUSD: Token = {
  chain: 'sol',
  contract: '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
  symbol: 'PYUSD',
  decimals: 6,
};

export const accountOf = (owner: string, mint = USDC.contract, program: TokenProgram = TOKEN_PROGRAM): string =>
  associatedTokenAddress({ owner, mint, program });

export const programOf = ({ contract }: Token): TokenProgram =>
  contract === PYUSD.contract ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;

/** Inputs of a funded sender and a receiver that exists. */
export function inputsOf(more: Partial<SolInputs> = {}): SolInputs {
  return {
    readAtHeight: 5_000,
    blockhash: BLOCKHASH,
    lastValidBlockHeight: 1_150,
    finalizedBlockHeight: 968,
    lamportsPerSignature: '5000',
    rentExempt: RENT.toString(),
    senderLamports: SOL.toString(),
    senderIsWallet: true,
    feePayer: SENDER,
    payerLamports: SOL.toString(),
    payerIsWallet: true,
    destination: { kind: 'wallet', lamports: SOL.toString() },
    token: null,
    compute: { kind: 'plain' },
    unitPrice: '0',
    salt: 0,
    ...more,
  };
}

/** The token side of inputs: both accounts exist, the sender holds 5 of the token. */
export function tokenInputsOf(
  token: Token = USDC,
  more: Partial<TokenInputs> = {},
): Pick<SolInputs, 'token' | 'compute'> {
  const program = programOf(token);
  return {
    token: {
      program,
      decimals: token.decimals,
      source: accountOf(SENDER, token.contract, program),
      destination: accountOf(RECEIVER, token.contract, program),
      balance: '5000000',
      refusal: null,
      createRent: null,
      ...more,
    },
    compute: { kind: 'simulated', units: 6_200 },
  };
}

export const intentOf = (more: Partial<Intent> = {}): Intent => ({
  chain: 'sol',
  from: SENDER,
  fromPath: SENDER_PATH,
  to: RECEIVER,
  amount: 10_000_000n,
  token: null,
  tag: null,
  ...more,
});

/** The payment in a payload. Throws: Error for any other bytes. */
export function paymentOf({ payload }: { payload: string }): Payment {
  const decoded = decodePayment(new Uint8Array(Buffer.from(payload, 'base64')));
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.payment;
}
