import { ComputeBudgetProgram, Message, PublicKey, SystemProgram, TransactionMessage } from '@solana/web3.js';
import { base58 } from '@scure/base';
import test from 'ava';
import fc from 'fast-check';
import { decodeMessage, encodeMessage, type Instruction } from '../../../../chains/sol/message.ts';
import { decodePayment, encodePayment, type Payment } from '../../../../chains/sol/payment.ts';
import { associatedTokenAddress, programAddress } from '../../../../chains/sol/program-address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../chains/sol/programs.ts';
import { accountOf, BLOCKHASH, PYUSD, RECEIVER, SENDER, TANK } from '../../../support/sol-inputs.ts';
import { keyOf, USDC } from '../../../support/sol-node.ts';
import { vector } from '../../../support/vectors.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes));
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

test('7.1 vectors: associated token accounts under the program that owns the mint', (t) => {
  const owner = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk';
  const of = (mint: string, program: typeof TOKEN_PROGRAM | typeof TOKEN_2022_PROGRAM) =>
    associatedTokenAddress({ owner, mint, program });
  t.is(of(USDC.contract, TOKEN_PROGRAM), '5N3f1tj9v1vc5TUZ8S7mCAnVmjVKrfnzXWhxLaxyZAgt');
  t.is(
    of('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', TOKEN_PROGRAM),
    '6pXYguUixhfdydHDMgsvSy3sAWjStL2eEYh4KeYJAUDk',
  );
  t.is(of(PYUSD.contract, TOKEN_2022_PROGRAM), 'AEcFjuNWuG77oVT5rxhLmpKomq3tDKo2qzr9SyDwkEA4');
  t.not(
    of(PYUSD.contract, TOKEN_PROGRAM),
    of(PYUSD.contract, TOKEN_2022_PROGRAM),
    'the classic program gives another account',
  );
});

test("7.1 property: program addresses are those of the network's own library", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(key, fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 4 }), (program, seeds) => {
        t.is(
          programAddress(program, seeds),
          PublicKey.findProgramAddressSync(seeds, new PublicKey(program))[0].toBase58(),
        );
      }),
      { numRuns: 60 },
    ),
  );
});

const payment: fc.Arbitrary<Payment> = fc
  .uniqueArray(key, { minLength: 7, maxLength: 7 })
  .chain(([a, b, c, d, e, f, g]) =>
    fc.record({
      feePayer: fc.constantFrom(a!, b!),
      from: fc.constant(a!),
      blockhash: fc.constant(c!),
      unitLimit: fc.nat(2 ** 32 - 1),
      microLamportsPerUnit: u64,
      amount: u64,
      asset: fc.oneof(
        fc.constant({ kind: 'native' as const, to: d! }),
        fc.record({
          kind: fc.constant('token' as const),
          program: fc.constantFrom(TOKEN_PROGRAM, TOKEN_2022_PROGRAM),
          mint: fc.constant(d!),
          decimals: fc.nat(255),
          source: fc.constant(e!),
          destination: fc.constant(f!),
          creates: fc.constantFrom(null, g!),
        }),
      ),
    }),
  );

test('L24 L26 property: a payment is read back as it was written', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(payment, (original) => {
        const decoded = decodePayment(encodePayment(original));
        t.deepEqual(decoded, { ok: true, payment: original });
      }),
      { numRuns: 200 },
    ),
  );
});

test('L26 property: no flipped bit of a payment is read as the same payment', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(payment, fc.nat(), fc.nat(7), (original, at, bit) => {
        const bytes = encodePayment(original);
        bytes[at % bytes.length]! ^= 1 << bit;
        const decoded = decodePayment(bytes);
        if (decoded.ok) t.notDeepEqual(decoded.payment, original);
      }),
      { numRuns: 500 },
    ),
  );
});

test("L24 the native payment is what the network's own library makes of the same instructions", (t) => {
  const ours = decodeMessage(
    encodePayment({
      feePayer: SENDER,
      from: SENDER,
      blockhash: BLOCKHASH,
      unitLimit: 700,
      microLamportsPerUnit: 1_234n,
      amount: 5n,
      asset: { kind: 'native', to: RECEIVER },
    }),
  );
  const [from, to] = [new PublicKey(SENDER), new PublicKey(RECEIVER)];
  const theirs = decodeMessage(
    new TransactionMessage({
      payerKey: from,
      recentBlockhash: BLOCKHASH,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 700 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_234 }),
        SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 5 }),
      ],
    })
      .compileToLegacyMessage()
      .serialize(),
  );
  t.true(ours.ok && theirs.ok);
  if (ours.ok && theirs.ok) t.deepEqual(ours.instructions, theirs.instructions);
});

const LIMIT: Instruction = {
  program: ComputeBudgetProgram.programId.toBase58(),
  accounts: [],
  data: Uint8Array.of(2, 200, 0, 0, 0),
};
const PRICE: Instruction = { program: LIMIT.program, accounts: [], data: Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0, 0) };
const instructionsOf = (one: Payment): readonly Instruction[] => {
  const decoded = decodeMessage(encodePayment(one));
  return decoded.ok ? decoded.instructions : [];
};
const NATIVE: Payment = {
  feePayer: SENDER,
  from: SENDER,
  blockhash: BLOCKHASH,
  unitLimit: 200,
  microLamportsPerUnit: 1n,
  amount: 9n,
  asset: { kind: 'native', to: RECEIVER },
};
const TOKEN: Payment = {
  ...NATIVE,
  asset: {
    kind: 'token',
    program: TOKEN_PROGRAM,
    mint: USDC.contract,
    decimals: 6,
    source: accountOf(SENDER),
    destination: accountOf(RECEIVER),
    creates: RECEIVER,
  },
};
const reasonOf = (instructions: readonly Instruction[], feePayer = SENDER): string | null => {
  const decoded = decodePayment(encodeMessage({ feePayer, blockhash: BLOCKHASH, instructions }));
  return decoded.ok ? null : decoded.reason;
};

