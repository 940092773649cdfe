/** Paths between edge and cloud, and what an application may read of its edges. Spec §2.8, §4.3. */
import { readinessViews } from '../../../actors/edge-link/readiness.ts';
import { OWN_ADDRESSES_MAX } from '../../../actors/address/own-addresses.ts';
import type { SessionRow } from '../../../model/ports/edge-store.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../../../protocol/errors.ts';
import { EDGE_VERSION_MIN } from '../../../protocol/frames.ts';
import { isSoundPublicKey } from '../../../protocol/node/http-signature.ts';
import { type AccountId, accountIdOf, environmentOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { CHAINS, FAMILY_OF } from '../../../protocol/slugs.ts';
import { edgeIsAway, isOlderVersion } from '../../edge-stream/handshake.ts';
import { accountOf, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { transactionOf } from '../transaction/transactions.ts';
import { builtView, chainPlace, instantOrNull, sessionView, wholePage } from '../views.ts';
import { presentTanks, signerOf, stateOf } from '../account-state.ts';

type Area =
  | 'getEdgeHealth'
  | 'getEdgeLease'
  | 'getEdgeOutbox'
  | 'getEdgeReadiness'
  | 'listEdgeSessions'
  | 'listGasTanks'
  | 'syncEdge'
  | 'resumeEdge'
  | 'resyncEdge'
  | 'heartbeatEdge'
  | 'pushPool'
  | 'bindCounter'
  | 'submitSigned';

export function edgeHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  return { ...readingHandlers(deps), ...signedHandlers(deps) };
}

type Reading =
  'getEdgeHealth' | 'getEdgeLease' | 'getEdgeOutbox' | 'getEdgeReadiness' | 'listEdgeSessions' | 'listGasTanks';

function readingHandlers(deps: HandlerDeps): Pick<Handlers, Reading> {
  const { edges, stores } = deps;
  return {
    getEdgeHealth: async () => ({ status: 'ok' as const }),
    async getEdgeLease(asked) {
      const accountId = accountOf(asked);
      const { lease } = await stateOf(deps, accountId);
      const held = lease.holder !== null;
      return {
        state: held ? ('held' as const) : ('vacant' as const),
        epoch: lease.epoch,
        holder: lease.holder,
        expiresAt: held ? instantOrNull(await edges.leaseExpiresAtMs(accountId)) : null,
      };
    },
    async getEdgeOutbox(asked) {
      const session = leaderOf(await stores.edge.sessions(accountOf(asked)));
      return {
        outboxDepth: session?.outboxDepth ?? 0,
        outboxPoisoned: session?.outboxPoisoned ?? false,
        outboxMode: session?.outboxMode ?? null,
      };
    },
    async getEdgeReadiness(asked) {
      return wholePage('readiness', readinessViews(await stateOf(deps, accountOf(asked))), asked.query, ({ chain }) =>
        chainPlace(chain),
      );
    },
    async listEdgeSessions(asked) {
      return wholePage(
        'sessions',
        (await stores.edge.sessions(accountOf(asked))).map(sessionView),
        asked.query,
        ({ id, startedAt }) => `${startedAt} ${id}`,
        'newest',
      );
    },
    async listGasTanks(asked) {
      const accountId = accountOf(asked);
      const tanks = await presentTanks(deps, accountId);
      return wholePage(
        'gas-tanks',
        CHAINS.flatMap((chain) =>
          tanks
            .filter((row) => row.family === FAMILY_OF[chain])
            .map((row) => ({ chain, address: row.address, derivationPath: row.derivationPath })),
        ),
        asked.query,
        ({ chain, address }) => `${chainPlace(chain)} ${address}`,
      );
    },
  };
}

/** The session that leads, else the one that was heard last. */
function leaderOf(sessions: readonly SessionRow[]): SessionRow | undefined {
  const open = sessions.filter(({ endedAtMs }) => endedAtMs === null);
  return (
    open.find(({ role }) => role === 'leader') ??
    open.toSorted((left, right) => right.lastHeartbeatAtMs - left.lastHeartbeatAtMs)[0]
  );
}

type Signed = Exclude<Area, Reading>;

function signedHandlers(deps: HandlerDeps): Pick<Handlers, Signed> {
  const {
    accounts,
    wayOut,
    edges,
    pools,
    sandbox,
    stores: { reads },
    nowMs,
  } = deps;
  const addressIds = () => Array.from({ length: OWN_ADDRESSES_MAX }, () => newId('adr', nowMs()));
  return {
    async syncEdge(asked) {
      const publicKey = signerOf(asked.caller);
      const { edgeVersion, keys, pools } = asked.body;
      const old =
        versionRefusal(edgeVersion) ??
        (isSoundPublicKey(publicKey) ? null : refuse('EDGE_SIGNATURE_INVALID', { reason: 'unsound key' }));
      if (old !== null) return old;
      // Refused before it could count as a rotation: the store refuses to pin it, but by then the chains would be
      // quarantined.
      const elsewhere = await pinnedElsewhere(deps, accountOf(asked), publicKey);
      if (elsewhere !== null) return elsewhere;
      const rotationId = newId('rot', nowMs());
      const answer = await accounts.ask(accountOf(asked), {
        type: 'enrol',
        publicKey,
        keys,
        pools,
        rotationId,
        addressIds: addressIds(),
        ...claimOf(asked),
      });
      if (answer.ok !== true) return answer;
      const { outcome, readiness } = answer.reply;
      // Spec §5.7: another identity fails authentication; its keys are held back and the owner decides.
      if (outcome === 'rotation_pending') {
        await edges.announceRotation(accountOf(asked), rotationId);
        return refuse('EDGE_SIGNATURE_INVALID', { reason: 'another identity is pinned; the owner was asked' });
      }
      return { outcome, readiness };
    },
    async resumeEdge(asked) {
      const old = versionRefusal(asked.body.edgeVersion);
      if (old !== null) return old;
      const answer = await accounts.ask(accountOf(asked), { type: 'resume', publicKey: signerOf(asked.caller) });
      return answer.ok === true ? answer.reply : answer;
    },
    async resyncEdge(asked) {
      const old = versionRefusal(asked.body.edgeVersion);
      if (old !== null) return old;
      const answer = await accounts.ask(accountOf(asked), { type: 'resync', publicKey: signerOf(asked.caller) });
      return answer.ok === true ? answer.reply : answer;
    },
    async heartbeatEdge(asked) {
      const accountId = accountOf(asked);
      const old = versionRefusal(asked.body.edgeVersion);
      if (old !== null) return old;
      const known = await accounts.ask(accountId, { type: 'resume', publicKey: signerOf(asked.caller) });
      if (known.ok !== true) return known;
      const away = await edgeIsAway(sandbox, accountId, nowMs());
      if (away !== null) return away;
      const noted = await edges.noteHeartbeat(accountId, asked.body);
      return isRefusal(noted)
        ? noted
        : { role: noted.role, leaseEpoch: noted.leaseEpoch, leaseTtlMs: noted.leaseTtlMs, serverTimeMs: nowMs() };
    },
    async pushPool(asked) {
      const answer = await accounts.ask(accountOf(asked), {
        type: 'push_pool',
        publicKey: signerOf(asked.caller),
        pool: asked.body.pool,
        addressIds: addressIds(),
      });
      if (answer.ok === true) pools.refilled(accountOf(asked), asked.body.pool.chain);
      return answer.ok === true ? answer.reply : answer;
    },
    async bindCounter(asked) {
      const accountId = accountOf(asked);
      const { id } = asked.params;
      const known = await reads.withdrawal(accountId, id);
      if (known === null)
        return notFound('withdrawal', id, { reason: 'no_such_build', environment: environmentOf(accountId) });
      const answer = await wayOut.bind(known, asked.body.gaveUp);
      return answer.ok === true ? builtView(answer.reply) : answer;
    },
    async submitSigned(asked) {
      const accountId = accountOf(asked);
      const known = await reads.withdrawal(accountId, asked.params.id);
      if (known === null) return unknownIn(asked, 'withdrawal', asked.params.id);
      const { signedPayload: payload, txid, sessionId, leaseEpoch } = asked.body;
      const answer = await wayOut.submit(known, { payload, txid }, { sessionId, leaseEpoch });
      if (answer.ok !== true) return answer;
      const row = await reads.transaction(accountId, known.id);
      return row === null ? unknownIn(asked, 'withdrawal', known.id) : transactionOf(deps, accountId, row);
    },
  };
}

/** Refuses: CROSS_ENVIRONMENT_IDENTITY when the organization's other account pins this identity. Spec §5.8. */
async function pinnedElsewhere(
  { accounts }: Pick<HandlerDeps, 'accounts'>,
  accountId: AccountId,
  publicKey: string,
): Promise<Refusal | null> {
  const environment = environmentOf(accountId);
  const organizationId = accountId.slice(0, -(environment.length + 1));
  const other = accountIdOf(organizationId, environment === 'live' ? 'sandbox' : 'live');
  const answer = await accounts.ask(other, { type: 'inspect' });
  return answer.ok === true && answer.reply.enrolment?.publicKey === publicKey
    ? refuse('CROSS_ENVIRONMENT_IDENTITY')
    : null;
}

/** Refuses: EDGE_VERSION_UNSUPPORTED. */
function versionRefusal(edgeVersion: string): Refusal | null {
  return isOlderVersion(edgeVersion, EDGE_VERSION_MIN)
    ? refuse('EDGE_VERSION_UNSUPPORTED', { edgeVersion, minimum: EDGE_VERSION_MIN })
    : null;
}
