/** Logins of command lines, by a code that a person types into the console. Ecosystem X28. */
import type { Environment } from '../../protocol/slugs.ts';
import type { AuditRecord } from '../rows/audit.ts';
import type { KeyRole } from './identity-store.ts';

/** How long a code is good for, and how often its program may ask. */
export const DEVICE_MS = 600_000;
export const DEVICE_POLL_MS = 5_000;
/** How long it is remembered that a code was used, or is too old. */
export const DEVICE_KEPT_MS = 3_600_000;

/** What a person agreed to. */
export interface DeviceApproval {
  readonly userId: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly role: KeyRole;
}

export type DevicePolled =
  | { readonly outcome: 'unknown' | 'another_poller' | 'used' | 'expired' | 'slow_down' | 'pending' }
  | ({ readonly outcome: 'ready' } & DeviceApproval);

export interface DeviceStore {
  begin(login: { id: string; secretHash: string; userCode: string; expiresAtMs: number }): Promise<void>;
  /** With its entry in the audit log, or neither: `unknown` also for a code that is too old. */
  approve(
    userCode: string,
    approval: DeviceApproval,
    nowMs: number,
    audit?: AuditRecord,
  ): Promise<'approved' | 'unknown' | 'used'>;
  /** Spends what is ready: of two that ask at once one has it, on whatever nodes they are. */
  poll(id: string, secretHash: string, nowMs: number): Promise<DevicePolled>;
  purge(nowMs: number): Promise<number>;
}