test('L26 what is no payment of ours is refused by name: other programs, other instructions, more of them, other accounts', (t) => {
  const [, , transfer] = instructionsOf(NATIVE),
    [, , create, checked] = instructionsOf(TOKEN);
  t.is(reasonOf([LIMIT, PRICE, transfer!]), null);
  t.is(reasonOf([LIMIT, PRICE, create!, checked!]), null);
  const other = keyOf(77).address;
  t.is(reasonOf([LIMIT, PRICE, { ...transfer!, program: other }]), 'program_not_allowed');
  t.is(
    reasonOf([LIMIT, PRICE, transfer!, { program: other, accounts: [], data: new Uint8Array() }]),
    'program_not_allowed',
  );
  t.is(
    reasonOf([
      LIMIT,
      PRICE,
      transfer!,
      { program: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', accounts: [], data: Uint8Array.of(65) },
    ]),
    'program_not_allowed',
    'no memo either',
  );
  t.is(reasonOf([transfer!]), 'compute_budget_missing');
  t.is(reasonOf([PRICE, LIMIT, transfer!]), 'compute_budget_missing', 'another order');
  t.is(reasonOf([LIMIT, transfer!]), 'compute_budget_missing');
  t.is(reasonOf([LIMIT, PRICE]), 'instruction_not_allowed');
  t.is(reasonOf([LIMIT, PRICE, transfer!, transfer!]), 'instruction_not_allowed', 'two transfers');
  t.is(reasonOf([LIMIT, PRICE, checked!, transfer!]), 'instruction_not_allowed');
  t.is(reasonOf([LIMIT, PRICE, create!, create!, checked!]), 'instruction_not_allowed');
  t.is(
    reasonOf([LIMIT, PRICE, { ...LIMIT, data: Uint8Array.of(1, 0, 0, 4, 0) }, transfer!]),
    'instruction_not_allowed',
    'a heap frame',
  );
  const systemKinds = {
    createAccount: 0,
    assign: 1,
    advanceNonce: 4,
    withdrawNonce: 5,
    authorizeNonce: 7,
    allocate: 8,
  };
  for (const [name, kind] of Object.entries(systemKinds)) {
    const data = Uint8Array.from(transfer!.data);
    data[0] = kind;
    t.is(reasonOf([LIMIT, PRICE, { ...transfer!, data }]), 'instruction_not_allowed', name);
  }
  const tokenKinds = {
    transfer: 3,
    approve: 4,
    revoke: 5,
    setAuthority: 6,
    mintTo: 7,
    burn: 8,
    closeAccount: 9,
    freeze: 10,
    approveChecked: 13,
    burnChecked: 15,
  };
  for (const [name, kind] of Object.entries(tokenKinds)) {
    const data = Uint8Array.from(checked!.data);
    data[0] = kind;
    t.is(reasonOf([LIMIT, PRICE, { ...checked!, data }]), 'instruction_not_allowed', name);
  }
  t.is(
    reasonOf([LIMIT, PRICE, { ...create!, data: Uint8Array.of(0) }, checked!]),
    'not_canonical',
    'Create is not CreateIdempotent',
  );
  t.is(reasonOf([LIMIT, PRICE, { ...create!, data: Uint8Array.of(2) }, checked!]), 'not_canonical', 'RecoverNested');
  const others = [...create!.accounts];
  others[1] = { ...others[1]!, key: other };
  t.is(
    reasonOf([LIMIT, PRICE, { ...create!, accounts: others }, checked!]),
    'not_canonical',
    'another account is created than is paid',
  );
  t.is(
    reasonOf([
      LIMIT,
      PRICE,
      { ...checked!, accounts: [...checked!.accounts, { key: other, signer: false, writable: true }] },
    ]),
    'not_canonical',
  );
  t.is(
    reasonOf([
      LIMIT,
      PRICE,
      { ...transfer!, accounts: [...transfer!.accounts, { key: TANK, signer: true, writable: true }] },
    ]),
    'not_canonical',
    'one more signer',
  );
  t.is(
    reasonOf([LIMIT, PRICE, { ...checked!, accounts: checked!.accounts.map((one) => ({ ...one, writable: true })) }]),
    'not_canonical',
    'wider rights',
  );
  t.is(
    reasonOf([{ ...LIMIT, accounts: [{ key: other, signer: false, writable: false }] }, PRICE, transfer!]),
    'not_canonical',
  );
});

test('L26 a recorded mainnet payment of the same instructions in another order is not taken for ours', (t) => {
  const { result } = vector<{ result: { transaction: { message: ConstructorParameters<typeof Message>[0] } } }>(
    'nodes/sol/tx_native_transfer.json',
  );
  t.deepEqual(decodePayment(new Message(result.transaction.message).serialize()), {
    ok: false,
    reason: 'compute_budget_missing',
  });
});
