/** What a cloud can say of a Solana payment. */
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Unsigned } from '../../../../chains/chain.ts';
import { depositPath, gasTankPath } from '../../../../chains/sol/derive.ts';
import { feeMaxOf, feeOf, feePartsOf, type SolInputs } from '../../../../chains/sol/fee.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { encodePayment, type Payment, type TokenAsset } from '../../../../chains/sol/payment.ts';
import { TOKEN_2022_PROGRAM } from '../../../../chains/sol/programs.ts';
import { buildUnsigned } from '../../../../chains/sol/unsigned.ts';
import { pooledAddressAt, seedOf } from '../../../../edge/keystore/keys.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction } from '../../../../edge/signing/signers/signer.ts';
import { solSigner } from '../../../../edge/signing/signers/sol.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import { ACCOUNT_RENT, accountOf, BLOCKHASH, inputsOf, paymentOf, programOf } from '../../sol-inputs.ts';
import { keyOf, SOL, USDC } from '../../sol-node.ts';

import { NO_JOURNAL, PHRASE, type Ask, type Stage } from './stage.ts';

const seed = seedOf(PHRASE, '');
const KNOWN = new Map(
  [depositPath(0), depositPath(1), gasTankPath].map((path) => [path, pooledAddressAt(seed, 'sol', path)]),
);
const [FROM, SECOND, TANK] = [...KNOWN.values()] as [string, string, string];
const SHOP = keyOf(40).address,
  VAULT = keyOf(41).address,
  THIEF = keyOf(66).address;

interface Wish {
  readonly creates?: boolean;
  readonly tankPays?: boolean;
}

function inputsFor({ from, to, token }: Instruction, { creates = false, tankPays = false }: Wish): SolInputs {
  const program = token === null ? null : programOf(token);
  return inputsOf({
    feePayer: tankPays ? TANK : from,
    payerLamports: SOL.toString(),
    blockhash: BLOCKHASH,
    ...(token === null || program === null
      ? {}
      : {
          compute: { kind: 'simulated', units: 6_200 },
          token: {
            program,
            decimals: token.decimals,
            source: accountOf(from, token.contract, program),
            destination: accountOf(to, token.contract, program),
            balance: '900000000',
            refusal: null,
            createRent: creates ? ACCOUNT_RENT.toString() : null,
          },
        }),
  });
}

function askOf(more: Partial<Instruction> = {}, wish: Wish = {}): Ask {
  const instruction: Instruction = {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain: 'sol',
    from: FROM,
    fromPath: depositPath(0),
    to: SHOP,
    toPath: null,
    amount: 10_000_000n,
    token: null,
    tag: null,
    ...more,
  };
  const { token, from, fromPath, to, amount, purpose } = instruction;
  const intent = { chain: 'sol' as const, from, fromPath, to, amount, token, tag: null };
  const unsigned = buildUnsigned(solana, inputsFor(instruction, wish), intent, null);
  if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
  return {
    instruction,
    unsigned,
    policy: {
      ...feeBoundsOf('sol', undefined, purpose === 'sweep'),
      sweepDestinations: [VAULT],
      gasTank: TANK,
      catalogue: catalogueOf('sol'),
      addressAt: (path) => KNOWN.get(path) ?? null,
      replayWindow: null,
      journal: NO_JOURNAL,
      nowMs: Date.parse('2026-10-01T00:00:00Z'),
    },
  };
}

/** A change of the bytes, with a summary that goes along. */
const lie =
  (change: (payment: Payment) => Partial<Payment> | null, summary: Partial<Unsigned> = {}) =>
  ({ unsigned }: Ask): Unsigned | null => {
    const before = paymentOf(unsigned),
      changed = change(before);
    if (changed === null) return null;
    const payment = { ...before, ...changed },
      rent = BigInt(unsigned.fee['rentLamports']!);
    const fee = { ...feeOf(inputsOf({ feePayer: payment.feePayer }), payment.from, payment), rent };
    return {
      ...unsigned,
      payload: Buffer.from(encodePayment(payment)).toString('base64'),
      amount: payment.amount,
      fee: feePartsOf(fee, payment.feePayer),
      feeMax: feeMaxOf(fee),
      ...(payment.asset.kind === 'native' ? { to: payment.asset.to } : {}),
      ...summary,
    };
  };
