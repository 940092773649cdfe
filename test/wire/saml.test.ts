import { randomBytes, randomUUID } from 'node:crypto';
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { createSsoStore } from '../../persistence/postgres/sso-store.ts';
import { findKeyMaterial } from '../../protocol/node/key-material.ts';
import { codeOf, raw } from '../support/gateway.ts';
import { createSamlProvider, WRAPPINGS, type SamlLies, type SamlPerson } from '../support/saml-provider.ts';
import { startSsoWorld, type Browser } from '../support/sso-world.ts';

const { cloud, stop, as, reasonOf, browser, withSso, byPassword, memberOf, next } = await startSsoWorld();
test.after.always(stop);
const idp = createSamlProvider();
const day = 86_400_000;

async function withSaml(metadata = idp.metadata()) {
  const of = await withSso();
  const connection = await of.owner.must('setSamlConnection', { body: { metadata, jitRole: 'editor' } });
  return { ...of, connection };
}
/** What the page of the provider makes a browser do: a form of another site, without our cookies. */
const post = (form: Record<string, string>) =>
  raw(cloud.url, 'POST', '/console/sso', {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://idp.test',
      'x-forwarded-for': `198.51.100.${next() % 250}`,
    },
    body: new URLSearchParams(form).toString(),
  });
async function arrive(who: SamlPerson, connectionId: string, lies: SamlLies = {}, at: Browser = browser()) {
  const started = await at.post('start', { connectionId });
  const form = idp.agree(started.data.url, who, lies);
  const posted = await post(form);
  const location = posted.headers.get('location') ?? '';
  const finished = await at.post('finish', { state: new URL(location, cloud.url).searchParams.get('state') ?? 'none' });
  return { at, form, posted, url: started.data.url as string, ...finished };
}
const newcomer = (domain: string) => ({ sub: `n-${next()}`, email: `n${next()}@${domain}` });
const whyOf = (answer: { answer: { json: any } }): string => {
  const { requestId } = answer.answer.json.meta;
  const line = cloud.lines.find((one) => one.includes(requestId) && one.includes('by a provider was refused'));
  return JSON.parse(line ?? '{}').reason;
};

test.serial(
  'console A39, A40, D5: an owner pastes the metadata of a SAML provider; a person comes by a signed answer, in the browser that began, and later by the same name',
  async (t) => {
    const { organization, domain, connection, owner } = await withSaml();
    t.like(connection, {
      ...{ kind: 'saml', issuer: idp.entityId, hasSecret: false, jitRole: 'editor' },
      ...{ redirectUri: 'http://cloud.test/console/sso', clientId: 'http://cloud.test/console/sso' },
    });
    t.is(connection.certificates.length, 1);
    t.true(Math.abs(Date.parse(connection.certificates[0]!.endsAt) - Date.now() - 200 * day) < 60_000);
    const who = newcomer(domain);
    const first = await arrive(who, connection.id);
    t.is(first.posted.status, 303);
    t.regex(first.posted.headers.get('location')!, /^\/console\/sso\?state=[\w-]{43}$/);
    t.deepEqual(first.posted.headers.getSetCookie(), [], 'the post signs nobody in');
    t.is(first.status, 200, first.answer.text);
    t.like(first.data, { organizationId: organization.id, role: 'editor', totpAt: null });
    const { id, email } = await as(first.data.accessToken).must('getMe');
    t.is(email, who.email);
    t.is(await memberOf(organization, id), 'editor');
    const later = await arrive({ sub: who.sub, email: 'other@elsewhere.example' }, connection.id);
    t.is((await as(later.data.accessToken).must('getMe')).id, id, 'never by the email');
    t.regex(first.url, /^https:\/\/idp\.test\/sso\?/);
    t.is((await owner.must('listSsoConnections')).content.length, 1, 'in place of the one before');
    const outside = await arrive(newcomer('elsewhere.example'), connection.id);
    t.deepEqual([outside.status, outside.reason], [403, 'sso_email']);
    const nameless = await arrive({ sub: 'x' }, connection.id);
    t.deepEqual([nameless.status, nameless.reason], [403, 'sso_email']);
    const known = await cloud.person();
    await cloud.database.owner`update flock.console_user set email = ${`k${next()}@${domain}`} where id = ${known.id}`;
    const has = (await cloud.identity.userById(known.id))!.email;
    const arrived = await arrive({ sub: 'known', email: has }, connection.id);
    t.is(arrived.reason, 'prove_account', 'no silent link');
    t.is((await arrived.at.post('link', byPassword(known, { totp: codeOf(known) }))).status, 200);
  },
);

test.serial('console A39 (faults 16): eight ways to wrap a signed assertion let nobody in', async (t) => {
  const { domain, connection } = await withSaml();
  t.is(Object.keys(WRAPPINGS).length, 8);
  const who = newcomer(domain);
  for (const [name, wrap] of Object.entries(WRAPPINGS)) {
    let evil = '';
    const answer = await arrive(who, connection.id, { wrap: (xml) => (evil = wrap(xml)) });
    t.true(
      evil.includes('>evil</saml:NameID>') && evil.includes(`>${who.sub}</saml:NameID>`),
      `${name}: both are there`,
    );
    t.deepEqual([answer.status, answer.reason], [401, 'sso'], `${name}: ${answer.answer.text}`);
  }
  t.is((await arrive(who, connection.id)).status, 200, 'and unwrapped they come in');
});

