/** Decisions 6, chains.md 1.6, L26: a cloud that lies about anything gets no signature. */
import { VersionedTransaction } from '@solana/web3.js';
import test from 'ava';
import fc from 'fast-check';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Intent, Unsigned } from '../../../../chains/chain.ts';
import { depositPath, gasTankPath } from '../../../../chains/sol/derive.ts';
import { feeMaxOf, feeOf, feePartsOf, type SolInputs } from '../../../../chains/sol/fee.ts';
import { encodeMessage, type Instruction as Step } from '../../../../chains/sol/message.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { decodePayment, encodePayment, type Payment, type TokenAsset } from '../../../../chains/sol/payment.ts';
import { TOKEN_2022_PROGRAM } from '../../../../chains/sol/programs.ts';
import { matchSigned } from '../../../../chains/sol/signed.ts';
import { buildUnsigned } from '../../../../chains/sol/unsigned.ts';
import { pooledAddressAt, derivePrivateKey, seedOf } from '../../../../edge/keystore/keys.ts';
import { solSigner } from '../../../../edge/signing/signers/sol.ts';
import { spendOf } from '../../../../edge/spend/caps.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import {
  ACCOUNT_RENT,
  accountOf as associated,
  BLOCKHASH,
  inputsOf,
  PYUSD,
  programOf,
} from '../../../support/sol-inputs.ts';
import { keyOf, SOL, USDC } from '../../../support/sol-node.ts';

const seed = seedOf(`${'abandon '.repeat(11)}about`, '');
const keyAt = (path: string) => ({ privateKey: derivePrivateKey(seed, 'ed25519', path) });
const KNOWN = new Map(
  [depositPath(0), depositPath(1), gasTankPath].map((path) => [path, pooledAddressAt(seed, 'sol', path)]),
);
const [FROM, SECOND, TANK] = [...KNOWN.values()] as [string, string, string];
const SHOP = keyOf(40).address,
  VAULT = keyOf(41).address,
  ATTACKER = keyOf(66).address;

const policyOf = (more: Partial<SigningPolicy> & { signed?: string[]; underKey?: string[] } = {}): SigningPolicy => ({
  ...feeBoundsOf(solana.slug),
  sweepDestinations: [VAULT],
  gasTank: TANK,
  catalogue: catalogueOf('sol'),
  addressAt: (path) => KNOWN.get(path) ?? null,
  replayWindow: null,
  journal: {
    forInstruction: more.signed ?? [],
    withReplayKey: () => [...(more.signed ?? []), ...(more.underKey ?? [])],
  },
  ...more,
});
const instructionOf = (more: Partial<Instruction> = {}): Instruction => ({
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
});

/** What an honest cloud builds for an instruction. */
function honest(instruction: Instruction, more: Partial<SolInputs> = {}, creates = false): Unsigned {
  const { token, from, to, amount, fromPath } = instruction;
  const intent: Intent = { chain: 'sol', from, fromPath, to, amount, token, tag: null };
  const program = token === null ? null : programOf(token);
  const unsigned = buildUnsigned(
    solana,
    inputsOf({
      feePayer: from,
      blockhash: BLOCKHASH,
      ...(token === null || program === null
        ? {}
        : {
            compute: { kind: 'simulated', units: 6_200 },
            token: {
              program,
              decimals: token.decimals,
              source: associated(from, token.contract, program),
              destination: associated(to, token.contract, program),
              balance: '900000000',
              refusal: null,
              createRent: creates ? ACCOUNT_RENT.toString() : null,
            },
          }),
      ...more,
    }),
    intent,
    null,
  );
  if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
  return unsigned;
}

