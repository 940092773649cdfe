/** P6: addresses from an extended public key on one core, against the native library and the HMAC alone. */
import { createHmac, createSecretKey } from 'node:crypto';
import secp256k1 from 'secp256k1';
import { HDKey } from '@scure/bip32';
import { parseXpub } from '../chains/secp256k1.ts';
import { loadModule, networkOf } from '../chains/registry.ts';
import { isRefusal } from '../protocol/errors.ts';
import { median, type Figure } from './figure.ts';

const ADDRESSES = 20_000;
const ROUNDS = 5;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));

/** Calls per second of CPU. */
function perSecond(call: (index: number) => unknown): number {
  const before = process.cpuUsage();
  for (let index = 0; index < ADDRESSES; index += 1) call(index);
  const { user, system } = process.cpuUsage(before);
  return (ADDRESSES * 1e6) / (user + system);
}

async function main(): Promise<void> {
  const xpub = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'").publicExtendedKey;
  const parsed = parseXpub(xpub);
  if (isRefusal(parsed)) throw new Error('no extended key');
  // What the library must do for a child whatever surrounds it: one HMAC, one point addition.
  const chainCode = createSecretKey(parsed.chainCode),
    input = Buffer.alloc(37);
  input.set(parsed.publicKey);
  const point = secp256k1.publicKeyConvert(parsed.publicKey, false);
  const library = (index: number): unknown => {
    input.writeUInt32BE(index, 33);
    const tweak = createHmac('sha512', chainCode).update(input).digest().subarray(0, 32);
    return secp256k1.publicKeyTweakAdd(point, tweak, false);
  };
  for (const slug of ['eth', 'btc'] as const) {
    const module = await loadModule(slug),
      network = networkOf(slug),
      { derivation } = module;
    if (derivation.kind !== 'xpub') throw new Error(`${slug} has a pool`);
    const ours: number[] = [],
      limit: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      limit.push(perSecond(library));
      ours.push(perSecond((index) => derivation.deriveAddress(network, xpub, 0, index)));
    }
    emit({
      id: `P6-${slug}`,
      what: `${slug} addresses from an xpub, one core`,
      ours: median(ours),
      limit: median(limit),
      unit: '/s',
      better: 'higher',
      goal: 0.8,
      note:
        'with the hash, the encoding and the path; limit: HMAC-SHA512 and the native point addition alone; ' +
        'CPU time',
    });
  }
}

await main();