test.serial(
  'console A39, D5: unsigned, weak, late, foreign, replayed and odd answers of a provider let nobody in, each for its reason',
  async (t) => {
    const { domain, connection } = await withSaml();
    const other = idp.newPair().privateKey;
    const inName = (text: string) => (xml: string) => xml.replace(/(<saml:NameID[^>]*>)/, `$1${text}`);
    for (const [name, { why, ...lies }] of Object.entries({
      'the response is not signed': { why: 'signatures', unsigned: 'response' },
      'the assertion is not signed': { why: 'signatures', unsigned: 'assertion' },
      'another key': { why: 'not_verified', key: other },
      'SHA-1': { why: 'algorithm', sha1: true },
      'a changed name': { why: 'not_verified', wrap: inName('a') },
      'a comment in the name': { why: 'xml', wrap: inName('a<!-- -->') },
      'CDATA in the name': { why: 'xml', wrap: inName('<![CDATA[a]]>') },
      'an instruction': { why: 'xml', wrap: inName('<?a b?>') },
      'a DTD': { why: 'dtd', wrap: (xml: string) => `<!DOCTYPE a [<!ENTITY e "x">]>${xml}` },
      'no XML': { why: 'xml', wrap: () => '<samlp:Response' },
      'two assertions': {
        why: 'assertions',
        wrap: (xml: string) => xml.replace(/(<saml:Assertion[\s\S]*<\/saml:Assertion>)/, '$1$1'),
      },
      'an encrypted one beside it': {
        why: 'assertions',
        wrap: (xml: string) => xml.replace('<samlp:Status>', '<EncryptedAssertion/><samlp:Status>'),
      },
      'another issuer': { why: 'issuer', issuer: 'https://evil.test' },
      'another audience': { why: 'not_verified', audience: 'https://another.test' },
      'another recipient': { why: 'recipient', recipient: 'https://another.test' },
      'another destination': { why: 'destination', destination: 'https://another.test' },
      'an answer to another request': { why: 'in_response_to', inResponseTo: '_another' },
      'a confirmation of another request': { why: 'not_verified', confirmationInResponseTo: '_another' },
      'a failure': { why: 'status', status: 'urn:oasis:names:tc:SAML:2.0:status:Requester' },
      'a name of one sign-in': { why: 'name_id', nameFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
      'an email as the name': { why: 'name_id', nameFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress' },
      'a minute and a second late': { why: 'not_verified', endsInMs: -61_000 },
    } as Record<string, SamlLies & { why: string }>)) {
      const answer = await arrive(newcomer(domain), connection.id, lies);
      t.deepEqual([answer.status, answer.reason, whyOf(answer)], [401, 'sso', why], `${name}: ${answer.answer.text}`);
    }
    t.is(
      (await arrive(newcomer(domain), connection.id, { endsInMs: -50_000 })).status,
      200,
      'a clock may be off by a minute',
    );
    const assertionId = `_once${next()}`;
    t.is((await arrive(newcomer(domain), connection.id, { assertionId })).status, 200);
    const again = await arrive(newcomer(domain), connection.id, { assertionId });
    t.deepEqual([again.status, whyOf(again)], [401, 'replayed'], 'an assertion is spent once');
  },
);

test.serial(
  'console A39, A40: no sign-in begins at the provider; an answer is for one flow, once, and for the browser that began it alone',
  async (t) => {
    const { domain, connection } = await withSaml();
    const at = browser();
    const started = await at.post('start', { connectionId: connection.id });
    t.is((await at.post('finish', { state: new URL(started.data.url).searchParams.get('RelayState') })).reason, 'sso');
    const mine = browser();
    const begun = await mine.post('start', { connectionId: connection.id });
    const form = idp.agree(begun.data.url, newcomer(domain));
    const made = await post({ ...form, RelayState: 'A'.repeat(43) });
    t.is(made.status, 303);
    t.is((await mine.post('finish', { state: 'A'.repeat(43) })).reason, 'used', 'a state that nobody began');
    t.is((await post({ SAMLResponse: form.SAMLResponse, RelayState: '' })).headers.get('location'), '/console/sso');
    const large = Buffer.alloc(256 * 1_024 + 3, 'a').toString('base64');
    t.is((await post({ ...form, SAMLResponse: large })).headers.get('location'), '/console/sso', 'more than 256 kB');
    await post(form);
    t.is((await browser().post('finish', { state: form.RelayState })).reason, 'used', 'another browser');
    const forged = idp.agree(begun.data.url, newcomer(domain), { key: idp.newPair().privateKey });
    await post({ ...forged, RelayState: form.RelayState });
    t.is((await mine.post('finish', { state: form.RelayState })).status, 200, 'the first answer stays');
    t.is((await mine.post('finish', { state: form.RelayState })).reason, 'used');
  },
);

test.serial('console A39: two certificates while they change; one that ended verifies nothing', async (t) => {
  const { owner, domain, connection } = await withSaml();
  const pair = idp.newPair();
  const who = newcomer(domain);
  t.is((await arrive(who, connection.id)).status, 200);
  const both = idp.metadata([idp.certificate(), idp.certificate(300, pair)]);
  const changed = await owner.must('setSamlConnection', { body: { metadata: both } });
  t.is(changed.certificates.length, 2);
  t.is((await arrive(who, connection.id)).status, 200, 'by the one of before');
  t.is((await arrive(who, connection.id, { key: pair.privateKey })).status, 200, 'and by the new one');
  const ended = idp.metadata([idp.certificate(-1), idp.certificate(300, pair)]);
  t.is((await owner.must('setSamlConnection', { body: { metadata: ended } })).id, connection.id);
  t.is(whyOf(await arrive(who, connection.id)), 'not_verified', 'the one that ended');
  t.is((await arrive(who, connection.id, { key: pair.privateKey })).status, 200);
});

test.serial(
  'console A35, A39: metadata that is none is refused by name, and is for owners of a plan that has it',
  async (t) => {
    const { owner } = await withSaml();
    const good = idp.metadata();
    for (const [reason, metadata] of Object.entries({
      xml: 'nonsense',
      dtd: `<!DOCTYPE a>${good}`,
      no_entity: '<a/>',
      no_provider: good.replaceAll('IDPSSODescriptor', 'SPSSODescriptor'),
      no_redirect_service: idp.metadata(undefined, { sso: 'http://idp.test/sso' }),
      certificates: idp.metadata([]),
      certificate: idp.metadata(['AAAA']),
      certificate_key: idp.metadata([idp.certificate(10, idp.newPair(1_024))]),
      certificate_ended: idp.metadata([idp.certificate(-1)]),
    })) {
      const refused = await owner.call('setSamlConnection', { body: { metadata } });
      t.like(refused, { code: 'INVALID_INPUT', details: { field: 'metadata', reason } }, reason);
    }
    const three = idp.metadata([idp.certificate(), idp.certificate(), idp.certificate()]);
    t.deepEqual(reasonOf(await owner.call('setSamlConnection', { body: { metadata: three } })), [
      'INVALID_INPUT',
      'certificates',
    ]);
    const free = await cloud.organization({ tier: 'free' });
    const theirs = as(await cloud.signIn(free.owner));
    t.like(await theirs.call('setSamlConnection', { body: { metadata: good } }), { code: 'TIER_FEATURE_LOCKED' });
    const open = createClient({ baseUrl: cloud.url });
    t.like(await open.call('setSamlConnection' as never, { body: { metadata: good } } as never), {
      code: 'UNAUTHORIZED',
    });
  },
);

test.serial('console A39: owners are mailed 30 days before the last certificate ends, once', async (t) => {
  const { owner, organization } = await withSaml(idp.metadata([idp.certificate(10), idp.certificate(40)]));
  const sso = createSsoStore(cloud.database.sql);
  const letters = async () =>
    (
      await cloud.database
        .owner`select 1 from flock.letter where kind = 'sso_certificate' and organization_id = ${organization.id}`
    ).length;
  await sso.writeCertificateLetters(Date.now());
  t.is(await letters(), 0, 'the other one goes on');
  await Promise.all([1, 2].map(() => sso.writeCertificateLetters(Date.now() + 11 * day)));
  await sso.writeCertificateLetters(Date.now() + 12 * day);
  t.is(await letters(), 1);
  await owner.must('setSamlConnection', { body: { metadata: idp.metadata([idp.certificate(45)]) } });
  await sso.writeCertificateLetters(Date.now() + 16 * day);
  t.is(await letters(), 2, 'another certificate, another letter');
});

test('console A43: a thousand bodies with metadata of SAML providers, and a thousand of their answers, pass the guard of key material', (t) => {
  for (let made = 0; made < 1_000; made += 1) {
    const columns = [64, 76, 4_000][made % 3]!;
    const certificate = randomBytes(800 + (made % 400))
      .toString('base64')
      .replaceAll(new RegExp(`.{${columns}}`, 'g'), '$&\n');
    const metadata = idp.metadata([certificate], { sso: `https://idp.test/sso/${randomUUID()}` });
    const answer = Buffer.from(
      `<samlp:Response ID="_${randomBytes(16).toString('hex')}">${certificate}</samlp:Response>`,
    );
    for (const body of [
      { metadata, jitRole: 'editor' },
      { state: randomBytes(32).toString('base64url') },
      { SAMLResponse: answer.toString('base64'), RelayState: randomBytes(32).toString('base64url') },
    ])
      t.is(findKeyMaterial(Buffer.from(JSON.stringify(body))), null, JSON.stringify(body));
  }
});