const paymentOf = ({ payload }: Unsigned): Payment => {
  const decoded = decodePayment(new Uint8Array(Buffer.from(payload, 'base64')));
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.payment;
};
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** A cloud that lies in the bytes, with a summary that goes along with the lie. */
function lie(unsigned: Unsigned, change: Partial<Payment>, summary: Partial<Unsigned> = {}): Unsigned {
  const payment = { ...paymentOf(unsigned), ...change };
  const fee = feeOf(inputsOf({ feePayer: payment.feePayer }), payment.from, payment);
  const rent = BigInt(unsigned.fee['rentLamports']!);
  return {
    ...unsigned,
    payload: base64(encodePayment(payment)),
    fee: feePartsOf({ ...fee, rent }, payment.feePayer),
    feeMax: feeMaxOf({ ...fee, rent }),
    ...summary,
  };
}
const lieInToken = (unsigned: Unsigned, change: Partial<TokenAsset>, summary: Partial<Unsigned> = {}): Unsigned =>
  lie(unsigned, { asset: { ...(paymentOf(unsigned).asset as TokenAsset), ...change } }, summary);
const reason = (unsigned: Unsigned, instruction: Instruction, policy = policyOf()) =>
  solSigner.check(solana, unsigned, instruction, policy)?.details['reason'] ?? null;

const native = instructionOf(),
  token = instructionOf({ token: USDC, amount: 1_000_000n });
const sweep = instructionOf({ purpose: 'sweep', to: VAULT, amount: 'all' });
const tokenSweep = instructionOf({ purpose: 'sweep', to: VAULT, amount: 'all', token: PYUSD });
const paidByTank = { feePayer: TANK, payerLamports: SOL.toString() };

test("1.6 L24 an honest payload passes and is signed: the signature is the sender's over exactly these bytes", (t) => {
  for (const [instruction, creates] of [
    [native, false],
    [instructionOf({ amount: 'all' }), false],
    [token, false],
    [token, true],
    [instructionOf({ token: PYUSD, amount: 5n }), false],
    [sweep, false],
    [
      instructionOf({ purpose: 'gas_funding', from: TANK, fromPath: gasTankPath, to: FROM, toPath: depositPath(0) }),
      false,
    ],
  ] as const) {
    const unsigned = honest(instruction, {}, creates);
    t.is(solSigner.check(solana, unsigned, instruction, policyOf()), null);
    const signed = solSigner.sign(solana, unsigned, keyAt(instruction.fromPath));
    t.is(matchSigned(solana, unsigned, signed), null);
    const parsed = VersionedTransaction.deserialize(Buffer.from(signed.payload, 'base64'));
    t.is(base64(parsed.message.serialize()), unsigned.payload);
    t.is(parsed.message.staticAccountKeys[0]!.toBase58(), instruction.from);
  }
});

test('L30 a sweep may be paid by the re-derived gas tank, which signs too; nobody else may pay, and for nothing else', (t) => {
  for (const instruction of [sweep, tokenSweep]) {
    const unsigned = honest(instruction, paidByTank);
    t.is(reason(unsigned, instruction), null);
    t.deepEqual([solSigner.coSigners!(unsigned), solSigner.coSigners!(honest(instruction))], [[TANK], []]);
    const signed = solSigner.sign(solana, unsigned, keyAt(depositPath(0)), keyAt(gasTankPath));
    t.is(matchSigned(solana, unsigned, signed), null);
    t.deepEqual(
      solSigner.sign(solana, unsigned, keyAt(gasTankPath), keyAt(depositPath(0))),
      signed,
      'whatever the order of the keys',
    );
    t.throws(() => solSigner.sign(solana, unsigned, keyAt(depositPath(0))), { message: /no key of the signer/ });
    t.is(reason(unsigned, instruction, policyOf({ gasTank: null })), 'fee_payer_mismatch');
    t.is(reason(lie(unsigned, { feePayer: SECOND }), instruction), 'fee_payer_mismatch', 'another address of ours');
    t.is(reason(lie(unsigned, { feePayer: ATTACKER }), instruction), 'fee_payer_mismatch');
  }
  t.is(reason(honest(native, paidByTank), native), 'fee_payer_mismatch', 'a withdrawal pays for itself');
});

