/** Key sources: registered and purged by the edge, listed for everybody. Spec §4.8. */
import secp256k1 from 'secp256k1';
import { KEY_ONLY_FAMILIES, sourcesOf, whyNotSigned } from '../../../actors/key-source/decide.ts';
import type { KeySource, SourceKey } from '../../../model/account/key-source.ts';
import { addressOfKey as bitcoinAddress, SCRIPT_TYPES } from '../../../chains/btc/derive.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { derivePublicKey } from '../../../chains/secp256k1.ts';
import { addressOfKey as tronAddress } from '../../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../../chains/xrp/derive.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { CHAINS, FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';
import { accountOf, type Handlers } from '../context.ts';
import { signerOf, stateOf } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull, wholePage } from '../views.ts';

type Area = 'listKeySources' | 'registerKeySource' | 'purgeKeySource';

export function keySourceHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    accounts,
    stores: { reads },
    nowMs,
  } = deps;
  return {
    async listKeySources(asked) {
      const sources = Object.values(sourcesOf(await stateOf(deps, accountOf(asked))));
      return wholePage(
        'key-sources',
        sources.map(keySourceView),
        asked.query,
        ({ id, createdAt }) => `${createdAt} ${id}`,
        'newest',
      );
    },
    async registerKeySource(asked) {
      const accountId = accountOf(asked);
      const { addresses } = asked.body;
      for (const chain of new Set(addresses.map((address) => address.chain))) {
        const unavailable = await deps.chains.notBegun(accountId, chain);
        if (unavailable !== null) return unavailable;
      }
      const [first] = addresses;
      const known =
        first === undefined
          ? []
          : await reads.addressesAmong(
              accountId,
              first.chain,
              addresses.map(({ address }) => address),
            );
      const answer = await accounts.ask(accountId, {
        type: 'register_key_source',
        publicKey: signerOf(asked.caller),
        id: newId('ks', nowMs()),
        ...asked.body,
        known,
        addressIds: addresses.map(() => newId('adr', nowMs())),
      });
      if (answer.ok !== true) return answer;
      const { source, added, skipped } = answer.reply;
      return { ...keySourceView(source), added, skipped };
    },
    async purgeKeySource(asked) {
      const answer = await accounts.ask(accountOf(asked), {
        type: 'purge_key_source',
        publicKey: signerOf(asked.caller),
        id: asked.params.id,
      });
      return answer.ok === true ? keySourceView(answer.reply) : answer;
    },
  };
}

function keySourceView(source: KeySource): ReplyOf<'listKeySources'>['content'][number] {
  const { id, fingerprint, label, kind, keystore, chains, keys, addresses } = source;
  return {
    id,
    fingerprint,
    label,
    kind,
    keystore,
    chains: [...chains],
    addresses,
    basePath: keys.find(({ path }) => path !== null)?.path ?? null,
    keys: keys.map(({ family, path, xpub, publicKey }) => ({
      chains: CHAINS.filter((chain) => FAMILY_OF[chain] === family),
      path,
      publicKey,
      xpub: xpub === null ? null : `${xpub.slice(0, 8)}…${xpub.slice(-4)}`,
    })),
    status: source.purgedAtMs === null ? 'active' : 'purged',
    signing: chains.map((chain) => {
      const reason = whyNotSigned(source, chain);
      return { chain, signs: reason === null, reason };
    }),
    createdAt: instantOf(source.registeredAtMs),
    purgedAt: instantOrNull(source.purgedAtMs),
  };
}

/** Convention for how far a wallet is searched. Spec §2.12: gap limit 20. */
const INDEXES_COVERED = 20;
/** Sets of addresses that are kept, the oldest dropped; about 10 kB each. */
const COVERED_KEPT_MAX = 256;
const covered = new Map<string, ReadonlySet<string>>();

/**
 * For an address that the account does not have: a source of a family that registers a key and no addresses may cover
 * it, and then it is known and cannot be signed for. Refuses: ADDRESS_WATCH_ONLY.
 */
export async function coveredBySource(
  deps: Pick<HandlerDeps, 'accounts'>,
  accountId: AccountId,
  chain: Chain,
  address: string,
): Promise<Refusal | null> {
  const family = FAMILY_OF[chain];
  if (!KEY_ONLY_FAMILIES.includes(family)) return null;
  const sources = Object.values(sourcesOf(await stateOf(deps, accountId)));
  const covering = sources.find(({ keys }) =>
    keys.some((key) => key.family === family && addressesOf(key).has(address)),
  );
  return covering === undefined
    ? null
    : refuse('ADDRESS_WATCH_ONLY', { reason: whyNotSigned(covering, chain), keySourceId: covering.id });
}

function addressesOf(key: SourceKey): ReadonlySet<string> {
  const name = `${key.family} ${key.xpub ?? key.publicKey}`;
  const kept = covered.get(name);
  if (kept !== undefined) return kept;
  const made = new Set(publicKeysOf(key).flatMap((publicKey) => formsOf(key, publicKey)));
  if (covered.size >= COVERED_KEPT_MAX) covered.delete(covered.keys().next().value!);
  covered.set(name, made);
  return made;
}

function publicKeysOf({ xpub, publicKey }: SourceKey): Uint8Array[] {
  if (xpub === null) return [Buffer.from(publicKey!, 'hex')];
  return ([0, 1] as const).flatMap((change) =>
    Array.from({ length: INDEXES_COVERED }, (_, index) => derivePublicKey(xpub, change, index)),
  );
}

function formsOf({ family }: SourceKey, publicKey: Uint8Array): string[] {
  switch (family) {
    case 'tron':
      return [tronAddress(secp256k1.publicKeyConvert(publicKey, false))];
    case 'xrp':
      return [rippleAddress(publicKey)];
    default: {
      // An uncompressed key has no segregated witness form. Source: BIP-143.
      const scripts = publicKey.length === 33 ? SCRIPT_TYPES : (['p2pkh'] as const);
      return scripts.map((script) => bitcoinAddress(bitcoin.prefixes, publicKey, script));
    }
  }
}
