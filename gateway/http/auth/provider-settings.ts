/** Settings of the providers of identities: the one outside issuer of bearers, and those of organizations. */
import type { GatewayConfig } from '../../deps.ts';

/** The outside issuer whose bearers are taken; null without one. */
export const outsideIssuerOf = (config: {
  readonly OIDC_ISSUER?: string | undefined;
  readonly OIDC_AUDIENCE?: string | undefined;
}): GatewayConfig['oidc'] =>
  config.OIDC_ISSUER === undefined ? null : { issuer: config.OIDC_ISSUER, audience: config.OIDC_AUDIENCE ?? 'flock' };

/** What organizations may have their people sign in by. */
export const providersOf = (config: {
  readonly SSO_OIDC: 'on' | 'off';
  readonly SSO_OIDC_ALLOW: readonly string[];
  readonly DNS_SERVERS: readonly string[];
}): NonNullable<GatewayConfig['sso']> => ({
  oidc: config.SSO_OIDC === 'on',
  allow: config.SSO_OIDC_ALLOW,
  dnsServers: config.DNS_SERVERS,
});