test('L26 lie: destination', (t) => {
  t.is(
    reason(lie(honest(native), { asset: { kind: 'native', to: ATTACKER } }, { to: ATTACKER }), native),
    'destination_mismatch',
  );
  t.is(reason(lie(honest(native), { asset: { kind: 'native', to: ATTACKER } }), native), 'destination_mismatch');
  t.is(reason({ ...honest(native), to: ATTACKER }, native), 'summary_mismatch');
  t.is(reason(lieInToken(honest(token), { destination: associated(ATTACKER) }), token), 'destination_mismatch');
  t.is(reason(lieInToken(honest(token), { destination: ATTACKER }), token), 'destination_mismatch');
  t.is(reason(lieInToken(honest(token), { destination: associated(FROM) }), token), 'destination_mismatch');
  t.is(
    reason(lieInToken(honest(token, {}, true), { creates: ATTACKER, destination: associated(ATTACKER) }), token),
    'created_owner_mismatch',
  );
  t.is(
    reason(lieInToken(honest(token, {}, true), { destination: SHOP }), token),
    'destination_mismatch',
    'created, and another one paid',
  );
  t.is(
    reason(lieInToken(honest(token), { destination: SHOP }), token),
    'destination_mismatch',
    'found F27: the receiver is a token account itself',
  );
});

test("L26 C6 lie: the token account of another program than the transfer's own", (t) => {
  t.is(reason(lieInToken(honest(token), { program: TOKEN_2022_PROGRAM }), token), 'source_mismatch');
  t.is(
    reason(
      lieInToken(honest(token), {
        program: TOKEN_2022_PROGRAM,
        source: associated(FROM, USDC.contract, TOKEN_2022_PROGRAM),
      }),
      token,
    ),
    'destination_mismatch',
  );
});

test('L26 lie: source', (t) => {
  t.is(reason(lieInToken(honest(token), { source: associated(SECOND) }), token), 'source_mismatch');
  t.is(reason(lie(honest(native), { from: SECOND, feePayer: SECOND }), native), 'sender_mismatch');
  t.is(reason(lie(honest(token), { from: TANK, feePayer: TANK }), token), 'sender_mismatch');
  t.is(reason({ ...honest(native), from: SECOND }, native), 'from_mismatch');
  t.is(reason({ ...honest(native), fromPath: depositPath(1) }, native), 'from_path_mismatch');
  t.is(reason(honest(native), instructionOf({ fromPath: depositPath(9) })), 'from_path_mismatch');
  const foreign = instructionOf({ fromPath: depositPath(9) });
  t.is(
    reason({ ...honest(native), fromPath: depositPath(9) }, foreign),
    'from_mismatch',
    'a path that is none of ours',
  );
});

test('L26 lie: amount', (t) => {
  for (const amount of [10_000_001n, 9_999_999n, 1n])
    t.is(reason(lie(honest(native), { amount }, { amount }), native), 'amount_mismatch');
  t.is(reason(lie(honest(token), { amount: 2_000_000n }, { amount: 2_000_000n }), token), 'amount_mismatch');
  t.is(reason({ ...honest(native), amount: 5n }, native), 'summary_mismatch');
  const all = instructionOf({ amount: 'all' });
  t.is(reason(lie(honest(all), { amount: 0n }, { amount: 0n }), all), 'amount_mismatch');
  t.is(reason({ ...honest(all), sendAll: false }, all), 'summary_mismatch');
  t.is(reason({ ...honest(native), sendAll: true }, native), 'summary_mismatch');
});

test('L26 lie: token', (t) => {
  const other = PYUSD.contract;
  t.is(reason(lieInToken(honest(token), { mint: other }, { tokenContract: other }), token), 'token_mismatch');
  t.is(reason(honest(native), { ...token, amount: 10_000_000n }), 'token_mismatch', 'native instead of a token');
  t.is(reason(honest({ ...token, amount: 10_000_000n }), native), 'token_mismatch', 'a token instead of native');
  t.is(reason(lieInToken(honest(token), { decimals: 9 }), token), 'decimals_mismatch');
  t.is(reason({ ...honest(token), tokenContract: null }, token), 'summary_mismatch');
  t.is(reason(honest(token), token, policyOf({ catalogue: new Map() })), 'token_not_in_registry');
  const wrong = instructionOf({ token: { ...USDC, decimals: 9 }, amount: 1_000_000n });
  t.is(reason(honest(token), wrong), 'token_not_in_registry');
});

