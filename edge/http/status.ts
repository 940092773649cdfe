/** What the status page says, in words for a person who has just opened it. */
import { EDGE_VERSION } from '../../protocol/frames.ts';
import type { EdgeConfig } from '../config.ts';
import type { StatusLine, StatusView } from './status-page.ts';
import type { LeaseView } from '../link/lease.ts';
import type { OutboxReport } from '../link/outbox.ts';
import type { Kept } from '../../protocol/node/doctor/kept.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { OperationsReport } from '../sweeps/operations.ts';
import type { BlockedTarget } from '../webhooks/blocked-targets.ts';
import type { RegistrationState } from '../link/registration.ts';

export interface EdgeStatus {
  readonly config: Pick<EdgeConfig, 'environment' | 'chains' | 'podHint'>;
  readonly registration: RegistrationState;
  /** Chains that the cloud serves; null while that is not known. */
  readonly liveChains: ReadonlySet<Chain> | null;
  readonly streamUp: boolean;
  readonly lease: LeaseView;
  readonly outbox: OutboxReport;
  readonly deliveries: number;
  /** Where webhooks do not get to, newest first. */
  readonly blocked: readonly BlockedTarget[];
  /** What the doctor saw last; null before its first look has ended. */
  readonly examined: Kept | null;
  readonly sweeps: SweepsStatus;
  readonly alarms: number;
  readonly uptimeSeconds: number;
  readonly sessionId: string;
  /** Public key of the edge; 64 hex digits. */
  readonly identity: string;
  readonly stopping: boolean;
}

/** What the cloud may start, and what became of it. */
export interface SweepsStatus extends OperationsReport {
  readonly registryVersion: number;
  readonly nowMs: number;
  readonly windowSeconds: number;
  /** Chains with a cap above zero, smallest native unit. */
  readonly caps: readonly { readonly chain: Chain; readonly cap: bigint; readonly spent: bigint }[];
}

/** The page of a moment. */
export function statusOfEdge(status: EdgeStatus): StatusView {
  return { ...headlineOf(status), lines: linesOf(status) };
}

function headlineOf({ registration, streamUp, lease, outbox, stopping }: EdgeStatus): Omit<StatusView, 'lines'> {
  if (stopping)
    return {
      tone: 'warn',
      headline: 'Stopping',
      explanation: 'Requests in flight are being finished; new ones are turned away.',
    };
  if (registration.kind === 'halted') {
    return {
      tone: 'bad',
      headline: 'Waiting for the account owner',
      explanation: `The cloud does not accept this edge's identity (${registration.code}). If the recovery phrase was changed on purpose, an owner approves the new identity in the console; this edge goes on by itself then. Nothing is signed or registered meanwhile.`,
    };
  }
  if (registration.kind === 'unconfirmed') {
    return {
      tone: 'warn',
      headline: 'Not registered yet',
      explanation: whyUnconfirmed(registration),
    };
  }
  if (outbox.outboxPoisoned) {
    return {
      tone: 'bad',
      headline: 'A report is stuck',
      explanation:
        'The cloud keeps refusing one write, and what is behind it in its lane waits: the reports, or the submissions of one sender. See the outbox below; where the cause lasts, `flock-edge outbox set-aside` takes the write out of the way without losing it.',
    };
  }
  if (!streamUp) {
    return {
      tone: 'warn',
      headline: 'The cloud cannot be reached',
      explanation:
        'Registered before, but there is no connection now. Webhooks wait in the cloud and are delivered when it is back.',
    };
  }
  return lease.held
    ? {
        tone: 'good',
        headline: 'Leading',
        explanation: 'Connected. This replica relays the webhooks and signs the withdrawals.',
      }
    : {
        tone: 'good',
        headline: 'Following',
        explanation: 'Connected. Another replica leads; this one takes over when that one is gone.',
      };
}

function whyUnconfirmed({ code, advice }: Extract<RegistrationState, { kind: 'unconfirmed' }>): string {
  const said =
    code === null || code === 'UPSTREAM_UNAVAILABLE'
      ? 'The edge runs and is trying to reach the cloud. It registers as soon as the cloud answers.'
      : `The cloud answered ${code}. The edge keeps trying.`;
  return advice == null ? said : `${said} What to look at: ${advice.setting} – ${advice.next}.`;
}

function linesOf(status: EdgeStatus): StatusLine[] {
  const { config, registration, streamUp, lease, outbox, deliveries, alarms } = status;
  const stuck = outbox.poisonedBy;
  return [
    { label: 'Environment', value: config.environment },
    {
      label: 'Registration',
      value: { confirmed: 'confirmed', halted: 'refused', unconfirmed: 'not confirmed' }[registration.kind],
      tone: registration.kind === 'confirmed' ? 'good' : registration.kind === 'halted' ? 'bad' : 'warn',
    },
    { label: 'Connection', value: streamUp ? 'open' : 'none', tone: streamUp ? 'good' : 'warn' },
    { label: 'Role', value: lease.held ? 'leader' : 'follower', hint: `lease epoch ${lease.leaseEpoch}` },
    {
      label: 'Outbox',
      value: outbox.outboxDepth === 0 ? 'empty' : `${outbox.outboxDepth} waiting`,
      ...(stuck === null
        ? {}
        : ({
            tone: 'bad',
            hint: `${stuck.kind} ${stuck.subject} was refused ${stuck.tries} times: ${stuck.code}`,
          } as const)),
    },
    ...(outbox.setAside === 0
      ? []
      : [
          {
            label: 'Set aside',
            value: String(outbox.setAside),
            tone: 'warn',
            hint: 'kept until `flock-edge outbox restore`',
          } as const,
        ]),
    { label: 'Webhooks in flight', value: String(deliveries) },
    ...status.blocked.map(blockedLine),
    ...sweepLines(status.sweeps),
    {
      label: 'Alarms',
      value: String(alarms),
      ...(alarms === 0
        ? {}
        : ({ tone: 'bad', hint: 'something asked for what this edge refuses: see the log' } as const)),
    },
    ...checkLines(status.examined),
    chainsLine(config.chains, status.liveChains),
    {
      label: 'Identity',
      value: status.identity,
      hint: 'public: what your own pages pin, as `identity` of <flock-pay>',
    },
    { label: 'Replica', value: config.podHint, hint: status.sessionId },
    { label: 'Version', value: EDGE_VERSION, hint: `up ${durationText(status.uptimeSeconds)}` },
  ];
}

