/**
 * Where this edge lets a webhook go. It runs inside the customer's network, so a URL that a compromised cloud or a
 * stolen console session chose must not make it a proxy into that network. Decisions 4.
 *
 * Literals and every resolved address are judged; the connection is made to a judged address; redirects are not
 * followed. Unset allow-list: public https only. In sandbox plain http and loopback are allowed too.
 */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Environment } from '../../protocol/slugs.ts';
import { blockListOf, classOf, plainAddress } from './address-class.ts';
import { hostOf, isBelow, type Below, type WebhookTarget } from './allowlist.ts';

const URL_LENGTH_MAX = 2_048;

/** Short reason for operators. It never goes to the cloud: that would make the edge a port scanner. */
export type Blocked =
  | 'not_a_url'
  | 'scheme'
  | 'credentials'
  | 'plain_http'
  | 'not_listed'
  | 'path_not_listed'
  | 'own_listener'
  | 'loopback'
  | 'private'
  | 'forbidden';

export interface PolicySettings {
  readonly environment: Environment;
  readonly allowlist: readonly WebhookTarget[] | null;
  /** Port that the edge itself listens on, known once it listens. */
  readonly ownPort: () => number;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

/** A URL that passed the checks which need no address. */
export interface Destination {
  readonly url: URL;
  readonly host: string;
  readonly port: number;
}

export interface WebhookPolicy {
  /** The parsed destination, or why it is refused before anything is resolved. */
  judgeUrl(text: string): Destination | Blocked;
  /** Null when this address may be connected to for that destination. */
  judgeAddress(target: Target, address: string): Blocked | null;
}

/** The policy of an edge's settings. `ownAddresses` are those of the machine's interfaces. */
export function createWebhookPolicy(settings: PolicySettings, ownAddresses = interfaceAddresses()): WebhookPolicy {
  const listed = settings.allowlist ?? [];
  const networks = blockListOf(
    listed.flatMap((target) => (target.kind === 'network' ? [[target.address, target.bits] as const] : [])),
  );
  const own = new Set(ownAddresses.map(plainAddress));
  const names = ({ host, port, secure }: Target) =>
    listed.some(
      (target) =>
        target.kind === 'host' &&
        target.host === host &&
        (target.port === null || target.port === port) &&
        (target.below === undefined || target.below.secure === secure),
    );
  // An entry with a path names an address for the URL that has this very literal: of another one only the connection is
  // seen, and no path.
  const namesAddress = (address: string, { host, port, secure }: Target, portNeeded: boolean) =>
    listed.some(
      (target) =>
        target.kind === 'address' &&
        plainAddress(target.address) === address &&
        (target.port === port || (target.port === null && !portNeeded)) &&
        (target.below === undefined || (target.below.secure === secure && isIP(host) !== 0)),
    );
  /** What the entries of this very host and port allow; null where they allow any path, or there is none. */
  const limitsOf = ({ host, port, secure }: Target): Below[] | null => {
    const literal = isIP(host) === 0 ? null : plainAddress(host);
    const own = listed.filter((target) =>
      target.kind === 'host'
        ? target.host === host
        : target.kind === 'address' && plainAddress(target.address) === literal,
    );
    const here = own.flatMap((target) =>
      target.kind !== 'network' && (target.port === null || target.port === port) ? [target.below ?? null] : [],
    );
    // A network that contains the host allows no more than the host's own entries.
    return here.length === 0 || here.includes(null)
      ? null
      : here.filter((below): below is Below => below?.secure === secure);
  };

  const judgeAddress: WebhookPolicy['judgeAddress'] = (target, text) => {
    const { host, port, secure } = target;
    const address = plainAddress(text);
    const kind = classOf(address);
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    const exact = namesAddress(address, target, false);
    const byName = names(target);
    if (
      port === settings.ownPort() &&
      (kind === 'loopback' || own.has(address)) &&
      !namesAddress(address, target, true)
    )
      return 'own_listener';
    if (exact) return null;
    if (kind === 'loopback')
      return settings.environment === 'sandbox' || (byName && host === 'localhost') ? null : 'loopback';
    if (kind === 'forbidden') return 'forbidden';
    if (byName || networks.check(address, family)) return null;
    if (kind === 'private') return 'private';
    if (settings.allowlist !== null) return 'not_listed';
    return secure || settings.environment === 'sandbox' ? null : 'plain_http';
  };

  return {
    judgeAddress,
    judgeUrl(text) {
      const url = text.length <= URL_LENGTH_MAX ? URL.parse(text) : null;
      if (url === null) return 'not_a_url';
      if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme';
      if (url.username !== '' || url.password !== '') return 'credentials';
      const secure = url.protocol === 'https:';
      const host = hostOf(url);
      const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
      // For each URL, since connections are kept: the connector sees the first one only.
      const limits = limitsOf({ host, port, secure });
      if (limits !== null && !limits.some((below) => isBelow(url.pathname, below))) return 'path_not_listed';
      return (isIP(host) === 0 ? null : judgeAddress({ host, port, secure }, host)) ?? { url, host, port };
    },
  };
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
