/** All stores of a cloud node over one pool. */
import { createAccountStore, createOwnership, type AccountStoreOptions } from './account-store.ts';
import { createAuditLogStore } from './audit-log-store.ts';
import { createAuditStore } from './audit-store.ts';
import { createBillingStore } from './billing-store.ts';
import { createChangeStore } from './change-store.ts';
import { createDeliveryStore, type DeliveryStoreOptions } from './delivery-store.ts';
import { createDeviceStore } from './device-store.ts';
import { createEdgeStore } from './edge-store.ts';
import { createFactorResetStore } from './factor-reset-store.ts';
import { createFactorStore } from './factor-store.ts';
import { createFindStore } from './find-store.ts';
import { createIdentityStore, type InitialAccount } from './identity.ts';
import { createInboxStore } from './inbox-store.ts';
import { createInvitationStore } from './invitation-store.ts';
import { createInvoiceStore } from './invoice-store.ts';
import { createImportStore } from './import-store.ts';
import { createJobStore } from './job-store.ts';
import { createLoginStore } from './login-store.ts';
import { createMailStore } from './mail-store.ts';
import { createMemberStore } from './member-store.ts';
import { createOriginStore } from './origin-store.ts';
import { createOperatorStore } from './operator-store.ts';
import { createPasskeyStore } from './passkey-store.ts';
import { createPeopleStore } from './people-store.ts';
import { createPaymentStore } from './payment-store.ts';
import { createReadStore } from './read-store.ts';
import { createClockStore } from './clock-store.ts';
import { createSandboxStore } from './sandbox-store.ts';
import type { Lists } from './list-pool.ts';
import { createSupportStore } from './support-store.ts';
import { createSsoStore } from './sso-store.ts';
import { createBridgeStore } from './bridge-store.ts';
import { createSweepStore } from './sweep-store.ts';
import { createConflictStore } from './conflict-store.ts';
import { createScanStore } from './scan-store.ts';
import { createUploadStore } from './upload-store.ts';
import { createTimelineStore } from './timeline-store.ts';
import { createRateStore } from './rate-store.ts';
import { createRegistryStore } from './registry-store.ts';
import { createTokenRequestStore } from './token-request-store.ts';
import { createWipeStore } from './wipe-store.ts';
import { createWatchStore } from './watch-store.ts';

export interface StoresOptions extends AccountStoreOptions, DeliveryStoreOptions {
  readonly initialAccount: InitialAccount;
  /** Without them lists share the other pool. */
  readonly lists?: Lists;
}

/** The ports of `model/ports`, by consumer. */
export function createStores(options: StoresOptions) {
  const { sql } = options;
  const [edge, passkeys, sso] = [createEdgeStore(sql), createPasskeyStore(sql), createSsoStore(sql)];
  const devices = createDeviceStore(sql);
  const people = createPeopleStore(sql);
  return {
    accounts: createAccountStore(options),
    ownership: createOwnership(sql),
    watch: createWatchStore(sql),
    audit: createAuditStore(sql),
    billing: createBillingStore(sql, options.lists),
    auditLog: createAuditLogStore(sql, options.lists),
    inbox: createInboxStore(sql),
    deliveries: createDeliveryStore(sql, options),
    mail: createMailStore(sql, options),
    payments: createPaymentStore(sql),
    invoices: createInvoiceStore(sql),
    jobs: createJobStore(sql),
    edge,
    identity: createIdentityStore(sql, options.initialAccount),
    logins: createLoginStore(sql),
    devices,
    factors: createFactorStore(sql),
    factorResets: createFactorResetStore(sql),
    sso,
    passkeys,
    members: createMemberStore(sql),
    people,
    invitations: createInvitationStore(sql),
    support: createSupportStore(sql),
    read: createReadStore(sql, options.lists),
    find: createFindStore(sql, options.lists),
    changes: createChangeStore(sql),
    timeline: createTimelineStore(sql),
    operators: createOperatorStore(sql),
    sandbox: createSandboxStore(sql),
    clocks: createClockStore(sql),
    wipes: createWipeStore(sql),
    sweeps: createSweepStore(sql, options.lists),
    bridges: createBridgeStore(sql, options.lists),
    uploads: createUploadStore(sql),
    tokenRequests: createTokenRequestStore(sql),
    registry: createRegistryStore(sql),
    rates: createRateStore(sql),
    origins: createOriginStore(sql),
    imports: createImportStore(sql, options.lists),
    scans: createScanStore(sql),
    conflicts: createConflictStore(sql),
    /** Forgets what was good once and is good no more: nonces, challenges, sign-ins that were not finished. */
    purgeOnce: async (nowMs: number): Promise<number> =>
      (await edge.purgeNonces(nowMs)) +
      (await passkeys.purgeChallenges(nowMs)) +
      (await sso.purgeFlows(nowMs)) +
      (await devices.purge(nowMs)),
    /** Letters about what ends soon: API keys in use, certificates of providers. */
    async writeLetters(nowMs: number): Promise<void> {
      await people.writeKeyLetters(nowMs);
      await sso.writeCertificateLetters(nowMs);
    },
    /** Attempt partitions of this month and the next ones: at start and daily. */
    async maintain(nowMs: number): Promise<void> {
      await sql`select ensure_attempt_partitions(${nowMs}::timestamptz, 3)`;
    },
  };
}

export type Stores = ReturnType<typeof createStores>;
