import {
  ComputeBudgetProgram,
  Keypair,
  Message,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { base58 } from '@scure/base';
import test from 'ava';
import fc from 'fast-check';
import {
  decodeMessage,
  decodeTransaction,
  encodeMessage,
  encodeTransaction,
  type Instruction,
  type Message as OurMessage,
} from '../../../../chains/sol/message.ts';
import { verifies } from '../../../../chains/sol/signed.ts';
import { vector } from '../../../support/vectors.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes));
const instructionOf = (keys: readonly string[]): fc.Arbitrary<Instruction> =>
  fc.record({
    program: fc.constantFrom(...keys),
    accounts: fc.array(fc.record({ key: fc.constantFrom(...keys), signer: fc.boolean(), writable: fc.boolean() }), {
      maxLength: 8,
    }),
    data: fc.uint8Array({ maxLength: 300 }),
  });
const message: fc.Arbitrary<OurMessage> = fc.uniqueArray(key, { minLength: 2, maxLength: 12 }).chain((keys) =>
  fc.record({
    feePayer: fc.constantFrom(...keys),
    blockhash: key,
    instructions: fc.array(instructionOf(keys), { maxLength: 5 }),
  }),
);

/** Keys with their rights, whatever order they stand in. */
function rightsOf(bytes: Uint8Array): Record<string, string> {
  const read = Message.from(bytes);
  return Object.fromEntries(
    read.accountKeys.map((one, index) => [
      one.toBase58(),
      `${read.isAccountSigner(index)} ${read.isAccountWritable(index)}`,
    ]),
  );
}

test("L24 property: what is encoded is read by the network's own library as the same message, and by ours", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(message, (original) => {
        const bytes = encodeMessage(original);
        const theirs = TransactionMessage.decompile(
          VersionedTransaction.deserialize(
            encodeTransaction(
              Array.from({ length: bytes[0]! }, () => new Uint8Array(64)),
              bytes,
            ),
          ).message,
        );
        const rights = rightsOf(bytes);
        t.is(theirs.payerKey.toBase58(), original.feePayer);
        t.is(theirs.recentBlockhash, original.blockhash);
        t.deepEqual(
          theirs.instructions.map(({ programId, keys, data }) => [
            programId.toBase58(),
            keys.map(({ pubkey }) => pubkey.toBase58()),
            [...data],
          ]),
          original.instructions.map(({ program, accounts, data }) => [
            program,
            accounts.map((account) => account.key),
            [...data],
          ]),
        );
        for (const { accounts } of original.instructions) {
          for (const account of accounts) {
            const [signer, writable] = rights[account.key]!.split(' ');
            if (account.signer) t.is(signer, 'true');
            if (account.writable) t.is(writable, 'true');
          }
        }
        const ours = decodeMessage(bytes);
        if (!ours.ok) return t.fail(ours.reason);
        t.deepEqual([...encodeMessage(ours)], [...bytes], 'what was read encodes to the same bytes');
        t.deepEqual(ours.signers, ours.keys.slice(0, bytes[0]));
      }),
      { numRuns: 150 },
    ),
  );
});

test("L24 property: messages of the network's own library are read with the rights that it gave", (t) => {
  const pair = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((seed) => Keypair.fromSeed(seed).publicKey);
  t.notThrows(() =>
    fc.assert(
      fc.property(pair, pair, pair, fc.nat(2 ** 40), (payer, from, to, lamports) => {
        const instructions = [
          ComputeBudgetProgram.setComputeUnitLimit({ units: 700 }),
          SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports }),
          new TransactionInstruction({
            programId: to,
            keys: [{ pubkey: payer, isSigner: false, isWritable: false }],
            data: Buffer.of(1, 2, 3),
          }),
        ];
        const bytes = new TransactionMessage({
          payerKey: payer,
          recentBlockhash: PublicKey.default.toBase58(),
          instructions,
        })
          .compileToLegacyMessage()
          .serialize();
        const ours = decodeMessage(bytes);
        if (!ours.ok) return t.fail(ours.reason);
        const read = Message.from(bytes);
        for (const { accounts } of ours.instructions) {
          for (const account of accounts) {
            const index = read.accountKeys.findIndex((one) => one.toBase58() === account.key);
            t.deepEqual(
              [account.signer, account.writable],
              [read.isAccountSigner(index), read.isAccountWritable(index)],
            );
          }
        }
      }),
      { numRuns: 60 },
    ),
  );
});

