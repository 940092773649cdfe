/** The pages: where each is, what it is called, who sees it, and which script it comes with. */
import type { Environment, OrgRole } from '../../protocol/slugs.ts';
import type { PageComponent } from './page.ts';

export interface PageEntry {
  /** Below organization and environment; `:id` is a parameter. */
  readonly path: string;
  readonly title: string;
  readonly load: () => Promise<PageComponent>;
  /** Its heading in the navigation; absent for pages that others lead to. */
  readonly group?: string;
  readonly needs?: OrgRole;
  readonly only?: Environment;
}

const wallets = () => import('../pages/wallets.tsx');
const hooks = () => import('../pages/webhooks.tsx');
const edge = () => import('../pages/edge.tsx');
const organization = () => import('../pages/organization.tsx');
const record = () => import('../pages/record.tsx');
const payments = () => import('../pages/payments.tsx');
const migration = () => import('../pages/migration.tsx');
const admin = () => import('../pages/admin.tsx');

export const PAGES: readonly PageEntry[] = [
  { path: '/', title: 'Overview', group: '', load: async () => (await import('../pages/home.tsx')).Home },
  { path: '/addresses', title: 'Addresses', group: 'Wallets', load: async () => (await wallets()).Addresses },
  { path: '/addresses/:id', title: 'Address', load: async () => (await wallets()).AddressDetail },
  { path: '/transactions', title: 'Transactions', group: 'Wallets', load: async () => (await wallets()).Transactions },
  { path: '/transactions/:id', title: 'Transaction', load: async () => (await wallets()).TransactionDetail },
  { path: '/chains', title: 'Chains', group: 'Wallets', load: async () => (await wallets()).Chains },
  {
    path: '/bridges',
    title: 'Bridges',
    group: 'Wallets',
    load: async () => (await import('../pages/bridges.tsx')).Bridges,
  },
  { path: '/migration', title: 'Migration', group: 'Wallets', load: async () => (await migration()).Migration },
  { path: '/migration/:id', title: 'Project', load: async () => (await migration()).MigrationProject },
  { path: '/search', title: 'Search', load: async () => (await wallets()).Search },
  { path: '/payments', title: 'Payments', group: 'Payments', load: async () => (await payments()).Payments },
  { path: '/payments/:id', title: 'Payment', load: async () => (await payments()).PaymentDetail },
  { path: '/payment-links', title: 'Links', group: 'Payments', load: async () => (await payments()).PaymentLinks },
  { path: '/payment-links/new', title: 'New link', load: async () => (await payments()).NewPaymentLink },
  { path: '/payment-links/:id', title: 'Link', load: async () => (await payments()).PaymentLinkDetail },
  { path: '/invoices', title: 'Invoices', group: 'Payments', load: async () => (await payments()).Invoices },
  { path: '/invoices/:id', title: 'Invoice', load: async () => (await payments()).InvoiceDetail },
  {
    path: '/payment-readiness',
    title: 'Readiness',
    group: 'Payments',
    load: async () => (await payments()).PaymentReadiness,
  },
  {
    path: '/payment-settings',
    title: 'Payment settings',
    group: 'Payments',
    load: async () => (await payments()).PaymentSettings,
  },
  { path: '/webhooks', title: 'Endpoints', group: 'Webhooks', load: async () => (await hooks()).Webhooks },
  { path: '/webhooks/:id', title: 'Endpoint', load: async () => (await hooks()).WebhookDetail },
  { path: '/deliveries', title: 'Deliveries', group: 'Webhooks', load: async () => (await hooks()).Deliveries },
  { path: '/events/:id', title: 'Event', load: async () => (await hooks()).EventDetail },
  { path: '/dead-letters', title: 'Dead letters', group: 'Webhooks', load: async () => (await hooks()).DeadLetters },
  { path: '/signature', title: 'Signature check', group: 'Webhooks', load: async () => (await hooks()).SignatureCheck },
  { path: '/edge', title: 'Status', group: 'Edge', load: async () => (await edge()).EdgeStatus },
  { path: '/edge/setup', title: 'Setup', group: 'Edge', load: async () => (await edge()).EdgeSetup },
  { path: '/rotations', title: 'Identity rotation', group: 'Edge', load: async () => (await edge()).Rotations },
  {
    path: '/sandbox',
    title: 'Sandbox tools',
    group: 'Edge',
    only: 'sandbox',
    load: async () => (await import('../pages/sandbox.tsx')).SandboxTools,
  },
  { path: '/keys', title: 'API keys', group: 'Organization', load: async () => (await organization()).ApiKeys },
  { path: '/members', title: 'Members', group: 'Organization', load: async () => (await organization()).Members },
  {
    path: '/sso',
    title: 'Single sign-on',
    group: 'Organization',
    needs: 'owner',
    load: async () => (await organization()).SsoSettings,
  },
  {
    path: '/billing',
    title: 'Usage and plan',
    group: 'Organization',
    load: async () => (await organization()).Billing,
  },
  { path: '/settings', title: 'Settings', group: 'Organization', load: async () => (await organization()).Settings },
  { path: '/audit-log', title: 'Audit log', group: 'Organization', load: async () => (await record()).AuditLog },
  {
    path: '/support',
    title: 'Support access',
    group: 'Organization',
    load: async () => (await record()).SupportAccess,
  },
  {
    path: '/wipe',
    title: 'Wipe',
    group: 'Organization',
    needs: 'owner',
    load: async () => (await record()).WipePage,
  },
];