test('L26 G29 lie: fee', (t) => {
  const dear = lie(honest(native), { unitLimit: 1_400_000, microLamportsPerUnit: 10_000_000n });
  t.is(reason(dear, native), 'fee_cap');
  t.is(reason({ ...dear, feeMax: 5_001n }, native), 'fee_mismatch');
  t.is(
    reason({ ...dear, feeMax: 5_001n, fee: { ...dear.fee, feeLamports: '5001' } }, native),
    'fee_mismatch',
    'less than the bytes cost',
  );
  t.is(reason(lie(honest(native), { unitLimit: 1_400_001 }), native), 'unit_limit');
  const part = (change: Record<string, string | number>, feeMax?: bigint) => {
    const unsigned = honest(native);
    return reason({ ...unsigned, fee: { ...unsigned.fee, ...change }, feeMax: feeMax ?? unsigned.feeMax }, native);
  };
  for (const change of [{ unitLimit: 601 }, { microLamportsPerUnit: '1001' }, { signatures: 2 }, { feePayer: TANK }])
    t.is(part(change), 'fee_mismatch', JSON.stringify(change));
  t.is(part({ feeLamports: '4999' }, 4_999n), 'fee_mismatch', "a base fee below the network's");
  t.is(part({ feeLamports: '-5001' }), 'fee_mismatch');
  t.is(part({ rentLamports: '1' }, 5_002n), 'rent_mismatch', 'no account is created');
  t.is(part({ rentLamports: 'x' }), 'rent_mismatch');
  const creating = honest(token, {}, true);
  t.is(
    reason({ ...creating, fee: { ...creating.fee, rentLamports: '0' }, feeMax: creating.feeMax - ACCOUNT_RENT }, token),
    'rent_mismatch',
    'one is, and its rent is hidden',
  );
  t.is(reason(honest(native), native, policyOf({ feeCap: honest(native).feeMax - 1n })), 'fee_cap');
  t.is(reason(honest(native), native, policyOf({ feeRatioBpsMax: 1, feeFloor: 0n })), 'fee_ratio');
  t.is(
    reason(honest(native), native, policyOf({ feeRatioBpsMax: 6, feeFloor: 0n, feeCap: honest(native).feeMax })),
    null,
  );
  t.is(reason(honest(token), token, policyOf({ feeRatioBpsMax: 1 })), null, 'a share is of the same asset only');
});

test('L29 the rent of an account that is created counts as spent in full, however little the cloud tells of it', (t) => {
  const spent = (unsigned: Unsigned) => spendOf(unsigned, solSigner),
    creating = honest(token, {}, true);
  const told = (rent: bigint) => ({
    ...creating,
    fee: { ...creating.fee, rentLamports: rent.toString() },
    feeMax: creating.feeMax - ACCOUNT_RENT + rent,
  });
  t.is(reason(told(1n), token), null, 'the rent is in no byte, and it may become less');
  t.is(spent(told(1n)), creating.feeMax);
  t.is(spent(creating), creating.feeMax, 'an honest one counts as it is');
  t.is(spent(told(ACCOUNT_RENT + 5n)), creating.feeMax + 5n, 'a larger account too');
  t.is(spent(honest(token)), honest(token).feeMax, 'none is created');
  t.is(spent(honest(native)), honest(native).feeMax + 10_000_000n);
  const pyusd = [...catalogueOf('sol').values()].find(({ symbol }) => symbol === 'PYUSD')!;
  const larger = honest(instructionOf({ token: pyusd }), {}, true);
  t.is(
    spent(larger),
    larger.feeMax - ACCOUNT_RENT + 2_721_360n,
    'token-2022 has larger accounts, and the cloud says how large',
  );
});

