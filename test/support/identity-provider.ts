/**
 * A stand-in of an OpenID Connect provider on loopback: it signs real tokens, and lies where a test says so. And one of
 * a DNS server, which knows TXT records.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';

export interface ProviderLies {
  readonly claims?: JWTPayload;
  /** Signs with a key that the provider does not show. */
  readonly foreignKey?: boolean;
  readonly unsigned?: boolean;
  /** HMAC with the client's secret. */
  readonly symmetric?: boolean;
  readonly secondsAgo?: number;
  /** Of the discovery document. */
  readonly issuer?: string;
  readonly authorization?: string;
  readonly answer?: 'redirect' | 'endless' | 'error' | 'html';
}

export interface IdentityProvider {
  readonly issuer: string;
  readonly host: string;
  readonly clientId: string;
  readonly clientSecret: string;
  lies: ProviderLies;
  /** How often its token endpoint was asked. */
  readonly tokens: () => number;
  /** A person agrees at the authorization URL; what their browser is led back with. */
  agree(url: string, who: { sub: string; email?: string; email_verified?: unknown }): Record<string, string>;
  close(): Promise<void>;
}

const HOUR_SECONDS = 3_600;

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const [pair, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  const [clientId, clientSecret] = ['flock-test', randomBytes(32).toString('base64url')];
  const codes = new Map<string, { claims: JWTPayload; challenge: string; redirect: string }>();
  let tokens = 0;
  const provider = { lies: {} as ProviderLies };

  async function idToken(claims: JWTPayload): Promise<string> {
    const { lies } = provider;
    const issued = Math.floor(Date.now() / 1_000) - (lies.secondsAgo ?? 0);
    const payload = { iss: issuer, aud: clientId, iat: issued, exp: issued + HOUR_SECONDS, ...claims, ...lies.claims };
    if (lies.unsigned === true) return new UnsecuredJWT(payload).encode();
    if (lies.symmetric === true)
      return new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(clientSecret));
    const { privateKey } = lies.foreignKey === true ? foreign : pair;
    return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(privateKey);
  }

  const server = createServer((request, response) => {
    const json = (body: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const { answer } = provider.lies;
    if (answer === 'redirect') return void response.writeHead(302, { location: `${issuer}/elsewhere` }).end();
    if (answer === 'error') return json({ error: 'server_error' }, 500);
    if (answer === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>sign in</p>');
    if (answer === 'endless') return json({ issuer, padding: 'x'.repeat(70_000) });
    if (request.url === '/.well-known/openid-configuration')
      return json({
        issuer: provider.lies.issuer ?? issuer,
        authorization_endpoint: provider.lies.authorization ?? `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        authorization_response_iss_parameter_supported: true,
      });
    if (request.url === '/jwks') return json({ keys: [jwk] });
    if (request.url !== '/token') return json({ error: 'not_found' }, 404);
    tokens += 1;
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      const form = new URLSearchParams(body);
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isRight =
        code?.challenge === challenge &&
        code.redirect === form.get('redirect_uri') &&
        form.get('client_id') === clientId &&
        form.get('client_secret') === clientSecret;
      if (!isRight) return json({ error: 'invalid_grant' }, 400);
      void idToken(code.claims).then((token) =>
        json({ access_token: randomBytes(16).toString('hex'), token_type: 'Bearer', expires_in: 60, id_token: token }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `http://${host}`;
  return Object.assign(provider, {
    ...{ issuer, host, clientId, clientSecret },
    tokens: () => tokens,
    agree(url: string, who: { sub: string; email?: string; email_verified?: unknown }) {
      const asked = new URL(url).searchParams;
      const code = randomBytes(16).toString('hex');
      codes.set(code, {
        claims: { ...who, nonce: asked.get('nonce')! },
        challenge: asked.get('code_challenge')!,
        redirect: asked.get('redirect_uri')!,
      });
      return { state: asked.get('state')!, code, iss: issuer };
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve()) && server.closeAllConnections()),
  });
}

/** `records`: TXT by name; what is not there is NXDOMAIN. Answers its address, as DNS_SERVERS takes it. */
export async function startNameServer(records: Map<string, string>): Promise<{ at: string; close(): void }> {
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let size = message[at]!; size > 0; size = message[at]!) {
      labels.push(message.subarray(at + 1, at + 1 + size).toString('ascii'));
      at += size + 1;
    }
    const question = message.subarray(12, at + 5);
    const text = records.get(labels.join('.').toLowerCase());
    const head = Buffer.from(message.subarray(0, 12));
    head.writeUInt16BE(text === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(text === undefined ? 0 : 1, 6);
    head.fill(0, 8);
    const data = Buffer.concat([Buffer.from([text?.length ?? 0]), Buffer.from(text ?? '')]);
    const answer = Buffer.concat([Buffer.from([0xc0, 0x0c, 0x00, 0x10, 0x00, 0x01, 0, 0, 0, 1, 0, data.length]), data]);
    socket.send(Buffer.concat([head, question, ...(text === undefined ? [] : [answer])]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { at: `127.0.0.1:${socket.address().port}`, close: () => void socket.close() };
}
