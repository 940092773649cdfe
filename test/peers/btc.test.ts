/** What the Bitcoin stand-in makes of scripts and signatures, held to what our own code signs and takes. */
import test from 'ava';
import fc from 'fast-check';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { address as addresses, crypto, payments, script as scripts, Transaction } from 'bitcoinjs-lib';
import type { Network } from '../../chains/chain.ts';
import { addressOf, outputOf } from '../../chains/btc/script.ts';
import { dustLimitOf as ourDustLimitOf } from '../../chains/btc/size.ts';
import { isUnlocked, signatureHash, unlock } from '../../chains/btc/spending.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { sandboxOf, signedOn } from '../../chains/sandbox-networks.ts';
import { dustLimitOf } from '../../developer/stand-ins/btc/policy.ts';
import { describe, scriptErrorOf, scriptOf, type Spent } from '../../developer/stand-ins/btc/scripts.ts';
import { own, RECIPIENT, scriptFor } from '../support/btc-inputs.ts';

const KINDS = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'] as const;
const { SIGHASH_ALL: ALL, SIGHASH_ANYONECANPAY: ANYONE } = Transaction;
const privateKey = own(7).privateKey,
  publicKey = secp256k1.getPublicKey(privateKey, true),
  longKey = secp256k1.getPublicKey(privateKey, false);

function spending(...spent: Spent[]): Transaction {
  const transaction = new Transaction();
  transaction.version = 2;
  spent.forEach((_, n) => transaction.addInput(Buffer.alloc(32, n + 1), n, 0xffff_fffd));
  transaction.addOutput(scriptFor(RECIPIENT), 50_000n);
  transaction.addOutput(own(1).script, 30_000n);
  return transaction;
}

/** One input of each kind, signed by our own code. */
const signed = (): { transaction: Transaction; spent: readonly Spent[] } => ({
  transaction: Transaction.fromHex(SIGNED.hex),
  spent: SIGNED.spent,
});
const SIGNED = sign();

function sign(on: Network = bitcoin): { hex: string; spent: Spent[] } {
  const keys = KINDS.map((kind, n) => own(n, kind)),
    spent = keys.map(({ script }, n) => ({ script, value: 100_000n + BigInt(n) }));
  const transaction = spending(...spent);
  keys.forEach(({ privateKey: key, script }, index) => {
    const own33 = secp256k1.getPublicKey(key, true),
      hash = signedOn(on, signatureHash(transaction, index, spent, own33));
    const isTaproot = KINDS[index] === 'p2tr';
    const signature = isTaproot
      ? schnorr.sign(hash, tweaked(key))
      : Uint8Array.of(...secp256k1.sign(hash, key, { prehash: false, format: 'der' }), ALL);
    unlock(transaction, index, script, { signature, publicKey: isTaproot ? null : own33 });
  });
  return { hex: transaction.toHex(), spent };
}

/** BIP-341: the key that an output without scripts pays. */
function tweaked(key: Uint8Array): Uint8Array {
  const order = secp256k1.Point.Fn.ORDER,
    point = secp256k1.Point.fromBytes(secp256k1.getPublicKey(key, true));
  const even = point.toAffine().y % 2n === 0n,
    secret = BigInt(`0x${Buffer.from(key).toString('hex')}`);
  const tweak = BigInt(
    `0x${Buffer.from(crypto.taggedHash('TapTweak', point.toBytes(true).subarray(1))).toString('hex')}`,
  );
  return Buffer.from((((even ? secret : order - secret) + tweak) % order).toString(16).padStart(64, '0'), 'hex');
}

test('what we sign the stand-in takes, for each kind of script', (t) => {
  const { transaction, spent } = signed();
  for (const index of KINDS.keys()) {
    t.true(isUnlocked(transaction, index, spent, bitcoin), KINDS[index]);
    t.is(scriptErrorOf(transaction, index, spent), null, KINDS[index]);
  }
});

test('F10: what is signed for the sandbox unlocks nothing on the network', (t) => {
  const { hex, spent } = sign(sandboxOf(bitcoin)),
    transaction = Transaction.fromHex(hex);
  for (const index of KINDS.keys()) {
    t.true(isUnlocked(transaction, index, spent, sandboxOf(bitcoin)), KINDS[index]);
    t.regex(
      scriptErrorOf(transaction, index, spent) ?? 'taken',
      /must be zero for failed|Invalid Schnorr signature/,
      KINDS[index],
    );
  }
});

