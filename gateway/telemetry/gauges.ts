/** Figures that are read when they are asked for. */
import type { DatabaseState } from '../../model/ports/operator-store.ts';
import type { CloudMetrics } from '../../protocol/metrics/cloud.ts';
import type { LabelsOf } from '../../protocol/metrics/metric.ts';
import type { checkValues } from '../../protocol/node/doctor/kept.ts';
import type { Chain } from '../../protocol/slugs.ts';

type ByChain = Readonly<Partial<Record<Chain, number>>>;
type Role = LabelsOf<CloudMetrics, 'svc_role_unserved'>['role'];
type Pool = LabelsOf<CloudMetrics, 'svc_pool_waiting'>['pool'];
type CallReason = LabelsOf<CloudMetrics, 'svc_node_calls_refused_total'>['reason'];

/** What a scrape of /metrics asks for: values that are a query or a state. Maps are by chain. */
export interface GaugeReader {
  /** Resolves within some seconds, whatever the database does: `stored` is null while it does not answer. */
  read(): Promise<{ readonly own: OwnFigures; readonly stored: StoredFigures | null }>;
}

/** What the process knows by itself. */
export interface OwnFigures {
  readonly mailboxDepth: number;
  /** Until the certificate at PUBLIC_URL ends; null while that is not known. */
  readonly certificateDays: number | null;
  /** What the doctor saw, by check. */
  readonly checks: ReturnType<typeof checkValues>;
  /** Of the message that waits longest, seconds. */
  readonly mailboxAgeSeconds: number;
  readonly deadLetters: number;
  readonly residentAccounts: number;
  readonly edgeStreams: number;
  /** Of 1,024, those that no node serves, as this one knows. */
  readonly shardsUnowned: number;
  /** By chain: 1 while no node follows it, as this one knows. */
  readonly chainUnfollowed: ByChain;
  /** By role: 1 while no living node has it, as this one knows. */
  readonly roleUnserved: Readonly<Partial<Record<Role, number>>>;
  /** By pool. `underWay`: statements that were asked and have not ended. */
  readonly pools: ReadonlyMap<Pool, { readonly connections: number; readonly underWay: number }>;
  /** Since the start, by the SQL function that was called. */
  readonly statements: ReadonlyMap<string, { readonly count: number; readonly seconds: number }>;
  /** Calls on the internal port that were refused, by reason. */
  readonly callsRefused: Readonly<Partial<Record<CallReason, number>>>;
}

/** What the database counts. */
export interface StoredFigures {
  /** This clock less the database's, seconds. */
  readonly clockOffsetSeconds: number;
  readonly database: Omit<DatabaseState, 'clockMs'>;
  readonly publicationsIncomplete: number;
  readonly mailUnsent: number;
  readonly factsSetAside: number;
  readonly blocksUnresolved: ByChain;
  readonly headAgeSeconds: ByChain;
  readonly nonceGaps: ByChain;
}
