/** Key sources: what an edge registers of phrases and keys that came from elsewhere. Spec §2.12, §4.8. */
import { z } from 'zod';
import { CHAINS } from '../slugs.ts';
import { addressText, chain, freeText, instant, pageReply, pathId } from './values.ts';
import { addressIndex, count } from './numbers.ts';

const fingerprint = z.string().regex(/^[0-9a-f]{16}$/, 'expected 16 hex digits, lower case');
/** Steps with or without an apostrophe below `m`. */
const path = z.string().regex(/^m(?:\/[0-9]{1,10}'?){1,10}$/, "expected a path as m/44'/60'/0'");

/** Chains of families that sign on secp256k1; the Ed25519 chains have no extended public keys. */
const sourceChain = chain.refine((slug) => slug !== 'sol' && slug !== 'xlm', 'a chain that key sources can hold');

export const KEYS_PER_REGISTRATION = 64;
export const ADDRESSES_PER_REGISTRATION = 500;

const pushedSourceKey = z.union([
  z.strictObject({ chain: sourceChain, path, xpub: z.string().max(120) }),
  z.strictObject({
    chain: sourceChain,
    publicKey: z
      .string()
      .regex(
        /^(?:0[23][0-9a-f]{64}|04[0-9a-f]{128}|ed[0-9a-f]{64})$/,
        'expected a public key in hex digits, lower case',
      ),
  }),
]);

export const registerKeySourceBody = z.strictObject({
  fingerprint: fingerprint.meta({ description: '16 hex digits of SHA-256 of the master or single public key' }),
  label: freeText(120),
  kind: z.enum(['phrase', 'key']),
  keystore: z.enum(['file', 'pkcs11']).meta({ description: 'what holds the data key at the edge' }),
  chains: z.array(sourceChain).min(1).max(CHAINS.length),
  keys: z.array(pushedSourceKey).min(1).max(KEYS_PER_REGISTRATION),
  addresses: z
    .array(
      z.strictObject({
        chain: sourceChain,
        index: addressIndex,
        path: path.nullable(),
        address: addressText,
      }),
    )
    .max(ADDRESSES_PER_REGISTRATION),
});

export const detectPathBody = z.strictObject({
  chain: sourceChain,
  xpub: freeText(120),
  knownAddress: addressText,
  secondAddress: addressText
    .nullish()
    .meta({ description: 'of the same wallet: it distinguishes templates that share the first one' }),
});
export const detectedPath = z.object({
  candidates: z
    .array(
      z.object({
        template: z
          .string()
          .meta({ description: '`i` counts the addresses of the wallet; begins `M` where the key is no account key' }),
        path: z.string().meta({ description: 'of the known address' }),
        script: z.enum(['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr']).nullable(),
      }),
    )
    .meta({ description: 'none: the address is not below this key; several: ask with a second address' }),
  indexesTried: count,
});

export const keySourceParams = z.strictObject({ id: pathId('ks') });

export const keySource = z.object({
  id: z.string(),
  fingerprint,
  label: z.string(),
  kind: z.enum(['phrase', 'key']),
  keystore: z.enum(['file', 'pkcs11']),
  chains: z.array(z.enum(CHAINS)),
  basePath: z.string().nullable().meta({ description: 'of its first extended key; null for a single key' }),
  keys: z.array(
    z.object({
      chains: z.array(z.enum(CHAINS)),
      path: z.string().nullable(),
      xpub: z.string().nullable().meta({ description: 'first eight and last four characters' }),
      publicKey: z.string().nullable(),
    }),
  ),
  addresses: count.meta({ description: 'monitored addresses that were registered with it' }),
  status: z.enum(['active', 'purged']),
  signing: z.array(
    z.object({
      chain: z.enum(CHAINS),
      signs: z.boolean(),
      reason: z.enum(['source_purged', 'family_not_signed']).nullable(),
    }),
  ),
  createdAt: instant,
  purgedAt: instant.nullable(),
});
export const keySourcePage = pageReply(keySource);
export const keySourceRegistered = keySource.extend({
  added: count.meta({ description: 'addresses that are new to the account' }),
  skipped: count.meta({ description: 'addresses that the account has already' }),
});
