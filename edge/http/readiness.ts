/** What this edge needs to serve, as `/health/ready` says it. */
import type { Session } from '../link/session.ts';
import type { Storage } from '../storage/storage.ts';
import type { ReadinessCheck } from './edge-paths.ts';

/** A probe of the disk writes: however often somebody asks, it is made no oftener. */
const DISK_LOOK_MS = 1_000;

/** The checks of a moment: registration, stream, what the cloud said last, and whether the disk takes writes. */
export function readinessOf(
  storage: Pick<Storage, 'writeTrouble'>,
  session: Pick<Session, 'registration' | 'streamUp' | 'cloudTrouble'>,
  monotonicMs: () => number,
): () => Readonly<Record<'registered' | 'stream' | 'cloud' | 'disk', ReadinessCheck>> {
  let disk: { readonly atMs: number; readonly reason: string | null } | null = null;
  return () => {
    if (disk === null || monotonicMs() - disk.atMs >= DISK_LOOK_MS)
      disk = { atMs: monotonicMs(), reason: storage.writeTrouble() };
    const { registration, streamUp, cloudTrouble } = session;
    return {
      registered: {
        reason: registration.kind === 'confirmed' ? null : (registration.code ?? 'not_answered'),
        next: 'the status page (/) names the setting',
      },
      stream: {
        reason: streamUp ? null : 'closed',
        next: 'look whether CLOUD_URL is reached from here, and takes WebSocket connections',
      },
      cloud: {
        reason: cloudTrouble,
        next: 'the cloud does not serve now: its operator looks at its database and /health/ready; this edge goes on by itself',
      },
      disk: {
        reason: disk.reason,
        next: 'make room in EDGE_DATA_DIR, or mend its disk: nothing is signed or acknowledged without it',
      },
    };
  };
}