test('property: a transaction that anything was changed in, and that our own check lets pass, passes in the stand-in too', (t) => {
  const flip = (bytes: Uint8Array, at: number, by: number) =>
    Uint8Array.from(bytes, (byte, n) => (n === at % bytes.length ? byte ^ by : byte));
  const changes: readonly ((transaction: Transaction, index: number, at: number, by: number) => void)[] = [
    (one, index, at, by) => {
      one.ins[index]!.script = flip(one.ins[index]!.script, at, by);
    },
    (one, index, at, by) => {
      one.ins[index]!.witness = one.ins[index]!.witness.map((part) => flip(part, at, by));
    },
    (one, index, at, by) => {
      one.ins[index]!.witness = one.ins[index]!.witness.map((part, n) => (n === by % 2 ? flip(part, at, by) : part));
    },
    (one, index, at) => {
      one.ins[index]!.witness = one.ins[index]!.witness.slice(0, at % 3);
    },
    (one, index, at, by) => {
      one.ins[index]!.witness = [...one.ins[index]!.witness, Buffer.alloc(at % 3, by)];
    },
    (one, index, at, by) => {
      one.ins[index]!.script = scripts.compile([Buffer.alloc(at % 80, by)]);
    },
    (one, index, at) => {
      one.ins[index]!.sequence = at;
    },
    (one, _index, at) => {
      one.outs[0]!.value = BigInt(at);
    },
    (one, _index, at) => {
      one.locktime = at;
    },
    () => undefined,
  ];
  let passed = 0,
    refused = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...changes),
      fc.nat(3),
      fc.nat(200),
      fc.integer({ min: 1, max: 255 }),
      (change, index, at, by) => {
        const { transaction, spent } = signed();
        change(transaction, index, at, by);
        const error = scriptErrorOf(transaction, index, spent);
        if (isUnlocked(transaction, index, spent, bitcoin)) {
          passed += 1;
          t.is(error, null);
        } else if (error !== null) refused += 1;
      },
    ),
    { numRuns: 200 },
  );
  t.true(passed > 0 && refused > 0);
});

test('the chain takes more forms than we sign: other types of hash, long keys, a key hash in a script hash', (t) => {
  const code = (key: Uint8Array) => payments.p2pkh({ hash: crypto.hash160(key) }).output!;
  const ecdsa = (hash: Uint8Array, type: number) =>
    scripts.signature.encode(secp256k1.sign(hash, privateKey, { prehash: false }), type);
  for (const type of [1, 2, 3].flatMap((base) => [base, base | ANYONE])) {
    const key = payments.p2wpkh({ pubkey: publicKey }).output!,
      long = code(longKey),
      nested = payments.p2sh({ hash: crypto.hash160(code(publicKey)) }).output!;
    const spent = [key, long, nested].map((script) => ({ script, value: 40_000n })),
      transaction = spending(...spent);
    // SINGLE signs the output of its own index: there is none for the third.
    transaction.addOutput(own(2).script, 1_000n);
    transaction.setWitness(0, [
      ecdsa(transaction.hashForWitnessV0(0, code(publicKey), 40_000n, type), type),
      publicKey,
    ]);
    transaction.setInputScript(1, scripts.compile([ecdsa(transaction.hashForSignature(1, long, type), type), longKey]));
    transaction.setInputScript(
      2,
      scripts.compile([
        ecdsa(transaction.hashForSignature(2, code(publicKey), type), type),
        publicKey,
        code(publicKey),
      ]),
    );
    for (const index of spent.keys())
      t.is(scriptErrorOf(transaction, index, spent), null, `type ${type}, input ${index}`);
    const taproot = own(3, 'p2tr'),
      coin = [{ script: taproot.script, value: 90_000n }],
      other = spending(...coin);
    const hash = other.hashForWitnessV1(0, [taproot.script], [90_000n], type);
    other.setWitness(0, [Uint8Array.of(...schnorr.sign(hash, tweaked(taproot.privateKey)), type)]);
    t.is(scriptErrorOf(other, 0, coin), null, `taproot, type ${type}`);
  }
});

