/**
 * A stand-in of a SAML provider. It writes its answers in the form that exclusive canonicalization makes of them, so
 * that it signs them with node:crypto alone: nothing that verifies them here has made them.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';

const SAML = 'urn:oasis:names:tc:SAML:2.0:assertion';
const SAMLP = 'urn:oasis:names:tc:SAML:2.0:protocol';
const DS = 'http://www.w3.org/2000/09/xmldsig#';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const DAY_MS = 86_400_000;

export interface SamlLies {
  readonly issuer?: string;
  readonly audience?: string;
  readonly recipient?: string;
  readonly destination?: string;
  readonly inResponseTo?: string;
  /** Of the subject's confirmation alone. */
  readonly confirmationInResponseTo?: string;
  readonly endsInMs?: number;
  readonly nameFormat?: string;
  readonly status?: string;
  readonly assertionId?: string;
  readonly key?: KeyObject;
  readonly sha1?: boolean;
  readonly unsigned?: 'response' | 'assertion';
  /** What becomes of the whole answer after it was signed. */
  readonly wrap?: (xml: string) => string;
}
export interface SamlPerson {
  readonly sub: string;
  readonly email?: string;
}

// ── Certificates: DER by hand, with dates of a test's choosing ────────────────────────────────────────────────────

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128
      ? Buffer.from([body.length])
      : body.length < 256
        ? Buffer.from([0x81, body.length])
        : Buffer.from([0x82, body.length >> 8, body.length & 255]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
};
const SHA256_RSA = der(0x30, Buffer.from('06092a864886f70d01010b0500', 'hex'));
const NAME = der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('idp')))));
const time = (atMs: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(atMs).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));

function certificateOf({ publicKey, privateKey }: KeyPair, endsAtMs: number): string {
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ...[SHA256_RSA, NAME, der(0x30, time(endsAtMs - 365 * DAY_MS), time(endsAtMs)), NAME],
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', body, privateKey);
  return der(0x30, body, SHA256_RSA, der(0x03, Buffer.from([0]), signature)).toString('base64');
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}
const newPair = (bits = 2_048): KeyPair => generateKeyPairSync('rsa', { modulusLength: bits });

// ── Answers ───────────────────────────────────────────────────────────────────────────────────────────────────────

function signatureOf(element: string, id: string, key: KeyObject, isSha1: boolean): string {
  const digest = isSha1 ? 'sha1' : 'sha256';
  const methods = isSha1
    ? [`${DS}rsa-sha1`, `${DS}sha1`]
    : ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'http://www.w3.org/2001/04/xmlenc#sha256'];
  const info =
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${methods[0]}"></ds:SignatureMethod><ds:Reference URI="#${id}"><ds:Transforms>` +
    `<ds:Transform Algorithm="${DS}enveloped-signature"></ds:Transform>` +
    `<ds:Transform Algorithm="${EXCLUSIVE}"></ds:Transform></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${methods[1]}"></ds:DigestMethod>` +
    `<ds:DigestValue>${createHash(digest).update(element).digest('base64')}</ds:DigestValue></ds:Reference>`;
  const value = sign(digest, Buffer.from(`<ds:SignedInfo xmlns:ds="${DS}">${info}</ds:SignedInfo>`), key);
  return (
    `<ds:Signature xmlns:ds="${DS}"><ds:SignedInfo>${info}</ds:SignedInfo>` +
    `<ds:SignatureValue>${value.toString('base64')}</ds:SignatureValue></ds:Signature>`
  );
}

/** Behind the first issuer of an element, where its signature belongs. */
const withSignature = (element: string, signature: string): string =>
  element.replace('</saml:Issuer>', `</saml:Issuer>${signature}`);

