/** Single sign-on by SAML: the provider's metadata, pasted by an owner, and who came by an answer. Console A39. */
import { randomBytes } from 'node:crypto';
import type { NewSsoConnection, SsoConnectionRow, SsoStore } from '../../../model/ports/sso-store.ts';
import { notFound, refuse } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { OidcFault, type Arrived } from '../auth/oidc.ts';
import { beginSaml, endsOf, finishSaml, SamlFault, termsOf, type SamlService } from '../auth/saml.ts';
import { accountOf, bearerOf, recordOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { lockedByTier } from './sso-tier.ts';
import { connectionView, redirectUriOf } from './sso-view.ts';

const STATE_BYTES = 32;

/** We are named by the address that answers are posted to. */
const serviceOf = (config: { readonly publicUrl: string }): SamlService => ({
  entityId: redirectUriOf(config),
  acsUrl: redirectUriOf(config),
});
const termsOfRow = ({ issuer, saml }: SsoConnectionRow) => ({ issuer, ssoUrl: '', certificates: [], ...saml });

export function samlHandlers(deps: HandlerDeps): Pick<Handlers, 'setSamlConnection'> {
  const {
    auth,
    stores: { identity, sso },
    config,
    nowMs,
  } = deps;
  return {
    async setSamlConnection(asked) {
      accountOf(asked);
      const organizationId = bearerOf(asked).organizationId!;
      const locked = await lockedByTier(deps, organizationId);
      if (locked !== null) return locked;
      const { metadata, jitRole } = asked.body;
      const terms = await termsOf(metadata, nowMs()).catch(samlFault);
      if (terms instanceof SamlFault)
        return refuse('INVALID_INPUT', { field: 'metadata', reason: terms.reason, next: NEXT });
      const before = await sso.connectionOf(organizationId);
      const id = before?.id ?? newId('sso', nowMs());
      const { issuer, ...saml } = terms;
      const row: NewSsoConnection = {
        ...{ id, organizationId, issuer, clientId: serviceOf(config).entityId, jitRole, saml, sealedSecret: null },
        createdAtMs: before?.createdAtMs ?? nowMs(),
      };
      const certificateEndsAtMs = Math.max(...endsOf(saml.certificates));
      const changes = {
        issuer: [before?.issuer ?? null, issuer],
        certificates: [before?.saml?.certificates.length ?? 0, saml.certificates.length],
        jitRole: [before?.jitRole ?? null, jitRole],
      } as const;
      const kept = await sso.putConnection(
        { ...row, certificateEndsAtMs },
        nowMs(),
        recordOf(asked, { target: id, changes }),
      );
      // What a change means for the members holds at once on this node. Console A13.
      for (const { userId } of await identity.members(organizationId)) auth.standings.forget(userId);
      const after = await sso.connection(kept);
      return after === null ? notFound('connection', kept) : connectionView(after, config);
    },
  };
}

const NEXT =
  'paste the metadata of the provider: one entity, a single sign-on service by HTTP redirect at an https address, one or two RSA certificates of 2,048 bits or more that have not ended';

function samlFault(error: unknown): SamlFault {
  if (error instanceof SamlFault) return error;
  throw error;
}

/** Begins at a provider: where the browser goes, the state that comes back with it, and what the answer has to name. */
export async function samlBegun(row: SsoConnectionRow, config: { readonly publicUrl: string }) {
  const state = randomBytes(STATE_BYTES).toString('base64url');
  return { state, ...(await beginSaml(termsOfRow(row), serviceOf(config), state)) };
}

/** Who came by the answer that was posted for a flow; the fault, as a value. */
export async function samlArrived(
  {
    config,
    nowMs,
    sso,
  }: { config: { readonly publicUrl: string }; nowMs: number; sso: Pick<SsoStore, 'spendAssertion'> },
  row: SsoConnectionRow,
  { response, requestId }: { response: string | null | undefined; requestId: string },
): Promise<Arrived | OidcFault> {
  if (response == null) return new OidcFault('refused', 'no_response');
  const answer = { response, requestId, nowMs };
  const who = await finishSaml(termsOfRow(row), serviceOf(config), answer).catch(samlFault);
  if (who instanceof SamlFault) return new OidcFault('refused', who.reason, who);
  if (!(await sso.spendAssertion(row.id, who.id, who.expiresAtMs))) return new OidcFault('refused', 'replayed');
  // The provider vouches for the whole assertion, in a domain that its organization has verified.
  return { issuer: row.issuer, subject: who.subject, email: who.email, emailVerified: true };
}