test('L26 lie: network, tag, kind, expiry', (t) => {
  t.is(reason({ ...honest(native), chain: 'xlm' }, native), 'chain_mismatch');
  t.is(reason({ ...honest(native), tag: '7' }, native), 'summary_mismatch');
  t.is(reason({ ...honest(native), kind: 'trustline' }, native), 'summary_mismatch');
  t.is(reason(honest(native), instructionOf({ tag: '7' })), 'not_a_sol_instruction');
  t.is(reason(honest(native), instructionOf({ purpose: 'opt_in' })), 'not_a_sol_instruction');
  for (const replayKey of [
    { kind: 'nonce', value: 7 },
    { kind: 'expiry', value: '' },
    { kind: 'expiry', value: '-1' },
    { kind: 'expiry', value: '0' },
  ] as const) {
    t.is(reason({ ...honest(native), replayKey }, native), 'expiry_missing', '1.6-8');
  }
});

test('L26 lie: bytes that are something else', (t) => {
  const bytes = Buffer.from(honest(native).payload, 'base64');
  t.is(reason({ ...honest(native), payload: `${honest(native).payload}\n` }, native), 'not_canonical');
  t.is(
    reason({ ...honest(native), payload: base64(Buffer.concat([Buffer.of(0x80), bytes])) }, native),
    'not_canonical',
    'lookup tables',
  );
  t.is(reason({ ...honest(native), payload: base64(Buffer.concat([bytes, Buffer.of(0)])) }, native), 'not_canonical');
  t.is(reason({ ...honest(native), payload: '' }, native), 'not_canonical');
});

const stepsOf = (payment: Payment): Step[] => {
  const system = '11111111111111111111111111111111';
  const budget = (data: number[]): Step => ({
    program: 'ComputeBudget111111111111111111111111111111',
    accounts: [],
    data: Uint8Array.from(data),
  });
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(payment.amount);
  return [
    budget([2, 88, 2, 0, 0]),
    budget([3, 232, 3, 0, 0, 0, 0, 0, 0]),
    {
      program: system,
      data: Uint8Array.of(2, 0, 0, 0, ...amount),
      accounts: [
        { key: FROM, signer: true, writable: true },
        { key: SHOP, signer: false, writable: true },
      ],
    },
  ];
};

test('L26 lie: an instruction beside the payment', (t) => {
  const steps = stepsOf(paymentOf(honest(native)));
  const withSteps = (...more: Step[]) => ({
    ...honest(native),
    payload: base64(encodeMessage({ feePayer: FROM, blockhash: BLOCKHASH, instructions: [...steps, ...more] })),
  });
  t.is(reason(withSteps(), native), null, 'the same bytes');
  t.is(reason(withSteps(steps[2]!), native), 'instruction_not_allowed');
  const own = { key: FROM, signer: true, writable: true },
    theirs = { key: ATTACKER, signer: false, writable: true };
  const assign: Step = {
    program: steps[2]!.program,
    accounts: [own],
    data: Uint8Array.of(1, 0, 0, 0, ...new Uint8Array(32).fill(7)),
  };
  const setAuthority: Step = {
    program: TOKEN_2022_PROGRAM,
    accounts: [theirs, own],
    data: Uint8Array.of(6, 2, 1, ...new Uint8Array(32).fill(7)),
  };
  const approve: Step = {
    program: TOKEN_2022_PROGRAM,
    accounts: [theirs, theirs, own],
    data: Uint8Array.of(4, 1, 0, 0, 0, 0, 0, 0, 0),
  };
  const close: Step = { program: TOKEN_2022_PROGRAM, accounts: [theirs, theirs, own], data: Uint8Array.of(9) };
  for (const step of [assign, setAuthority, approve, close])
    t.is(reason(withSteps(step), native), 'instruction_not_allowed');
  t.is(
    reason(withSteps({ program: ATTACKER, accounts: [own], data: new Uint8Array() }), native),
    'program_not_allowed',
  );
});

