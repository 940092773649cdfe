/** Paths that the edge answers by itself: local keys, outbox, health. Spec §4.3. */
import type { z } from 'zod';
import { JSON_TYPE, pageQuery, wholeQuery } from '../../protocol/envelope.ts';
import { chainPlace, pageAskOf, slicePage, wholePage } from '../../protocol/cursor.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { localKeyBody } from '../../protocol/schema/edge.ts';
import { validate } from '../../protocol/validation.ts';
import type { LocalKeys } from '../local-keys/local-keys.ts';
import type { EdgeLog } from '../process/log.ts';
import type { Outbox } from '../link/outbox.ts';
import type { BlockedTarget } from '../webhooks/blocked-targets.ts';
import { answered, jsonOf, queryOf, refused, type EdgePath } from './exchange.ts';

/** Null where all is well; else a stable word or code, and what to do. */
export interface ReadinessCheck {
  readonly reason: string | null;
  readonly next: string;
}

export interface EdgePathSettings {
  readonly keys: LocalKeys;
  readonly outbox: Outbox;
  /** A key was minted or revoked: the other replicas must hear of it. */
  readonly onKeysChanged: () => void;
  /** Parts of readiness by name. */
  readonly checks: () => Readonly<Record<string, ReadinessCheck>>;
  readonly resync: () => Promise<void>;
  /** By the edge's own derivation. */
  readonly gasTanks: () => ReplyOf<'listGasTanks'>['content'];
  /** Null when the registration is confirmed. */
  readonly unsynced: () => string | null;
  /** Where webhooks do not get to. It stays here: no answer to the cloud holds it. */
  readonly blocked: () => readonly BlockedTarget[];
  readonly log: EdgeLog;
}

export function createEdgePaths(settings: EdgePathSettings) {
  const { keys, outbox, log } = settings;
  return {
    getEdgeHealth: () =>
      answered({
        status: 'ok',
        webhooksBlocked: settings
          .blocked()
          .map(({ sinceMs, ...rest }) => ({ ...rest, since: new Date(sinceMs).toISOString() })),
      }),
    getLive: () => answered({ status: 'live' }),
    getReady: () => {
      const found = Object.entries(settings.checks()),
        wrong = found.filter(([, { reason }]) => reason !== null);
      const checks = Object.fromEntries(found.map(([name, { reason }]) => [name, reason === null]));
      if (wrong.length === 0) return answered({ status: 'ready', checks });
      const reasons = Object.fromEntries(wrong.map(([name, { reason }]) => [name, reason]));
      return refused(
        refuse(
          'SERVICE_UNAVAILABLE',
          { checks, reasons, next: wrong.map(([, { next }]) => next).join('; ') },
          `not ready: ${wrong.map(([name, { reason }]) => `${name} (${reason})`).join(', ')}`,
        ),
      );
    },
    getEdgeOutbox: () => answered({ ...outbox.report(), outboxMode: 'durable' }),
    listGasTanks: ({ pathAndQuery }) => {
      const unsynced = settings.unsynced();
      if (unsynced !== null) return refused(refuse('EDGE_NOT_SYNCED', { reason: unsynced }));
      const query = read(wholeQuery, 'query', queryOf(pathAndQuery));
      if (isRefusal(query)) return refused(query);
      const page = wholePage(
        'gas-tanks',
        settings.gasTanks(),
        query,
        ({ chain, address }) => `${chainPlace(chain)} ${address}`,
      );
      return isRefusal(page) ? refused(page) : answered(page);
    },
    mintLocalKey: ({ body, headers, keyId }) => {
      if (!JSON_TYPE.test(headers['content-type'] ?? ''))
        return refused(refuse('UNSUPPORTED_MEDIA_TYPE', { expected: 'application/json' }));
      const parsed = read(localKeyBody, 'body', jsonOf(body) ?? body.toString('latin1'));
      if (isRefusal(parsed)) return refused(parsed);
      const { label, expiresAt } = parsed;
      const minted = keys.mint({
        label,
        mintedBy: keyId,
        expiresAtMs: expiresAt === undefined ? null : Date.parse(expiresAt),
      });
      if (isRefusal(minted)) return refused(minted);
      log.info('local_key_minted', { localKeyId: minted.id, mintedBy: minted.mintedBy });
      settings.onKeysChanged();
      return answered(minted, 201);
    },
    listLocalKeys: ({ pathAndQuery }) => {
      const query = read(pageQuery, 'query', queryOf(pathAndQuery));
      if (isRefusal(query)) return refused(query);
      const ask = pageAskOf('local-keys', query);
      if (isRefusal(ask)) return refused(ask);
      return answered(slicePage('local-keys', keys.list(), ask, ({ id, createdAt }) => `${createdAt} ${id}`, 'newest'));
    },
    revokeLocalKey: ({ params }) => {
      const revoked = keys.revoke(params['id']!);
      if (revoked === null)
        return refused(notFound('local key', params['id']!, { next: 'GET /v1/edge/keys lists them' }));
      log.info('local_key_revoked', { localKeyId: revoked.id, alsoRevoked: revoked.alsoRevoked.length });
      settings.onKeysChanged();
      return answered(revoked);
    },
    resyncEdge: async () => {
      await settings.resync();
      return answered({ status: 'registering' }, 202);
    },
  } satisfies Record<string, EdgePath>;
}

/** One part of a request by its schema. Refuses: INVALID_INPUT, as the cloud does. */
function read<S extends z.ZodType>(schema: S, where: 'query' | 'body', value: unknown): z.output<S> | Refusal {
  const input = validate({ [where]: schema }, { params: {}, query: {}, body: undefined, [where]: value });
  return input.ok ? (input[where] as z.output<S>) : input;
}
