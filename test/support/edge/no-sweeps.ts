/** What the status page shows of sweeps at an edge that signed none. */
import type { SweepsStatus } from '../../../edge/http/status.ts';

export const NO_SWEEPS: SweepsStatus = {
  stoppedAtMs: null,
  refusals: [],
  lastSignedAtMs: null,
  registryVersion: 1,
  nowMs: 1_700_000_000_000,
  windowSeconds: 86_400,
  caps: [],
};
