/** A connection of single sign-on as owners see it. */
import type { SsoConnectionRow } from '../../../model/ports/sso-store.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { endsOf } from '../auth/saml.ts';
import { instantOf, instantOrNull } from '../views.ts';

/** The page of the console that a provider leads back to. */
export const redirectUriOf = ({ publicUrl }: { readonly publicUrl: string }): string => `${publicUrl}/console/sso`;

export const connectionView = (row: SsoConnectionRow, config: { readonly publicUrl: string }): SsoView => ({
  ...{
    id: row.id,
    kind: row.saml === null ? 'oidc' : 'saml',
    issuer: row.issuer,
    clientId: row.clientId,
    hasSecret: row.sealedSecret !== null,
  },
  ...{ jitRole: row.jitRole, redirectUri: redirectUriOf(config) },
  certificates: endsOf(row.saml?.certificates ?? []).map((endsAtMs) => ({ endsAt: instantOf(endsAtMs) })),
  enforcedAt: instantOrNull(row.enforcedAtMs),
  breakGlass: row.breakGlass,
  createdAt: instantOf(row.createdAtMs),
});

export type SsoView = ReplyOf<'setSsoConnection'>;