function sweepLines({
  stoppedAtMs,
  refusals,
  lastSignedAtMs,
  registryVersion,
  nowMs,
  windowSeconds,
  caps,
}: SweepsStatus): StatusLine[] {
  const ago = (atMs: number) => `${durationText(Math.max(0, nowMs - atMs) / 1_000)} ago`;
  const last = lastSignedAtMs === null ? 'none since the start' : `last one signed ${ago(lastSignedAtMs)}`;
  const hint = `${last}; token registry version ${registryVersion}`;
  const first: StatusLine =
    stoppedAtMs !== null
      ? {
          label: 'Sweeps',
          value: `stopped ${ago(stoppedAtMs)}`,
          tone: 'warn',
          hint: '`flock-edge sweeps start` lets them go on',
        }
      : caps.length === 0
        ? { label: 'Sweeps', value: 'off: EDGE_SPEND_CAP_<CHAIN> is 0 on every chain', hint }
        : { label: 'Sweeps', value: 'allowed within the caps', hint };
  return [
    first,
    ...caps.map(({ chain, cap, spent }) => ({
      label: `EDGE_SPEND_CAP_${chain.toUpperCase()}`,
      value: `${spent} of ${cap} spent within ${durationText(windowSeconds)}`,
      ...(spent * 10n >= cap * 9n ? ({ tone: 'warn' } as const) : {}),
    })),
    ...(refusals.length === 0
      ? []
      : [
          {
            label: 'Sweeps refused',
            value: refusals
              .slice(0, REFUSALS_SHOWN)
              .map(([reason, count]) => `${reason} ${count} ×`)
              .join(', '),
            tone: 'warn',
          } as const,
        ]),
  ];
}

const CHECK_TONES = { fail: 'bad', warn: 'warn', unknown: 'warn' } as const;

/** The counts, then each check that is not ok, as `flock-edge doctor` says it. Ecosystem X36. */
function checkLines(kept: Kept | null): StatusLine[] {
  if (kept === null) return [{ label: 'Checks', value: 'being looked at: look again' }];
  const { checks, verdict } = kept.examination;
  const noted = checks.flatMap(({ id, seen, remedy, ...one }) =>
    one.verdict === 'ok'
      ? []
      : [
          {
            label: `Check ${id}`,
            value: `${one.verdict}: ${seen}`,
            tone: CHECK_TONES[one.verdict],
            ...(remedy === null ? {} : { hint: remedy }),
          },
        ],
  );
  return [
    {
      label: 'Checks',
      value: `${checks.length - noted.length} of ${checks.length} ok`,
      tone: verdict === 'ok' ? 'good' : CHECK_TONES[verdict],
      hint: `looked at ${durationText(kept.ageMs / 1_000)} ago; flock-edge doctor looks now, and at the database too`,
    },
    ...noted,
  ];
}

const REFUSALS_SHOWN = 8;

function blockedLine({ target, reason, setting, next, count }: BlockedTarget): StatusLine {
  return {
    label: 'Webhook blocked',
    value: target,
    tone: 'bad',
    hint: `${reason}${setting === null ? '' : ` (${setting})`}, ${count} ${count === 1 ? 'attempt' : 'attempts'}: ${next}`,
  };
}

/** Keys are registered for every chain of EDGE_CHAINS; addresses exist on those that the cloud has a node for. */
function chainsLine(own: readonly Chain[], live: ReadonlySet<Chain> | null): StatusLine {
  if (live === null)
    return {
      label: 'Chains',
      value: own.join(', '),
      hint: 'keys are here; which of them the cloud serves is not known yet',
    };
  const served = own.filter((chain) => live.has(chain));
  const idle = own.filter((chain) => !live.has(chain));
  return {
    label: 'Chains',
    value: served.length === 0 ? 'none is served by the cloud' : served.join(', '),
    ...(idle.length === 0 ? {} : { hint: `not served by the cloud now: ${idle.join(', ')}` }),
  };
}

/** `3 d 4 h`, `5 h 6 min`, `42 s`: the two largest parts. */
export function durationText(seconds: number): string {
  const parts = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ] as const;
  let left = Math.floor(seconds);
  const texts: string[] = [];
  for (const [size, unit] of parts) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) texts.push(`${count} ${unit}`);
  }
  return texts.slice(0, 2).join(' ') || '0 s';
}
