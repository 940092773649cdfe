/**
 * OpenID Connect towards the provider of an organization: code flow with PKCE, state and nonce; the issuer and its
 * `iss` compared exactly, the ID token's signature verified under pinned algorithms. The library is loaded at its first
 * use. Console A38, A44.
 */
import { decodeProtectedHeader } from 'jose';
import type { Configuration } from 'openid-client';
import { Guarded, type GuardedFetch } from './guarded-fetch.ts';

const ALGORITHMS: readonly string[] = ['EdDSA', 'ES256', 'RS256', 'PS256'];
const CLOCK_TOLERANCE_SECONDS = 60;
/** What a provider says of itself is read again after this long. */
const KEEP_MS = 600_000;
const KEPT_MAX = 1_000;
/** One that did not describe itself is asked again no more often than this. Console A38. */
const AGAIN_MS = 1_000;
const library = () => import('openid-client');

export interface Provider {
  /** Changes with whatever it is read by. */
  readonly key: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly secret: string | null;
}

/** What a provider says of who came, out of a verified ID token. */
export interface Arrived {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
}

export interface Started {
  readonly url: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** `away`: the provider does not answer, or may not be asked. `refused`: what came is not right. */
export class OidcFault extends Error {
  readonly why: 'away' | 'refused';
  readonly reason: string;
  constructor(why: OidcFault['why'], reason: string, cause?: unknown) {
    super(`${why}: ${reason}`, { cause });
    this.why = why;
    this.reason = reason;
  }
}

export interface Oidc {
  /** Rejects: OidcFault. */
  begin(provider: Provider, redirectUri: string): Promise<Started>;
  /** Rejects: OidcFault. */
  finish(
    provider: Provider,
    redirectUri: string,
    given: Readonly<Record<string, string>>,
    started: Omit<Started, 'url'>,
  ): Promise<Arrived>;
}

export function createOidc({
  guarded,
  allowed,
  elapsedMs = () => performance.now(),
}: {
  guarded: GuardedFetch;
  /** Hosts that may be without TLS. */
  allowed: readonly string[];
  elapsedMs?: () => number;
}): Oidc {
  const kept = new Map<string, { readonly config: Promise<Configuration>; untilMs: number }>();

  async function described({ issuer, clientId, secret }: Provider): Promise<Configuration> {
    const client = await library();
    const server = new URL(issuer);
    const isNamed = allowed.includes(server.host);
    if (server.protocol !== 'https:' && !isNamed) throw new OidcFault('refused', 'scheme');
    const config = await client.discovery(
      server,
      clientId,
      { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      secret === null ? client.None() : client.ClientSecretPost(secret),
      {
        [client.customFetch]: guarded as never,
        execute: [client.enableNonRepudiationChecks, ...(isNamed ? [client.allowInsecureRequests] : [])],
      },
    );
    // The library takes an issuer that differs in its last slash.
    if (config.serverMetadata().issuer !== issuer) throw new OidcFault('refused', 'issuer');
    return config;
  }

  function configOf(provider: Provider): Promise<Configuration> {
    const known = kept.get(provider.key);
    if (known !== undefined && elapsedMs() < known.untilMs) return known.config;
    if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value!);
    const config = described(provider);
    const entry = { config, untilMs: elapsedMs() + KEEP_MS };
    kept.set(provider.key, entry);
    config.catch(() => {
      entry.untilMs = elapsedMs() + AGAIN_MS;
    });
    return config;
  }

  const settled = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw faultOf(error);
    }
  };

  return {
    begin: (provider, redirectUri) =>
      settled(async () => {
        const client = await library();
        const config = await configOf(provider);
        const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()];
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: 'openid email',
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        });
        return { url: url.href, state, nonce, verifier };
      }),
    finish: (provider, redirectUri, given, { state, nonce, verifier }) =>
      settled(async () => {
        const client = await library();
        const config = await configOf(provider);
        const tokens = await client.authorizationCodeGrant(
          config,
          new URL(`?${new URLSearchParams(given)}`, redirectUri),
          {
            pkceCodeVerifier: verifier,
            expectedState: state,
            expectedNonce: nonce,
            idTokenExpected: true,
          },
        );
        const claims = tokens.claims();
        const { alg } = decodeProtectedHeader(tokens.id_token ?? '');
        if (claims === undefined || !ALGORITHMS.includes(String(alg))) throw new OidcFault('refused', 'algorithm');
        if (claims.iss !== provider.issuer) throw new OidcFault('refused', 'issuer');
        const email = claims['email'];
        return {
          issuer: claims.iss,
          subject: claims.sub,
          email: typeof email === 'string' ? email : null,
          emailVerified: claims['email_verified'] === true,
        };
      }),
  };
}

/** What went wrong, without a word that the provider said. */
function faultOf(error: unknown): OidcFault {
  if (error instanceof OidcFault) return error;
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (at instanceof Guarded) return new OidcFault('away', at.reason, error);
  const { code } = error as { code?: unknown };
  return new OidcFault(
    'refused',
    typeof code === 'string' ? code.replace(/^OAUTH_/, '').toLowerCase() : 'answer',
    error,
  );
}