test('1.6-3 a sweep goes to the allow-list only, gas funding to a derived address only, nothing to a program', (t) => {
  t.is(reason(honest({ ...sweep, to: SHOP }), { ...sweep, to: SHOP }), 'sweep_destination_not_allowed');
  const funding = instructionOf({
    purpose: 'gas_funding',
    from: TANK,
    fromPath: gasTankPath,
    to: ATTACKER,
    toPath: depositPath(0),
  });
  t.is(reason(honest(funding), funding), 'funding_destination_not_derived');
  const mint = instructionOf({ to: USDC.contract });
  t.is(reason(honest(mint), mint), 'destination_refused');
  t.is(reason(honest(native), instructionOf({ to: FROM })), 'destination_mismatch');
});

test('1.6-7 L31 L33 C6-56 an instruction is signed for one message, a message for one instruction', (t) => {
  const first = honest(native),
    second = honest(native, { blockhash: VAULT });
  t.is(reason(first, native, policyOf({ signed: [first.payload] })), null, 'the same bytes again');
  t.is(reason(second, native, policyOf({ signed: [first.payload] })), 'instruction_signed_before', 'both could land');
  t.is(
    reason(lie(first, { microLamportsPerUnit: 9_999n }), native, policyOf({ signed: [first.payload] })),
    'instruction_signed_before',
  );
  t.is(
    reason(first, instructionOf({ id: 'txn_2' }), policyOf({ underKey: [first.payload] })),
    'payload_used',
    'two debts, one payment',
  );
  t.is(reason(second, instructionOf({ id: 'txn_2' }), policyOf({ underKey: [first.payload] })), null);
});

test('L26 property: any change of the decoded payment gets no signature', (t) => {
  const any = keyOf(99).address;
  const changes: readonly Partial<Payment>[] = [
    { feePayer: any },
    { feePayer: TANK },
    { from: any },
    { amount: 11n },
    { unitLimit: 1_400_001 },
    { microLamportsPerUnit: 10n ** 13n },
    { asset: { kind: 'native', to: any } },
    { asset: paymentOf(honest(token)).asset },
  ];
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.subarray([...changes], { minLength: 1 }), fc.boolean(), (some, tellsTheTruth) => {
        const change = Object.assign({}, ...some) as Partial<Payment>;
        const payment = { ...paymentOf(honest(native)), ...change };
        const to = payment.asset.kind === 'native' ? payment.asset.to : SHOP;
        t.not(reason(lie(honest(native), change, tellsTheTruth ? { amount: payment.amount, to } : {}), native), null);
      }),
      { numRuns: 200 },
    ),
  );
});

test('L26 property: no flipped bit of the bytes gets a signature, save in the block hash, which only its own network takes', (t) => {
  for (const [instruction, creates] of [
    [native, false],
    [token, true],
  ] as const) {
    const unsigned = honest(instruction, {}, creates),
      bytes = Buffer.from(unsigned.payload, 'base64');
    const hashAt = 4 + 32 * bytes[3]!;
    t.notThrows(() =>
      fc.assert(
        fc.property(fc.nat(bytes.length - 1), fc.nat(7), (at, bit) => {
          const changed = Buffer.from(bytes);
          changed[at]! ^= 1 << bit;
          const inHash = at >= hashAt && at < hashAt + 32;
          const verdict = reason({ ...unsigned, payload: base64(changed) }, instruction);
          if (inHash) t.is(verdict, null);
          else t.not(verdict, null, `byte ${at}, bit ${bit}`);
        }),
        { numRuns: 600 },
      ),
    );
  }
});

test("1.6-2 a key that is not the sender's signs nothing", (t) => {
  t.throws(() => solSigner.sign(solana, honest(native), keyAt(depositPath(1))), { message: /no key of the signer/ });
  t.throws(() => solSigner.sign(solana, { ...honest(native), payload: 'AA==' }, keyAt(depositPath(0))), {
    message: /does not decode/,
  });
});
