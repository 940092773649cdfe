/**
 * What the gateway needs of the rest of a cloud node; `supervision/` wires the real ones. The gateway decides nothing.
 */
import type { Accounts } from '../model/ports/accounts.ts';
import type { AuditLogStore } from '../model/ports/audit-log-store.ts';
import type { ChangeStore } from '../model/ports/change-store.ts';
import type { ChainAccess } from '../model/ports/chain-access.ts';
import type { MetricsAccess } from '../protocol/node/metrics-access.ts';
import type { OpenConsole } from '../model/ports/console-files.ts';
import type { OpenDocs } from '../model/ports/doc-files.ts';
import type { DeviceStore } from '../model/ports/device-store.ts';
import type { EdgeStore } from '../model/ports/edge-store.ts';
import type { EdgeStreams } from '../model/ports/edge-streams.ts';
import type { FactorResetStore } from '../model/ports/factor-reset-store.ts';
import type { FactorStore } from '../model/ports/factor-store.ts';
import type { FindStore } from '../model/ports/find-store.ts';
import type { IdentityStore } from '../model/ports/identity-store.ts';
import type { ImportStore } from '../model/ports/import-store.ts';
import type { InboxStore } from '../model/ports/inbox-store.ts';
import type { SupportStore } from '../model/ports/support-store.ts';
import type { InvoiceStore } from '../model/ports/invoice-store.ts';
import type { PaymentStore } from '../model/ports/payment-store.ts';
import type { ClockStore } from '../model/ports/clock-store.ts';
import type { InvitationStore } from '../model/ports/invitation-store.ts';
import type { LoginStore } from '../model/ports/login-store.ts';
import type { MemberStore } from '../model/ports/member-store.ts';
import type { PasskeyStore } from '../model/ports/passkey-store.ts';
import type { PeopleStore } from '../model/ports/people-store.ts';
import type { Nodes } from '../model/ports/nodes.ts';
import type { Logger } from 'pino';
import type { Metrics } from './telemetry/metrics.ts';
import type { RateLimiter } from '../model/ports/rate-limiter.ts';
import type { BillingProvider } from '../model/ports/billing-provider.ts';
import type { BillingStore } from '../model/ports/billing-store.ts';
import type { ReadStore } from '../model/ports/read-store.ts';
import type { SandboxControl } from '../model/ports/sandbox-control.ts';
import type { Serving } from '../model/ports/serving.ts';
import type { SecretBox } from '../model/ports/secret-box.ts';
import type { OriginStore } from '../model/ports/origin-store.ts';
import type { ConflictStore } from '../model/ports/conflict-store.ts';
import type { ScanStore } from '../model/ports/scan-store.ts';
import type { SsoStore } from '../model/ports/sso-store.ts';
import type { BridgeStore } from '../model/ports/bridge-store.ts';
import type { SweepStore } from '../model/ports/sweep-store.ts';
import type { UploadStore } from '../model/ports/upload-store.ts';
import type { TimelineStore } from '../model/ports/timeline-store.ts';
import type { RateStore } from '../model/ports/rate-store.ts';
import type { RegistryFollower } from '../model/ports/registry-follower.ts';
import type { RegistryStore } from '../model/ports/registry-store.ts';
import type { TokenRequestStore } from '../model/ports/token-request-store.ts';
import type { WipeStore } from '../model/ports/wipe-store.ts';
import type { WatchStore } from '../model/ports/watch-store.ts';
import type { Minimums } from '../actors/payment/minimum.ts';
import type { WayOut } from '../actors/outgoing/way-out.ts';

