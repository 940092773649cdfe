/**
 * Builds that the cloud has closed: they expired, and as far as this replica knows no replica can have signed them. The
 * cloud takes no signature of such a build, so none is made. A cloud that is away closes nothing.
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { Upstream } from '../link/upstream.ts';
import type { Instructions } from './instructions.ts';

export interface ClosedBuildsSettings {
  readonly instructions: Pick<Instructions, 'mayBeSigned'>;
  readonly upstream: Upstream;
}

/** Whether the cloud states that a build expired which no replica can have signed. */
export async function isClosed({ instructions, upstream }: ClosedBuildsSettings, id: string): Promise<boolean> {
  if (instructions.mayBeSigned(id)) return false;
  const reply = await upstream.signed.call('getTransaction', { params: { id } });
  // One that failed had bytes: only what expired was never signed.
  return (
    !isRefusal(reply) &&
    reply.id === id &&
    reply.versions.length === 0 &&
    reply.status === 'expired' &&
    !instructions.mayBeSigned(id)
  );
}

export function buildClosed(): Refusal {
  return refuse(
    'CONFLICT',
    {
      reason: 'closed',
      status: 'expired',
      signed: false,
      next: 'build it again: POST /v1/transactions/unsigned, and broadcast the id of that answer',
    },
    'this build is expired: it was never signed or sent, and can be no more; build it again',
  );
}
