/** found F13: a transaction has one text, the one that is checked, signed and stored; any other is refused alike. */
import test from 'ava';
import fc from 'fast-check';
import type { Unsigned } from '../../../../chains/chain.ts';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import { loadModule, networkOf } from '../../../../chains/registry.ts';
import { sandboxOf } from '../../../../chains/sandbox-networks.ts';
import { seedOf } from '../../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../../edge/keystore/phrase-keystore.ts';
import { OwnAddresses } from '../../../../edge/signing/own-addresses.ts';
import { loadSigner } from '../../../../edge/signing/signer-loader.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import { PHRASE } from '../../../support/edge/edges.ts';
import { FAMILY_CHAINS, unsignedFor } from '../../../support/edge/families.ts';
import { reEncodingsOf, signedReEncodingsOf } from '../../../support/edge/re-encodings.ts';

const keystore = createPhraseKeystore(seedOf(PHRASE, '')),
  own = new OwnAddresses(keystore);
const NOW_MS = 1_800_000_000_000;

function askOf({ chain, from, fromPath, to, amount }: Unsigned): [Instruction, SigningPolicy] {
  return [
    { id: 'txn_1', purpose: 'withdrawal', chain, from, fromPath, to, toPath: null, amount, token: null, tag: null },
    {
      ...feeBoundsOf(chain),
      sweepDestinations: [],
      gasTank: null,
      catalogue: catalogueOf(chain),
      addressAt: (path) => own.addressAt(chain, path),
      journal: { forInstruction: [], withReplayKey: () => [] },
      replayWindow: null,
      nowMs: NOW_MS,
    },
  ];
}

for (const chain of FAMILY_CHAINS) {
  test(`found F13 property: any other text of the same payload is refused with one error, in live and in the sandbox: ${chain}`, async (t) => {
    const signer = (await loadSigner(chain))!,
      module = await loadModule(chain);
    await fc.assert(
      fc.asyncProperty(fc.nat(500), fc.boolean(), async (variant, isSandbox) => {
        const network = isSandbox ? sandboxOf(networkOf(chain)) : networkOf(chain);
        const unsigned = await unsignedFor({ chain }, variant, NOW_MS, network),
          [instruction, policy] = askOf(unsigned);
        t.is(signer.check(network, unsigned, instruction, policy), null);
        const others = reEncodingsOf(chain, unsigned.payload);
        t.true(others.length >= 6);
        for (const { what, text } of others) {
          t.like(
            signer.check(network, { ...unsigned, payload: text }, instruction, policy),
            { code: 'SIGNED_BATCH_REJECTED', details: { reason: 'not_canonical' } },
            what,
          );
        }
        const signed = keystore.withKey(chain, unsigned.fromPath, (key) => signer.sign(network, unsigned, key));
        t.is(module.matchSigned(network, unsigned, signed), null);
        for (const { what, text } of signedReEncodingsOf(chain, signed.payload)) {
          t.is(
            module.matchSigned(network, unsigned, { ...signed, payload: text })?.code,
            'SIGNED_BATCH_REJECTED',
            what,
          );
        }
      }),
      { numRuns: 6 },
    );
  });
}
