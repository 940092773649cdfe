// Made by `npm run -s clients`: changes are lost.
/**
 * Name, method, path; k: takes an Idempotency-Key, b: has a body, l: a list, d: answers a document, c, e: served by
 * the cloud or an edge alone.
 */
export const OPERATIONS = `createAddress POST /v1/addresses kb
listAddresses GET /v1/addresses l
getAddress GET /v1/addresses/{id}
archiveAddress POST /v1/addresses/{id}/archive k
unarchiveAddress POST /v1/addresses/{id}/unarchive k
createTrustline POST /v1/addresses/{address}/trustlines kb
listBalances GET /v1/balances l
getBalance GET /v1/balances/{chain}/{address}
getTokenBalance GET /v1/balances/{chain}/{address}/tokens/{token}
getFees GET /v1/fees/{chain}
listTransactions GET /v1/transactions l
getTransaction GET /v1/transactions/{id}
getTimeline GET /v1/transactions/{id}/timeline c
buildTransaction POST /v1/transactions/unsigned kb
repriceTransaction PATCH /v1/transactions/unsigned/{id} k
broadcastTransaction POST /v1/transactions/{id}/broadcast k
search GET /v1/search c
listEvents GET /v1/events c
getEvent GET /v1/events/{id} c
createWebhook POST /v1/webhooks kb
listWebhooks GET /v1/webhooks l
listDeliveries GET /v1/webhooks/deliveries l
listDeadLetters GET /v1/webhooks/deliveries/dead-letters l
replayDeliveries POST /v1/webhooks/deliveries/replay kb
replayDelivery POST /v1/webhooks/deliveries/{id}/replay k
getWebhook GET /v1/webhooks/{webhookId}
replaceWebhook PUT /v1/webhooks/{webhookId} kb
deleteWebhook DELETE /v1/webhooks/{webhookId} k
rotateWebhookSecret POST /v1/webhooks/{webhookId}/secret k
dropPreviousWebhookSecret DELETE /v1/webhooks/{webhookId}/secret/previous k
testWebhook POST /v1/webhooks/{webhookId}/test k
listWebhookDeliveries GET /v1/webhooks/{webhookId}/deliveries l
getEdgeHealth GET /v1/edge/health
getEdgeLease GET /v1/edge/lease
getEdgeOutbox GET /v1/edge/outbox
getEdgeReadiness GET /v1/edge/readiness l
listEdgeSessions GET /v1/edge/sessions l
listGasTanks GET /v1/edge/gas-tanks l
mintLocalKey POST /v1/edge/keys be
listLocalKeys GET /v1/edge/keys le
revokeLocalKey DELETE /v1/edge/keys/{id} e
listChains GET /v1/chains l
getCoverage GET /v1/chains/{chain}/coverage
listTokens GET /v1/treasury/tokens l
createPaymentLink POST /v1/payments/links kb
listPaymentLinks GET /v1/payments/links l
getPaymentLink GET /v1/payments/links/{id}
changePaymentLink PATCH /v1/payments/links/{id} kb
pausePaymentLink POST /v1/payments/links/{id}/pause k
resumePaymentLink POST /v1/payments/links/{id}/resume k
closePaymentLink POST /v1/payments/links/{id}/close k
listLinkPayments GET /v1/payments/links/{id}/payments l
listLinkInvoices GET /v1/payments/links/{id}/invoices l
listInvoices GET /v1/payments/invoices l
getInvoice GET /v1/payments/invoices/{id}
resendInvoice POST /v1/payments/invoices/{id}/resend k
listPayments GET /v1/payments l
getPayment GET /v1/payments/{id}
getPaymentReadiness GET /v1/payments/readiness l
getPaymentSettings GET /v1/settings/payments c
putPaymentSettings PUT /v1/settings/payments kbc
getCheckoutLink GET /v1/checkout/links/{slug} c
openCheckoutSession POST /v1/checkout/links/{slug}/sessions bc
donate POST /v1/checkout/links/{slug}/donate bc
getCheckoutSession GET /v1/checkout/sessions/{id} c
createTreasuryWallet POST /v1/treasury/wallets kb
listTreasuryWallets GET /v1/treasury/wallets l
getTreasuryWalletBalances GET /v1/treasury/wallets/{id}/balances l
createFundingWallet POST /v1/treasury/funding-wallets kb
listFundingWallets GET /v1/treasury/funding-wallets l
createSweepPolicy POST /v1/treasury/sweeps/policies kb
listSweepPolicies GET /v1/treasury/sweeps/policies l
getSweepPolicy GET /v1/treasury/sweeps/policies/{policyId}
replaceSweepPolicy PUT /v1/treasury/sweeps/policies/{policyId} kb
deleteSweepPolicy DELETE /v1/treasury/sweeps/policies/{policyId} k
pauseSweepPolicy POST /v1/treasury/sweeps/policies/{policyId}/pause k
resumeSweepPolicy POST /v1/treasury/sweeps/policies/{policyId}/resume k
previewSweep POST /v1/treasury/sweeps/preview b
runSweepPolicy POST /v1/treasury/sweeps/policies/{policyId}/run k
listSweepJobs GET /v1/treasury/sweeps/jobs l
getSweepJob GET /v1/treasury/sweeps/jobs/{id}
retrySweepJob POST /v1/treasury/sweeps/jobs/{id}/retry k
createBridgePolicy POST /v1/treasury/bridges/policies kb
listBridgePolicies GET /v1/treasury/bridges/policies l
getBridgePolicy GET /v1/treasury/bridges/policies/{policyId}
replaceBridgePolicy PUT /v1/treasury/bridges/policies/{policyId} kb
deleteBridgePolicy DELETE /v1/treasury/bridges/policies/{policyId} k
createBridgeTransfer POST /v1/treasury/bridges/transfers kb
listBridgeTransfers GET /v1/treasury/bridges/transfers l
getBridgeTransfer GET /v1/treasury/bridges/transfers/{id}
retryBridgeTransfer POST /v1/treasury/bridges/transfers/{id}/retry k
requestToken POST /v1/treasury/token-requests kb
listTokenRequests GET /v1/treasury/token-requests l
listTokenRoutes GET /v1/treasury/routes
simulateToken POST /v1/sandbox/simulate-token kb
detectCase POST /v1/migration/detect-case b
detectPath POST /v1/migration/detect-path b
listKeySources GET /v1/migration/key-sources l
resolveKeySource POST /v1/migration/key-sources/{id}/resolve k
createMigrationProject POST /v1/migration/projects kb
listMigrationProjects GET /v1/migration/projects l
getMigrationCapacity GET /v1/migration/projects/{projectId}/capacity
createUpload POST /v1/migration/uploads kb
completeUpload POST /v1/migration/uploads/{uploadId}/complete kb
createImport POST /v1/migration/projects/{projectId}/imports kb
listImports GET /v1/migration/projects/{projectId}/imports l
getImport GET /v1/migration/imports/{batchId}
validateImport POST /v1/migration/imports/{batchId}/validate k
getDryRun GET /v1/migration/imports/{batchId}/dry-run
listImportIssues GET /v1/migration/imports/{batchId}/issues l
commitImport POST /v1/migration/imports/{batchId}/commit kb
rollbackImport POST /v1/migration/imports/{batchId}/rollback k
discover POST /v1/migration/{projectId}/discover kb
getScan GET /v1/migration/scans/{scanId}
cancelScan DELETE /v1/migration/scans/{scanId} k
listScanAddresses GET /v1/migration/scans/{scanId}/addresses l
getObserve GET /v1/migration/projects/{projectId}/observe
activateProject POST /v1/migration/projects/{projectId}/activate bc
deactivateProject POST /v1/migration/projects/{projectId}/deactivate c
getReconciliation GET /v1/migration/projects/{projectId}/reconciliation d
exportProject GET /v1/migration/projects/{projectId}/export d
getExportPlan GET /v1/migration/projects/{projectId}/export/plan
simulateDeposit POST /v1/sandbox/simulate-deposit kb
simulateConfirmation POST /v1/sandbox/simulate-confirmation kb
simulateStuck POST /v1/sandbox/simulate-stuck kb
simulateReplaced POST /v1/sandbox/simulate-replaced kb
simulateEdgeOffline POST /v1/sandbox/simulate-edge-offline kb
simulateEndpointFailure POST /v1/sandbox/simulate-endpoint-failure kb
getSandboxClock GET /v1/sandbox/clock
advanceSandboxClock POST /v1/sandbox/clock kb
simulateReorg POST /v1/sandbox/simulate-reorg kb
simulateChainDown POST /v1/sandbox/simulate-chain-down kb
simulateActivity POST /v1/sandbox/migration/projects/{projectId}/simulate-activity kb
simulateConflict POST /v1/sandbox/migration/projects/{projectId}/simulate-conflict kb
simulateDuplicateDelivery POST /v1/sandbox/simulate-duplicate-delivery kb
resetSandbox DELETE /v1/sandbox/reset k
login POST /v1/auth/login bc
refresh POST /v1/auth/refresh c
logout POST /v1/auth/logout c
getMe GET /v1/auth/me c
register POST /v1/auth/register bc
verifyEmail POST /v1/auth/verify bc
forgotPassword POST /v1/auth/password/forgot bc
resetPassword POST /v1/auth/password/reset bc
changePassword POST /v1/auth/password bc
changeEmail POST /v1/auth/email bc
confirmEmail POST /v1/auth/email/confirm bc
lookAtInvitation POST /v1/auth/invitations/look bc
acceptInvitation POST /v1/auth/invitations/accept bc
joinByInvitation POST /v1/auth/invitations/join bc
listLogins GET /v1/auth/logins lc
endOtherLogins DELETE /v1/auth/logins c
endLogin DELETE /v1/auth/logins/{id} c
switchOrganization POST /v1/auth/switch bc
stepUp POST /v1/auth/step-up bc
enrolTotp POST /v1/auth/totp/enroll bc
confirmTotp POST /v1/auth/totp/confirm bc
disableTotp POST /v1/auth/totp/disable bc
makeRecoveryCodes POST /v1/auth/recovery-codes bc
getJwks GET /.well-known/jwks.json dc
createOrganization POST /v1/organizations kbc
listOrganizations GET /v1/organizations lc
beginPasskeySignIn POST /v1/auth/passkeys/login/options c
signInByPasskey POST /v1/auth/passkeys/login bc
beginPasskey POST /v1/auth/passkeys/options bc
addPasskey POST /v1/auth/passkeys bc
listPasskeys GET /v1/auth/passkeys lc
removePasskey DELETE /v1/auth/passkeys/{id} c
askPasskey POST /v1/auth/passkeys/ask bc
keepFactors POST /v1/auth/factor-reset/cancel bc
askDevice POST /v1/auth/device bc
takeDeviceKey POST /v1/auth/device/token bc
approveDevice POST /v1/auth/device/approve bc
listSsoConnections GET /v1/settings/sso lc
setSsoConnection PUT /v1/settings/sso bc
removeSsoConnection DELETE /v1/settings/sso/{id} c
setSamlConnection PUT /v1/settings/sso/saml bc
enforceSso PUT /v1/settings/sso/{id}/enforcement bc
listDomains GET /v1/settings/domains lc
addDomain POST /v1/settings/domains bc
checkDomain POST /v1/settings/domains/{id}/check c
removeDomain DELETE /v1/settings/domains/{id} c
discoverSso POST /v1/auth/sso/discover bc
startSso POST /v1/auth/sso/start bc
finishSso POST /v1/auth/sso/finish bc
linkSso POST /v1/auth/sso/link bc
listApiKeys GET /v1/settings/api-keys lc
mintApiKey POST /v1/settings/api-keys kbc
revokeApiKey DELETE /v1/settings/api-keys/{id} kc
listEdgeKeys GET /v1/settings/edge-keys lc
revokeEdgeKey DELETE /v1/settings/edge-keys/{id} kc
getEdgeSetup GET /v1/settings/edge-setup c
listRotations GET /v1/settings/rotations lc
approveRotation POST /v1/settings/rotations/{id}/approve kbc
rejectRotation POST /v1/settings/rotations/{id}/reject kbc
listMembers GET /v1/settings/members lc
inviteMember POST /v1/settings/members bc
listInvitations GET /v1/settings/invitations lc
createInvitation POST /v1/settings/invitations bc
revokeInvitation DELETE /v1/settings/invitations/{id} c
resendInvitation POST /v1/settings/invitations/{id}/resend c
changeMember PATCH /v1/settings/members/{userId} bc
removeMember DELETE /v1/settings/members/{userId} c
renameOrganization PATCH /v1/organizations/{id} bc
transferOrganization POST /v1/organizations/{id}/transfer bc
getSupportAccess GET /v1/settings/support-access c
setSupportAccess PUT /v1/settings/support-access bc
endSupportSession DELETE /v1/settings/support-sessions/{id} c
getWipe GET /v1/settings/wipe c
scheduleWipe POST /v1/settings/wipe kbc
cancelWipe DELETE /v1/settings/wipe c
getUsage GET /v1/billing/usage c
getPlans GET /v1/billing/plans c
previewPlan GET /v1/billing/preview c
changeBand POST /v1/billing/band kbc
changePlan POST /v1/billing/plan kbc
listStatements GET /v1/billing/statements lc
getStatement GET /v1/billing/statements/{id} c
listBilled GET /v1/billing/statements/{id}/transactions lc
exportStatement GET /v1/billing/statements/{id}/document dc
listAuditLog GET /v1/settings/audit-log lc
getAuditCheckpoint GET /v1/settings/audit-log/checkpoint c
verifyAuditLog POST /v1/settings/audit-log/verify bc
exportAuditLog GET /v1/settings/audit-log/export dc
getLive GET /health/live
getReady GET /health/ready
getMetrics GET /metrics d
getDescription GET /v1/openapi.json dc`;
