/** Key sources: registered and purged by the edge, listed for everybody. Spec §4.8. */
import { sourcesOf, whyNotSigned } from '../../../actors/key-source/decide.ts';
import type { KeySource } from '../../../model/account/key-source.ts';
import type { SourcePass } from '../../../model/ports/origin-store.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { CHAINS, FAMILY_OF } from '../../../protocol/slugs.ts';
import { accountOf, claimOf, type Handlers } from '../context.ts';
import { signerOf, stateOf } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull, wholePage } from '../views.ts';
import { tracedByChain } from './resolve.ts';

type Area = 'listKeySources' | 'registerKeySource' | 'purgeKeySource';

export function keySourceHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    accounts,
    stores: { reads, origins },
    nowMs,
  } = deps;
  return {
    async listKeySources(asked) {
      const accountId = accountOf(asked);
      const sources = Object.values(sourcesOf(await stateOf(deps, accountId)));
      const passes = new Map((await origins.passes(accountId)).map((pass) => [pass.keySourceId, pass]));
      return wholePage(
        'key-sources',
        sources.map((source) => keySourceView(source, passes.get(source.id))),
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
        ...claimOf(asked),
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
        ...claimOf(asked),
      });
      return answer.ok === true ? keySourceView(answer.reply) : answer;
    },
  };
}

function keySourceView(source: KeySource, pass?: SourcePass): ReplyOf<'listKeySources'>['content'][number] {
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
    pass: pass === undefined ? null : { state: pass.state, checked: pass.checked, traced: pass.traced },
    traced: tracedByChain(pass?.byChain ?? {}).map(({ chain, count }) => {
      const signs = whyNotSigned(source, chain) === null;
      return { chain, spendable: signs ? count : 0, watchOnly: signs ? 0 : count };
    }),
    createdAt: instantOf(source.registeredAtMs),
    purgedAt: instantOrNull(source.purgedAtMs),
  };
}
