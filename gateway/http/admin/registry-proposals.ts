/**
 * Changes to the token registry: flags of its tokens, and routes of a bridge. One administrator proposes, two registry
 * keys sign, and another administrator publishes. Treasury K8, K10, H1.
 */
import type { Registry } from '../../../chains/catalogue.ts';
import { changedRegistry } from '../../../chains/registry-change.ts';
import type { KeptProposal } from '../../../model/ports/registry-store.ts';
import type { AuditRecord } from '../../../model/rows/audit.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { bearerOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { walked } from '../walked.ts';
import { instantOf } from '../views.ts';
import { nextVersion, offeredIn, registryMoved, signedBy, unlike, versionView } from './registry-version.ts';

type Area =
  | 'proposeRegistryVersion'
  | 'listRegistryProposals'
  | 'getRegistryProposal'
  | 'getProposedVersion'
  | 'publishRegistryProposal'
  | 'withdrawRegistryProposal';
type Writing = Asked<'proposeRegistryVersion' | 'publishRegistryProposal' | 'withdrawRegistryProposal'>;
type Deps = Pick<HandlerDeps, 'log' | 'stores' | 'chains' | 'config' | 'registry' | 'nowMs'>;

export function registryProposalHandlers(deps: Deps): Pick<Handlers, Area> {
  const { chains, config, log, nowMs, registry, stores } = deps;
  const byId = (id: string): Promise<KeptProposal | null> => stores.registry.proposal(id);
  /** An entry for the log of each organization of the administrator: the registry is nobody's. */
  const auditOf = async (asked: Writing, target: string): Promise<AuditRecord[]> => {
    const { note } = asked;
    const own = await stores.members.organizationsOf(bearerOf(asked).userId);
    return note === null ? [] : own.map(({ id }) => ({ ...note, target, organizationId: id }));
  };
  const decided = async (asked: Writing, id: string, what: string): Promise<ReplyOf<'getRegistryProposal'>> => {
    log.warn({ requestId: asked.requestId, userId: bearerOf(asked).userId, names: [id] }, what);
    return viewOf((await byId(id))!);
  };
  const versionWith = async (proposal: KeptProposal): Promise<Registry | Refusal> =>
    changedRegistry(chains.tokens.current, proposal.change, {
      version: await nextVersion(deps),
      publishedAt: instantOf(nowMs()),
    });
  return {
    async proposeRegistryVersion(asked) {
      await registry.look();
      const change = asked.body,
        { current } = chains.tokens;
      const as = { version: current.version + 1, publishedAt: current.publishedAt };
      const next = changedRegistry(current, change, as);
      if (isRefusal(next)) return next;
      const id = newId('rgp', nowMs()),
        { userId } = bearerOf(asked);
      const proposal = { id, change, against: current.version, proposedBy: userId };
      await stores.registry.propose(proposal, await auditOf(asked, id));
      return decided(asked, id, 'an administrator proposed a version of the token registry');
    },
    async listRegistryProposals({ query }) {
      const page = await walked('registry-proposals', query, {
        read: stores.registry.proposals,
        keyOf: ({ id }) => id,
      });
      return isRefusal(page) ? page : { content: page.rows.map(viewOf), next: page.next };
    },
    async getRegistryProposal({ params: { id } }) {
      const proposal = await byId(id);
      return proposal === null ? unknown(id) : viewOf(proposal);
    },
    async getProposedVersion({ params: { id } }) {
      const proposal = await byId(id);
      if (proposal === null) return unknown(id);
      if (proposal.state !== 'proposed') return over(proposal);
      await registry.look();
      const next = await versionWith(proposal);
      return isRefusal(next) ? next : versionView(chains.tokens.current, next);
    },
    async publishRegistryProposal(asked) {
      const { id } = asked.params,
        { userId: by } = bearerOf(asked);
      const proposal = await byId(id);
      if (proposal === null) return unknown(id);
      if (proposal.state !== 'proposed') return over(proposal);
      if (proposal.proposedBy === by) return samePerson();
      const offered = offeredIn(asked.body.content);
      if (isRefusal(offered)) return offered;
      await registry.look();
      const version = await nextVersion(deps);
      if (offered.version !== version) return registryMoved(version);
      const wanted = changedRegistry(chains.tokens.current, proposal.change, offered);
      if (isRefusal(wanted)) return wanted;
      const signed = unlike(wanted, offered) ?? signedBy(config.registryKeys, offered, asked.body);
      if (isRefusal(signed)) return signed;
      const publication = { ...signed, tokens: [], by, of: { proposalId: id } };
      switch (await stores.registry.publish(publication, await auditOf(asked, id))) {
        case 'published':
          await registry.look();
          return decided(asked, id, 'an administrator published a proposed version of the token registry');
        case 'moved':
          return registryMoved(await nextVersion(deps));
        case 'same_person':
          return samePerson();
        case 'state':
          return over((await byId(id))!);
      }
    },
    async withdrawRegistryProposal(asked) {
      const { id } = asked.params,
        as = { by: bearerOf(asked).userId, reason: asked.body.reason };
      if (await stores.registry.withdraw(id, as, await auditOf(asked, id)))
        return decided(asked, id, 'an administrator took a proposed version of the token registry back');
      const proposal = await byId(id);
      return proposal === null ? unknown(id) : over(proposal);
    },
  };
}

const unknown = (id: string): Refusal => notFound('registry proposal', id);

/** Refuses: CONFLICT `state`. */
const over = ({ state }: KeptProposal): Refusal =>
  refuse('CONFLICT', { reason: 'state', status: state }, `the proposal is ${state}: propose the change anew`);

const samePerson = (): Refusal =>
  refuse(
    'FORBIDDEN',
    { reason: 'same_person' },
    'who proposed a change to the registry does not publish it: another administrator does',
  );

function viewOf(proposal: KeptProposal): ReplyOf<'getRegistryProposal'> {
  const { change, createdAtMs, updatedAtMs, ...row } = proposal;
  return { ...row, ...change, createdAt: instantOf(createdAtMs), updatedAt: instantOf(updatedAtMs) };
}
