/** Key sources: what an edge registers of phrases and keys that came from elsewhere. Spec §2.12, §4.8. */
import { z } from 'zod';
import {
  MIGRATION_ACTIONS,
  MIGRATION_CASES,
  MIGRATION_PLACES,
  MIGRATION_WARNINGS,
  NOT_SIGNED_REASONS,
  PATH_HINTS,
  ROUTES_HOME,
} from '../migration/words.ts';
import { BANDS, CHAINS } from '../slugs.ts';
import { addressText, chain, freeText, instant, pageReply, pathId } from './values.ts';
import { addressIndex, between, count, countFromOne } from './numbers.ts';

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

export const MNEMONICS_MAX = 1_000;
export const ADDRESS_COUNT_MAX = 100_000_000;

export const detectCaseBody = z.strictObject({
  mnemonics: between(0, MNEMONICS_MAX).meta({ description: 'how many recovery phrases there are' }),
  hasRawKeys: z.boolean().meta({ description: 'individual private keys, without a phrase' }),
  providerHoldsKeys: z.boolean().meta({ description: 'a custodian holds keys' }),
  addressCount: between(0, ADDRESS_COUNT_MAX).meta({ description: '0: not known yet' }),
  chains: z
    .array(chain)
    .min(1)
    .max(CHAINS.length)
    .refine((slugs) => new Set(slugs).size === slugs.length, 'duplicate'),
  standardWallet: z.boolean().nullish().meta({ description: 'one phrase, standard derivation; null: unsure' }),
});

const dollars = z
  .string()
  .regex(/^(0|[1-9][0-9]*)\.[0-9]{2}$/)
  .nullable()
  .meta({ description: 'US dollars a month; null where it is negotiated, and in sandbox', examples: ['99.00'] });
/** What adopting addresses means for the band. */
export const capacity = z.object({
  band: z.enum(BANDS).nullable().meta({ description: 'purchased; null in sandbox' }),
  limit: count.nullable().meta({ description: 'active addresses; null in sandbox' }),
  current: count,
  adopting: count,
  projected: count,
  exceeds: z.boolean(),
  requiredBand: z.enum(BANDS).nullable(),
  monthlyFee: z.object({ current: dollars, required: dollars }),
});

export const assessedCase = z.object({
  case: z.enum(MIGRATION_CASES),
  title: z.string(),
  assumed: z.array(z.literal('standardWallet')).meta({ description: 'answers that were taken for something' }),
  chains: z.array(
    z.object({
      chain: z.enum(CHAINS),
      route: z.enum(ROUTES_HOME).meta({ description: 'how its addresses come under the account' }),
      signs: z.boolean(),
      reason: z.enum(NOT_SIGNED_REASONS).nullable(),
      discovery: z.boolean().meta({ description: 'used addresses can be found from an extended public key' }),
      listRequired: z.boolean(),
    }),
  ),
  steps: z.array(
    z.object({
      order: countFromOne,
      action: z.enum(MIGRATION_ACTIONS),
      where: z.enum(MIGRATION_PLACES),
      how: z.string().meta({ description: 'a command of the edge, a path of the cloud, or what to ask for' }),
      optional: z.boolean().meta({ description: 'another step does the same, or nothing is lost without it' }),
      perPart: z.boolean().meta({ description: 'once for each phrase, or for each part of a mixture' }),
    }),
  ),
  warnings: z.array(
    z.object({ code: z.enum(MIGRATION_WARNINGS), message: z.string(), chains: z.array(z.enum(CHAINS)) }),
  ),
  capacity,
});

export const detectPathBody = z.strictObject({
  chain,
  xpub: freeText(160).meta({ description: 'xpub, ypub or zpub; white space around it is left out' }),
  knownAddress: addressText,
  secondAddress: addressText
    .nullish()
    .meta({ description: 'of the same wallet: it distinguishes templates that share the first one' }),
});
const detectedCandidate = z.object({
  belowKey: z.string().meta({ description: 'steps from the key to the known address, proven; empty: the key itself' }),
  template: z.string().meta({
    description: '`i` counts the addresses of the wallet; begins `M` where what is above the key cannot be guessed',
  }),
  path: z.string().meta({ description: 'of the known address' }),
  guessed: z
    .array(z.enum(['purpose', 'coin', 'all']))
    .meta({ description: 'what of the path above the key nothing proves; empty below a master key' }),
  script: z.enum(['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr']).nullable(),
  standard: z.boolean().meta({ description: 'depth, branch, script and the version of the key agree' }),
  wallets: z.array(z.string()).meta({ description: 'that are known to use it' }),
  confirmed: z.boolean().meta({ description: 'by the second address' }),
});
export const detectedPath = z.object({
  candidates: z
    .array(detectedCandidate)
    .meta({ description: 'none: the address is not below this key; several: ask with a second address' }),
  indexesTried: count.meta({ description: 'of each shape' }),
  shapesTried: z.array(z.string()).meta({ description: 'steps below the key, in their order', examples: [['0/i']] }),
  hints: z.array(z.enum(PATH_HINTS)).meta({
    description: 'why nothing was found, `two_branches` for addresses of two branches, `second_not_found`',
  }),
});

export const keySourceParams = z.strictObject({ id: pathId('ks') });

const passState = z.enum(['running', 'done']).meta({ description: '`running`: ask the list of key sources again' });
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
  pass: z
    .object({ state: passState, checked: count, traced: count })
    .nullable()
    .meta({ description: 'newest pass over adopted addresses without a key (resolve)' }),
  traced: z
    .array(z.object({ chain: z.enum(CHAINS), spendable: count, watchOnly: count }))
    .meta({ description: 'adopted addresses that its passes found to be its own' }),
  createdAt: instant,
  purgedAt: instant.nullable(),
});
export const keySourceResolved = z.object({
  keySourceId: z.string(),
  state: passState,
  checked: count.meta({ description: 'adopted addresses without a key, which the pass counts first' }),
  traced: count.meta({ description: 'of them, found to be of this source' }),
  spendable: count.meta({ description: 'addresses that passes of this source traced and its edge signs for' }),
  watchOnly: z.array(
    z.object({ reason: z.enum(['source_purged', 'family_not_signed', 'no_key']), count: countFromOne }),
  ),
});
export const keySourcePage = pageReply(keySource);
export const keySourceRegistered = keySource.extend({
  added: count.meta({ description: 'addresses that are new to the account' }),
  skipped: count.meta({ description: 'addresses that the account has already' }),
});
