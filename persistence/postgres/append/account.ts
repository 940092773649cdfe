/** Rows of an append that are no capability's. */
import type { AccountWrite } from '../../../model/account/capabilities.ts';
import type { SandboxWrite } from '../../../model/account/sandbox.ts';
import type { AuditWrite } from '../../../model/rows/audit.ts';
import { encoded, withDecimals, type AppendOf } from './rows.ts';

export const account: AppendOf<Exclude<AccountWrite, AuditWrite> | SandboxWrite> = {
  idempotency: ({ row: { key, method, path, bodyHash, status, body } }) => [
    encoded('idempotency', {
      key,
      method,
      path,
      body_hash: bodyHash,
      status,
      body: JSON.stringify(body, withDecimals) ?? 'null',
    }),
  ],
  sandbox_reset: () => [encoded('sandbox_resets', {}, '')],
};