test("what does not unlock is refused in the interpreter's words", (t) => {
  const spoilt = (index: number, spoil: (input: Transaction['ins'][number]) => void) => {
    const { transaction, spent } = signed();
    spoil(transaction.ins[index]!);
    return scriptErrorOf(transaction, index, spent);
  };
  const der = (input: { witness: Uint8Array[] }) => input.witness[0]!;
  const highS = (signature: Uint8Array) => {
    const { r, s } = secp256k1.Signature.fromBytes(signature.subarray(0, -1), 'der');
    return Uint8Array.of(...new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes('der'), ALL);
  };
  const cases: readonly (readonly [why: RegExp, index: number, spoil: Parameters<typeof spoilt>[1]])[] = [
    [
      /S value is unnecessarily high/,
      2,
      (input) => {
        input.witness[0] = highS(der(input));
      },
    ],
    [
      /hash type missing/,
      2,
      (input) => {
        input.witness[0] = Uint8Array.of(...der(input).subarray(0, -1), 0);
      },
    ],
    [
      /Non-canonical DER/,
      2,
      (input) => {
        input.witness[0] = Uint8Array.of(...der(input).subarray(0, -1), 0, ALL);
      },
    ],
    [
      /must be zero for failed/,
      2,
      (input) => {
        input.witness[0] = Uint8Array.of(...der(input).subarray(0, -1), 2);
      },
    ],
    [
      /OP_EQUALVERIFY/,
      2,
      (input) => {
        input.witness[1] = publicKey;
      },
    ],
    [
      /program hash mismatch/,
      2,
      (input) => {
        input.witness = [];
      },
    ],
    [
      /requires empty scriptSig/,
      2,
      (input) => {
        input.script = Uint8Array.of(0);
      },
    ],
    [
      /only-redeemscript/,
      1,
      (input) => {
        input.script = Uint8Array.of(0, ...input.script);
      },
    ],
    [
      /false\/empty top stack/,
      1,
      (input) => {
        input.script = scripts.compile([payments.p2wpkh({ pubkey: publicKey }).output!]);
      },
    ],
    [
      /larger than necessary/,
      1,
      (input) => {
        input.script = Uint8Array.of(0x4c, ...input.script);
      },
    ],
    [
      /Only push operators/,
      0,
      (input) => {
        input.script = Uint8Array.of(0x61, ...input.script);
      },
    ],
    [
      /non-witness script/,
      0,
      (input) => {
        input.witness = [publicKey];
      },
    ],
    [
      /stack size/i,
      0,
      (input) => {
        input.script = Uint8Array.of();
      },
    ],
    [
      /empty witness/,
      3,
      (input) => {
        input.witness = [];
      },
    ],
    [
      /Schnorr signature size/,
      3,
      (input) => {
        input.witness[0] = der(input).subarray(0, 63);
      },
    ],
    [
      /Schnorr signature hash type/,
      3,
      (input) => {
        input.witness[0] = Uint8Array.of(...der(input), 0);
      },
    ],
    [
      /Invalid Schnorr signature$/,
      3,
      (input) => {
        input.witness[0] = Uint8Array.of(...der(input), ALL);
      },
    ],
  ];
  for (const [why, index, spoil] of cases) t.regex(spoilt(index, spoil) ?? 'taken', why);
});

test('property: addresses, scripts and dust are the same to the stand-in and to us', (t) => {
  const program = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(program, fc.constantFrom('p2pkh', 'p2sh', 'p2wpkh', 'p2wsh', 'p2tr'), (bytes, kind) => {
      const output = { kind, program: kind === 'p2wsh' || kind === 'p2tr' ? bytes : bytes.subarray(12) } as const;
      const text = addressOf(bitcoin.prefixes, output),
        script = scriptOf(text);
      t.deepEqual(outputOf(script), { kind, program: Buffer.from(output.program) });
      t.is(describe(script).address, text);
      t.is(dustLimitOf(script), ourDustLimitOf(script));
    }),
    { numRuns: 100 },
  );
  for (const text of [
    '',
    'bc1',
    'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
    `${RECIPIENT}x`,
    'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
  ]) {
    t.throws(() => scriptOf(text), undefined, text);
  }
  const future = addresses.toBech32(Buffer.alloc(32, 1), 2, 'bc');
  t.deepEqual(describe(scriptOf(future)), { type: 'witness_unknown', address: future });
});
