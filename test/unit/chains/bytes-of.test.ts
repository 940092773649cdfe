import test from 'ava';
import fc from 'fast-check';
import { bytesOf as btcBytes, parseAddress as parseBtc } from '../../../chains/btc/address.ts';
import { bitcoin, litecoinRegtest } from '../../../chains/btc/network.ts';
import { addressOf as btcAddress, type ScriptKind } from '../../../chains/btc/script.ts';
import { base58 } from '@scure/base';
import { solFacts } from '../../../chains/sol/facts.ts';
import { tronFacts } from '../../../chains/tron/facts.ts';
import { xlmFacts } from '../../../chains/xlm/facts.ts';
import { xrpFacts } from '../../../chains/xrp/facts.ts';
import { addressOf as tronAddress } from '../../../chains/tron/address.ts';
import { addressOf as xlmAddress } from '../../../chains/xlm/address.ts';
import { addressOf as xrpAddress } from '../../../chains/xrp/address.ts';

const textOf = {
  tron: tronAddress,
  xrp: xrpAddress,
  sol: (bytes: Uint8Array) => base58.encode(bytes),
  xlm: xlmAddress,
} as const;
const factsOf = { tron: tronFacts, xrp: xrpFacts, sol: solFacts, xlm: xlmFacts } as const;

test('G6 property: the bytes that blocks are matched on are those of the parsed address', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.constantFrom('tron', 'xrp', 'sol', 'xlm' as const),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (chain, random) => {
          const bytes = chain === 'tron' || chain === 'xrp' ? random.subarray(0, 20) : random;
          const text = textOf[chain](bytes);
          const { parseAddress, bytesOf, networks } = factsOf[chain];
          const parsed = parseAddress(networks[0], text);
          t.true(
            parsed.ok && Buffer.compare(parsed.bytes, bytesOf(text)) === 0 && Buffer.compare(parsed.bytes, bytes) === 0,
            text,
          );
        },
      ),
      { numRuns: 200 },
    ),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.constantFrom<ScriptKind>('p2pkh', 'p2sh', 'p2wpkh', 'p2wsh', 'p2tr'),
        fc.constantFrom(bitcoin, litecoinRegtest),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (kind, network, random) => {
          const text = btcAddress(network.prefixes, {
            kind,
            program: kind === 'p2wsh' || kind === 'p2tr' ? random : random.subarray(0, 20),
          });
          const parsed = parseBtc(network, text);
          t.true(parsed.ok && Buffer.compare(parsed.bytes, btcBytes(text)) === 0, text);
        },
      ),
    ),
  );
});
