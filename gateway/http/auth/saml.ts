/**
 * SAML towards the provider of an organization: an unsigned request by redirect, and an answer whose response and
 * assertion are both signed. The library verifies the signatures and hands out the signed bytes; what an answer may
 * look like at all is held here, before it, so that nothing is left to wrap. Loaded at its first use. Console A39, A44.
 */
import { createHash, randomBytes, X509Certificate } from 'node:crypto';

/** Of an answer or of metadata, as XML. */
export const SAML_BYTES_MAX = 256 * 1_024;
const CLOCK_TOLERANCE_MS = 60_000;
const CERTIFICATES_MAX = 2;
const RSA_BITS_MIN = 2_048;
const REQUEST_ID_BYTES = 20;

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion';
const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
/** A name that lasts: an email is given to the next person, a transient one to the next sign-in. Console A37. */
const NAME_FORMATS: readonly (string | undefined)[] = [
  'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  undefined,
];
const EMAILS = [
  'email',
  'mail',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];
/** SHA-256 and up. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  SignatureMethod: [
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  ],
  DigestMethod: ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'],
  CanonicalizationMethod: ['http://www.w3.org/2001/10/xml-exc-c14n#'],
  Transform: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
};

const library = () => import('@node-saml/node-saml');
const reader = () => import('@node-saml/node-saml/lib/xml.js');

/** What of a provider's metadata is kept. */
export interface SamlTerms {
  readonly issuer: string;
  readonly ssoUrl: string;
  /** Base64 of DER, one, or two while they change. */
  readonly certificates: readonly string[];
}

/** Us, towards every provider. */
export interface SamlService {
  readonly entityId: string;
  /** Where answers are posted. */
  readonly acsUrl: string;
}

/** Who came, by a signed assertion. `id` is to be spent once. */
export interface Asserted {
  readonly id: string;
  readonly subject: string;
  readonly email: string | null;
  readonly expiresAtMs: number;
}