const token = (change: Partial<TokenAsset>, summary: Partial<Unsigned> = {}) =>
  lie(({ asset }) => (asset.kind === 'token' ? { asset: { ...asset, ...change } } : null), summary);
const summary =
  (change: (unsigned: Unsigned) => Partial<Unsigned>) =>
  ({ unsigned }: Ask): Unsigned => ({ ...unsigned, ...change(unsigned) });
const payload = (change: (payment: Payment) => Partial<Payment>) => (ask: Ask) => lie(change)(ask)!.payload;
const ending = (value: string) => summary(() => ({ replayKey: { kind: 'expiry', value } }));

export const stage: Stage = {
  network: solana,
  signer: solSigner,
  thief: THIEF,
  otherPath: depositPath(3),
  token: USDC,
  asks: {
    native: askOf(),
    token: askOf({ token: USDC, amount: 1_000_000n }),
    'token to a new account': askOf({ token: USDC, amount: 1_000_000n }, { creates: true }),
    'send-all': askOf({ amount: 'all' }),
    sweep: askOf({ purpose: 'sweep', to: VAULT, amount: 'all' }, { tankPays: true }),
    'sweep of a token': askOf({ purpose: 'sweep', to: VAULT, amount: 'all', token: USDC }, { tankPays: true }),
    'gas funding': askOf({
      purpose: 'gas_funding',
      from: TANK,
      fromPath: gasTankPath,
      to: SECOND,
      toPath: depositPath(1),
    }),
  },
  lies: {
    destination: lie(({ asset }) => (asset.kind === 'native' ? { asset: { kind: 'native', to: THIEF } } : null)),
    'destination of a token': token({ destination: accountOf(THIEF) }),
    'a new account of somebody else': token({ creates: THIEF }),
    'another source': token({ source: accountOf(THIEF) }),
    'another token': token({ mint: THIEF }, { tokenContract: THIEF }),
    'other decimals': token({ decimals: 9 }),
    'another program': token({ program: TOKEN_2022_PROGRAM }),
    'another amount': lie(({ amount }) => ({ amount: amount + 1n })),
    'no amount': lie(() => ({ amount: 0n })),
    'another sender': lie(({ from, feePayer }) => ({ from: THIEF, feePayer: feePayer === from ? THIEF : feePayer })),
    'another payer of the fee': lie(() => ({ feePayer: THIEF })),
    'the tank as payer of the fee': lie(({ feePayer }) => (feePayer === TANK ? null : { feePayer: TANK })),
    'too many units': lie(() => ({ unitLimit: 1_400_001 })),
    'a price above the cap': lie(() => ({ microLamportsPerUnit: 6_000_001n })),
    'a fee above the cap': lie(() => ({ unitLimit: 1_000_000, microLamportsPerUnit: 20_000_000n })),
    'a signature that costs less': summary(({ fee, feeMax }) => ({
      fee: { ...fee, feeLamports: '4999' },
      feeMax: feeMax - BigInt(fee['feeLamports']!) + 4_999n,
    })),
    'a fee that is no number': summary(({ fee }) => ({ fee: { ...fee, feeLamports: 'none' } })),
    'another rent': summary(({ fee, feeMax }) => ({
      fee: { ...fee, rentLamports: '7' },
      feeMax: feeMax - BigInt(fee['rentLamports']!) + 7n,
    })),
    'no rent': summary(({ fee, feeMax }) => ({
      fee: { ...fee, rentLamports: '0' },
      feeMax: feeMax - BigInt(fee['rentLamports']!),
    })),
    'a fee out of proportion': summary(({ fee, feeMax }) => ({
      fee: { ...fee, feeLamports: '9000000' },
      feeMax: feeMax - BigInt(fee['feeLamports']!) + 9_000_000n,
    })),
    'a height far ahead': ending('9000000000'),
    'a height with a zero in front': ending('01150'),
  },
  earlier: {
    'a version with another block': payload(() => ({ blockhash: THIEF })),
    'a version with another price': payload(() => ({ microLamportsPerUnit: 9n })),
  },
};
