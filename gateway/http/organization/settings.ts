/** API keys, identity rotations, and the command that starts an edge. Spec §4.4, §5. */
import { OWN_ADDRESSES_MAX } from '../../../actors/address/own-addresses.ts';
import { LIVE_KEYS_MAX, type ApiKeyRow } from '../../../model/ports/identity-store.ts';
import { notFound, refuse } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { mintApiKey } from '../auth/api-keys.ts';
import { accountOf, bearerOf, claimOf, recordOf, USED_KEY, type Asked, type Handlers } from '../context.ts';
import { edgeSetupOf } from '../edge/edge-setup.ts';
import { stateOf } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { notFresh, withoutProof } from './second-factor.ts';
import { instantOf, instantOrNull, wholePage } from '../views.ts';

/** A key with an end has it within a year. Console A32. */
const KEY_MS_MAX = 366 * 86_400_000;

type Area =
  | 'listApiKeys'
  | 'mintApiKey'
  | 'revokeApiKey'
  | 'getEdgeSetup'
  | 'listRotations'
  | 'approveRotation'
  | 'rejectRotation';

export function settingHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    config,
    stores: { identity },
    nowMs,
  } = deps;
  const organizationOf = (asked: Pick<Asked, 'caller'>) => {
    accountOf(asked);
    return bearerOf(asked).organizationId!;
  };
  return {
    async listApiKeys(asked) {
      return wholePage(
        'api-keys',
        (await identity.apiKeys(organizationOf(asked))).map((row) => keyView(row, nowMs())),
        asked.query,
        ({ id, createdAt }) => `${createdAt} ${id}`,
        'newest',
      );
    },
    async mintApiKey(asked) {
      const organizationId = organizationOf(asked);
      const { label, environment, role, expiresAt, totp } = asked.body;
      const expiresAtMs = expiresAt === undefined ? undefined : Date.parse(expiresAt);
      if (expiresAtMs !== undefined && !(expiresAtMs > nowMs() && expiresAtMs <= nowMs() + KEY_MS_MAX))
        return refuse('INVALID_INPUT', { field: 'expiresAt', reason: 'an instant from now on, at most a year ahead' });
      const stale = await notFresh(deps, asked, totp);
      if (stale !== null) return stale;
      const { key, hash, maskedPrefix } = mintApiKey(environment);
      const row: ApiKeyRow = {
        id: newId('key', nowMs()),
        accountId: accountIdOf(organizationId, environment),
        organizationId,
        environment,
        label,
        hash,
        maskedPrefix,
        createdAtMs: nowMs(),
        revokedAtMs: null,
        createdBy: bearerOf(asked).userId,
        role,
        ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
      };
      const reply = { ...keyView(row, nowMs()), key };
      const record = recordOf(asked, {
        target: row.id,
        changes: { label: [null, label], environment: [null, environment], role: [null, role] },
      });
      const made = await identity.insertApiKey(row, asked.answerOf(reply), record);
      if (made === 'limit') return refuse('CONFLICT', { reason: 'limit', limit: LIVE_KEYS_MAX });
      return made ? reply : USED_KEY;
    },
    async revokeApiKey(asked) {
      const organizationId = organizationOf(asked);
      const revoked = await identity.revokeApiKey(
        organizationId,
        asked.params.id,
        nowMs(),
        recordOf(asked, { changes: { status: ['active', 'revoked'] } }),
      );
      auth.apiKeys.forget(organizationId);
      const row = (await identity.apiKeys(organizationId)).find(({ id }) => id === asked.params.id);
      if (row === undefined) return notFound('API key', asked.params.id);
      // Also of a key that was revoked before: the first call may have ended before its streams were closed.
      await deps.edges.close(row.accountId, 'UNAUTHORIZED');
      if (!revoked) return notFound('API key', asked.params.id);
      return keyView(row, nowMs());
    },
    getEdgeSetup: async (asked) => {
      accountOf(asked);
      return edgeSetupOf(asked.caller.environment, config.publicUrl);
    },
    async listRotations(asked) {
      const { rotation } = await stateOf(deps, accountOf(asked));
      return wholePage(
        'rotations',
        rotation === null
          ? []
          : [
              {
                id: rotation.id,
                publicKey: rotation.publicKey,
                detectedAt: instantOf(rotation.detectedAtMs),
                families: Object.keys(rotation.keys),
              },
            ],
        asked.query,
        ({ id }) => id,
      );
    },
    approveRotation: {
      replay: async (_stored, asked) => decided(asked, 'approve'),
      handle: (asked) => decide(deps, asked, 'approve'),
    },
    rejectRotation: {
      replay: async (_stored, asked) => decided(asked, 'reject'),
      handle: (asked) => decide(deps, asked, 'reject'),
    },
  };
}

type Decided = Asked<'approveRotation'> | Asked<'rejectRotation'>;
const DECIDED = { approve: 'approved', reject: 'rejected' } as const;
const decided = (asked: Decided, decision: 'approve' | 'reject') => ({
  id: asked.params.id,
  decision: DECIDED[decision],
});

/** Owner, and a code made for this. Spec §3.1, §5.5; console A22. */
async function decide(deps: HandlerDeps, asked: Decided, decision: 'approve' | 'reject') {
  const { accounts, edges, nowMs } = deps,
    accountId = accountOf(asked);
  const unproven = await withoutProof(deps, asked, asked.body.totp, `${decision}Rotation`);
  if (unproven !== null) return unproven;
  const addressIds = Array.from({ length: OWN_ADDRESSES_MAX }, () => newId('adr', nowMs()));
  const answer = await accounts.ask(accountId, {
    type: 'decide_rotation',
    rotationId: asked.params.id,
    decision,
    byUser: bearerOf(asked).userId,
    addressIds,
    ...claimOf(asked),
  });
  if (answer.ok !== true) return answer;
  // Every stream proves its identity again. The code names no fault: it reaches the identity that stays, too.
  await edges.close(accountId, 'SERVICE_UNAVAILABLE');
  return decided(asked, decision);
}

const statusOf = ({ revokedAtMs, expiresAtMs }: ApiKeyRow, nowMs: number) =>
  revokedAtMs !== null ? 'revoked' : expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'active';

function keyView(row: ApiKeyRow, nowMs: number): ReplyOf<'listApiKeys'>['content'][number] {
  return {
    id: row.id,
    label: row.label,
    environment: row.environment,
    prefix: row.maskedPrefix,
    role: row.role ?? 'editor',
    status: statusOf(row, nowMs),
    createdAt: instantOf(row.createdAtMs),
    createdBy: row.createdBy ?? null,
    lastUsedAt: instantOrNull(row.lastUsedAtMs ?? null),
    expiresAt: instantOrNull(row.expiresAtMs ?? null),
    revokedAt: instantOrNull(row.revokedAtMs),
  };
}
