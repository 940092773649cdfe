/** A connection of single sign-on as owners see it. */
import type { SsoConnectionRow, SsoKind } from '../../../model/ports/sso-store.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { GatewayConfig } from '../../deps.ts';
import { endsOf } from '../auth/saml.ts';
import { isOpenTo } from '../auth/sso-required.ts';
import { instantOf, instantOrNull } from '../views.ts';

/** The page of the console that a provider leads back to. */
export const redirectUriOf = ({ publicUrl }: { readonly publicUrl: string }): string => `${publicUrl}/console/sso`;

export const kindOf = ({ saml }: Pick<SsoConnectionRow, 'saml'>): SsoKind => (saml === null ? 'oidc' : 'saml');

export const connectionView = (row: SsoConnectionRow, config: Pick<GatewayConfig, 'publicUrl' | 'sso'>): SsoView => ({
  ...{
    id: row.id,
    kind: kindOf(row),
    issuer: row.issuer,
    clientId: row.clientId,
    hasSecret: row.sealedSecret !== null,
  },
  ...{ jitRole: row.jitRole, redirectUri: redirectUriOf(config) },
  certificates: endsOf(row.saml?.certificates ?? []).map((endsAtMs) => ({ endsAt: instantOf(endsAtMs) })),
  enforcedAt: instantOrNull(row.enforcedAtMs),
  breakGlass: row.breakGlass,
  closedBy: isOpenTo(config, kindOf(row)) ? null : 'SSO_OIDC',
  createdAt: instantOf(row.createdAtMs),
});

export type SsoView = ReplyOf<'setSsoConnection'>;
