/** Every operation and who answers it; a test holds that none of the cloud's routes is missing. */
import { administrationHandlers } from './admin/handlers.ts';
import { addressHandlers } from './address/addresses.ts';
import { tokenPublicationHandlers } from './admin/token-publication.ts';
import { tokenRateHandlers } from './admin/token-rates.ts';
import { tokenReviewHandlers } from './admin/token-reviews.ts';
import { auditLogHandlers } from './audit-log/audit-log.ts';
import { balanceHandlers } from './chain/balances.ts';
import { billingHandlers } from './billing/billing.ts';
import { chainHandlers } from './chain/chains.ts';
import type { Handlers } from './context.ts';
import { deliveryHandlers } from './webhook/deliveries.ts';
import { deviceHandlers } from './organization/device.ts';
import { detectPathHandler } from './key-source/detect-path.ts';
import { edgeKeyHandlers } from './edge/edge-keys.ts';
import { edgeHandlers } from './edge/edge.ts';
import { findHandlers } from './find.ts';
import { healthHandlers } from './operation/health.ts';
import { keySourceHandlers } from './key-source/key-sources.ts';
import { resolveHandler } from './key-source/resolve.ts';
import { migrationHandlers } from './migration/handlers.ts';
import { factorHandlers } from './organization/factors.ts';
import { invitationHandlers } from './organization/invitations.ts';
import { loginHandlers } from './organization/logins.ts';
import { memberHandlers } from './organization/members.ts';
import { organizationHandlers } from './organization/organizations.ts';
import { POOL_WAIT_MS, PoolStock } from './address/pool-stock.ts';
import { passkeyHandlers } from './organization/passkeys.ts';
import { registrationHandlers } from './organization/registration.ts';
import { sandboxHandlers } from './sandbox/sandbox.ts';
import { attestationHandlers } from './payment/attestations.ts';
import type { Economics } from './payment/economics.ts';
import { checkoutHandlers, type Checkout } from './payment/checkout.ts';
import { invoiceHandlers } from './payment/invoices.ts';
import { merchantReadHandlers } from './payment/merchant-reads.ts';
import { linkHandlers } from './payment/links.ts';
import { paymentSettingHandlers } from './payment/settings.ts';
import { wipeHandlers } from './organization/wipe.ts';
import { supportHandlers } from './organization/support.ts';
import { settingHandlers } from './organization/settings.ts';
import { streamHandler } from './stream/stream.ts';
import { signInHandlers } from './organization/sign-in.ts';
import { domainHandlers } from './organization/domains.ts';
import { ssoHandlers } from './organization/sso.ts';
import { ssoEnforcementHandlers } from './organization/sso-enforcement.ts';
import { samlHandlers } from './organization/sso-saml.ts';
import { timelineHandler } from './transaction/timeline.ts';
import { transactionHandlers } from './transaction/transactions.ts';
import { bridgeHandlers } from './treasury/bridges.ts';
import { fundingHandlers } from './treasury/funding.ts';
import { jobHandlers } from './treasury/jobs.ts';
import { policyHandlers } from './treasury/policies.ts';
import { previewHandler } from './treasury/preview.ts';
import { tokenRequestHandlers } from './treasury/token-requests.ts';
import { tokenRouteHandler } from './treasury/token-routes.ts';
import { walletHandlers } from './treasury/wallets.ts';
import { webhookTestHandlers } from './webhook/webhook-test.ts';
import { webhookHandlers } from './webhook/webhooks.ts';
import type { HandlerDeps } from './surroundings.ts';

export function createHandlers(
  given: Omit<HandlerDeps, 'pools'> & { readonly checkout: Checkout; readonly economics: Economics },
): Handlers {
  const {
    stores: { reads },
    edges,
    config,
  } = given;
  const deps: HandlerDeps = {
    ...given,
    pools: new PoolStock({ reads, edges, waitMs: config.poolWaitMs ?? POOL_WAIT_MS }),
  };
  const { economics } = given;
  return {
    ...addressHandlers(deps),
    ...balanceHandlers(deps),
    ...transactionHandlers(deps),
    ...timelineHandler(deps),
    ...webhookHandlers(deps),
    ...webhookTestHandlers(deps),
    ...findHandlers(deps),
    ...streamHandler(deps),
    ...linkHandlers(deps, economics),
    ...merchantReadHandlers(deps, economics),
    ...invoiceHandlers(deps),
    ...checkoutHandlers(given.checkout, deps),
    ...paymentSettingHandlers(deps),
    ...walletHandlers(deps),
    ...fundingHandlers(deps),
    ...policyHandlers(deps),
    ...tokenRequestHandlers(deps),
    ...tokenReviewHandlers(deps),
    ...tokenRateHandlers(deps),
    ...tokenPublicationHandlers(deps),
    ...bridgeHandlers(deps),
    ...tokenRouteHandler(deps),
    ...jobHandlers(deps),
    ...previewHandler(deps),
    ...deliveryHandlers(deps),
    ...edgeHandlers(deps),
    ...edgeKeyHandlers(deps),
    ...attestationHandlers(deps),
    ...chainHandlers(deps),
    ...sandboxHandlers(deps),
    ...signInHandlers(deps),
    ...loginHandlers(deps),
    ...deviceHandlers(deps),
    ...registrationHandlers(deps),
    ...factorHandlers(deps),
    ...ssoHandlers(deps),
    ...ssoEnforcementHandlers(deps),
    ...samlHandlers(deps),
    ...domainHandlers(deps),
    ...passkeyHandlers(deps),
    ...invitationHandlers(deps),
    ...memberHandlers(deps),
    ...auditLogHandlers(deps),
    ...organizationHandlers(deps),
    ...supportHandlers(deps),
    ...wipeHandlers(deps),
    ...settingHandlers(deps),
    ...billingHandlers(deps),
    ...administrationHandlers(deps),
    ...healthHandlers(deps),
    ...keySourceHandlers(deps),
    ...resolveHandler(deps),
    ...detectPathHandler,
    ...migrationHandlers(deps),
  };
}
