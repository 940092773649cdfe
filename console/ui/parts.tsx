/** Small parts that every page is made of. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { nowMs } from '../app/live.ts';
import { ago, grouped, local, plain, shortened, utc, words } from './text.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'low' | 'quiet' | 'info';

/** What a state means, in a word, a colour and a shape. */
const TONES: Readonly<Record<string, Tone>> = {
  ready: 'good',
  not_ready: 'bad',
  quarantined: 'warn',
  pool_low: 'low',
  confirmed: 'good',
  delivered: 'good',
  active: 'good',
  enabled: 'good',
  live: 'good',
  held: 'warn',
  stale: 'warn',
  down: 'bad',
  failed: 'bad',
  dead_lettered: 'bad',
  reversed: 'bad',
  detected: 'info',
  pending: 'info',
  built: 'quiet',
  signing: 'info',
  broadcast: 'info',
  confirming: 'info',
  replaced: 'quiet',
  expired: 'quiet',
  archived: 'quiet',
  disabled: 'quiet',
  deleted: 'quiet',
  revoked: 'quiet',
  leader: 'good',
  follower: 'quiet',
  ok: 'good',
  degraded: 'warn',
  unavailable: 'bad',
  wrong_network: 'bad',
  lapsed: 'bad',
  awaiting_payment: 'quiet',
  underpaid: 'warn',
  late: 'warn',
  paid: 'good',
  paused: 'warn',
  closed: 'quiet',
};

const SHAPES: Readonly<Record<Tone, string>> = {
  good: 'M2 6.5 5 9.5 10 3',
  bad: 'M3 3 9 9M9 3 3 9',
  warn: 'M6 2v5M6 9.5v.5',
  low: 'M6 2v7M3 6.5 6 9.5 9 6.5',
  info: 'M6 6m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0',
  quiet: 'M3 6h6',
};

export function Status({ of, tone, label }: { of: string; tone?: Tone; label?: string }): JSX.Element {
  const shown = tone ?? TONES[of] ?? 'quiet';
  return (
    <span class={`status ${shown}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path d={SHAPES[shown]} />
      </svg>
      {label ?? words(of)}
    </span>
  );
}

export function Time({ at, none = '–' }: { at: string | null | undefined; none?: string }): JSX.Element {
  if (at === null || at === undefined) return <span class="faint">{none}</span>;
  return (
    <time dateTime={at} title={`${utc(at)}\n${local(at)}`}>
      {ago(at, nowMs.value)}
    </time>
  );
}

/** Both clocks, for detail pages. */
export function Instant({ at }: { at: string | null }): JSX.Element {
  if (at === null) return <span class="faint">–</span>;
  return (
    <time dateTime={at}>
      {utc(at)} <span class="faint">· {local(at)}</span>
    </time>
  );
}

export function Amount({ value, symbol, sign }: { value: string; symbol: string; sign?: string }): JSX.Element {
  return (
    <span class="amount">
      {sign}
      {grouped(value)} <span class="faint">{plain(symbol)}</span>
    </span>
  );
}

/** A foreign string, or a dash. */
export function Text({ of }: { of: string | null }): JSX.Element {
  return of === null || of === '' ? <span class="faint">–</span> : <bdi title={plain(of)}>{plain(of)}</bdi>;
}

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }): JSX.Element {
  const [done, setDone] = useState(false);
  const copy = (): void => {
    void navigator.clipboard?.writeText(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    });
  };
  return (
    <button type="button" class="copy" onClick={copy} aria-label={`${label}: ${shortened(text)}`} title={label}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {done ? <path d="M3 8.5 6.5 12 13 4.5" /> : <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />}
      </svg>
    </button>
  );
}

/** An address, id or hash: short to the eye, whole in the clipboard. */
export function Code({ of, whole = false, href }: { of: string | null; whole?: boolean; href?: string }): JSX.Element {
  if (of === null) return <span class="faint">–</span>;
  const shown = whole ? of : shortened(of);
  return (
    <span class="code">
      {href === undefined ? (
        <code title={of}>{shown}</code>
      ) : (
        <a href={href}>
          <code title={of}>{shown}</code>
        </a>
      )}
      <Copy text={of} />
    </span>
  );
}

export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Panel({
  title,
  note,
  actions,
  children,
}: {
  title?: ComponentChildren;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="panel">
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {note !== undefined && <p class="faint">{note}</p>}
          {actions !== undefined && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** The head of a page. */
export function Head({
  title,
  note,
  actions,
}: {
  title: ComponentChildren;
  note?: ComponentChildren;
  actions?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {note !== undefined && <p>{note}</p>}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  );
}

/** A share of a limit, with the mark at which owners are warned. */
export function Meter({
  label,
  used,
  limit,
  warnAt = 80,
  shown,
}: {
  label: string;
  used: number;
  limit: number | null;
  /** From which share on it warns; null for what is meant to become full. */
  warnAt?: number | null;
  /** In place of both numbers. */
  shown?: string;
}): JSX.Element {
  const percent = limit === null || limit === 0 ? 0 : Math.min(100, Math.floor((used * 100) / limit));
  const tone = warnAt === null || percent < warnAt ? 'info' : percent >= 100 ? 'bad' : 'warn';
  const text = shown ?? `${grouped(String(used))}${limit === null ? '' : ` of ${grouped(String(limit))}`}`;
  return (
    <div class="meter">
      <div class="meter-words">
        <span>{label}</span>
        <span class="amount">{text}</span>
      </div>
      <svg class={tone} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${label}: ${text}`}>
        <rect class="track" width="100" height="6" />
        <rect class="fill" width={Math.max(percent, used > 0 ? 0.6 : 0)} height="6" />
        {limit !== null && warnAt !== null && <rect class="mark" x={warnAt} width=".5" height="6" />}
      </svg>
      {limit === null && <p class="faint">No limit</p>}
    </div>
  );
}
