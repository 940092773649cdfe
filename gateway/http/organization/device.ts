/**
 * Login of a command line: it shows a code, a signed-in person types it into the console and says for which account,
 * and the command line takes one API key with the secret of its code. The page has no link with the code in it: nobody
 * approves by a click what somebody else sent them. Ecosystem X28.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import {
  DEVICE_MS,
  DEVICE_POLL_MS,
  type DeviceApproval,
  type DevicePolled,
} from '../../../model/ports/device-store.ts';
import { LIVE_KEYS_MAX, type ApiKeyRow } from '../../../model/ports/identity-store.ts';
import { notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { ofUser } from '../audit-note.ts';
import { mintApiKey } from '../auth/api-keys.ts';
import { networkOf } from '../auth/throttles.ts';
import { accountOf, bearerOf, recordOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';
import { linkHashOf } from './links.ts';
import { notFresh } from './second-factor.ts';

/** Codes of an address, and codes that a person types. */
const PER_HOUR = 5;
const HOUR_MS = 3_600_000;
const KEY_MS = 90 * 86_400_000;
const SECRET_BYTES = 32;
/** No vowels, so that no word comes of it; 34 bits that are good for ten minutes. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_CHARS = 8;

type Area = 'askDevice' | 'takeDeviceKey' | 'approveDevice';

export function deviceHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    stores: { devices },
    rateLimiter,
    nowMs,
    config,
    log,
  } = deps;
  const tooMany = async (key: string): Promise<Refusal | null> => {
    const { allowed, resetSeconds } = await rateLimiter.take(key, PER_HOUR, nowMs(), HOUR_MS);
    return allowed
      ? null
      : refuse('RATE_LIMIT_EXCEEDED', { windowSeconds: HOUR_MS / 1_000, retryAfterSeconds: resetSeconds });
  };
  return {
    async askDevice({ clientAddress }) {
      // Who has a network of IPv6 has as many addresses as they like.
      const from = isIP(clientAddress) === 6 ? networkOf(clientAddress) : clientAddress;
      const slow = await tooMany(`device:${from}`);
      if (slow !== null) return slow;
      const id = newId('dvc', nowMs());
      const deviceCode = `${id}.${randomBytes(SECRET_BYTES).toString('base64url')}`;
      const userCode = Array.from({ length: CODE_CHARS }, () => LETTERS[randomInt(LETTERS.length)]).join('');
      await devices.begin({ id, secretHash: linkHashOf(deviceCode), userCode, expiresAtMs: nowMs() + DEVICE_MS });
      return {
        deviceCode,
        userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
        verificationUri: `${config.publicUrl}/console/device`,
        expiresInSeconds: DEVICE_MS / 1_000,
        intervalSeconds: DEVICE_POLL_MS / 1_000,
      };
    },
    async approveDevice(asked) {
      accountOf(asked);
      const { userId, organizationId, role: own } = bearerOf(asked);
      const { userCode, environment, role, totp } = asked.body;
      if (role === 'editor' && own === 'viewer')
        return refuse('FORBIDDEN', { needs: 'editor', has: 'viewer', next: 'give the command line the role viewer' });
      const stale = environment === 'live' ? await notFresh(deps, asked, totp) : null;
      if (stale !== null) return stale;
      const slow = await tooMany(`device:${userId}`);
      if (slow !== null) return slow;
      const outcome = await devices.approve(
        userCode.replace('-', '').toUpperCase(),
        { userId, organizationId: organizationId!, environment, role },
        nowMs(),
        recordOf(asked, { changes: { environment: [null, environment], role: [null, role] } }),
      );
      if (outcome === 'unknown')
        return refuse('NOT_FOUND', {
          what: 'code',
          next: 'compare it, or begin again with flock login: it ends after 10 minutes',
        });
      if (outcome === 'used') return spent('used');
      return { approved: true as const, environment, role };
    },
    async takeDeviceKey(asked) {
      const { deviceCode } = asked.body;
      const polled = await devices.poll(deviceCode.split('.')[0]!, linkHashOf(deviceCode), nowMs());
      if (polled.outcome === 'pending')
        return { status: 'pending' as const, key: null, environment: null, role: null, expiresAt: null };
      if (polled.outcome !== 'ready') return refusalOf(polled.outcome);
      if (!(await mayStill(deps, polled)))
        return refuse('CONFLICT', { reason: 'role', next: 'who approved it may not any more: have it approved anew' });
      const { key, row } = keyOf(polled, nowMs());
      const note = ofUser(asked, 'takeDeviceKey', { target: row.id });
      const made = await deps.stores.identity.insertApiKey(row, undefined, {
        ...note,
        actor: { kind: 'user', id: polled.userId },
        organizationId: polled.organizationId,
      });
      if (made === 'limit') return refuse('CONFLICT', { reason: 'limit', limit: LIVE_KEYS_MAX });
      log.info({ requestId: asked.requestId, userId: polled.userId, subject: row.id }, 'a command line took its key');
      const { environment, role } = polled;
      return { status: 'ready' as const, key, environment, role, expiresAt: instantOf(row.expiresAtMs!) };
    },
  };
}

/** Whether who approved it is still let in, with as much of a role: minutes passed. */
async function mayStill(
  { stores: { identity } }: Pick<HandlerDeps, 'stores'>,
  { userId, organizationId, role }: DeviceApproval,
): Promise<boolean> {
  const user = await identity.userById(userId);
  const own = user?.memberships.find((membership) => membership.organizationId === organizationId)?.role;
  return user?.isSuspended === false && own !== undefined && (role === 'viewer' || own !== 'viewer');
}

function keyOf({ userId, organizationId, environment, role }: DeviceApproval, nowMs: number) {
  const { key, hash, maskedPrefix } = mintApiKey(environment);
  const row = {
    id: newId('key', nowMs),
    accountId: accountIdOf(organizationId, environment),
    ...{ organizationId, environment, role, hash, maskedPrefix },
    label: 'cli',
    createdAtMs: nowMs,
    revokedAtMs: null,
    createdBy: userId,
    expiresAtMs: nowMs + KEY_MS,
  } satisfies ApiKeyRow;
  return { key, row };
}

function refusalOf(outcome: Exclude<DevicePolled['outcome'], 'pending' | 'ready'>): Refusal {
  if (outcome === 'unknown') return notFound('device code', '');
  if (outcome !== 'slow_down') return spent(outcome);
  const seconds = DEVICE_POLL_MS / 1_000;
  return refuse('RATE_LIMIT_EXCEEDED', { reason: outcome, windowSeconds: seconds, retryAfterSeconds: seconds });
}

const spent = (reason: 'used' | 'expired' | 'another_poller'): Refusal =>
  refuse('CONFLICT', { reason, next: 'begin again with flock login' });
