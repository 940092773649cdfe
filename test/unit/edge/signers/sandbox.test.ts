/**
 * found F10: what is signed in the sandbox is worthless on every real network, by the SDKs of the networks themselves.
 */
import test from 'ava';
import fc from 'fast-check';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { VersionedTransaction } from '@solana/web3.js';
import { base58 } from '@scure/base';
import { Keypair, Networks, TransactionBuilder } from '@stellar/stellar-sdk/base';
import { Psbt, Transaction as BtcTransaction } from 'bitcoinjs-lib';
import { Transaction as EvmTransaction } from 'ethers/transaction';
import { decode, encode } from 'ripple-binary-codec';
import { utils } from 'tronweb';
import { verifySignature } from 'xrpl';
import { evmNetworks } from '../../../../chains/evm/network.ts';
import { SCRIPT_TYPES } from '../../../../chains/btc/derive.ts';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { matchSigned as matchBtc } from '../../../../chains/btc/signed.ts';
import { buildUnsigned as buildBtc } from '../../../../chains/btc/unsigned.ts';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Network, Signed, Unsigned } from '../../../../chains/chain.ts';
import { loadModule, networkOf } from '../../../../chains/registry.ts';
import { sandboxOf, signedOn } from '../../../../chains/sandbox-networks.ts';
import { seedOf } from '../../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../../edge/keystore/phrase-keystore.ts';
import { OwnAddresses } from '../../../../edge/signing/own-addresses.ts';
import { loadSigner } from '../../../../edge/signing/signer-loader.ts';
import { btcSigner } from '../../../../edge/signing/signers/btc.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, Signer, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import { CHAINS, type Chain } from '../../../../protocol/slugs.ts';
import { accepted, coinOf, inputsOf, intentOf, own as ownBtc } from '../../../support/btc-inputs.ts';
import { PHRASE } from '../../../support/edge/edges.ts';
import { FAMILY_CHAINS, unsignedFor, type FamilyChain } from '../../../support/edge/families.ts';

const keystore = createPhraseKeystore(seedOf(PHRASE, '')),
  own = new OwnAddresses(keystore);
const NOW_MS = 1_800_000_000_000;
const LARGEST_WALLET_ID = 4_503_599_627_370_476;

const policyFor = (chain: Chain): SigningPolicy => ({
  ...feeBoundsOf(chain),
  sweepDestinations: [],
  gasTank: null,
  catalogue: catalogueOf(chain),
  addressAt: (path) => own.addressAt(chain, path),
  journal: { forInstruction: [], withReplayKey: () => [] },
  replayWindow: null,
  nowMs: NOW_MS,
});
const instructionOf = ({ chain, from, fromPath, to, amount }: Unsigned): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain,
  from,
  fromPath,
  to,
  toPath: null,
  amount,
  token: null,
  tag: null,
});

interface Made {
  readonly unsigned: Unsigned;
  readonly signed: Signed;
  readonly signer: Signer;
  readonly refusal: string | null;
}

async function made(chain: FamilyChain, network: Network, amount?: bigint, variant = 0): Promise<Made> {
  const unsigned = await unsignedFor({ chain, ...(amount === undefined ? {} : { amount }) }, variant, NOW_MS, network);
  const signer = (await loadSigner(chain))!;
  const refusal = signer.check(network, unsigned, instructionOf(unsigned), policyFor(chain))?.details['reason'];
  const signed = keystore.withKey(chain, unsigned.fromPath, (key) => signer.sign(network, unsigned, key));
  return { unsigned, signed, signer, refusal: typeof refusal === 'string' ? refusal : null };
}

/** Whether the real network's own SDK takes the signature for a payment of `from` on that network. */
const TAKEN: Readonly<Record<FamilyChain, (signed: Signed, unsigned: Unsigned) => boolean>> = {
  btc({ payload }, unsigned) {
    const psbt = Psbt.fromBase64(unsigned.payload),
      transaction = BtcTransaction.fromHex(payload);
    transaction.ins.forEach(({ witness }, index) =>
      psbt.updateInput(index, { partialSig: [{ signature: witness[0]!, pubkey: witness[1]! }] }),
    );
    return psbt.validateSignaturesOfAllInputs((pubkey, hash, signature) =>
      secp256k1.verify(signature, hash, pubkey, { prehash: false }),
    );
  },
  eth({ payload }, { from }) {
    const transaction = EvmTransaction.from(payload);
    const real = EvmTransaction.from(payload);
    real.chainId = 1n;
    return real.from === from || evmNetworks.some(({ chainId }) => transaction.chainId === BigInt(chainId));
  },
  tron({ payload, txid }, { from }) {
    const signature = payload.slice(-130);
    return utils.crypto.ecRecover(txid, signature).toLowerCase() === utils.address.toHex(from).toLowerCase();
  },
  sol({ payload }) {
    const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(payload, 'base64'));
    return ed25519.verify(signatures[0]!, message.serialize(), message.staticAccountKeys[0]!.toBytes());
  },
  xrp({ payload }) {
    const { NetworkID: networkId, ...real } = decode(payload) as Record<string, unknown>;
    // The main network demands that the field is absent, so the signature would have to hold without it.
    return networkId === undefined ? verifySignature(payload) : verifySignature(encode(real));
  },
  xlm({ payload }, { from }) {
    return [Networks.PUBLIC, Networks.TESTNET, Networks.FUTURENET].some((passphrase) => {
      const transaction = TransactionBuilder.fromXDR(payload, passphrase);
      return Keypair.fromPublicKey(from).verify(transaction.hash(), transaction.signatures[0]!.signature.toBytes());
    });
  },
};