export function createSamlProvider(entityId = 'https://idp.test/saml') {
  const pair = newPair();
  const certificate = (endsInDays = 200, of = pair) => certificateOf(of, Date.now() + endsInDays * DAY_MS);
  const own = certificate();
  const instant = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toISOString();

  function assertionOf({ sub, email }: SamlPerson, acs: string, requestId: string, lies: SamlLies): string {
    const id = lies.assertionId ?? `_${randomBytes(16).toString('hex')}`;
    const ends = instant(lies.endsInMs ?? 300_000);
    const inResponseTo = lies.confirmationInResponseTo ?? lies.inResponseTo ?? requestId;
    const format = lies.nameFormat ?? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
    const element =
      `<saml:Assertion xmlns:saml="${SAML}" ID="${id}" IssueInstant="${instant(0)}" Version="2.0">` +
      `<saml:Issuer>${lies.issuer ?? entityId}</saml:Issuer><saml:Subject>` +
      `<saml:NameID Format="${format}">${sub}</saml:NameID>` +
      `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">` +
      `<saml:SubjectConfirmationData InResponseTo="${inResponseTo}" NotOnOrAfter="${ends}" Recipient="${lies.recipient ?? acs}">` +
      `</saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>` +
      `<saml:Conditions NotBefore="${instant(-600_000)}" NotOnOrAfter="${ends}"><saml:AudienceRestriction>` +
      `<saml:Audience>${lies.audience ?? acs}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
      `<saml:AuthnStatement AuthnInstant="${instant(0)}"></saml:AuthnStatement>` +
      (email === undefined
        ? ''
        : `<saml:AttributeStatement><saml:Attribute Name="email"><saml:AttributeValue>${email}</saml:AttributeValue>` +
          `</saml:Attribute></saml:AttributeStatement>`) +
      `</saml:Assertion>`;
    if (lies.unsigned === 'assertion') return element;
    return withSignature(element, signatureOf(element, id, lies.key ?? pair.privateKey, lies.sha1 === true));
  }

  return {
    entityId,
    certificate,
    newPair,
    metadata: (certificates: readonly string[] = [own], { sso = 'https://idp.test/sso' } = {}): string =>
      `<?xml version="1.0"?>\n<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">` +
      `<IDPSSODescriptor protocolSupportEnumeration="${SAMLP}">` +
      certificates
        .map(
          (one) =>
            `<KeyDescriptor use="signing"><KeyInfo xmlns="${DS}"><X509Data><X509Certificate>\n${one}\n` +
            `</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`,
        )
        .join('') +
      `<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${sso}"/>` +
      `</IDPSSODescriptor></EntityDescriptor>`,
    /** A person agrees at the provider; the form that their browser posts. */
    agree(url: string, who: SamlPerson, lies: SamlLies = {}): { SAMLResponse: string; RelayState: string } {
      const asked = new URL(url).searchParams;
      const request = inflateRawSync(Buffer.from(asked.get('SAMLRequest') ?? '', 'base64')).toString();
      const said = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(request)?.[1] ?? '';
      const [requestId, acs] = [said(' ID'), said('AssertionConsumerServiceURL')];
      const id = `_${randomBytes(16).toString('hex')}`;
      const element =
        `<samlp:Response xmlns:samlp="${SAMLP}" Destination="${lies.destination ?? acs}" ID="${id}"` +
        ` InResponseTo="${lies.inResponseTo ?? requestId}" IssueInstant="${instant(0)}" Version="2.0">` +
        `<saml:Issuer xmlns:saml="${SAML}">${lies.issuer ?? entityId}</saml:Issuer>` +
        `<samlp:Status><samlp:StatusCode Value="${lies.status ?? 'urn:oasis:names:tc:SAML:2.0:status:Success'}">` +
        `</samlp:StatusCode></samlp:Status>${assertionOf(who, acs, requestId, lies)}</samlp:Response>`;
      const key = lies.key ?? pair.privateKey;
      const whole =
        lies.unsigned === 'response'
          ? element
          : withSignature(element, signatureOf(element, id, key, lies.sha1 === true));
      const xml = (lies.wrap ?? ((same: string) => same))(whole);
      return { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: asked.get('RelayState') ?? '' };
    },
  };
}

// ── Wrapping: the signed bytes stay in the document, and something else is put where they are read ────────────────

/** An answer in pieces. */
function piecesOf(xml: string) {
  const assertion = /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)![0];
  const signatures = [...xml.matchAll(/<ds:Signature [\s\S]*?<\/ds:Signature>/g)].map(([text]) => text);
  const [ofResponse, ofAssertion] = [signatures[0]!, signatures[1]!];
  const evil = (element: string): string =>
    element.replace(/(<saml:NameID[^>]*>)[^<]*/, '$1evil').replace(/ ID="[^"]*"/, ' ID="_evil"');
  return { assertion, ofResponse, ofAssertion, evil };
}
const within = (signature: string, element: string): string =>
  signature.replace('</ds:Signature>', `${element}</ds:Signature>`);

/** The eight shapes of signature wrapping: each keeps what was signed and names somebody else. */
export const WRAPPINGS: Readonly<Record<string, (xml: string) => string>> = {
  'XSW1: another response around the signature, which holds the signed one': (xml) => {
    const { ofResponse, evil } = piecesOf(xml);
    return evil(xml).replace(ofResponse, () => within(ofResponse, xml.replace(ofResponse, '')));
  },
  'XSW2: the signed response beside the signature in another one': (xml) => {
    const { ofResponse, evil } = piecesOf(xml);
    return evil(xml).replace(ofResponse, () => xml.replace(ofResponse, '') + ofResponse);
  },
  'XSW3: another assertion before the signed one': (xml) => {
    const { assertion, ofAssertion, evil } = piecesOf(xml);
    return xml.replace(assertion, () => evil(assertion.replace(ofAssertion, '')) + assertion);
  },
  'XSW4: the signed assertion within another one': (xml) => {
    const { assertion, ofAssertion, evil } = piecesOf(xml);
    const other = evil(assertion.replace(ofAssertion, ''));
    return xml.replace(assertion, () => other.replace('</saml:Assertion>', () => `${assertion}</saml:Assertion>`));
  },
  'XSW5: another assertion with the signature, and the signed one at the end': (xml) => {
    const { assertion, ofAssertion, evil } = piecesOf(xml);
    return xml
      .replace(assertion, () => evil(assertion))
      .replace('</samlp:Response>', () => `${assertion.replace(ofAssertion, '')}</samlp:Response>`);
  },
  'XSW6: another assertion with the signature, which holds the signed one': (xml) => {
    const { assertion, ofAssertion, evil } = piecesOf(xml);
    const held = within(ofAssertion, assertion.replace(ofAssertion, ''));
    return xml.replace(assertion, () =>
      evil(assertion.replace(ofAssertion, '')).replace('</saml:Issuer>', () => `</saml:Issuer>${held}`),
    );
  },
  'XSW7: another assertion in extensions before the signed one': (xml) => {
    const { assertion, ofAssertion, evil } = piecesOf(xml);
    const other = evil(assertion.replace(ofAssertion, ''));
    return xml.replace('<samlp:Status>', () => `<samlp:Extensions>${other}</samlp:Extensions><samlp:Status>`);
  },
  'XSW8: the signed assertion as an object of the signature of another one': (xml) => {
    const { assertion, ofAssertion, evil } = piecesOf(xml);
    const held = within(ofAssertion, `<ds:Object>${assertion.replace(ofAssertion, '')}</ds:Object>`);
    return xml.replace(assertion, () =>
      evil(assertion.replace(ofAssertion, '')).replace('</saml:Issuer>', () => `</saml:Issuer>${held}`),
    );
  },
};
