/**
 * Where webhooks of this edge do not get to by its own policy or name server, and what to do: for its status page, its
 * health and its figures. None of it goes to the cloud, which would learn what is in this network. By host and port, no
 * path, which may hold a secret.
 */
import { hostOf } from './allowlist.ts';
import type { Blocked } from './policy.ts';

export type BlockReason = Blocked | 'no_address';

export interface BlockedTarget {
  /** `host:port`, or `no URL`. */
  readonly target: string;
  readonly reason: BlockReason;
  readonly setting: string | null;
  readonly next: string;
  /** Attempts that were held back since then. */
  readonly count: number;
  readonly sinceMs: number;
}

/** Targets that are kept, the newest ones: a cloud chooses the URLs. */
const KEPT_MAX = 32;
const HOST_CHARACTERS_MAX = 100;

const listIt = (target: string): string =>
  `if ${target} is yours add it to EDGE_WEBHOOK_ALLOWLIST and start this edge again; else change the URL of the webhook`;
const changeUrl = (why: string) => (): string => `change the URL of the webhook: ${why}`;

const STEPS: Readonly<Record<BlockReason, { setting: string | null; next: (target: string) => string }>> = {
  not_listed: { setting: 'EDGE_WEBHOOK_ALLOWLIST', next: listIt },
  private: { setting: 'EDGE_WEBHOOK_ALLOWLIST', next: listIt },
  loopback: { setting: 'EDGE_WEBHOOK_ALLOWLIST', next: listIt },
  plain_http: { setting: 'EDGE_WEBHOOK_ALLOWLIST', next: listIt },
  path_not_listed: {
    setting: 'EDGE_WEBHOOK_ALLOWLIST',
    next: (target) => `EDGE_WEBHOOK_ALLOWLIST names other paths of ${target}: add this one, or change the URL`,
  },
  forbidden: {
    setting: 'EDGE_WEBHOOK_ALLOWLIST',
    next: (target) =>
      `${target} is a link-local, metadata or reserved address: look who chose the URL; only its exact address in EDGE_WEBHOOK_ALLOWLIST allows it`,
  },
  own_listener: { setting: null, next: changeUrl('it names this edge itself') },
  not_a_url: { setting: null, next: changeUrl('it is none') },
  scheme: { setting: null, next: changeUrl('it is not http or https') },
  credentials: { setting: null, next: changeUrl('it holds a user name or password') },
  no_address: {
    setting: null,
    next: (target) => `look whether the name server of this edge knows the host of ${target}; else change the URL`,
  },
};

export const BLOCK_REASONS = Object.keys(STEPS) as readonly BlockReason[];

/** `host:port` of a webhook's URL. */
export function targetOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return 'no URL';
  const host = hostOf(url).slice(0, HOST_CHARACTERS_MAX);
  const port = url.port === '' ? (url.protocol === 'http:' ? '80' : '443') : url.port;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export class BlockedTargets {
  readonly #targets = new Map<string, BlockedTarget>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Notes an attempt that was held back. `reason` is the policy's, or a code of the name server. */
  note(url: string, reason: string): BlockedTarget {
    const known = BLOCK_REASONS.find((one) => one === reason) ?? 'no_address',
      target = targetOf(url),
      { setting, next } = STEPS[known];
    const before = this.#targets.get(target),
      isSame = before?.reason === known;
    const noted: BlockedTarget = {
      target,
      reason: known,
      setting,
      next: next(target),
      count: isSame ? before.count + 1 : 1,
      sinceMs: isSame ? before.sinceMs : this.#nowMs(),
    };
    this.#targets.delete(target); // the newest one is the last
    this.#targets.set(target, noted);
    if (this.#targets.size > KEPT_MAX) this.#targets.delete(this.#targets.keys().next().value!);
    return noted;
  }

  /** Something was posted there: it is not blocked any more. */
  reached(url: string): void {
    if (this.#targets.size > 0) this.#targets.delete(targetOf(url));
  }

  /** Newest first. */
  list(): BlockedTarget[] {
    return [...this.#targets.values()].toReversed();
  }
}