export interface GatewayConfig {
  /** Origin that clients use, without a trailing slash; issuer of the built-in tokens. */
  readonly publicUrl: string;
  /** Hosts beside that of `publicUrl` under which edges ask, with a port where it is no default one. */
  readonly publicAuthorities?: readonly string[];
  /** Origin of the pay page; `publicUrl` where absent. payments P7. */
  readonly payUrl?: string;
  /** How long an unpaid lent address rests before it is lent on; null: for ever. payments S13. */
  readonly addressRestMs?: number | null;
  /** Unpaid lent addresses of a family that an account may have; by its plan where absent. payments S13. */
  readonly unpaidMax?: number;
  /** Open pages of payers that this node follows at most; 5,000 where absent. payments H7. */
  readonly streamsMax?: number;
  /** From which amounts on payments are taken; those of the reference where absent. payments P21. */
  readonly minimums?: Minimums;
  readonly developerMode: boolean;
  /** Addresses and networks whose `X-Forwarded-For` is believed; none where absent. */
  readonly trustedProxies?: readonly string[];
  /** Where those who found a fault write to; absent: nothing is said. */
  readonly securityContact?: string;
  /** Who may read the metrics; who comes from this machine where absent. */
  readonly mayScrape?: MetricsAccess;
  /** Protective ceiling of sandbox accounts; 6,000 where absent. Decisions 3. */
  readonly sandboxRequestsPerMinute?: number;
  /** How long a request waits for the refill of a pool; 5 s where absent. Milliseconds. Decisions 3. */
  readonly poolWaitMs?: number;
  /** Who may become a user by themselves; `invite` where absent. Console A6. */
  readonly signUp?: 'invite' | 'open' | 'closed';
  /** Providers of organizations; on, and none of an own network, where absent. Console A38. */
  readonly sso?: {
    readonly oidc: boolean;
    /** Hosts that may be in an own network and without TLS. */
    readonly allow: readonly string[];
    /** Name servers for the records of domains; the system's where there are none. */
    readonly dnsServers: readonly string[];
  };
  readonly oidc: { readonly issuer: string; readonly audience: string } | null;
  /** REGISTRY_KEYS. Treasury K7. */
  readonly registryKeys: readonly string[];
}

/** Everything that `createGateway` is made of. */
export interface GatewayDeps {
  readonly registry: Pick<RegistryFollower, 'look'>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly stores: {
    readonly identity: IdentityStore;
    readonly logins: LoginStore;
    readonly devices: DeviceStore;
    readonly factors: FactorStore;
    readonly factorResets: FactorResetStore;
    readonly sso: SsoStore;
    readonly passkeys: PasskeyStore;
    readonly members: MemberStore;
    readonly people: PeopleStore;
    readonly invitations: InvitationStore;
    readonly support: SupportStore;
    readonly wipes: Pick<WipeStore, 'newest'>;
    readonly auditLog: AuditLogStore;
    readonly reads: ReadStore;
    readonly find: FindStore;
    readonly changes: ChangeStore;
    readonly timeline: TimelineStore;
    readonly billing: BillingStore;
    readonly edge: EdgeStore;
    readonly watch: Pick<WatchStore, 'coverage' | 'tokenStarts'>;
    readonly tokenRequests: TokenRequestStore;
    readonly registry: RegistryStore;
    readonly rates: RateStore;
    readonly inbox: Pick<InboxStore, 'factsSetAside' | 'countSetAside' | 'retryFacts'>;
    readonly uploads: UploadStore;
    readonly origins: OriginStore;
    readonly sweeps: SweepStore;
    readonly bridges: BridgeStore;
    readonly imports: ImportStore;
    readonly scans: ScanStore;
    readonly conflicts: ConflictStore;
    readonly invoices: InvoiceStore;
    readonly payments: Pick<PaymentStore, 'keepAttestations' | 'release'>;
    readonly clocks: ClockStore;
  };
  readonly accounts: Accounts;
  /** Who takes payments of statements. Console B17. */
  readonly provider: BillingProvider;
  readonly chains: ChainAccess;
  readonly wayOut: WayOut;
  readonly edges: EdgeStreams;
  readonly sandbox: SandboxControl;
  readonly secrets: SecretBox;
  readonly nodes: Nodes;
  /** Made by `createMetrics` before the gateway: watchers, publisher and kernel feed it too. */
  readonly metrics: Metrics;
  readonly rateLimiter: RateLimiter;
  /** Parts of `/health/ready` by name; false for one of them is a 503. */
  readonly health: () => Promise<Readonly<Record<string, boolean>>>;
  /** Absent where nothing can go away: it always serves. */
  readonly serving?: Serving;
  /** The web console; absent where none is served. */
  readonly console?: OpenConsole;
  /** The documentation; absent where none is served. */
  readonly docs?: OpenDocs;
  readonly config: GatewayConfig;
}