/** Pages of administrators, outside of any organization. */
export const ADMIN_PAGES: readonly PageEntry[] = [
  { path: '/admin', title: 'Nodes', group: 'Administration', load: async () => (await admin()).Nodes },
  { path: '/admin/actors', title: 'Actors', group: 'Administration', load: async () => (await admin()).Actors },
  { path: '/admin/facts', title: 'Facts set aside', group: 'Administration', load: async () => (await admin()).Facts },
  { path: '/admin/accounts', title: 'Accounts', group: 'Administration', load: async () => (await admin()).Accounts },
  {
    path: '/admin/statements',
    title: 'Statements',
    group: 'Administration',
    load: async () => (await admin()).Statements,
  },
  {
    path: '/admin/token-requests',
    title: 'Token requests',
    group: 'Administration',
    load: async () => (await admin()).TokenRequests,
  },
  {
    path: '/admin/registry',
    title: 'Token registry',
    group: 'Administration',
    load: async () => (await admin()).RegistryProposals,
  },
  {
    path: '/admin/import-conflicts',
    title: 'Import conflicts',
    group: 'Administration',
    load: async () => (await admin()).ImportConflicts,
  },
  {
    path: '/admin/scan-limits',
    title: 'Scan limits',
    group: 'Administration',
    load: async () => (await admin()).ScanLimits,
  },
  {
    path: '/admin/factor-resets',
    title: 'Factor resets',
    group: 'Administration',
    load: async () => (await admin()).FactorResets,
  },
  {
    path: '/admin/support',
    title: 'Support sessions',
    group: 'Administration',
    load: async () => (await admin()).SupportSessions,
  },
];

/** Pages about oneself. */
export const OWN_PAGES: readonly PageEntry[] = [
  { path: '/profile', title: 'Profile', load: async () => (await import('../pages/profile.tsx')).Profile },
  { path: '/device', title: 'Command line', load: async () => (await import('../pages/device.tsx')).Device },
];

const letters = () => import('../pages/by-letter.tsx');

/** Pages for people who are not signed in, and where the links of letters lead. */
export const OPEN_PAGES: readonly PageEntry[] = [
  { path: '/sign-up', title: 'Sign up', load: async () => (await letters()).SignUp },
  { path: '/forgot', title: 'Forgotten password', load: async () => (await letters()).Forgot },
  { path: '/verify', title: 'Set your password', load: async () => (await letters()).Verify },
  { path: '/reset', title: 'Set a new password', load: async () => (await letters()).Reset },
  {
    path: '/invitation',
    title: 'Invitation',
    load: async () => (await import('../pages/invitation.tsx')).Invitation,
  },
  { path: '/keep-factors', title: 'Keep your factors', load: async () => (await letters()).KeepFactors },
  { path: '/email', title: 'Your email', load: async () => (await letters()).ConfirmEmail },
  { path: '/sso', title: 'Single sign-on', load: async () => (await import('../pages/sso.tsx')).Sso },
];

/** The page at a path and what its parameters are; null where there is none. */
export function pageAt(
  pages: readonly PageEntry[],
  path: string,
): { page: PageEntry; params: Readonly<Record<string, string>> } | null {
  const given = path.split('/');
  for (const page of pages) {
    const wanted = page.path.split('/');
    const fits =
      wanted.length === given.length && wanted.every((part, at) => part.startsWith(':') || part === given[at]);
    if (!fits) continue;
    const pairs = wanted.flatMap((part, at) =>
      part.startsWith(':') ? [[part.slice(1), decodeURIComponent(given[at]!)]] : [],
    );
    return { page, params: Object.fromEntries(pairs) as Record<string, string> };
  }
  return null;
}