interface Recorded {
  result: {
    version: 'legacy' | number;
    transaction: { signatures: string[]; message: ConstructorParameters<typeof Message>[0] };
  };
}

test('G28 recorded transactions of mainnet: the bytes that are read are the bytes that were signed', (t) => {
  for (const file of [
    'tx_native_transfer',
    'tx_spl_usdc_transfer',
    'tx_token2022_transfer',
    'tx_create_ata_only',
    'tx_stake_withdrawal',
    'tx_failed_inner_transfer',
    'tx_cpi_spl_transfer_usdc',
  ]) {
    const {
      result: { transaction, version },
    } = vector<Recorded>(`nodes/sol/${file}.json`);
    if (version !== 'legacy') continue;
    const bytes = new Message(transaction.message).serialize();
    const ours = decodeMessage(bytes);
    if (!ours.ok) {
      t.fail(ours.reason);
      continue;
    }
    t.is(ours.signers.length, transaction.signatures.length, file);
    for (const [index, signature] of transaction.signatures.entries()) {
      t.true(verifies(ours.signers[index]!, bytes, base58.decode(signature)), file);
    }
    const wire = decodeTransaction(
      encodeTransaction(
        transaction.signatures.map((one) => base58.decode(one)),
        bytes,
      ),
    );
    t.true(wire.ok && Buffer.from(wire.message).equals(bytes));
  }
});

const reasonOf = (bytes: Uint8Array): string | null => {
  const decoded = decodeMessage(bytes);
  return decoded.ok ? null : decoded.reason;
};

test('L24 L26 bytes that are no legacy message are named and not read', (t) => {
  const good = encodeMessage({
    feePayer: base58.encode(new Uint8Array(32).fill(1)),
    blockhash: base58.encode(new Uint8Array(32).fill(2)),
    instructions: [{ program: base58.encode(new Uint8Array(32).fill(3)), accounts: [], data: Uint8Array.of(7) }],
  });
  t.is(reasonOf(good), null);
  t.is(reasonOf(Uint8Array.of(0x80, ...good)), 'message_version', 'version 0');
  t.is(reasonOf(Uint8Array.of(0x81, ...good)), 'message_version', 'version 1');
  t.is(reasonOf(good.slice(0, -1)), 'truncated');
  t.is(reasonOf(Uint8Array.of(...good, 0)), 'trailing_bytes');
  t.is(reasonOf(new Uint8Array()), 'truncated');
  t.is(reasonOf(Uint8Array.of(0, ...good.slice(1))), 'header', 'nobody signs');
  t.is(reasonOf(Uint8Array.of(1, 1, ...good.slice(2))), 'header', 'the payer is not written');
  t.is(reasonOf(Uint8Array.of(2, 0, 2, ...good.slice(3))), 'header');
  const twice = Uint8Array.from(good);
  twice.copyWithin(4 + 32, 4, 4 + 32);
  t.is(reasonOf(twice), 'duplicate_keys');
  const stranger = Uint8Array.from(good);
  stranger[4 + 64 + 32 + 1] = 9;
  t.is(reasonOf(stranger), 'key_index');
  // The same count in more bytes than it needs.
  t.is(reasonOf(Uint8Array.of(...good.slice(0, 3), 0x82, 0, ...good.slice(4))), 'count_not_canonical');
  t.is(decodeTransaction(new Uint8Array(1_300)).ok, false, 'L24: more than a packet');
});