/** `reason` is ours: no word of what came. */
export class SamlFault extends Error {
  readonly reason: string;
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

interface XmlNode {
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly parentNode: XmlNode | null;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  getElementsByTagNameNS(namespace: string, name: string): ArrayLike<XmlNode>;
}
interface XmlDocument {
  readonly documentElement: XmlNode;
  getElementsByTagNameNS(namespace: string, name: string): ArrayLike<XmlNode>;
}
/** An element as the library reads the signed bytes. */
type Read = { readonly $?: Readonly<Record<string, string>>; readonly _?: string } & { readonly [name: string]: any };

/** Throws: SamlFault for what is no plain XML document of our size. */
async function parsed(xml: string): Promise<XmlDocument> {
  if (Buffer.byteLength(xml) > SAML_BYTES_MAX) throw new SamlFault('too_large');
  if (/<!DOCTYPE|<!ENTITY/i.test(xml)) throw new SamlFault('dtd');
  try {
    const doc: object = await (await reader()).parseDomFromString(xml);
    return doc as XmlDocument;
  } catch (error) {
    throw new SamlFault('xml', error);
  }
}

const within = (node: XmlDocument | XmlNode, namespace: string, name: string): XmlNode[] =>
  Array.from(node.getElementsByTagNameNS(namespace, name));

/** What a provider says of itself, as its owner pasted it: it is never fetched. Throws: SamlFault. */
export async function termsOf(metadata: string, nowMs: number): Promise<SamlTerms> {
  const { documentElement: root } = await parsed(metadata);
  if (root?.localName !== 'EntityDescriptor' || root.namespaceURI !== METADATA) throw new SamlFault('no_entity');
  const issuer = root.getAttribute('entityID') ?? '';
  const [provider, another] = within(root, METADATA, 'IDPSSODescriptor');
  if (issuer === '' || provider === undefined || another !== undefined) throw new SamlFault('no_provider');
  const service = within(provider, METADATA, 'SingleSignOnService').find(
    (one) => one.getAttribute('Binding') === REDIRECT,
  );
  const ssoUrl = service?.getAttribute('Location') ?? '';
  if (!URL.canParse(ssoUrl) || new URL(ssoUrl).protocol !== 'https:') throw new SamlFault('no_redirect_service');
  const certificates = [
    ...new Set(
      within(provider, METADATA, 'KeyDescriptor')
        .filter((one) => one.getAttribute('use') !== 'encryption')
        .flatMap((one) => within(one, SIGNATURE, 'X509Certificate'))
        .map(({ textContent }) => (textContent ?? '').replace(/\s+/g, '')),
    ),
  ];
  if (certificates.length === 0 || certificates.length > CERTIFICATES_MAX) throw new SamlFault('certificates');
  const read = certificates.map(certificateOf);
  if (read.some(({ publicKey }) => publicKey.asymmetricKeyType !== 'rsa')) throw new SamlFault('certificate_key');
  if (read.some(({ publicKey }) => (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS_MIN))
    throw new SamlFault('certificate_key');
  if (!read.some((one) => endOf(one) > nowMs)) throw new SamlFault('certificate_ended');
  return { issuer, ssoUrl, certificates };
}

function certificateOf(base64: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch (error) {
    throw new SamlFault('certificate', error);
  }
}
const endOf = ({ validTo }: X509Certificate): number => Date.parse(validTo);
/** When each certificate ends, epoch milliseconds. */
export const endsOf = (certificates: readonly string[]): number[] =>
  certificates.map((base64) => endOf(certificateOf(base64)));

/** Where a browser goes to sign in, and the id that its answer has to name. */
export async function beginSaml(
  terms: SamlTerms,
  service: SamlService,
  state: string,
): Promise<{ url: string; requestId: string }> {
  const requestId = `_${randomBytes(REQUEST_ID_BYTES).toString('hex')}`;
  const url = await (
    await clientOf(terms, terms.certificates, service, requestId)
  ).getAuthorizeUrlAsync(state, undefined, {});
  return { url, requestId };
}

async function clientOf(
  { ssoUrl }: SamlTerms,
  certificates: readonly string[],
  { entityId, acsUrl }: SamlService,
  requestId: string,
) {
  const { SAML, ValidateInResponseTo } = await library();
  return new SAML({
    ...{ callbackUrl: acsUrl, issuer: entityId, audience: entityId, entryPoint: ssoUrl, idpCert: [...certificates] },
    identifierFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    disableRequestedAuthnContext: true,
    wantAuthnResponseSigned: true,
    wantAssertionsSigned: true,
    signatureAlgorithm: 'sha256',
    acceptedClockSkewMs: CLOCK_TOLERANCE_MS,
    generateUniqueId: () => requestId,
    validateInResponseTo: ValidateInResponseTo.always,
    cacheProvider: {
      saveAsync: async (key, value) => ({ value, createdAt: Date.now(), key }),
      getAsync: async (key) => (key === requestId ? new Date().toISOString() : null),
      removeAsync: async () => null,
    },
  });
}

/** Who came by an answer. Throws: SamlFault. */
export async function finishSaml(
  terms: SamlTerms,
  service: SamlService,
  { response, requestId, nowMs }: { response: string; requestId: string; nowMs: number },
): Promise<Asserted> {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(response)) throw new SamlFault('base64');
  const xml = Buffer.from(response, 'base64').toString('utf8');
  // Comments and instructions are not part of what is signed: two readers need not agree on what is around them.
  if (/<!--|<\?(?!xml )|<!\[CDATA\[|\uFFFD/.test(xml)) throw new SamlFault('xml');
  const shape = shapeFault(await parsed(xml), terms, service, requestId);
  if (shape !== null) throw new SamlFault(shape);
  const good = terms.certificates.filter((base64) => endOf(certificateOf(base64)) > nowMs);
  if (good.length === 0) throw new SamlFault('certificate_ended');
  const client = await clientOf(terms, good, service, requestId);
  const { profile } = await client.validatePostResponseAsync({ SAMLResponse: response }).catch((error: unknown) => {
    throw new SamlFault('not_verified', error); // a signature, the audience or a time
  });
  const signed = (profile?.getAssertion?.() as { Assertion?: Read } | undefined)?.Assertion;
  if (signed === undefined) throw new SamlFault('assertion');
  return assertedBy(signed, terms, service, requestId, nowMs);
}

/** Why an answer is not of the one shape that is read; null where it is. */
function shapeFault(doc: XmlDocument, { issuer }: SamlTerms, { acsUrl }: SamlService, requestId: string) {
  const root = doc.documentElement;
  if (root?.localName !== 'Response' || root.namespaceURI !== PROTOCOL) return 'response';
  const [assertion, another] = within(doc, '*', 'Assertion');
  if (assertion === undefined || another !== undefined || assertion.namespaceURI !== ASSERTION) return 'assertions';
  if (assertion.parentNode !== root || within(doc, '*', 'EncryptedAssertion').length > 0) return 'assertions';
  if (within(doc, '*', 'Response').length !== 1) return 'response';
  const signatures = within(doc, '*', 'Signature');
  const parents = signatures.map(({ parentNode }) => parentNode);
  if (signatures.length !== 2 || !parents.includes(root) || !parents.includes(assertion)) return 'signatures';
  if (within(doc, SIGNATURE, 'Object').length > 0) return 'signatures';
  for (const signature of signatures) {
    const [reference, second] = within(signature, SIGNATURE, 'Reference');
    const id = signature.parentNode?.getAttribute('ID') ?? '';
    if (second !== undefined || id === '' || reference?.getAttribute('URI') !== `#${id}`) return 'signatures';
  }
  for (const [name, known] of Object.entries(ALGORITHMS))
    if (within(doc, '*', name).some((one) => !known.includes(one.getAttribute('Algorithm') ?? ''))) return 'algorithm';
  const ids = within(doc, '*', '*').flatMap((one) =>
    ['ID', 'Id', 'id'].map((name) => one.getAttribute(name) ?? '').filter((id) => id !== ''),
  );
  if (new Set(ids).size !== ids.length) return 'ids';
  if (root.getAttribute('Destination') !== acsUrl) return 'destination';
  if (root.getAttribute('InResponseTo') !== requestId) return 'in_response_to';
  const named = within(doc, ASSERTION, 'Issuer');
  if (named.length === 0 || named.some(({ textContent }) => textContent !== issuer)) return 'issuer';
  const [status] = within(doc, PROTOCOL, 'StatusCode');
  return status?.getAttribute('Value') === SUCCESS ? null : 'status';
}

/** Who a signed assertion is about. Throws: SamlFault. */
function assertedBy(
  signed: Read,
  { issuer }: SamlTerms,
  { entityId, acsUrl }: SamlService,
  requestId: string,
  nowMs: number,
): Asserted {
  const only = (node: Read | undefined, name: string): Read | undefined => {
    const found = (node?.[name] ?? []) as readonly Read[];
    return found.length === 1 ? found[0] : undefined;
  };
  /** Also of what is no instant. */
  const isOver = (instant: string | undefined): boolean => !(Date.parse(instant ?? '') + CLOCK_TOLERANCE_MS > nowMs);
  const id = signed.$?.['ID'] ?? '';
  if (id === '' || only(signed, 'Issuer')?._ !== issuer) throw new SamlFault('issuer');
  const subject = only(signed, 'Subject');
  const confirmation = only(subject, 'SubjectConfirmation');
  const data = only(confirmation, 'SubjectConfirmationData')?.$;
  if (confirmation?.$?.['Method'] !== BEARER || data === undefined) throw new SamlFault('confirmation');
  if (data['Recipient'] !== acsUrl) throw new SamlFault('recipient');
  if (data['InResponseTo'] !== requestId) throw new SamlFault('in_response_to');
  const conditions = only(signed, 'Conditions');
  if (isOver(data['NotOnOrAfter']) || isOver(conditions?.$?.['NotOnOrAfter'])) throw new SamlFault('late');
  const audience = only(only(conditions, 'AudienceRestriction'), 'Audience')?._;
  if (audience !== entityId) throw new SamlFault('audience');
  const name = only(subject, 'NameID');
  if (name?._ === undefined || name._ === '' || !NAME_FORMATS.includes(name.$?.['Format']))
    throw new SamlFault('name_id');
  const attributes = ((signed['AttributeStatement'] ?? []) as readonly Read[]).flatMap(
    (one) => (one['Attribute'] ?? []) as readonly Read[],
  );
  const email = attributes.find((one) => EMAILS.includes(one.$?.['Name'] ?? ''));
  return {
    id: createHash('sha256').update(id).digest('hex'),
    subject: name._,
    email: only(email, 'AttributeValue')?._ ?? null,
    expiresAtMs: Date.parse(data['NotOnOrAfter']!) + 2 * CLOCK_TOLERANCE_MS,
  };
}