for (const chain of FAMILY_CHAINS) {
  test(`found F10: what a sandbox edge signs on ${chain} verifies in the sandbox and by no SDK of the real network`, async (t) => {
    const real = networkOf(chain),
      box = sandboxOf(real),
      module = await loadModule(chain);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 900 }),
        fc.bigInt({ min: 150_000n, max: 190_000n }),
        async (variant, more) => {
          const amount =
            chain === 'btc'
              ? more
              : chain === 'eth'
                ? 10n ** 16n + more
                : chain === 'tron'
                  ? 3_000_000n + more
                  : 10_000_000n + more;
          const live = await made(chain, real, amount, variant),
            sandbox = await made(chain, box, amount, variant);
          t.is(live.refusal, null);
          t.is(sandbox.refusal, null);
          t.true(TAKEN[chain](live.signed, live.unsigned), 'the control: a live signature is taken');
          t.false(TAKEN[chain](sandbox.signed, sandbox.unsigned));
          t.is(module.matchSigned(box, sandbox.unsigned, sandbox.signed), null);
          t.is(module.matchSigned(real, live.unsigned, live.signed), null);
          // Neither environment takes what the other one signed, whichever payload it is shown with.
          for (const unsigned of [sandbox.unsigned, live.unsigned]) {
            t.is(module.matchSigned(real, unsigned, sandbox.signed)?.code, 'SIGNED_BATCH_REJECTED');
            t.is(module.matchSigned(box, unsigned, live.signed)?.code, 'SIGNED_BATCH_REJECTED');
          }
        },
      ),
      { numRuns: 8 },
    );
  });
}

test('found F10: a payload of the other environment is refused with a stable reason, in both directions', async (t) => {
  const reasons: Record<string, [string | undefined, string | undefined]> = {
    eth: ['chain_id_mismatch', 'chain_id_mismatch'],
    xrp: ['network_id_mismatch', 'field_not_allowed'],
  };
  for (const chain of FAMILY_CHAINS) {
    const real = networkOf(chain),
      box = sandboxOf(real),
      signer = (await loadSigner(chain))!;
    const live = await unsignedFor({ chain }, 0, NOW_MS, real),
      sandbox = await unsignedFor({ chain }, 0, NOW_MS, box);
    const at = (network: Network, unsigned: Unsigned) =>
      signer.check(network, unsigned, instructionOf(unsigned), policyFor(chain));
    const [liveInSandbox, sandboxInLive] = reasons[chain] ?? [undefined, undefined];
    // Where the bytes hold no id, the same payload is of both, and the environment of whoever signs decides what it is
    // worth.
    t.deepEqual(
      [at(box, live)?.details['reason'], at(real, sandbox)?.details['reason']],
      [liveInSandbox, sandboxInLive],
      chain,
    );
  }
});

for (const type of SCRIPT_TYPES) {
  test(`found F10: every input of a ${type} address is signed over the tagged digest, and no node takes it`, (t) => {
    const from = ownBtc(4, type),
      box = sandboxOf(bitcoin);
    const coins = [60_000n, 70_000n].map((value) => coinOf(value, { script: from.script }));
    const unsigned = accepted(
      buildBtc(bitcoin, inputsOf({ coins }), intentOf({ from: from.address, fromPath: from.path }), null),
    );
    const signed = btcSigner.sign(box, unsigned, { privateKey: from.privateKey });
    t.is(matchBtc(box, unsigned, signed), null);
    t.like(matchBtc(bitcoin, unsigned, signed), {
      code: 'SIGNED_BATCH_REJECTED',
      details: { reason: 'signer_mismatch' },
    });
    t.like(matchBtc(box, unsigned, btcSigner.sign(bitcoin, unsigned, { privateKey: from.privateKey })), {
      details: { reason: 'signer_mismatch' },
    });
  });
}

test("found F10: the ids of simulated ledgers are no network's, all different, and fit where they are written", (t) => {
  const boxes = CHAINS.map((chain) => sandboxOf(networkOf(chain)));
  t.is(new Set(boxes.map(({ slug, identity }) => `${slug} ${identity}`)).size, CHAINS.length);
  for (const network of evmNetworks) {
    const { chainId, identity } = sandboxOf(network) as typeof network;
    t.true(Number.isSafeInteger(chainId) && chainId > LARGEST_WALLET_ID, network.slug);
    t.is(identity, String(chainId));
    t.is(EvmTransaction.from({ chainId, to: `0x${'1'.repeat(40)}`, type: 2 }).chainId, BigInt(chainId));
  }
  for (const box of boxes) {
    t.true(box.simulated);
    t.is(sandboxOf(box), box, 'a sandbox of a sandbox is the same');
    t.not(box.identity, networkOf(box.slug).identity);
  }
  const bytes = new Uint8Array(32).fill(7);
  t.is(signedOn(bitcoin, bytes), bytes, 'a real network signs the digest itself');
  const tagged = boxes.filter(({ digestTag }) => digestTag !== undefined);
  t.deepEqual(tagged.map(({ slug }) => slug).sort(), ['btc', 'sol', 'tron']);
  t.is(
    new Set(tagged.map((box) => base58.encode(signedOn(box, bytes)))).size,
    3,
    "one chain's digest is not another's",
  );
});
