/**
 * Opens connections for webhooks, to judged addresses only. A `lookup` hook alone is no guard: Node does not call it
 * for address literals. So the literal is judged first, every resolved address next, the connection
 * is made to those very addresses, and the peer of the open socket is judged once more.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { Blocked, WebhookPolicy } from './policy.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Connectors kept, one for each scheme, host and port: they hold the TLS sessions. */
const CONNECTORS_MAX = 1_000;

export class BlockedByPolicy extends Error {
  readonly reason: Blocked;
  constructor(reason: Blocked) {
    super(`the webhook policy of this edge refuses the destination: ${reason}`);
    this.name = 'BlockedByPolicy';
    this.reason = reason;
  }
}

export type Resolve = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const systemResolve: Resolve = (host, done) => systemLookup(host, { all: true }, done);

/** A connector for undici that answers `BlockedByPolicy` instead of connecting to what the policy refuses. */
export function createGuardedConnector(
  policy: WebhookPolicy,
  resolve: Resolve = systemResolve,
): buildConnector.connector {
  const connectors = new Map<string, buildConnector.connector>();
  return (options, callback) => {
    const secure = options.protocol === 'https:';
    const host = options.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    const port = Number(options.port) || (secure ? 443 : 80);
    const target = { host, port, secure };
    const blocked = isIP(host) === 0 ? null : policy.judgeAddress(target, host);
    if (blocked !== null) {
      queueMicrotask(() => callback(new BlockedByPolicy(blocked), null));
      return;
    }
    const key = `${options.protocol}//${host}:${port}`;
    const connect =
      connectors.get(key) ??
      buildConnector({
        timeout: CONNECT_TIMEOUT_MS,
        allowH2: false,
        lookup: guardedLookup(policy, target, resolve),
      });
    connectors.delete(key);
    connectors.set(key, connect);
    if (connectors.size > CONNECTORS_MAX) connectors.delete(connectors.keys().next().value!);
    connect({ ...options, hostname: host }, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const peer = socket.remoteAddress === undefined ? 'forbidden' : policy.judgeAddress(target, socket.remoteAddress);
      if (peer === null) return callback(null, socket);
      socket.destroy();
      callback(new BlockedByPolicy(peer), null);
    });
  };
}

function guardedLookup(
  policy: WebhookPolicy,
  target: Parameters<WebhookPolicy['judgeAddress']>[0],
  resolve: Resolve,
): LookupFunction {
  return (host, options, callback) =>
    resolve(host, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      // One refused address refuses the name: a receiver has no reason to mix public and internal addresses.
      const blocked = addresses
        .map(({ address }) => policy.judgeAddress(target, address))
        .find((reason) => reason !== null);
      const first = addresses[0];
      if (blocked !== undefined || first === undefined)
        return callback(new BlockedByPolicy(blocked ?? 'forbidden'), '', 0);
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
}
